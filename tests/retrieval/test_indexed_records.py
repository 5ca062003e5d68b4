"""What only the whole record tells goes from all that is shown of it, before the next sync."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import relrag_query
from relrag_pipelines.pii import PIIRedactor, record_values
from relrag_query.archive import Archive
from relrag_query.retrieval import catalog_reader, indexed_records
from relrag_query.retrieval.redacted_views import WITHHELD
from tests import archive

OFF, ON = "pii_redaction_enabled = false", "pii_redaction_enabled = true"
ACCOUNT, SHORT, PASSPORT = "19-2000145399/0800", "5551234", "7654321"
INVOICE = {
    "id": "invoice",
    "text": f"Please pay to CZ65 0800 0000 1920 0014 5399, that is {ACCOUNT}, within thirty days.",
    "subject": "Invoice for the kiln",
    "timestamp": "2024-03-01T08:00:00Z",
    "from": "Ota",
    "file_name": "19-2000145399_0800.txt",
}
FILLER = "The ferry to the island leaves the harbour early in the morning when the sea is calm and the wind is low. "
TRIP = {
    "id": "trip",
    "text": FILLER * 3 + f"Bring the passport:\n\n# {PASSPORT} is on the ticket\n\n" + FILLER * 3,
    "timestamp": "2024-03-02T08:00:00Z",
    "from": "Ota",
}
CARD = f"""BEGIN:VCARD
VERSION:3.0
UID:rina
FN:Rina Katz
TEL:{SHORT}
NOTE:Ring {SHORT} twice
END:VCARD
"""
CARDS = '\n[[sources]]\nname = "cards"\nkind = "contacts"\npath = "cards.vcf"\n'


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Indexed when nothing was hidden; now everything is."""
    folder = tmp_path_factory.mktemp("archive")
    made = archive.make(folder, "chunk_tokens = 100\n")
    made.write_text(made.read_text().replace(ON, OFF) + CARDS)
    (folder / "cards.vcf").write_text(CARD)
    archive.write_notes(folder, INVOICE, TRIP)
    archive.first_sync(made)
    made.write_text(made.read_text().replace(OFF, ON))
    return made


def rows_as_text(config: Path, query: str) -> str:
    """All rows of a query, as one text."""
    with Archive.open(config) as opened, opened._reading() as connection:
        return json.dumps(connection.execute(query).fetchall(), default=str, ensure_ascii=False)


@pytest.mark.requirement("S0-76")
def test_an_account_goes_from_the_name_of_the_file_whose_text_has_its_iban(config: Path) -> None:
    for table in ("records", "chunks"):
        row = rows_as_text(config, f"SELECT text, file_name FROM {table} WHERE asset_id = 'jsonl:notes:invoice'")
        assert "2000145399" not in row
        assert row.count("<IBAN_CODE:k1:") == 3


def test_a_passport_goes_from_the_passage_behind_the_one_that_announces_it(config: Path) -> None:
    query = "SELECT text FROM {} WHERE asset_id = 'jsonl:notes:trip' ORDER BY chunk_index"
    alone = [text for (text,) in json.loads(rows_as_text(config, query.format("indexed_chunks"))) if PASSPORT in text]
    assert alone and not any("passport" in text for text in alone)
    assert PASSPORT not in (rows := rows_as_text(config, query.format("chunks")))
    assert rows.count("<PASSPORT:k1:") == len(alone)


def test_a_short_number_that_a_card_calls_a_phone_is_shown_nowhere(config: Path) -> None:
    for table in ("records", "chunks", "identifiers", "person_aliases", "person_facts"):
        assert SHORT not in rows_as_text(config, f"FROM {table}"), table
    assert SHORT in rows_as_text(config, "FROM indexed_person_aliases")
    assert "Ring <PHONE_NUMBER:k1:" in rows_as_text(config, "SELECT text, extra FROM records WHERE kind = 'contacts'")


def test_each_record_is_looked_at_once_and_only_where_a_query_shows_it(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    find = record_values.find_values

    def counted(record: dict[str, str], columns: list[str], redactor: PIIRedactor, channel: str) -> object:
        seen.append(record["asset_id"])
        return find(record, columns, redactor, channel)

    monkeypatch.setattr(record_values, "find_values", counted)
    with Archive.open(config) as opened:
        assert opened.search("19-2000145399_0800.txt kiln").hits
        opened.record("jsonl:notes:trip")
        once = list(seen)
        opened.record("jsonl:notes:trip")
        opened.search("kiln", limit=1)
    assert seen == once
    assert len(once) == len(set(once)) and "jsonl:notes:trip" in once


@pytest.mark.slow
def test_sixteen_threads_are_shown_what_one_is_shown(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also while what is remembered of records is thrown away amid the queries of others."""
    monkeypatch.setattr(indexed_records, "_MAX_CACHED_RECORDS", 0)
    queries = [f"SELECT * FROM {table} ORDER BY ALL" for table in ("records", "chunks", "identifiers", "person_facts")]
    serial = [rows_as_text(config, query) for query in queries]
    begin = threading.Barrier(16)
    with Archive.open(config) as opened:

        def read(number: int) -> list[str]:
            begin.wait()
            rows = {}
            for query in (*queries[number % 4 :], *queries[: number % 4]):
                with opened._reading() as connection:
                    rows[query] = json.dumps(connection.execute(query).fetchall(), default=str, ensure_ascii=False)
            return [rows[query] for query in queries]

        with ThreadPoolExecutor(16) as pool:
            found = list(pool.map(read, range(16)))
    assert found == [serial] * 16
    assert "<PHONE_NUMBER:k1:" in serial[0] and WITHHELD not in "".join(serial)


def test_a_record_is_found_by_the_subject_that_it_was_indexed_under(config: Path) -> None:
    with Archive.open(config) as opened, opened._reading() as connection:
        assert catalog_reader.refs_by_name(connection, [], [], ["Invoice for the kiln"]) == ["jsonl:notes:invoice"]


def test_only_what_shows_no_text_reads_records_as_they_were_indexed() -> None:
    package = Path(relrag_query.__file__).parent
    readers = {one.name for one in package.rglob("*.py") if "FROM indexed_records" in one.read_text()}
    assert readers == {"catalog_reader.py", "listing.py", "indexed_records.py"}
