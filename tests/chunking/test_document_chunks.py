"""Long records in passages: what stays whole, where they are cut, and that nothing gets lost."""

from itertools import pairwise
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relrag_pipelines.chunking import chunk, text_hash
from relrag_pipelines.chunking.document_chunks import passages
from relrag_pipelines.records import Chunk, Page, Record
from relrag_pipelines.stores.table_schema import arrow_schema, to_table
from relrag_pipelines.text.packing import pack, split_long
from relrag_pipelines.text.token_count import count_tokens, fits

LIMIT = 32


def records(*given_: Record) -> pa.Table:
    for record in given_:
        record.asset_id = record.asset_id or f"document:{record.source_id}"
        record.source, record.kind = "notes", "document"
        record.rag_source_type = record.rag_source_type or "documentation"
    return to_table(list(given_), Record)


def chunks(*given_: Record, tokens: int = LIMIT, overlap: int = 1) -> list[dict[str, Any]]:
    table = chunk(records(*given_), kind="document", chunk_tokens=tokens, overlap_sentences=overlap)
    assert table.schema == arrow_schema(Chunk)
    return sorted(table.to_pylist(), key=lambda row: (row["asset_id"], row["chunk_index"]))


def texts(text: str, pages: list[dict[str, Any]] | None = None, limit: int = LIMIT, overlap: int = 0) -> list[str]:
    return [text[part.start : part.end] for part in passages(text, pages or [], limit, overlap)]


def sentence(number: int, words: int = 9) -> str:
    return f"Sentence {number} " + " ".join(["word"] * (words - 2)) + "."


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("Hello, world!", 4), ("x" * 33, 3), ("שָׁלוֹם", 1), ("8,400₪", 4), ("čerpadlo\n\tUP 20-30", 5), ("", 0), (" \n", 0)],
)
def test_count_tokens(text: str, tokens: int) -> None:
    """Words and marks; very long words count more, points and accents belong to their letters."""
    assert count_tokens(text) == tokens


@pytest.mark.requirement("S3-1")
def test_every_passage_has_the_scope_of_its_record() -> None:
    scope = {"project_id": "kiln", "client_id": "acme", "source_uri": "https://notes.example/1", "language": "cs"}
    rows = chunks(Record("r", " ".join(sentence(number) for number in range(9)), **scope))
    assert len(rows) > 1
    for name, value in scope.items():
        assert [row[name] for row in rows] == [value] * len(rows)


def test_a_short_record_is_one_passage() -> None:
    """All fields of the record go along; the passage has the record's id and the record as its group."""
    (row,) = chunks(
        Record(
            "a",
            "Kdy přijde pan Novák?",
            from_="Jana",
            to=["Petr"],
            participants=["Jana", "Petr"],
            subject="Návštěva",
            timestamp="2025-01-15T08:00:00Z",
            ts=1736928000,
            thread_id="mail:t",
            parent_ref="mail:m",
            language="cs",
        )
    )
    assert row == {
        "chunk_id": "3c50dc91-e4ed-5068-aeaa-c8675288e8d6",
        "asset_id": "document:a",
        "chunk_group_id": "document:a",
        "chunk_index": 0,
        "chunk_count": 1,
        "text": "Kdy přijde pan Novák?",
        "text_hash": "119dffe7001c6a3d7d7445ed145044c2",
        "source": "notes",
        "kind": "document",
        "rag_source_type": "documentation",
        "start": 0,
        "end": 21,
        "page_number": None,
        "last_page_number": None,
        "members": [],
        "source_id": "a",
        "client_id": None,
        "project_id": None,
        "from": "Jana",
        "to": ["Petr"],
        "participants": ["Jana", "Petr"],
        "section": None,
        "subject": "Návštěva",
        "timestamp": "2025-01-15T08:00:00Z",
        "ts": 1736928000,
        "last_ts": 1736928000,
        "thread_id": "mail:t",
        "parent_asset_id": None,
        "parent_ref": "mail:m",
        "index_in_parent": None,
        "total_siblings": None,
        "content_type": None,
        "file_name": None,
        "source_uri": None,
        "language": "cs",
        "start_second": None,
        "end_second": None,
        "date_quality": "exact",
    }


@pytest.mark.requirement("S0-26")
@pytest.mark.requirement("S0-45")
def test_passages_share_asset_and_group_and_have_ids_of_their_own() -> None:
    """Ten sentences of ten tokens in passages of 32: three each, the last of one repeated at the start of the next."""
    rows = chunks(Record("a", " ".join(map(sentence, range(10)))))
    assert [row["text"].count("Sentence") for row in rows] == [3, 3, 3, 3, 2]
    assert [row["text"].split()[1] for row in rows] == ["0", "2", "4", "6", "8"]
    assert {(row["asset_id"], row["chunk_group_id"], row["chunk_count"]) for row in rows} == {
        ("document:a", "document:a", 5)
    }
    assert len({row["chunk_id"] for row in rows}) == 5


