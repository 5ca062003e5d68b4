"""Records that an answer names are shown with it: a commit by its hash, minutes by the name of their file."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from relrag_query.archive import Archive
from relrag_query.display.metadata_line import hit_line
from tests.query_hits import publish, record

HASH = "a3b2c1d8e4f7a90b5c6d1e2f3a4b8c9d0e1f2a3b"
MAIL = {"source": "mail", "rag_source_type": "email", "from_": "jan@firma.cz"}
MEETING = {"source": "meetings", "rag_source_type": "meeting_transcript", "participants": ["Jan", "Petr", "Marie"]}


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Archive]:
    commit = {"source": "commits", "rag_source_type": "git_history"}
    records = [
        record("gmail:1", "Autorizaci jsem dnes změnil, je to v commitu a3b2c1d8.", "2025-01-10T14:55:00Z", **MAIL),
        record("gmail:2", "O architektuře jsme rozhodli, zápis je v souboru review-8.txt.", "2025-01-08T14:00:00Z",
               **MAIL),
        record("gmail:3", "Kotel je opravený, faktura je faktura.pdf a číslo je 1234567.", "2025-01-07T08:00:00Z",
               **MAIL),
        record("gmail:4", "Porada o lyžích bude v pondělí.", "2025-01-06T08:00:00Z", **MAIL),
        record(f"git:{HASH}", "Validate tokens.", "2025-01-10T14:48:00Z", from_="Jan Novák <jan.novak@firma.cz>",
               subject="Fix the login", parent_ref=HASH, extra={"git_commit_hash": HASH}, **commit),
        record("git:1234567a", "Boiler.", "2025-01-10T14:48:00Z", subject="One", **commit),
        record("git:1234567b", "Boiler.", "2025-01-10T14:48:00Z", subject="Two", **commit),
        record("meeting:1", "The team goes for microservices.", "2025-01-08T00:00:00Z", subject="Review",
               file_name="review-8.txt", **MEETING),
        record("meeting:2", "O lyžích: jedeme v sobotu, chata je zamluvená.", "2025-01-05T00:00:00Z", subject="Lyže",
               file_name="ski.txt", **MEETING),
        record("document:1", "One.", file_name="faktura.pdf", source="papers", rag_source_type="documentation"),
        record("document:2", "Two.", file_name="faktura.pdf", source="papers", rag_source_type="documentation"),
    ]  # fmt: skip
    with Archive.open(publish(tmp_path_factory.mktemp("named"), records)) as opened:
        yield opened


def asset_ids(archive: Archive, question: str, **only: Any) -> list[str]:
    return [source.hit.chunk.asset_id for source in archive.ask(question, **only).sources]


@pytest.mark.requirement("S3-23")
@pytest.mark.parametrize(
    "question", ["Kdo změnil autorizaci a kdy?", "Kdy byla změněna autorizace?", "Kdo změnil autorizaci?"]
)
def test_the_commit_that_the_answer_names_comes_first_and_says_who_and_when(archive: Archive, question: str) -> None:
    answer = archive.ask(question)
    assert [source.hit.chunk.asset_id for source in answer.sources] == [f"git:{HASH}", "gmail:1"]
    assert hit_line(answer.sources[0].hit) == (
        "type=commit; from=jan.novak@firma.cz; subj=Fix the login; when=2025-01-10; commit=a3b2c1d8"
    )
    assert [quote.sources for quote in answer.quotes] == [[1], [2]]
    assert answer.quotes[0].cited_text == "Jan Novák, 2025-01-10: Fix the login [1]"


@pytest.mark.requirement("S3-23")
def test_a_commit_is_no_answer_to_what_else_is_asked(archive: Archive) -> None:
    assert asset_ids(archive, "Co je v commitu o autorizaci?")[0] == "gmail:1"


@pytest.mark.requirement("S3-24")
def test_the_file_that_the_answer_names_is_a_source(archive: Archive) -> None:
    assert asset_ids(archive, "Co jsme rozhodli ohledně architektury?") == ["gmail:2", "meeting:1"]


@pytest.mark.parametrize(
    ("only", "ids"),
    [
        ({"sources": ["mail"]}, ["gmail:1"]),
        ({"kinds": ["gmail"]}, ["gmail:1"]),
        ({"since": "2025-01-10", "sources": ["mail", "commits"]}, [f"git:{HASH}", "gmail:1"]),
    ],
)
def test_what_a_filter_leaves_out_is_not_added_because_it_is_named(
    archive: Archive, only: dict[str, Any], ids: list[str]
) -> None:
    assert asset_ids(archive, "Kdo změnil autorizaci a kdy?", **only) == ids


def test_a_time_leaves_out_what_is_named_and_was_said_before(archive: Archive) -> None:
    """The mail is of the afternoon of the 8th, the minutes of its midnight."""
    question = "Co jsme rozhodli ohledně architektury?"
    assert asset_ids(archive, question, since=datetime(2025, 1, 8, 1, tzinfo=UTC)) == ["gmail:2"]


def test_a_record_that_was_found_but_says_too_little_is_shown_where_the_answer_names_it(archive: Archive) -> None:
    question = "V jakém souboru je zápis, kde jsme rozhodli o architektuře a microservices?"
    assert archive.search(question, sources=["meetings"]).hits[0].chunk.asset_id == "meeting:1"
    assert asset_ids(archive, question)[:2] == ["gmail:2", "meeting:1"]


def test_a_name_that_several_records_have_names_none(archive: Archive) -> None:
    assert asset_ids(archive, "Je kotel opravený?") == ["gmail:3"]


def test_what_was_said_at_a_meeting_is_quoted_from_meetings(archive: Archive) -> None:
    assert "gmail:4" in asset_ids(archive, "Kdy bude porada o lyžích?")
    assert asset_ids(archive, "Co jsme říkali na poradě o lyžích?")[0] == "meeting:2"
