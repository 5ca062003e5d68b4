"""The demo archive holds what its questions, decoys, planted values and traps need; see its README.md."""

from __future__ import annotations

import importlib.util
import json
import re
import zipfile
from collections.abc import Iterator
from typing import Any

import pytest
from stdnum import luhn
from stdnum.il import idnr

from docs.kinds import SAMPLES
from relrag_pipelines import records, settings
from relrag_pipelines.sources import KINDS
from relrag_pipelines.stores.table_schema import columns
from relrag_query.display import metadata_line
from tests import ROOT
from tests.cases import case_values
from tests.demo_archive import (
    ANSWERS,
    ARCHIVE,
    COMMITS,
    ITEMS,
    JSONL,
    LINES,
    LOG,
    QUESTIONS,
    READ,
    at,
    chat_lines,
    original,
    pages,
    record,
    records_of,
    text_of,
    words,
)


def references() -> Iterator[tuple[str, dict[str, Any]]]:
    for question in ANSWERS["questions"]:
        for role in ("sources", "allowed", "not_shown"):
            yield from ((f"{question['name']} {role}", reference) for reference in question[role])
    for entry in ANSWERS["traps"]:
        yield from ((entry["trap"], reference) for reference in entry["where"])


@pytest.mark.parametrize(("where", "reference"), list(references()))
def test_answers_point_to_what_is_there(where: str, reference: dict[str, Any]) -> None:
    text = text_of(reference)
    assert text, where
    wanted = reference.get("text", "")
    if not re.fullmatch(r"\S+Z|report-card-mia.pdf", wanted):
        assert wanted in text, where


DECOYS = dict(case_values(__file__, "decoys"))
"""what a question must not show -> what of it tempts a search by words or meaning"""


def test_each_decoy_tempts() -> None:
    found = {
        str(one.get("id") or one["file"]): words(text_of(one))
        for question in ANSWERS["questions"]
        for one in question["not_shown"]
    }
    assert found.keys() == DECOYS.keys()
    assert [name for name, tempting in DECOYS.items() if tempting not in found[name]] == []


def test_jsonl_items_have_known_fields_and_parents() -> None:
    known = {column.name for column in columns(records.Record)} | {"id"}
    for source, items in ITEMS.items():
        assert len(LINES[source]) == len(items), f"{source}: an id stands twice"
        for name, item in items.items():
            assert item.keys() <= known, f"{source} {name}"
            assert item.get("parent_asset_id") is None or item["parent_asset_id"] in items, f"{source} {name}"
            assert re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ", item.get("timestamp", "2025-01-01T00:00:00Z"))
    ids = [name for items in ITEMS.values() for name in items]
    assert len(ids) == len(set(ids)), "one id in two files is one record"