@pytest.mark.requirement("S3-9", "S3-10", "S3-14", "S3-17")
@pytest.mark.parametrize(
    ("fields", "apart", "count", "indexes", "totals"),
    [
        ({"rag_source_type": "email", "total_siblings": 2}, "", 10, [0, 1, 2, 3, 4], [2] * 5),
        ({"rag_source_type": "email", "total_siblings": 0}, "Jana", 10, [0, 1, 2, 3, 4, None], [0] * 6),
        ({"rag_source_type": "email", "total_siblings": 0}, "Jana", 1, [None, None], [0, 0]),
        ({"rag_source_type": "email"}, "", 10, [0, 1, 2, 3, 4], [None] * 5),
        ({"rag_source_type": "meeting_transcript"}, "", 10, [0, 1, 2, 3, 4], [5] * 5),
        ({"rag_source_type": "meeting_transcript"}, "", 1, [None], [None]),
        ({"rag_source_type": "email_attachment", "index_in_parent": 1, "total_siblings": 2}, "", 10, [1] * 5, [2] * 5),
        ({"rag_source_type": "documentation"}, "", 10, [None] * 5, [None] * 5),
    ],
)
def test_the_passages_of_a_long_mail_or_meeting_are_its_parts(
    fields: dict[str, Any], apart: str, count: int, indexes: list[int | None], totals: list[int | None]
) -> None:
    """A mail's siblings are its attachments, a meeting's are its parts; a signature is no part."""
    extra = {"apart": {"signature": apart}} if apart else {}
    rows = chunks(Record("a", " ".join(map(sentence, range(count))), extra=extra, **fields))
    assert [row["index_in_parent"] for row in rows] == indexes
    assert [row["total_siblings"] for row in rows] == totals


@pytest.mark.requirement("S1-7")
@pytest.mark.parametrize(
    ("between", "numbers", "begins"),
    [("\n\n", [(17, 17), (18, 18), (19, 19)], "over the break"), ("\n", [(17, 17), (18, 19), (19, 19)], "Sentence 5")],
)
def test_pages_stay_whole_and_are_named(between: str, numbers: list[tuple[int, int]], begins: str) -> None:
    """Three pages that fit a passage each; a sentence that runs over stays whole unless pages stand apart."""
    parts = [
        f"{sentence(1)} {sentence(2)}",
        f"{sentence(3)} {sentence(4)} this runs",
        f"over the break. {sentence(5)} {sentence(6)}",
    ]
    starts = [sum(len(part) + len(between) for part in parts[:at]) for at in range(3)]
    pages = [
        Page(17 + at, start, start + len(part)) for at, (start, part) in enumerate(zip(starts, parts, strict=True))
    ]
    rows = chunks(Record("a", between.join(parts), pages=pages))
    assert [(row["page_number"], row["last_page_number"]) for row in rows] == numbers
    assert rows[2]["text"].startswith(begins)


def test_tiny_pages_go_together() -> None:
    """A title page of three words is no passage of its own."""
    text = "Annual report 2024\n\n" + sentence(1)
    pages = [{"number": 1, "start": 0, "end": 18}, {"number": 2, "start": 20, "end": len(text)}]
    assert [(part.page_number, part.last_page_number) for part in passages(text, pages, LIMIT, 1)] == [(1, 2)]


def test_a_page_that_fits_is_not_divided_for_the_sake_of_a_tiny_one() -> None:
    """Three tokens of a title page would leave no room for the whole of the next."""
    text = f"Annual report 2024\n\n{sentence(1)} {sentence(2)} {sentence(3)}"
    pages = [{"number": 1, "start": 0, "end": 18}, {"number": 2, "start": 20, "end": len(text)}]
    assert [(part.page_number, part.last_page_number) for part in passages(text, pages, LIMIT, 1)] == [(1, 1), (2, 2)]


def test_a_heading_is_not_left_behind() -> None:
    """It goes with the first sentence below it even where that leaves the passage before it short."""
    text = f"Short intro.\n\n# Pump\n\n{sentence(1, 27)} {sentence(2, 27)}"
    assert [part.split("\n")[0] for part in texts(text)] == ["Short intro.", "# Pump", sentence(2, 27)]


def test_headings_stay_with_what_follows() -> None:
    """A passage does not end in a heading, and a heading begins a new one where the last is long enough."""
    text = f"# Notes\n\n{sentence(1)} {sentence(2)}\n\n## Pump\n\n{sentence(3)}\n\n## Roof\n\n{sentence(4)}\n"
    assert [part.split("\n")[0] for part in texts(text)] == ["# Notes", "## Pump", "## Roof"]


