"""The three steps from reports to documents, over the folder of an index."""

from pathlib import Path

import pandas as pd
import pytest

from relrag_query.graphrag.workspace import (
    get_source_metadata,
    map_text_units_to_chunks,
    trace_reports_to_text_units,
)
from tests import agile_index
from tests.agile_index import COOPER


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return agile_index.write(tmp_path_factory.mktemp("agile"))


@pytest.mark.requirement("S1-5", "S1-6", "S1-11")
def test_report_5_leads_to_its_document(workspace: Path) -> None:
    units = trace_reports_to_text_units({5}, workspace)
    documents = map_text_units_to_chunks(units, workspace)
    assert (len(units), len(documents)) == (3, 1)
    assert get_source_metadata(documents, workspace) == [{"document": COOPER, "page_number": None, "chunk_count": 1}]


def test_report_5_leads_to_pages_3_17_and_18_where_the_index_names_chunks(tmp_path: Path) -> None:
    folder = agile_index.write(tmp_path)
    table = pd.read_parquet(folder / "text_units.parquet")
    pages = table.groupby("document_id", sort=False).cumcount() + 1
    rows = {"text_unit_id": table["id"], "chunk_id": [f"c{row}" for row in range(len(table))]}
    pd.DataFrame(rows | {"page_number": pages, "last_page_number": pages}).to_parquet(
        folder / "text_unit_chunks.parquet"
    )
    chunks = map_text_units_to_chunks(trace_reports_to_text_units({5}, folder), folder)
    assert [(row["document"], row["page_number"]) for row in get_source_metadata(chunks, folder)] == [
        (COOPER, 3),
        (COOPER, 17),
        (COOPER, 18),
    ]


def test_what_the_index_does_not_have_is_left_out(workspace: Path) -> None:
    assert trace_reports_to_text_units({99}, workspace) == set()
    assert map_text_units_to_chunks({"none"}, workspace) == set()
    assert get_source_metadata({"none"}, workspace) == []


def test_names_and_pages_come_from_a_look_up_of_chunks(workspace: Path) -> None:
    chunks = map_text_units_to_chunks(trace_reports_to_text_units({5}, workspace), workspace)
    asked: list[str] = []

    def look_up(ids: object) -> list[dict[str, object]]:
        asked.extend(ids)  # type: ignore[call-overload]
        return [
            {"id": chunk, "document": {"original_filename": "b.pdf"}, "chunk_metadata": {"page_number": 4}}
            for chunk in asked
        ]

    rows = get_source_metadata(chunks, workspace, look_up)
    assert rows == [{"document": "b.pdf", "page_number": 4, "chunk_count": 1}]
