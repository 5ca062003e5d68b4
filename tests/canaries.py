"""An archive of values that stand nowhere else, in all kinds and fields, and what takes them away again.

Each value is planted in one record, failure or file name. `run` goes all the way: sync, edit the sources, forget,
read everything again, and returns what is found of the values that were to go, and of those that were to stay.
"""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from relrag_pipelines.erasure import byte_search
from relrag_query.cli.commands import forget as forgetting
from relrag_query.cli.commands import sync as commands
from relrag_query.forgetting import ForgetRequest
from tests import archive
from tests.s3_server import Bucket
from tests.sources.mail.outlook.outlook_files import compound, message

CONFIG = """
archive = "test"
keys_file = "test.keys"
embedder = "e5"
timezone = "Europe/Prague"
pii_redaction_enabled = true
asset_neighborhood_expansion_enabled = true

[graphrag]
method = "fast"
"""
SOURCES = {
    "chat": ("whatsapp", "chats"),
    "papers": ("document", "papers"),
    "notes": ("jsonl", "notes"),
    "letters": ("gmail", "letters"),
    "gone_from_settings": ("jsonl", "gone"),
    "forgotten_whole": ("jsonl", "whole"),
}
EDITED, BY_ID, PERSON, SOURCE, BEFORE, KEPT = "edited", "by id", "person", "source", "before", "kept"
WAYS = (EDITED, EDITED, BY_ID, EDITED, PERSON, EDITED, BEFORE, EDITED, SOURCE, EDITED, BY_ID)
"""how values go, in turn; half of them by editing"""
PEOPLE = ("Zoltan Quixote", "zq.person@example.org", "052-765-4321")
SHAPES: tuple[Callable[[str], str], ...] = (
    lambda token: token,
    lambda token: f"{token} שלום {token[::-1]}",
    lambda token: f'"{token}" \\ said',
    lambda token: f"příliš {token} žluťoučký",
    lambda token: f"{token}@example.org",
    lambda token: f"the {token} of the cabin",
)
FIELDS = (
    "id", "text", "subject", "title", "from", "to", "participants", "thread_id", "parent_ref", "parent_asset_id",
    "content_type", "file_name", "source_uri", "language", "client_id", "project_id", "rag_source_type", "numbers",
    "people", "extra", "extra_key", "unknown",
)  # fmt: skip
DOCUMENTS = (".md", ".txt", ".html", ".csv")


@dataclass
class Planted:
    """What was planted where."""

    folder: Path
    home_lake: str = ""
    """as the setting"""
    ways: dict[str, str] = field(default_factory=dict)
    """value -> how it goes"""
    ids: list[str] = field(default_factory=list)
    """ids of records of jsonl that are forgotten by id"""
    edits: list[Callable[[], object]] = field(default_factory=list)
    """what is done to the sources"""


@dataclass
class Found:
    """What is left when all is done."""

    codes: list[int]
    """exit codes of all commands"""
    left: dict[str, list[str]]
    """value that was to go -> files that hold it"""
    lost: list[str]
    """values that were to stay and are nowhere"""
    files: int
    objects: int = 0
    """objects of the bucket, and their older versions, that were searched"""


def plant(folder: Path, count: int, kept: int, people: Sequence[str] = PEOPLE, home_lake: str = "") -> Planted:
    """Writes an archive with `count` values that go, and `kept` that stay."""
    planted = Planted(folder, home_lake)
    for _, path in SOURCES.values():
        (folder / path).mkdir(parents=True)
    configure(folder, list(SOURCES), home_lake)
    values = _values(count + kept)
    ways = [*(WAYS[number % len(WAYS)] for number in range(count)), *[KEPT] * kept]
    lines: dict[str, list[dict[str, object]]] = {name: [] for name in (*WAYS, KEPT, "dropped")}
    for number, (value, way) in enumerate(zip(values, ways, strict=True)):
        planted.ways[value] = way
        if way in (EDITED, KEPT) and number % 5 == 0:
            _document(planted, value, way, number)
        elif way != SOURCE and number % 4 == 1:
            _letter(planted, value, way, number, people)
        elif way == EDITED and number % 7 == 0:
            lines["dropped"].append(note(value, way, number, people))
        elif way in (EDITED, BY_ID, KEPT) and number % 3 == 0:
            _chat(planted, value, way, number)
        else:
            lines[way].append(note(value, way, number, people))
    for way, found in lines.items():
        place = {"dropped": "gone", SOURCE: "whole"}.get(way, "notes")
        path = folder / place / f"{way.replace(' ', '_')}.jsonl"
        filler = [{"id": f"filler {way} {n}", "text": "nothing", "timestamp": "2024-03-01"} for n in range(3)]
        body = [json.dumps(one, ensure_ascii=number % 2 == 0) + "\n" for number, one in enumerate([*filler, *found])]
        path.write_text("".join(body), encoding="utf-8")
        if way == EDITED:
            planted.edits.append(lambda path=path, body=body: path.write_text("".join(body[:3])))  # type: ignore[misc]
        if way == BY_ID:
            planted.ids += [f"jsonl:notes:{one['id']}" for one in found]
    return planted