def test_long_lines_are_cut_at_the_best_place() -> None:
    """Rows of a table at a line, a long sentence at a clause, text without spaces anywhere."""
    table = "".join(f"a{number}; value {number}\n" for number in range(20))
    assert all(part.endswith("\n") for part in texts(table))
    clauses = ", ".join("and then word word word" for _ in range(12))
    assert all(part.endswith((", ", "word")) for part in texts(clauses))
    assert [len(part) for part in texts("x" * 1000)] == [512, 488]


def test_records_without_text_are_found_by_name() -> None:
    """A picture by its file's name, a mail without text by its subject; what has neither gives nothing."""
    rows = chunks(Record("a", file_name="IMG_1.jpg", subject="Trip"), Record("b", " \n", subject="Trip"), Record("c"))
    assert [(row["asset_id"], row["text"], row["start"], row["end"]) for row in rows] == [
        ("document:a", "IMG_1.jpg", 0, 0),
        ("document:b", "Trip", 0, 0),
    ]


def test_text_hash_does_not_depend_on_the_pseudonym_key() -> None:
    """So a new key computes no vector again; another type is another text."""
    first = text_hash("call <PHONE_NUMBER:k1:ab12cd34ef56> now")
    assert first == text_hash("call <PHONE_NUMBER:k2:0000000000ff> now") == text_hash("call <PHONE_NUMBER> now")
    assert first != text_hash("call <EMAIL_ADDRESS:k1:ab12cd34ef56> now")
    assert len(first) == 32


def test_no_records() -> None:
    """An empty month gives an empty table of the right columns."""
    for kind in ("document", "whatsapp"):
        table = chunk(records(), kind=kind, chunk_tokens=LIMIT, overlap_sentences=1)
        assert (table.num_rows, table.schema) == (0, arrow_schema(Chunk))


TEXT = st.text(alphabet="aAב ,.;!\n#1č\u05b8\f", max_size=400)


@given(TEXT, st.integers(4, 40), st.integers(0, 3), st.lists(st.integers(0, 400), max_size=4))
def test_nothing_is_lost(text: str, limit: int, overlap: int, cuts: list[int]) -> None:
    """Passages cover the text in order without gaps, none is too long, and pages are those of their ends."""
    bounds = sorted({0, *(min(cut, len(text)) for cut in cuts)})
    pages = [
        {"number": number, "start": start, "end": end}
        for number, (start, end) in enumerate(zip(bounds, [*bounds[1:], len(text)], strict=True), 1)
    ]
    found = passages(text, pages, limit, overlap)
    assert found[0].start == 0
    assert found[-1].end == len(text)
    for before, after in pairwise(found):
        assert before.start < after.start <= before.end < after.end
    for part in found:
        assert count_tokens(text[part.start : part.end]) <= limit
        assert part.page_number is not None
        assert part.last_page_number is not None
        assert part.page_number <= part.last_page_number


@given(st.text(alphabet="ab. ", max_size=300), st.text(alphabet="ab. ", max_size=100))
def test_an_addition_changes_only_the_end(text: str, more: str) -> None:
    """All passages but the last two stay as they were when text is added behind."""
    before = [(part.start, part.end) for part in passages(text + "\n" + "Z. " * 40, [], 16, 1)]
    after = [(part.start, part.end) for part in passages(text + "\n" + "Z. " * 40 + more, [], 16, 1)]
    assert after[: max(len(before) - 2, 0)] == before[:-2]


@given(st.text(alphabet="ab ,;.\n", min_size=1, max_size=300), st.integers(1, 10))
def test_split_long(text: str, limit: int) -> None:
    """Parts are in order, not empty, not too long, and end where the text ends."""
    ends = split_long(text, 0, len(text), limit)
    assert ends[-1] == len(text)
    for start, end in zip([0, *ends], ends, strict=False):
        assert start < end
        assert count_tokens(text[start:end]) <= limit


@given(
    st.lists(st.tuples(st.integers(0, 12), st.sampled_from([0, 5, 2**62])), max_size=30),
    st.integers(4, 30),
    st.integers(2, 9),
    st.integers(0, 3),
)
def test_pack(units: list[tuple[int, int]], limit: int, most: int, overlap: int) -> None:
    """Every unit is in a range, each range brings a new one, and none is larger than allowed."""
    sizes = [size for size, _ in units]
    ranges = pack(sizes, [least for _, least in units], limit, most, overlap)
    assert sorted({unit for first, behind in ranges for unit in range(first, behind)}) == list(range(len(units)))
    for first, behind in ranges:
        assert behind - first <= most
        assert behind - first == 1 or sum(sizes[first:behind]) <= limit
    for before, after in pairwise(ranges):
        assert before[0] < after[0] <= before[1] < after[1]
        assert before[1] - after[0] <= overlap


@given(st.text("ab _1.,;-'é\n", max_size=200), st.integers(1, 90))
def test_what_fits_is_what_is_counted_to_fit(text: str, limit: int) -> None:
    assert fits(text, limit) == (count_tokens(text) <= limit)
    assert fits(text.replace("é", "e"), limit) == (count_tokens(text.replace("é", "e")) <= limit)
