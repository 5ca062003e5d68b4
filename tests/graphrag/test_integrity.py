"""An index says which of its ids occur twice or lead nowhere."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from relrag_query.graphrag import integrity
from relrag_query.graphrag.index import open_index
from tests.cases import cases


def tables() -> dict[str, pd.DataFrame]:
    """Two documents, two entities and what joins them."""
    return {
        "documents": pd.DataFrame({"id": ["d0", "d1"], "title": ["bikes.txt", "songs.txt"], "text": ["a", "b"]}),
        "text_units": pd.DataFrame({"id": ["u0", "u1"], "text": ["Noa", "Petr"], "document_id": ["d0", "d1"]}),
        "entities": pd.DataFrame(
            {"id": ["e0", "e1"], "human_readable_id": [0, 1], "title": ["P", "NOA"], "text_unit_ids": [["u1"], ["u0"]]}
        ),
        "relationships": pd.DataFrame(
            {"id": ["r0"], "human_readable_id": [0], "source": ["NOA"], "target": ["P"], "text_unit_ids": [["u0"]]}
        ),
        "communities": pd.DataFrame(
            {"community": [4], "entity_ids": [["e1"]], "relationship_ids": [["r0"]], "text_unit_ids": [["u0"]]}
        ),
        "community_reports": pd.DataFrame({"community": [4], "title": ["Bikes"], "full_content": ["Noa"]}),
    }  # fmt: skip


def problems(folder: Path, changed: dict[str, pd.DataFrame]) -> list[str]:
    for name, frame in (tables() | changed).items():
        frame.to_parquet(folder / f"{name}.parquet", index=False)
    return [one.partition(";")[0] for one in integrity.problems(open_index(folder, whole=True))]


def test_a_sound_index_has_no_problem(tmp_path: Path) -> None:
    assert problems(tmp_path, {}) == []


@pytest.mark.parametrize(*cases(__file__, "a_broken_one_says_what_is_wrong"))
def test_a_broken_one_says_what_is_wrong(
    table: str, column: str, values: list[object], said: str, tmp_path: Path
) -> None:
    found = problems(tmp_path, {table: tables()[table].assign(**{column: values})})
    assert any(one.startswith(said) for one in found)
