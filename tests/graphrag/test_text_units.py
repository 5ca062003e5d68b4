"""Text units and documents come from chunks one to one."""

import pandas as pd
import pytest

from relrag_pipelines.graphrag.text_units import text_unit_id, text_units
from relrag_pipelines.language_models.token_estimate import count_tokens
from relrag_pipelines.records import Chunk
from tests.passages import passage, table


def built(*chunks: Chunk) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    return text_units(table(chunks))


def test_a_text_unit_for_each_chunk_and_a_document_for_each_record() -> None:
    documents, units, origin = built(
        passage("d:b", "second", 1, page_number=3, last_page_number=4, file_name="b.pdf"),
        passage("d:b", "first", 0, page_number=2, last_page_number=2, file_name="b.pdf", day=0),
        passage("d:a", "alone"),
    )
    assert units["text"].tolist() == ["alone", "first", "second"]
    assert units["human_readable_id"].tolist() == [0, 1, 2]
    assert documents["text"].tolist() == ["alone", "first\n\nsecond"]
    assert documents["text_unit_ids"].tolist() == [units["id"].tolist()[:1], units["id"].tolist()[1:]]
    assert units["document_id"].tolist() == [documents["id"][0], documents["id"][1], documents["id"][1]]
    assert documents["creation_date"].tolist() == ["", "2024-03-01T12:00:00Z"]
    assert origin["text_unit_id"].tolist() == units["id"].tolist()
    assert origin["page_number"].tolist() == [None, 2, 3]
    assert origin["last_page_number"].tolist() == [None, 2, 4]


def test_equal_pages_do_not_collide_and_ids_are_the_same_in_every_run() -> None:
    _, units, _ = built(passage("d:a", "This page is blank."), passage("d:b", "This page is blank."))
    assert units["id"].is_unique
    assert text_unit_id({"asset_id": "d:a", "chunk_index": 0, "text": "This page is blank."}) == units["id"][0]
    assert units["id"][0].startswith("68ba77ca97c8")
    assert len(units["id"][0]) == 128


def test_a_chunk_that_two_months_hold_is_one_text_unit() -> None:
    _, units, _ = built(passage("d:a", "once"), passage("d:a", "once"))
    assert units["text"].tolist() == ["once"]


@pytest.mark.parametrize(
    ("chunk", "title"),
    [
        (passage("d:a", "text", file_name="a.pdf", subject="Subject", day=0), "a.pdf"),
        (passage("d:a", "text", subject="Family", day=0), "Family, 2024-03-01"),
        (passage("d:a", "text", sender="Dana", day=0), "Dana, 2024-03-01"),
        (passage("d:a", "text"), "d:a"),
    ],
)
def test_titles(chunk: Chunk, title: str) -> None:
    documents, _, _ = built(chunk)
    assert documents["title"].tolist() == [title]


def test_tokens_are_estimated_from_bytes() -> None:
    assert (count_tokens(""), count_tokens("boiler"), count_tokens("דוד"), count_tokens("a" * 400)) == (0, 2, 2, 100)
