"""Microsoft's own graphrag reads our index, and every number that its contexts print resolves in ours."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from relrag_pipelines.graphrag import parquet
from relrag_pipelines.graphrag.build import build
from relrag_pipelines.graphrag.llm.extraction_schema import Extraction, FoundClaim, FoundEntity, FoundRelationship
from relrag_query.graphrag.citations import Dataset, Reference
from relrag_query.graphrag.index import open_index
from relrag_query.graphrag.trace import State, resolve
from tests.passages import ARCHIVE, HOUSE, table

PYTHON = os.environ.get("RELRAG_INTEROP_PYTHON", "")
pytestmark = pytest.mark.skipif(
    not PYTHON, reason="RELRAG_INTEROP_PYTHON names no Python with graphrag: `make interop`"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("index")
    parquet.write(build(table(ARCHIVE)), place)
    return place


@pytest.fixture(scope="module")
def read(folder: Path) -> dict[str, Any]:
    return read_by_graphrag(folder)


def read_by_graphrag(folder: Path) -> dict[str, Any]:
    """What graphrag made of the index."""
    done = subprocess.run(
        [PYTHON, str(Path(__file__).with_name("contexts.py")), str(folder)],
        env={**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True", "PYTHONPATH": ""},
        capture_output=True,
        text=True,
        check=True,
        cwd=folder,
    )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_nothing_is_lost_on_the_way(folder: Path, read: dict[str, Any]) -> None:
    tables = open_index(folder).tables
    assert read["loaded"] == {
        "communities": len(tables["communities"]),
        "reports": len(tables["community_reports"]),
        "entities": len(tables["entities"]),
        "in_a_community": len(tables["entities"]),
        "relationships": len(tables["relationships"]),
        "text_units": len(tables["text_units"]),
        "claims": 0,
    }
    assert read["loaded"]["entities"] > 10


@pytest.mark.parametrize(
    ("method", "shown"),
    [("local", {"reports", "entities", "relationships", "sources"}), ("basic", {"sources"}), ("global", {"reports"})],
)
def test_every_number_in_a_context_resolves(folder: Path, read: dict[str, Any], method: str, shown: set[str]) -> None:
    index = open_index(folder)
    context = read["contexts"][method]
    assert context.keys() == shown
    for name, numbers in context.items():
        dataset = next(one for one in Dataset if one.lower() == name)
        assert numbers
        assert {resolve(Reference(dataset, number), index).state for number in numbers} == {State.RESOLVED}


def test_claims_are_read_and_shown_beside_their_entities(tmp_path: Path) -> None:
    found = Extraction(
        entities=[FoundEntity(name=name, type="PERSON", description="") for name in ("Dana Levi", "Petr Kolar")],
        relationships=[FoundRelationship(source="Dana Levi", target="Petr Kolar", description="", strength=5)],
        claims=[
            FoundClaim(
                subject="Petr Kolar",
                object="NONE",
                type="PAYMENT",
                status="TRUE",
                start_date="2024-03-02",
                end_date="NONE",
                description="Petr Kolar paid the invoice.",
                source_text="Petr Kolar paid invoice INV-1187",
            )
        ],
    )
    chunks = table(HOUSE)
    parquet.write(build(chunks, extractions=dict.fromkeys(chunks["text"], found), claims=True), tmp_path)
    index = open_index(tmp_path)
    seen = read_by_graphrag(tmp_path)
    assert seen["loaded"]["claims"] == len(HOUSE)
    numbers = seen["contexts"]["local"]["claims"]
    assert numbers
    assert {resolve(Reference(Dataset.CLAIMS, number), index).state for number in numbers} == {State.RESOLVED}