def configure(folder: Path, names: list[str], home_lake: str = "") -> Path:
    """relrag.toml with these of the sources."""
    head = f'home_lake = "{home_lake}"' if home_lake else ""
    tables = [
        f'[[sources]]\nname = "{name}"\nkind = "{SOURCES[name][0]}"\npath = "{SOURCES[name][1]}"' for name in names
    ]
    (folder / "relrag.toml").write_text("\n".join([head, CONFIG, *tables, ""]))
    return folder / "relrag.toml"


def note(value: str, way: str, number: int, people: Sequence[str]) -> dict[str, object]:
    """A line of jsonl with the value in one of its fields."""
    name = FIELDS[number % len(FIELDS)]
    line: dict[str, object] = {"id": f"note {number}", "text": f"note {number}", "timestamp": "2024-02-10T08:00:00Z"}
    if way == BEFORE:
        line["timestamp"] = "2019-05-01T08:00:00Z"
    if way == PERSON:
        who = people[number % len(people)]
        line |= [{"from": who}, {"to": [f"Z <{who}>"]}, {"extra": {"call": [who]}}][number % 3]
    placed: dict[str, object] = {
        "to": [value], "participants": ["Ota", value], "numbers": [value], "extra": {"seen": {"in": [value]}},
        "people": [{"role": "mentioned", "name": value}], "text": f"It was said that {value} is the word.",
    }  # fmt: skip
    if name == "extra_key":
        return line | {"extra": {value: 1, **dict(line.get("extra", {}))}}  # type: ignore[call-overload]
    hashed = way == KEPT and "@" in value and name in ("id", "thread_id", "parent_ref", "parent_asset_id")
    if hashed or (name in line and name not in ("id", "text", "timestamp")):
        name = "subject"
    return line | {name: placed.get(name, value)}


def run(folder: Path, count: int, kept: int, people: Sequence[str] = PEOPLE, bucket: Bucket | None = None) -> Found:
    """Plants, syncs, edits, forgets, syncs again, and searches the whole archive, and the bucket of its lake if any."""
    planted = plant(folder, count, kept, people, bucket.url if bucket else "")
    config = folder / "relrag.toml"
    home = archive.workspace(config).home
    codes = [commands.sync(config)]
    before = byte_search.search(home, sorted(planted.ways))
    assert before.holding, "nothing was planted"
    held = {Path(name).name for name in before.holding if "graphrag" in Path(name).parts}
    assert held >= {"text_units.parquet", "documents.parquet"}, "no GraphRAG index holds what was planted"
    if bucket:
        uploaded = byte_search.search(bucket.download(folder / "uploaded"), sorted(planted.ways))
        assert len(uploaded.hits) > count // 4, "the bucket held little of what was planted"
    for edit in planted.edits:
        edit()
    configure(folder, [name for name in SOURCES if name != "gone_from_settings"], planted.home_lake)
    codes.append(commands.sync(config, accept_deletions=True))
    refs = planted.ids + sorted(_records_with(folder, {value for value, way in planted.ways.items() if way == BY_ID}))
    codes.append(forgetting.forget(ForgetRequest(refs=refs), config, yes=True))
    codes += [forgetting.forget(ForgetRequest(person=who), config, yes=True) for who in people]
    codes.append(forgetting.forget(ForgetRequest(before="2020"), config, yes=True))
    codes.append(forgetting.forget(ForgetRequest(source="forgotten_whole"), config, yes=True))
    codes.append(commands.sync(config, full=True))
    going = [value for value, way in planted.ways.items() if way != KEPT]
    searched = byte_search.search(home, going)
    left = {value: list(byte_search.search(home, [value]).holding) for value in sorted(searched.hits)}
    staying = {value for value, way in planted.ways.items() if way == KEPT}
    lost = sorted(staying - byte_search.search(home, sorted(staying)).hits)
    if bucket is None:
        return Found(codes, left, lost, searched.files)
    stored = byte_search.search(bucket.download(folder / "left in the bucket"), going)
    left |= {value: [*left.get(value, ()), bucket.url] for value in sorted(stored.hits)}
    return Found(codes, left, lost, searched.files, stored.files)


