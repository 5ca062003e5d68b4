"""The demo archive holds what its questions, decoys, planted values and traps need (examples/archive/README.md)."""

from __future__ import annotations

import dataclasses
import functools
import importlib.util
import io
import json
import re
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pypdfium2
import pytest
from stdnum import luhn
from stdnum.il import idnr

from relrag_pipelines import records, settings
from relrag_pipelines.ingest.scan import scan_units
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.records import Failure, Record
from relrag_pipelines.sources import KINDS, ReadContext
from relrag_pipelines.sources.git.log import Log
from relrag_pipelines.stores.table_schema import columns
from relrag_query.display import metadata_line
from tests import ROOT

ARCHIVE = ROOT / "examples" / "archive"
ANSWERS = json.loads((ARCHIVE / "answers.json").read_text(encoding="utf-8"))
QUESTIONS = {question["name"]: question for question in ANSWERS["questions"]}
JSONL = ("mail",)
READ = ("calls", "meetings", "people")
"""sources whose items are what their connector reads"""
LINES = {
    source: (ROOT / "examples/originals/mail.jsonl" if source == "mail" else ARCHIVE / f"{source}.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
    for source in JSONL
}
ITEMS: dict[str, dict[str, dict[str, Any]]] = {
    source: {item["id"]: item for item in map(json.loads, lines)} for source, lines in LINES.items()
}
ORIGINALS = {
    f"{item['parent_asset_id']}:{item['index_in_parent']}": name
    for name, item in ITEMS["mail"].items()
    if "parent_asset_id" in item
}
"""id of an attachment in the archive -> in the original of the mails"""
LOG = ARCHIVE / "firma-web.gitlog"
COMMITS = {commit.hash: commit for commit in Log(io.BytesIO(LOG.read_bytes())).commits()}
CHATS = sorted((ARCHIVE / "whatsapp").iterdir())


@functools.cache
def records_of(source: str) -> list[Record]:
    """What the connector of a source reads."""
    return [record for found in read_source(source, Keys(b"i" * 32, b"p" * 32, "k1")).values() for record in found]


def record(source: str, name: str) -> Record:
    """The record of that id, or of the file whose name holds it."""
    (found,) = (one for one in records_of(source) if one.source_id == name or (one.file_name and name in one.file_name))
    return found


def text_of(reference: dict[str, Any]) -> str:
    """The text of the item or file that answers.json points to."""
    if reference["source"] == "commits":
        return COMMITS[reference["id"]].message
    if reference["source"] in READ:
        found = record(reference["source"], reference.get("id") or reference["file"])
        return "\n".join([found.subject or "", found.text, json.dumps(found.extra, ensure_ascii=False)])
    if "id" in reference:
        item = original(reference)
        return "\n".join([item.get("subject", ""), item["text"], json.dumps(item.get("extra", {}), ensure_ascii=False)])
    path = ARCHIVE / reference["source"] / reference["file"]
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as packed:
            return packed.read("_chat.txt").decode()
    if path.suffix == ".pdf":
        return "\n".join(pages(path))
    return path.read_bytes().decode(errors="replace")


def original(reference: dict[str, Any]) -> dict[str, Any]:
    """The item that answers.json points to by its id."""
    return ITEMS[reference["source"]][ORIGINALS.get(reference["id"], reference["id"])]


def pages(path: Path) -> list[str]:
    with pypdfium2.PdfDocument(path) as document:
        return [page.get_textpage().get_text_range().replace("\r\n", "\n") for page in document]


def chat_lines() -> list[str]:
    return [line for path in CHATS for line in text_of({"source": "whatsapp", "file": path.name}).splitlines()]


def words(text: str) -> str:
    return " ".join(text.split())


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


DECOYS = {
    "mail-czech-invoice": "Reminder: invoice 2024-0931",
    "mail-czech-invoice-paid": "Faktura / Invoice 2024-0931",
    "mail-czech-invoice:0": "Faktura č. 2024-0931",
    "invoices/faktura-2024-0931.pdf": "Faktura č. 2024-0931",
    "WhatsApp Chat with Thursday Football.txt": "Alex Rubin: Can we discuss that last call?",
    "mail-contract-draft": "Attached is our first draft of the contract",
    "mail-contract-draft:0": "Service contract between",
    "mail-contract-draft-reply": "First draft of the service contract",
    "contract_old.pdf": "First draft, 10 December 2024",
    "paperless/lease-herzl-14.pdf": "Lease contract",
    "person-88": "clinic",
    "person-42:colleague:person-88": "Calls the clinic his family",
    "mail-pump-newsletter": "Nově také sanitární technika",
    "7c9e1a3b5d7f8a0c2e4b6d9f1a3c5e7b8d0f2a4c": "Describe the Authorization header",
    "mail-bank-authorization": "se mění autorizace plateb",
    "meeting-2024-03-13.txt": "Team decided to keep the monolith architecture",
    "Call_recording_Shely_Yakov_241224_110510.m4a": "מי זאת שביקשה הצעה לרכב של משפחת פיקל",
    "Call_recording_Riki_Pickel_241226_164022.m4a": "ריקי פיקל",
    "Call_recording_Shlomo_Pickel_250106_091537.m4a": "שלמה פיקל",
    "צ'אט WhatsApp עם חסידות ויזניץ.txt": "שלמה פיקל",
    "paperless/bank-letter.pdf": "משפחת פיקל",
    "person-9": "Gideon Raz",
    "person-1:former_manager:person-9": "hostile since the resignation",
    "mail-newsletter-agile": "Our course on agile leadership",
}
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
    assert counts == {"mail": 46, "calls": 7, "meetings": 5, "commits": 12, "people": 30}


@pytest.mark.requirement("S3-19", "S3-22", "S3-24")
@pytest.mark.parametrize("name", ["pump"])
def test_compact_lines_come_out_as_in_the_seed(name: str) -> None:
    question = QUESTIONS[name]
    for reference, expected in zip(question["sources"], question["lines"], strict=True):
        item = original(reference)
        assert metadata_line.line(item | item.get("extra", {})) == expected["line"]
        assert item["text"] == expected["text"]


@pytest.mark.requirement("S3-16", "S3-23")
def test_the_commit_reads_as_in_the_seed(keys: Keys) -> None:
    (found,) = read_source("commits", keys).values()
    (wanted,) = QUESTIONS["authorization"]["lines"]
    (commit,) = [one for one in found if one.source_id.startswith("a3b2c1d8")]
    fields = {
        "from": commit.from_,
        "subject": commit.subject,
        "timestamp": at(commit),
        "rag_source_type": "git_history",
    }
    assert metadata_line.line(fields | commit.extra) == wanted["line"].replace("2025-01-10", "2025-01-10 14:48:00")
    assert commit.text == wanted["text"]
    assert commit.from_ == "Jan Novák <jan.novak@firma.cz>"
    assert (len(found), {one.extra["branch"] for one in found}) == (12, {"main"})
    assert [one.extra["tags"] for one in found if "tags" in one.extra] == [["v2.15"], ["v2.14-rc1"]]


def test_the_saved_log_is_made_of_its_original() -> None:
    spec = importlib.util.spec_from_file_location("make_commits", ROOT / "examples" / "make_commits.py")
    assert spec and spec.loader
    maker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(maker)
    assert maker.LOG == LOG
    assert maker.log(maker.ORIGINAL.read_text(encoding="utf-8")) == LOG.read_bytes()


@pytest.mark.requirement("S3-17", "S3-19", "S3-24")
def test_the_compact_line_of_the_meeting_comes_out_as_in_the_seed() -> None:
    (expected,) = QUESTIONS["architecture"]["lines"]
    found = record("meetings", "meeting-2025-01-08.txt")
    fields = {name.rstrip("_"): value for name, value in dataclasses.asdict(found).items()}
    fields |= {"rag_source_type": KINDS["meeting"].rag_source_type, "timestamp": at(found).replace(" ", "T")}
    assert metadata_line.line(fields) == expected["line"]
    assert found.text == expected["text"]


def test_every_call_has_its_transcript_speakers_length_and_time() -> None:
    told = {
        (one.extra["transcript"].rpartition(".")[2], one.extra["seconds"], one.from_, one.extra["speakers"][0])
        for one in records_of("calls")
    }
    assert told == {
        ("vtt", 431.0, "Alex Rubin", "Alex Rubin"),
        ("txt", 97.0, "דורון לוי", "דורון לוי"),
        ("srt", 254.0, "איתן פיקל", "Jonah"),
        ("json", 188.0, "שלי יעקב", "שלי יעקב"),
        ("vtt", 301.0, "ריקי פיקל", "ריקי פיקל"),
        ("vtt", 215.0, "שלמה פיקל", "שלמה פיקל"),
        ("txt", 326.0, "Petr Svoboda", "Petr Svoboda"),
    }
    assert {one.extra["state"] for one in records_of("calls")} == {"transcribed"}


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


@pytest.mark.requirement("S2-2")
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


@pytest.mark.requirement("S1-14")
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
    names = ["whatsapp", "documents", "mail", "calls", "meetings", "commits", "people", "code"]
    assert [source.name for source in demo.sources] == names
    assert all(demo.source_path(source).exists() for source in demo.sources)
    assert demo.keys_path == ROOT / "relrag.keys"
    assert "EMAIL_ADDRESS" not in demo.pii_policies["git"].entities, "a commit's author is the answer to who changed it"


def read_source(name: str, keys: Keys) -> dict[str, list[Record]]:
    """What the source's connector reads from each of its files; a failure fails the test."""
    demo = settings.load(ROOT / "relrag.toml", environ={})
    source = demo.source(name)
    kind, base = KINDS[source.kind], demo.source_path(source)
    found: dict[str, list[Record]] = {}
    for path, unit in scan_units(base, kind, source, {}, "").units.items():
        items = list(kind.read(unit, ReadContext(name, demo.timezone, keys.id_hash, owner=demo.owner)))
        assert not [item for item in items if isinstance(item, Failure)], path
        found[path] = [item for item in items if isinstance(item, Record)]
    return found


def at(record: Record) -> str:
    assert record.ts is not None
    return datetime.fromtimestamp(record.ts, UTC).strftime("%Y-%m-%d %H:%M:%S")


@pytest.mark.parametrize(
    ("file", "count", "first", "last", "senders"),
    [
        ("WhatsApp Chat - Shiran.zip", 50, "2024-05-20 18:03:11", "2025-01-19 18:47:21", {"Shiran"}),
        ("WhatsApp Chat with Alex Rubin.txt", 59, "2024-08-12 07:02:00", "2025-01-19 06:40:00", {"Alex Rubin"}),
        ("WhatsApp Chat with Noa Ben-Ami.txt", 32, "2024-05-14 16:02:00", "2025-01-17 08:31:00", {"Noa Ben-Ami"}),
        ("WhatsApp Chat with דורון לוי חשמלאי.txt", 16, "2024-10-07 13:00:00", "2025-01-13 17:21:00",
         {"דורון לוי חשמלאי"}),
        ("WhatsApp Chat with Firma dev.txt", 36, "2024-11-18 07:02:00", "2025-01-20 06:03:00",
         {"Jan Novák", "Petr Svoboda", "Marie Dvořáková"}),
        ("WhatsApp Chat with Thursday Football.txt", 58, "2023-11-09 10:00:00", "2025-01-16 21:07:00",
         {"Yossi Azulay", "Gadi Perl", "Doron Katz", "Tomer Gal", "Alex Rubin"}),
        ("צ'אט WhatsApp עם ועד בית הרצל 14.txt", 44, "2024-05-05 07:00:00", "2025-01-19 15:25:00",
         {"רינה שלו", "עמוס דירה 3", "גלית דירה 6", "+972 52-555-0186"}),
        ("צ'אט WhatsApp עם חסידות ויזניץ.txt", 28, "2024-10-20 17:00:00", "2025-01-19 17:52:00",
         {"שלמה פיקל", "משה גרוס", "אהרן וייס"}),
        ("צ'אט WhatsApp עם משפחה.txt", 71, "2023-11-12 16:00:00", "2025-01-18 19:11:00",
         {"שירן", "אמא", "אבא", "דוד תמיר", "סבתא"}),
    ],
)  # fmt: skip
def test_chats_are_read(file: str, count: int, first: str, last: str, senders: set[str], keys: Keys) -> None:
    """Every date style of the demo: times are Jerusalem's, two hours ahead of UTC in winter and three in summer."""
    messages = read_source("whatsapp", keys)[file]
    assert (len(messages), at(messages[0]), at(messages[-1])) == (count, first, last)
    assert {message.from_ for message in messages} - {None, "Jonah"} == senders


def test_jsonl_and_documents_are_read(keys: Keys) -> None:
    for source, items in ITEMS.items():
        if source != "mail":
            (found,) = read_source(source, keys).values()
            assert {record.source_id for record in found} == items.keys(), source
    documents = read_source("documents", keys)
    assert (len(documents), {len(found) for found in documents.values()}) == (24, {1})
    (contract,) = documents["contract_v2.pdf"]
    assert (at(contract), contract.subject) == ("2025-01-14 12:00:00", "Service contract, version 2")


def test_mails_are_read_as_their_originals_say(keys: Keys) -> None:
    """From, to, subject, time, text and attachments; history and what stands below a closing are kept apart."""
    found = [record for records in read_source("mail", keys).values() for record in records]
    by_id = {record.source_id: record for record in found}
    assert (len(found), len(by_id)) == (48, 46), "one mail and its attachment are in the mailbox and saved"
    for name, item in ITEMS["mail"].items():
        attached = "parent_asset_id" in item
        record = by_id[f"{item['parent_asset_id']}:0" if attached else name]
        own, _, history = item["text"].partition("\n\nOn Tue, 14 Jan" if "\n> " in item["text"] else "\0")
        own, _, history = (own, "", history) if history or "\n> " not in own else own.partition("\n\nOn Mon, 13 Jan")
        apart = record.extra.get("apart", {})
        assert words(f"{record.text} {apart.get('signature', '')}".strip()) == words(own), name
        assert ("quoted" in apart) == bool(history), name
        assert (record.from_, record.to, record.subject) == (item["from"], item["to"], item["subject"]), name
        assert datetime.fromtimestamp(record.ts or 0, UTC) == datetime.fromisoformat(item["timestamp"]), name
        assert record.total_siblings == item.get("total_siblings", 0), name
        assert (record.content_type, record.file_name) == (item["content_type"], item.get("file_name")), name


def test_the_code_is_of_the_files_that_the_commits_name(keys: Keys) -> None:
    found = read_source("code", keys)
    committed = {path.removeprefix("firma-web/"): items for path, items in found.items()}
    assert committed.keys() <= {file["path"] for commit in COMMITS.values() for file in commit.files}
    (service,) = (items for path, items in committed.items() if path.endswith("UserService.java"))
    assert [one.subject for one in service] == [
        *("UserService.java", "UserService", "UserService.UserService"),
        *("UserService.authenticate", "UserService.mayOpen", "UserService.ofSession"),
    ]
    assert {one.content_type for items in found.values() for one in items} == {"java", "sql", "shell"}
