"""People, entities, concepts and documents of a question, in the terminal, in Python, by the API and by a tool."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from relrag_query.archive import Archive
from relrag_query.cli import app
from relrag_query.graphrag.entity_exploration import explore, own_corpus
from relrag_query.mcp import server as mcp_server
from relrag_query.service import Service
from tests import archive
from tests.web_app import BEARER, client

QUESTION = "What does Ota Kralicek say of the greenhouse roof, and what is invoice INV-2207?"
NOTES = [
    "The greenhouse roof leaks, the glazier sent invoice INV-2207.",
    "The glazier mends the greenhouse roof on Tuesday.",
    "Invoice INV-2207 of the glazier is paid.",
]


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("explored")
    made = archive.make(folder, '[graphrag]\nmethod = "fast"')
    archive.write_notes(
        folder,
        *(
            {"id": f"g{day}", "text": text, "from": "Ota Kralicek", "timestamp": f"2024-03-0{day}T08:00:00Z"}
            for day, text in enumerate(NOTES, 1)
        ),
    )
    archive.first_sync(made)
    return made


def in_terminal(config: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    app(["explore", QUESTION, "--json", "--config", str(config)], standalone_mode=False)
    return json.loads(capsys.readouterr().out)


def in_python(config: Path, _: object) -> Any:
    with Archive.open(config) as opened:
        return {"nodes": [vars(one) for one in explore(opened, QUESTION, own_corpus(opened)).nodes]}


def by_api(config: Path, _: object) -> Any:
    with client(config) as opened:
        return opened.post("/api/v1/explore", json={"query": QUESTION}, headers=BEARER).json()


def by_tool(config: Path, _: object) -> Any:
    with Service.open(config) as service:
        return mcp_server.call_tool(service, "explore", {"query": QUESTION}).structured_content


@pytest.mark.requirement("S2-31")
@pytest.mark.parametrize("ask", [in_terminal, in_python, by_api, by_tool])
def test_people_entities_concepts_and_documents_are_nodes_each_with_its_data(
    config: Path, capsys: pytest.CaptureFixture[str], ask: Callable[[Path, Any], Any]
) -> None:
    nodes = {(one["kind"], one["name"]): one for one in ask(config, capsys)["nodes"]}
    assert {kind for kind, _ in nodes} == {"person", "entity", "concept", "source"}
    assert nodes["person", "Ota Kralicek"]["data"]["aliases"] == ["Ota Kralicek"]
    invoice = nodes["entity", "INV-2207"]["data"]
    assert (invoice["type"], invoice["passages"]) == ("NUMBER", 2)
    roof = nodes["concept", "greenhouse roof"]["data"]
    assert (roof["type"], roof["passages"]) == ("TERM", 2)
    assert "glazier" in {one["with"] for one in roof["related"]}
    texts = {one["data"]["text"] for (kind, _), one in nodes.items() if kind == "source"}
    assert NOTES[0] in texts


@pytest.mark.requirement("S2-31")
def test_the_terminal_names_each_kind(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    app(["explore", QUESTION, "--config", str(config)], standalone_mode=False)
    said = dict(line.split(": ", 1) for line in capsys.readouterr().out.splitlines() if ": " in line)
    assert said["People"].startswith("Ota Kralicek (person:")
    assert "INV-2207" in said["Entities"].split(", ")
    assert "greenhouse roof" in said["Concepts"].split(", ")
