"""Mail that was sent to many ranks below what was written to somebody; a file is not of the time it was copied."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from relrag_pipelines.records import Record
from relrag_query.archive import Archive
from tests.query_hits import passages, publish, record

MAIL = {"source": "mail", "rag_source_type": "email"}
OFFER = "The pump course begins in March. Pump owners save a fifth. The pump of the year is chosen."
RECORDS = [
    record("gmail:n1", OFFER, subject="Pump weekly: the pump", extra={"bulk": "unsubscribe"}, **MAIL),
    record("gmail:n1:0", "The pump, the pump, the pump: all prices.", file_name="pump.pdf", source="mail",
           rag_source_type="email_attachment", parent_asset_id="gmail:n1", index_in_parent=0),
    record("gmail:p1", "After two days of rain we found that the pump in the cellar of the old house had been "
           "leaking for a while and nobody had seen it.", subject="Cellar", **MAIL),
    record("gmail:l1", "Does anybody sell a used pump?", subject="Neighbours", extra={"bulk": "mailing_list"}, **MAIL),
    record("gmail:n2", "Early birds save on every retrospective.", extra={"bulk": "list_id"}, **MAIL),
]  # fmt: skip


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Archive]:
    with Archive.open(publish(tmp_path_factory.mktemp("bulk"), RECORDS)) as opened:
        yield opened


def test_a_newsletter_and_its_attachment_rank_below_what_fits_as_well(archive: Archive) -> None:
    results = archive.search("pump")
    weights = {hit.chunk.asset_id: hit.weight for hit in results.hits}
    assert weights == {"gmail:n1": 0.75, "gmail:n1:0": 0.75, "gmail:p1": 1.0, "gmail:l1": 1.0}
    assert [hit.score for hit in results.hits] == sorted((hit.score for hit in results.hits), reverse=True)
    assert any("; 2 of 4 hits were sent to many" in line for line in results.trace)


def test_it_is_not_quoted_beside_what_was_written_to_somebody(archive: Archive) -> None:
    shown = {source.hit.chunk.asset_id for source in archive.ask("What about the pump?").sources}
    assert shown == {"gmail:p1", "gmail:l1"}


def test_it_answers_where_nothing_else_does(archive: Archive) -> None:
    answer = archive.ask("What do early birds save on?")
    assert (answer.found, [source.hit.chunk.asset_id for source in answer.sources]) == (True, ["gmail:n2"])


def test_without_mail_among_the_hits_nothing_is_noted(tmp_path: Path) -> None:
    with Archive.open(publish(tmp_path, [record("jsonl:notes:n1", "The pump", source="notes")])) as archive:
        assert not any("sent to many" in line for line in archive.search("pump").trace)


def test_of_one_record_four_passages_stand_before_what_others_say(tmp_path: Path) -> None:
    texts = [f"The kiln of the pottery, part {number}: kiln, kiln and kiln again." for number in range(7)]
    book = record("document:book", "\n".join(texts), rag_source_type="documentation")
    notes = [
        record(f"document:{number}", f"A kiln was sold, number {number}.", rag_source_type="documentation")
        for number in range(4)
    ]
    chunks = [*passages(book, texts), *(one for note in notes for one in passages(note))]
    with Archive.open(publish(tmp_path, [book, *notes], chunks)) as archive:
        hits = archive.search("kiln", limit=8).hits
    assert [hit.chunk.asset_id == "document:book" for hit in hits] == [True] * 4 + [False] * 4


def test_what_gmail_sorted_out_answers_nothing_but_is_found(tmp_path: Path) -> None:
    spam, trash = ({"labels": [label, "unread"]} for label in ("spam", "trash"))
    records = [
        record("gmail:s1", "The parcel waits at the depot, pay 2 euros for it.", extra=spam, **MAIL),
        record("gmail:s1:0", "Pay for the parcel here.", file_name="pay.pdf", source="mail", parent_asset_id="gmail:s1",
               rag_source_type="email_attachment", index_in_parent=0),
        record("gmail:t1", "The old parcel went back.", extra=trash, **MAIL),
        record("gmail:c1", "Parcels at half the price", extra={"labels": ["Category Promotions"]}, **MAIL),
        # an answer to it was written by a person, whatever became of what it answers
        record("gmail:a1", "Our parcel lies at the neighbour's.", parent_asset_id="gmail:s1", **MAIL),
    ]  # fmt: skip
    config = publish(tmp_path, records)
    with Archive.open(config) as archive:
        assert {source.hit.chunk.asset_id for source in archive.ask("Where is the parcel?").sources} == {"gmail:a1"}
        assert {hit.chunk.asset_id for hit in archive.search("parcel").hits} == {one.asset_id for one in records}
    text = config.read_text(encoding="utf-8")
    config.write_text(text.replace("archive =", 'answer_excluded_labels = ["trash"]\narchive =', 1), encoding="utf-8")
    with Archive.open(config) as archive:
        shown = {source.hit.chunk.asset_id for source in archive.ask("Where is the parcel?").sources}
        assert "gmail:s1" in shown and "gmail:t1" not in shown


FILE = {"source": "notes", "rag_source_type": "documentation", "date_quality": "modified"}


def in_time(folder: Path, question: str, *records: Record) -> set[str]:
    """The names of the files that are of the time asked for."""
    with Archive.open(publish(folder, records)) as archive:
        return {str(hit.chunk.file_name) for hit in archive.search(question).hits if hit.in_time}


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How much was the rent in 2024?", "The rent is 9,000 crowns."),
        ("Kolik byl nájem v roce 2024?", "Nájem je 9 000 Kč."),
        ("כמה היה שכר הדירה ב-2024?", "שכר הדירה 9,000 שקל."),
    ],
)
def test_the_time_of_a_file_is_the_time_asked_for_only_where_nothing_else_is(
    tmp_path: Path, question: str, text: str
) -> None:
    copied = record("document:c", text, "2024-05-01T08:00:00Z", file_name="copied.txt", **FILE)
    stated = [
        replace(record(f"document:{name}", text, f"{day}T00:00:00Z", file_name=name, **FILE), date_quality=quality)
        for name, day, quality in (("day.txt", "2024-03-01", "day"), ("year.txt", "2024-01-01", "year"))
    ]
    (tmp_path / "alone").mkdir()
    assert in_time(tmp_path, question, copied, *stated) == {"day.txt", "year.txt"}
    assert in_time(tmp_path / "alone", question, copied) == {"copied.txt"}


def test_a_year_holds_each_of_its_months_and_a_file_that_names_the_time_is_of_it(tmp_path: Path) -> None:
    year = record("document:y", "Rent 9,000.", "2024-01-01T00:00:00Z", file_name="y.txt", **FILE)
    named = record("document:n", "Rent from 2 May 2024: 9,400.", "2025-01-02T00:00:00Z", file_name="n.txt", **FILE)
    after = replace(year, source_id="z", asset_id="document:z", file_name="z.txt", ts=year.ts + 366 * 86_400)
    found = in_time(tmp_path, "rent in May 2024", *(replace(one, date_quality="year") for one in (year, after)), named)
    assert found == {"y.txt", "n.txt"}