def test_size_of_the_archive() -> None:
    files = [path for path in ARCHIVE.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 1_500_000
    messages = [line for line in chat_lines() if re.match(r"[\u200e\u200f]?\[?\d", line) and ": " in line]
    assert 250 <= len(messages) <= 500
    counts = {name: len(items) for name, items in ITEMS.items()} | {name: len(records_of(name)) for name in READ}
    counts["commits"] = len(COMMITS)
    others = sum(counts.values()) + sum(1 for path in files if path.parts[len(ARCHIVE.parts)] == "documents")
    assert 60 <= others <= 130
    assert counts == {"mail": 46, "sms": 4, "calls": 7, "meetings": 5, "commits": 12, "people": 30}


@pytest.mark.requirement("S3-19", "S3-22", "S3-24")
@pytest.mark.parametrize("name", ["pump"])
def test_compact_lines_come_out_as_in_the_seed(name: str) -> None:
    question = QUESTIONS[name]
    for reference, expected in zip(question["sources"], question["lines"], strict=True):
        item = original(reference)
        assert metadata_line.line(item | item.get("extra", {})) == expected["line"]
        assert item["text"] == expected["text"]


def test_the_saved_log_is_made_of_its_original() -> None:
    spec = importlib.util.spec_from_file_location("make_commits", ROOT / "examples" / "make_commits.py")
    assert spec and spec.loader
    maker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(maker)
    assert maker.LOG == LOG
    assert maker.log(maker.ORIGINAL.read_text(encoding="utf-8")) == LOG.read_bytes()


def test_the_contract_thread() -> None:
    mails = [item for item in ITEMS["mail"].values() if item.get("thread_id") == "thread-contract"]
    assert [(mail["id"], mail["timestamp"][:10]) for mail in mails] == [
        ("mail-contract-points", "2025-01-06"),
        ("mail-contract-v2", "2025-01-14"),
        ("att-contract-v2", "2025-01-14"),
        ("mail-contract-reply", "2025-01-15"),
    ]
    attachment = ITEMS["mail"]["att-contract-v2"]
    assert (attachment["parent_asset_id"], attachment["file_name"]) == ("mail-contract-v2", "contract_v2.pdf")
    assert "notice period of sixty days" in attachment["text"]
    draft = ITEMS["mail"]["att-contract-old"]
    assert (draft["timestamp"][:10], draft["thread_id"]) == ("2024-12-10", "thread-contract-draft")
    assert "notice period of thirty days" in draft["text"]


def test_the_invoice_and_the_call() -> None:
    chat = text_of({"source": "whatsapp", "file": "WhatsApp Chat with Alex Rubin.txt"})
    assert "13/01/2025, 09:41 - Alex Rubin: Morning! INV-1187 is 8,400₪, VAT wrong" in chat
    assert "8,400.00₪" in ITEMS["mail"]["att-alex-invoice"]["text"]
    assert "7,980₪" in ITEMS["mail"]["mail-alex-corrected"]["text"]
    assert "Total to pay: 7,980₪" in ITEMS["mail"]["att-alex-corrected"]["text"]
    call = record("calls", "Call_recording_Alex_Rubin_250116_183005.m4a")
    assert at(call) == "2025-01-16 16:30:05", "18:30:05 in Jerusalem"


def test_the_call_agrees_in_the_second_of_three_passages() -> None:
    text = record("calls", "Call_recording_Alex_Rubin_250116_183005.m4a").text
    starts = [match.start() for match in re.finditer(r"\w+|[^\w\s]", text)]
    longest = settings.Settings().chunk_tokens
    assert 2 * longest < len(starts) < 3 * longest
    agreed = [sum(start < text.index(said) for start in starts) for said in ("I'll transfer 7,980", "Agreed. 7,980")]
    assert all(1.2 * longest < place < 1.9 * longest for place in agreed), agreed


@pytest.mark.parametrize(
    "name", [item["id"] for item in ITEMS["mail"].values() if item.get("file_name", "").endswith(".pdf")]
)
def test_attachments_say_what_their_pdf_says(name: str) -> None:
    attachment = ITEMS["mail"][name]
    mail = ITEMS["mail"][attachment["parent_asset_id"]]
    for field in ("from", "to", "subject", "timestamp", "thread_id", "parent_ref", "total_siblings"):
        assert attachment[field] == mail[field], field
    saved = list((ARCHIVE / "documents").rglob(attachment["file_name"]))
    assert len(saved) == (name != "att-pump-faktura")
    for path in saved:
        assert words("\n".join(pages(path))) == words(attachment["text"])


def test_people_and_their_pinned_ids() -> None:
    contacts = [one for one in records_of("people") if one.rag_source_type == "contact"]
    pinned = {one.people[0].person_id: one.subject or "" for one in contacts}
    assert {number: pinned[number] for number in (42, 17, 23, 88)} == {
        42: "Shiran Tamir", 17: "David Tamir", 23: "Mia Tamir", 88: "Omer Segal",
    }  # fmt: skip
    assert [pinned[number] for number in (61, 62, 63, 64)] == [
        "דניאלה פיקל", "דניאלה", "Daniella Lever", "דניאלה ליבר פיקל",
    ]  # fmt: skip
    assert sum(name.startswith("Doron ") for name in pinned.values()) == 2
    about = [one.file_name for one in records_of("calls") if "דניאלה" in one.text]
    assert about == ["Call_recording_Eitan_Pickel_241223_201145.m4a"]


def test_the_mentor_is_named_by_a_relationship_only() -> None:
    relationship = record("people", "person-1:mentor:person-7").extra["relationship"]
    assert relationship == QUESTIONS["mentors"]["relationship"]
    saying = [name for items in ITEMS.values() for name, item in items.items() if "mentor" in json.dumps(item).lower()]
    saying += [one.source_id for name in READ for one in records_of(name) if "mentor" in str(one).lower()]
    saying += [commit.hash for commit in COMMITS.values() if "mentor" in commit.message.lower()]
    assert saying == ["person-1:mentor:person-7"]
    assert not any("mentor" in line.lower() for line in chat_lines())
    for path in (path for path in (ARCHIVE / "documents").rglob("*") if path.is_file()):
        assert "mentor" not in text_of({"source": "documents", "file": path}).lower(), path.name


@pytest.mark.parametrize("plant", ANSWERS["plants"], ids=lambda plant: plant["value"])
def test_planted_values_are_there(plant: dict[str, Any]) -> None:
    for reference in plant["where"]:
        assert plant["value"] in text_of(reference), reference
    glued = plant.get("glued", "")
    assert any(re.search(rf"(?<![א-ת]){glued}", text_of(reference)) for reference in plant["where"])


def test_planted_numbers_are_what_they_claim_to_be() -> None:
    assert idnr.is_valid("123456782")
    assert not idnr.is_valid("123456789")
    assert not idnr.is_valid("204881736"), "the order number must not pass as an ID"
    assert luhn.is_valid("4111111111111111")


def test_what_is_the_same_in_several_channels() -> None:
    """Each of these relates records of different sources; tests/end_to_end/test_demo.py asserts the relations."""
    (invited,) = [one for one in records_of("mail") if one.file_name == "invite.ics"]
    meeting = record("meetings", "meeting-2025-01-09.txt")
    assert [event["uid"] for event in invited.extra["events"]] == [meeting.extra["calendar_uid"]]
    sent = record("whatsapp", "00000040-report-card-mia.pdf")
    assert sent.extra["bytes_hash"] == record("documents", "school-certificate-mia.pdf").extra["bytes_hash"]
    for number, sources in {
        "INV-1187": {"whatsapp", "mail", "documents"},
        "204881736": {"whatsapp", "mail"},
        "10-800-99999999": {"whatsapp", "mail", "documents"},
        "2024-0931": {"mail", "documents"},
    }.items():
        holding = {
            name for name in (*JSONL, "whatsapp", "documents") for one in records_of(name) if number in one.numbers
        }
        assert holding == sources, number


def test_traps() -> None:
    shiran = text_of({"source": "whatsapp", "file": "WhatsApp Chat - Shiran.zip"})
    assert shiran.count("[31/12/2024, 23:59:58] ") == 2
    assert shiran.count("[27/12/2024, 18:30:44] Shiran") == 2
    documents = ARCHIVE / "documents"
    assert (documents / "notes/router-setup.md").read_bytes() == (documents / "backup/router-setup.md").read_bytes()
    certificate = (documents / "paperless/school-certificate-mia.pdf").read_bytes()
    with zipfile.ZipFile(ARCHIVE / "whatsapp" / "WhatsApp Chat - Shiran.zip") as packed:
        assert packed.read("00000040-report-card-mia.pdf") == certificate
    assert "\n> days of notice" in ITEMS["mail"]["mail-contract-reply"]["text"]
    family = text_of({"source": "whatsapp", "file": "צ'אט WhatsApp עם משפחה.txt"})
    assert family.count("\u200f") > 50


def test_papers_have_their_pages() -> None:
    cooper = pages(ARCHIVE / "documents/papers/Cooper, R. (2018). Agile-Stage-Gate Hybrids.pdf")
    schwaber = pages(ARCHIVE / "documents/papers/Schwaber, K. (2020). Scrum Guide.pdf")
    assert (len(cooper), len(schwaber)) == (18, 6)
    assert "Agile methodologies have become central to NPD processes" in words(cooper[16])
    assert "The integration of Agile into Stage-Gate systems" in words(cooper[17])
    assert "Scrum is the most widely used Agile framework" in words(schwaber[4])


def test_the_answer_about_agile_cites_seven_reports_on_fifteen_pages() -> None:
    plan = QUESTIONS["agile"]["graphrag"]
    cited = [
        number for part in re.findall(r"Reports \(([^)]*)\)", plan["answer"]) for number in re.findall(r"\d+", part)
    ]
    assert cited == ["5", "3", "47", "10", "12", "21", "33"]
    assert set(cited) == plan["communities"].keys()
    rows = {tuple(page) for community in plan["communities"].values() for page in community}
    assert len(rows) == plan["rows"] == 15


def test_settings_of_the_demo_load() -> None:
    demo = settings.load(ROOT / "relrag.toml", environ={})
    assert (demo.archive, demo.owner, demo.timezone) == ("demo", ANSWERS["owner"], ANSWERS["timezone"])
    assert demo.pii_redaction_enabled
    assert demo.asset_neighborhood_expansion_enabled
    names = ["whatsapp", "documents", "mail", "calls", "meetings", "commits", "people", "code", "sms", "older"]
    assert [source.name for source in demo.sources] == names
    shown = {source.kind for source in demo.sources} | SAMPLES.keys()
    assert shown == KINDS.keys(), "the demo holds every kind, or there are samples of it"
    assert all(demo.source_path(source).exists() for source in demo.sources)
    assert demo.keys_path == ROOT / "relrag.keys"
    assert "EMAIL_ADDRESS" not in demo.pii_policies["git"].entities, "a commit's author is the answer to who changed it"