def _records_with(folder: Path, values: set[str]) -> Iterator[str]:
    from relrag_pipelines.erasure import record_selection, rule_matching

    for _, _, table in record_selection.private_months(archive.workspace(folder / "relrag.toml")):
        for name, texts, rows in rule_matching.external_strings(table):
            for text, row in zip(texts.to_pylist(), rows.tolist(), strict=True):
                said = rule_matching.json_texts(json.loads(text)) if name == "extra" else [text]
                if any(value in one for one in said for value in values) and name != "locations":
                    yield table["asset_id"][row].as_py()


def _values(count: int) -> list[str]:
    source = random.Random(41)
    tokens = [base64.b32encode(source.randbytes(10)).decode().lower() for _ in range(count)]
    return [SHAPES[number % len(SHAPES)](f"z{token}9") for number, token in enumerate(tokens)]


def _letter(planted: Planted, value: str, way: str, number: int, people: Sequence[str]) -> None:
    """A mail with the value in what is not read of it, and in no record; every third with no record at all."""
    path = planted.folder / "letters" / f"letter {number}.eml"
    said = f"{people[number % len(people)]} said {value}" if way == PERSON else f"It was said: {value}"
    head = f"Message-ID: <letter{number}>\nDate: 1 {'May 2019' if way == BEFORE else 'Mar 2024'} 08:00:00 GMT\n"
    deep = "".join(f"Content-Type: multipart/mixed; boundary=b{depth}\n\n--b{depth}\n" for depth in range(60))
    data = f"{head}{deep}\n{said}\n".encode()
    if number % 3 == 0 and way in (EDITED, PERSON):
        path = path.with_suffix(".msg")
        data = compound(message({0x0037: said, 0x1000: "hello"}))[:-700]
    path.write_bytes(data)
    if way == EDITED:
        planted.edits.append(
            path.unlink if number % 2 else lambda: path.write_bytes(b"Subject: again\n\nwritten anew\n")
        )
    if way == BY_ID:
        planted.ids.append(f"gmail:letter{number}")


def _chat(planted: Planted, value: str, way: str, number: int) -> None:
    """A chat with the value as sender, message, file name or title; what goes by an edit leaves the chat's middle."""
    plain = "".join(letter for letter in value if letter not in '"\\@:')
    place = planted.folder / "chats"
    title, sender, said = f"Group {number}", "Dana Levi", f"what of it {number}"
    match number % 4:
        case 0:
            said = value
        case 1:
            sender = value = _renamed(planted, value, plain)
        case 2:
            value = _renamed(planted, value, plain.replace(" ", "") + ".jpg")
            said = f"{value} (file attached)"
        case 3:
            title = value = _renamed(planted, value, plain)
    lines = [
        f"13/01/2024, 10:15 - Ota: first of {number}\n",
        f"13/01/2024, 10:16 - {sender}: {said}\n",
        f"13/01/2024, 10:17 - Ota: last of {number}\n",
    ]
    path = place / f"WhatsApp Chat with {title}.txt"
    path.write_text("".join(lines), encoding="utf-8")
    if way == EDITED and title == value:
        planted.edits.append(path.unlink)
    elif way == EDITED:
        planted.edits.append(lambda: path.write_text("".join([lines[0], lines[2]]), encoding="utf-8"))


def _renamed(planted: Planted, value: str, planted_as: str) -> str:
    planted.ways[planted_as] = planted.ways.pop(value)
    return planted_as


def _document(planted: Planted, value: str, way: str, number: int) -> None:
    """A document with the value in its name or its text, or a file that cannot be read with the value in its name."""
    plain = "".join(letter for letter in value if letter not in '"\\')
    suffix = DOCUMENTS[number // 5 % len(DOCUMENTS)]
    path = planted.folder / "papers" / f"paper {number} 2024-01-05{suffix}"
    text = f"<p>The paper {number} says {value} to all.</p>" if suffix == ".html" else f"paper {number}\n\n{value}\n"
    if number % 3 == 0:
        value = _renamed(planted, value, plain)
        path, text = path.with_name(f"{value}{suffix}"), f"the paper of the number {number}\n"
    elif number % 25 == 0:
        value = _renamed(planted, value, plain)
        path, text = path.with_name(f"{value}.pdf"), "no document at all"
    path.write_text(text, encoding="utf-8")
    if way == EDITED:
        planted.edits.append(path.unlink if number % 2 else lambda: path.exists() and _emptied(path, number))


def _emptied(path: Path, number: int) -> None:
    """Written again without the value; where its name holds it, under another one."""
    path.unlink()
    path.with_name(f"again {number}.md").write_text(f"the paper {number}, written anew\n")
