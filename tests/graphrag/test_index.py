"""Indexes of every layout are opened, and damaged ones say what is wrong."""

from pathlib import Path

import pandas as pd
import pytest

from relrag_query.graphrag.citations import Dataset
from relrag_query.graphrag.index import IndexMissing, open_index
from relrag_query.graphrag.trace import trace
from tests import agile_index


def old_tables(*, first: bool) -> dict[str, pd.DataFrame]:
    """Two pages in the layout of 1.x, or in that before 1.0, where numbers are text and communities know no members."""
    units = pd.DataFrame(
        {"id": ["u0", "u1"], "text": ["Noa mends bikes.", "Petr sings."], "document_ids": [["d0"], ["d1"]]}
    )
    documents = pd.DataFrame({"id": ["d0", "d1"], "title": ["bikes.txt", "songs.txt"], "raw_content": ["a", "b"]})
    reports = pd.DataFrame({"community": [4], "title": ["Bikes"], "full_content": ["Noa [Data: Entities (1)]"]})
    links = pd.DataFrame(
        {"id": ["r0"], "human_readable_id": [0], "source": ["NOA"], "target": ["PETR"], "text_unit_ids": [["u0"]]}
    )
    entities = pd.DataFrame(
        {"id": ["e0", "e1"], "human_readable_id": [0, 1], "title": ["PETR", "NOA"], "text_unit_ids": [["u1"], ["u0"]]}
    )
    communities = pd.DataFrame(
        {
            "id": ["c4"],
            "community": [4],
            "entity_ids": [["e1"]],
            "relationship_ids": [["r0"]],
            "text_unit_ids": [["u0"]],
        }
    )
    if first:
        entities = entities.rename(columns={"title": "name"})
        entities["human_readable_id"] = entities["human_readable_id"].astype(str)
        nodes = pd.DataFrame({"id": ["e0", "e1"], "title": ["PETR", "NOA"], "community": ["3", "4"]})
        communities = pd.DataFrame({"id": ["4"], "relationship_ids": [["r0"]], "text_unit_ids": [["u0"]]})
        reports["community"] = reports["community"].astype(str)
        links["text_unit_ids"] = ["u0"]
        links["human_readable_id"] = ["0"]
    found = {
        "text_units": units,
        "documents": documents,
        "community_reports": reports,
        "relationships": links,
        "entities": entities,
        "communities": communities,
    }
    return found | ({"nodes": nodes} if first else {})


def write(folder: Path, tables: dict[str, pd.DataFrame], prefix: str = "") -> Path:
    for name, frame in tables.items():
        frame.to_parquet(folder / f"{prefix}{name}.parquet", index=False)
    return folder


@pytest.mark.parametrize(("first", "layout"), [(True, "0.x"), (False, "1.x")])
def test_older_layouts(tmp_path: Path, first: bool, layout: str) -> None:
    index = open_index(write(tmp_path, old_tables(first=first), "create_final_"))
    assert (index.layout, index.problems) == (layout, ())
    found = trace("Bikes [Data: Reports (4); Entities (0)]. She sings with him [Data: Relationships (0)].", index)
    assert [(one.document, one.page_number) for one in found.sources] == [("bikes.txt", None), ("songs.txt", None)]
    assert [(str(one.reference), one.title) for one in found.references] == [
        ("Reports (4)", "Bikes"),
        ("Entities (0)", "PETR"),
        ("Relationships (0)", "NOA -> PETR"),
    ]
    assert [one.state for one in found.references[0].nested] == ["resolved"]


def test_the_layout_of_2_x(tmp_path: Path) -> None:
    tables = old_tables(first=False)
    tables["communities"]["children"] = [[]]
    index = open_index(write(tmp_path, tables))
    assert (index.layout, index.problems) == ("2.x", ())
    assert [one.document for one in trace("[Data: Sources (1)]", index).sources] == ["songs.txt"]


def test_the_folder_output_is_found(tmp_path: Path) -> None:
    agile_index.write(tmp_path / "output")
    assert open_index(tmp_path).folder == tmp_path / "output"


def test_a_folder_without_an_index(tmp_path: Path) -> None:
    with pytest.raises(IndexMissing, match=r"no GraphRAG index; it needs files such as community_reports\.parquet"):
        open_index(tmp_path)


@pytest.mark.requirement("S1-13")
@pytest.mark.parametrize("missing", list(agile_index.tables()))
@pytest.mark.parametrize("damage", ["missing", "damaged", "other columns"])
def test_a_missing_or_damaged_table_is_a_message(tmp_path: Path, missing: str, damage: str) -> None:
    path = agile_index.write(tmp_path) / f"{missing}.parquet"
    if damage == "missing":
        path.unlink()
    elif damage == "damaged":
        path.write_bytes(b"PAR1 and then nothing")
    else:
        pd.DataFrame({"something": [1, 2]}).to_parquet(path)
    index = open_index(tmp_path)
    assert len(index.problems) == 1
    assert index.problems[0].startswith(f"{missing}.parquet ")
    cited = "[Data: Reports (5); Entities (5); Relationships (0); Claims (1); Sources (16)]"
    assert [str(one.reference) for one in trace(cited, index).references] == [
        "Reports (5)",
        "Entities (5)",
        "Relationships (0)",
        "Claims (1)",
        "Sources (16)",
    ]


def test_numbers_are_those_of_the_right_column(tmp_path: Path) -> None:
    """Reports stand in reversed order, so the row of a number is not the number; Sources are rows."""
    index = open_index(agile_index.write(tmp_path))
    assert index.row(Dataset.REPORTS, 5) == 42
    assert index.row(Dataset.REPORTS, 48) is None
    assert index.row(Dataset.SOURCES, 16) == 16
    assert index.row(Dataset.SOURCES, 24) is None
    assert index.row(Dataset.CLAIMS, 0) is None
