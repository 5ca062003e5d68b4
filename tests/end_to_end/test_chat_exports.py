"""Exports of chats of nine programs: what is read of each, what overlaps, what is damaged, and that nothing leaks."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.records import Failure, Record
from relrag_pipelines.sources import KINDS, ReadContext
from relrag_pipelines.sources.unit_files import unit_of
from relrag_pipelines.stores.table_schema import to_table
from relrag_query.archive import Archive
from tests import ROOT, archive, chat_exports
from tests.cases import case_values, cases

SAMPLES = ROOT / "examples" / "samples"
KEYS = Keys(b"i" * 32, b"p" * 32, "k1")
READING = ReadContext("sample", "Europe/Prague", KEYS.id_hash, owner="Dana Levi")


def read(kind: str, root: Path) -> list[Record | Failure]:
    """What a connector makes of all units below a folder."""
    files = sorted(file for file in root.rglob("*") if file.is_file())
    units = [unit_of(file, root) for file in files if KINDS[kind].matches(file.relative_to(root).as_posix())]
    return [item for unit in units for item in KINDS[kind].read(unit, READING) if isinstance(item, Record | Failure)]


def records(kind: str) -> dict[str, Record]:
    """The messages of a sample by text."""
    return {item.text: item for item in read(kind, SAMPLES / kind) if isinstance(item, Record) and item.text}


@pytest.mark.parametrize("kind", chat_exports.WRITERS)
def test_a_sample_is_read_without_a_failure_and_its_file_is_recognised_by_its_kind_alone(kind: str) -> None:
    assert [item for item in read(kind, SAMPLES / kind) if isinstance(item, Failure)] == []
    endings = (".json", ".xml", ".zip", ".db", ".js", "messages.csv")
    files = [file for file in (SAMPLES / kind).rglob("*") if file.name.endswith(endings)]
    particular = {name: one for name, one in KINDS.items() if not one.any_text}
    recognised = {
        name for file in files for name, one in particular.items() if one.matches(file.name) and one.recognise(file)
    }
    assert recognised == {kind}


EXPECTED: list[tuple[str, str, dict[str, Any]]] = case_values(__file__, "expected")


@pytest.mark.requirement("S3-26")
@pytest.mark.parametrize(
    ("kind", "text", "fields"), EXPECTED, ids=[f"{kind}-{text[:12]}" for kind, text, _ in EXPECTED]
)
def test_messages_have_the_sender_time_and_chat_that_a_person_looked_up(
    kind: str, text: str, fields: dict[str, Any]
) -> None:
    record = records(kind)[text]
    assert {name: getattr(record, name) for name in fields} == fields
    assert record.rag_source_type == kind


@pytest.mark.parametrize(
    ("text", "ts", "chat"),
    [
        ("Petr Kolář called, 63 s", 1709546900, "Petr Kolář"),
        ("Dana Levi called Petr Kolář, 125 s", 1709633300, "Petr Kolář"),
        ("+972521234567 called, and nobody answered", 1709719700, "+972521234567"),
        ("Dana Levi called Eva Malá, 125 s", 1709895600, "Eva Malá"),
        ("+420605111222 called, and nobody answered", 1709899200, "+420605111222"),
    ],
)
def test_a_call_is_a_notice_in_the_conversation_with_its_number(text: str, ts: int, chat: str) -> None:
    record = records("sms")[text]
    assert (record.from_, record.ts, record.subject) == (None, ts, chat)


@pytest.mark.parametrize(*cases(__file__, "an_answer_names_what_it_answers"))
def test_an_answer_names_what_it_answers(kind: str, answer: str, question: str) -> None:
    by_text = records(kind)
    assert by_text[answer].parent_asset_id == f"{kind}:{by_text[question].source_id}"
    assert by_text[answer].thread_id == by_text[question].thread_id


@pytest.mark.parametrize(*cases(__file__, "what_is_known_of_a_message_beside_its_text"))
def test_what_is_known_of_a_message_beside_its_text(kind: str, text: str, extra: dict[str, Any]) -> None:
    own = records(kind)[text].extra
    assert {name: own.get(name) for name in extra} == extra


@pytest.mark.parametrize("kind", ["slack", "messenger", "signal", "teams", "google_chat"])
def test_a_deleted_message_has_no_text(kind: str) -> None:
    deleted = [item for item in read(kind, SAMPLES / kind) if isinstance(item, Record) and item.extra.get("deleted")]
    assert len(deleted) >= 1
    assert {item.text for item in deleted} == {""}


@pytest.mark.parametrize("kind", chat_exports.WRITERS)
def test_the_same_message_in_two_exports_is_one_record(kind: str, tmp_path: Path) -> None:
    said = [chat_exports.Said(number, 1_705_000_000 + number * 60, "Dana", f"line {number}") for number in range(1, 6)]
    for name, messages in (("a", said[:4]), ("b", said[1:])):
        for path, content in chat_exports.WRITERS[kind](messages, "Hiking").items():
            (tmp_path / name / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name / path).write_bytes(content)
    ids = [item.source_id for item in read(kind, tmp_path) if isinstance(item, Record)]
    assert (len(ids), len(set(ids))) == (8, 5)


def test_html_and_json_of_one_export_of_telegram_are_one_set_of_messages(tmp_path: Path) -> None:
    shutil.copytree(SAMPLES / "telegram" / "ChatExport_2024-03-09", tmp_path / "both")
    said = [chat_exports.Said(701, 1709629200, "Leonid Orlov", "The ladder is repaired.")]
    ((_, content),) = chat_exports.telegram(said, "Leonid & sons").items()
    (tmp_path / "both" / "result.json").write_bytes(content)
    ids = [item.source_id for item in read("telegram", tmp_path) if isinstance(item, Record)]
    assert len(ids) - len(set(ids)) == 1


def test_control_characters_halves_of_letters_and_bytes_that_are_no_utf8_are_repaired(tmp_path: Path) -> None:
    said = [chat_exports.Said(1, 1_705_000_000, "Dana", "A-B-C-D"), chat_exports.Said(2, 1_705_000_060, "Dana", "fine")]
    ((_, content),) = chat_exports.telegram(said, "Hiking").items()
    content = content.replace(b"A-B", b"A\\x1FB").replace(b"B-C", b"B\\ud83dC").replace(b"C-D", b"C\xffD")
    (tmp_path / "result.json").write_bytes(content)
    assert [item.text for item in read("telegram", tmp_path) if isinstance(item, Record)] == [
        "AB\ufffdC\ufffdD",
        "fine",
    ]


def mutations(content: bytes, count: int) -> Iterator[bytes]:
    """The content with bytes replaced, added, doubled, taken away or cut off."""
    chance = random.Random(48)
    tokens = [
        b'"',
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b"null",
        b"-1",
        b"1e999",
        b"\\",
        b"\0",
        b"\xff",
        b"<",
        b">",
        b"&",
        b'""',
    ]
    for _ in range(count):
        data = bytearray(content)
        for _ in range(chance.choice((1, 1, 2, 5))):
            at, other = chance.randrange(len(data) + 1), chance.randrange(len(data) + 1)
            match chance.randrange(5):
                case 0:
                    data[at : at + 1] = chance.choice(tokens)
                case 1:
                    data[at:at] = chance.choice(tokens)
                case 2:
                    del data[at : at + chance.choice((1, 5, 200))]
                case 3:
                    data[at:at] = data[other : other + chance.choice((3, 50, 500))]
                case _:
                    del data[max(at, 1) :]
        yield bytes(data)


FILES = sorted(
    file.relative_to(SAMPLES).as_posix()
    for kind in chat_exports.WRITERS
    for file in (SAMPLES / kind).rglob("*")
    if file.suffix in (".json", ".xml", ".zip", ".html", ".js")
)


NOT_READ_ALONE = ("group_info.json", "channel.json", "index.json", "user.json")


@pytest.mark.parametrize("count", [40, pytest.param(1_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("path", FILES)
def test_a_damaged_export_neither_stops_a_run_nor_makes_records_that_no_table_holds(
    path: str, count: int, tmp_path: Path
) -> None:
    kind = path.partition("/")[0]
    file = tmp_path / Path(path).name
    for content in mutations((SAMPLES / path).read_bytes(), count):
        file.write_bytes(content)
        KINDS[kind].recognise(file)
        items = list(KINDS[kind].read(unit_of(file, tmp_path), READING))
        to_table([item for item in items if isinstance(item, Record)], Record)
        if not any(isinstance(item, Record) for item in items):
            assert any(isinstance(item, Failure) for item in items) or path.endswith(NOT_READ_ALONE)


def test_one_bad_message_is_a_failure_and_the_others_are_read(tmp_path: Path) -> None:
    said = [chat_exports.Said(number, 1_705_000_000 + number, "Dana", f"line {number}") for number in range(1, 4)]
    ((_, content),) = chat_exports.telegram(said, "Hiking").items()
    (tmp_path / "result.json").write_bytes(content.replace(b'"id": 2,', b'"id": null,'))
    items = read("telegram", tmp_path)
    assert [item.text for item in items if isinstance(item, Record)] == ["line 1", "line 3"]
    assert [(one.fault, one.location) for one in items if isinstance(one, Failure)] == [("missing_id", "message 2")]


CONFIG = """
archive = "chats"
keys_file = "test.keys"
timezone = "Europe/Prague"
owner = "Dana Levi"
embedder = "none"
pii_redaction_enabled = true
"""
PRIVATE = (b"601 234 567", b"601234567", b"602345678", b"972521234567", b"live:dana", b"49.195061", b"0192000145399")
"""numbers, an account, a coordinate and an account number of the samples"""


@pytest.mark.usefixtures("without_dagster")
def test_chats_of_all_programs_are_synced_searched_and_leak_nothing(tmp_path: Path) -> None:
    config = tmp_path / "relrag.toml"
    sources = [f'[[sources]]\nname = "s_{kind}"\nkind = "{kind}"\npath = "{kind}"' for kind in chat_exports.WRITERS]
    config.write_text("\n".join([CONFIG, *sources]))
    for kind in chat_exports.WRITERS:
        shutil.copytree(SAMPLES / kind, tmp_path / kind)
    archive.first_sync(config)
    with Archive.open(config) as opened:
        for kind, text, _ in EXPECTED[1::3]:
            words = " ".join(word for word in text.replace("+", " ").split() if word.isalpha())
            assert kind in [hit.rag_source_type for hit in opened.search(words).hits[:3]], text
    home = archive.workspace(config).home
    outside = [file for file in home.rglob("*") if file.is_file() and "private" not in file.relative_to(home).parts]
    assert [(file.name, value) for file in outside for value in PRIVATE if value in file.read_bytes()] == []
