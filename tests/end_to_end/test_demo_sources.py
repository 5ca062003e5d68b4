"""The connectors read from the demo archive what its originals say."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime

import pytest

from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.sources import KINDS, mail_ids
from relrag_query.display import metadata_line
from tests.cases import cases
from tests.demo_archive import COMMITS, ITEMS, QUESTIONS, at, read_source, record, records_of, words


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


@pytest.mark.parametrize(*cases(__file__, "chats_are_read"))
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
    by_id = {mail_ids.plain_id(record.source_id): record for record in found}
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


def test_the_older_collection_is_a_conversation(keys: Keys) -> None:
    (found,) = read_source("older", keys).values()
    asked, answered = sorted(found, key=lambda one: one.ts or 0)
    assert (asked.from_, asked.to, at(asked), asked.subject) == (
        "Yael Mor",
        [],
        "2024-03-01 07:00:00",
        "Birds of the Yarkon",
    )
    assert asked.text == "Two kingfishers at the bridge this morning. Bring the long lens tomorrow?"
    assert (answered.from_, answered.parent_asset_id) == ("Jonah", asked.asset_id)
    assert {one.thread_id for one in found} == {"5"}
