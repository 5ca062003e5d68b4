"""GraphRAG indexes as the API, tools and the page of a service show them."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from relrag_pipelines import settings as settings_module
from relrag_query.graphrag import answer
from relrag_query.graphrag.entity_exploration import explore
from relrag_query.mcp import server as mcp_server
from relrag_query.service import Service
from relrag_query.service.errors import NotServed
from tests import archive
from tests.web_app import BEARER, COOKIE, client

QUESTION = "What was the greenhouse about in 2024?"
NOTES = [
    {"id": "g1", "text": "The greenhouse roof leaks, the glazier asks 4,500 Kč.", "from": "Ota Kralicek"},
    {"id": "g2", "text": "The glazier mends the greenhouse roof on Tuesday.", "from": "Ota Kralicek"},
    {
        "id": "g3",
        "text": "The greenhouse roof is mended, the glazier forgot <b>one pane</b>.",
        "from": "Eva <i>Nova</i>",
    },
]


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("served")
    made = archive.make(folder, '[graphrag]\nmethod = "fast"')
    archive.write_notes(
        folder, *({**one, "timestamp": f"2024-03-0{day + 1}T08:00:00Z"} for day, one in enumerate(NOTES))
    )
    archive.first_sync(made)
    return made


@pytest.fixture
def service(config: Path) -> Iterator[Service]:
    with Service.open(config) as opened:
        yield opened


@pytest.fixture
def asked(config: Path) -> Iterator[TestClient]:
    with client(config) as opened:
        yield opened


def call(service: Service, name: str, **arguments: Any) -> Any:
    return mcp_server.call_tool(service, name, arguments).structured_content


@pytest.mark.requirement("S1-16")
def test_a_question_is_answered_with_themes_and_sources(asked: TestClient) -> None:
    reply = asked.post("/api/v1/graphrag/query", json={"question": QUESTION}, headers=BEARER).json()
    (theme, *_) = reply["themes"]
    assert theme["title"] == "greenhouse roof, glazier, mended · Ota Kralicek · 2024-03"
    assert (theme["first"], theme["figures"]) == ("2024-03-01", ["4,500 Kč"])
    assert {one["state"] for one in reply["references"]} == {"resolved"}
    assert any("glazier" in one["quote"] for one in reply["sources"])
    assert (reply["collection"], reply["method"], reply["about"]) == (
        "archive",
        "global",
        ["2024", "greenhouse", "Ota Kralicek"],
    )


def test_collections_and_reports_are_listed(asked: TestClient) -> None:
    assert asked.get("/api/v1/graphrag/collections", headers=BEARER).json() == {
        "collections": [{"name": "archive", "own": True, "problems": []}]
    }
    page = asked.get("/api/v1/graphrag/reports?limit=1", headers=BEARER).json()
    assert len(page["reports"]) == 1
    assert page["reports"][0]["content"].startswith("## ")
    if page["count"] > 1:
        more = asked.get(f"/api/v1/graphrag/reports?limit=1&cursor={page['next_cursor']}", headers=BEARER).json()
        assert more["reports"] != page["reports"]


def test_the_status_of_a_collection_says_what_it_contains(asked: TestClient) -> None:
    status = asked.get("/api/v1/graphrag/status", headers=BEARER).json()
    assert (status["collection"], status["schema_version"], status["problems"]) == ("archive", "3.x", [])
    assert status["counts"]["text_units"] > 0
    assert asked.get("/api/v1/graphrag/status?collection=gone", headers=BEARER).status_code == 404


def test_a_passage_is_given_by_its_id(asked: TestClient) -> None:
    hits = asked.post("/api/v1/search", json={"query": "greenhouse"}, headers=BEARER).json()["hits"]
    chunk = asked.get("/api/v1/chunk", params={"chunk_id": hits[0]["chunk_id"]}, headers=BEARER).json()
    assert chunk["id"] == hits[0]["chunk_id"]
    assert "greenhouse" in chunk["chunk_text"].lower()
    assert asked.get("/api/v1/chunk?chunk_id=none", headers=BEARER).status_code == 404


def test_what_there_is_not_is_a_problem(asked: TestClient) -> None:
    said = asked.post("/api/v1/graphrag/query", json={"question": "x", "collection": "gone"}, headers=BEARER)
    assert (said.status_code, said.json()["detail"]) == (404, 'no index is named "gone"; indexes: archive')


def test_the_tools_answer_and_trace(service: Service) -> None:
    told = call(service, "graphrag", question=QUESTION)
    assert "answer" not in told, "the themes say it already"
    assert "glazier" in told["themes"][0]["title"]
    cited = told["themes"][0]["sentences"][0]["references"][-1]
    name, number = cited.split()
    traced = call(service, "trace", answer=f"The glazier came [Data: {name} {number}].")
    assert "glazier" in traced["sources"][0]["quote"]


def test_there_are_no_tools_without_an_index(tmp_path: Path) -> None:
    made = archive.make(tmp_path)
    archive.first_sync(made)
    with Service.open(made) as service:
        assert not {"graphrag", "trace"} & mcp_server.tools(service).keys()
        with pytest.raises(NotServed, match="graphrag"):
            service.graphrag("anything")
    with client(made) as opened:
        assert "There is no GraphRAG index yet" in opened.get("/graphrag", headers=COOKIE).text


@pytest.mark.parametrize("path", ["/graphrag", f"/graphrag?q={QUESTION}", "/graphrag?q=glazier&method=local"])
def test_the_page_shows_sentences_with_their_passages(asked: TestClient, path: str) -> None:
    page = asked.get(path, headers=COOKIE)
    assert page.status_code == 200
    assert "glazier" in page.text
    assert "/source?chunk=" in page.text
    assert "<b>one" not in page.text
    assert "<i>Nova" not in page.text


def test_an_index_that_is_gone_is_in_no_memory(config: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    archive.clone(config.parent, copy)
    with Service.open(copy / config.name) as service:
        assert service.graphrag(QUESTION).themes
        shutil.rmtree(archive.home(copy) / "graphrag")
        service.graphs.evict_changed()
        assert not service.graphs._indexes
        with pytest.raises(NotServed, match="not built yet"):
            service.graphrag(QUESTION)


@pytest.mark.requirement("S2-31")
def test_entities_and_concepts_are_nodes_of_their_own_kind(service: Service) -> None:
    found = service.explore("Who mends the greenhouse roof?")
    kinds = {node.kind for node in found.nodes}
    assert kinds >= {"source", "concept"}
    (roof,) = [node for node in found.nodes if node.name == "greenhouse roof"]
    assert (roof.kind, roof.data["type"], roof.data["passages"]) == ("concept", "TERM", 3)
    assert "glazier" in {one["with"] for one in roof.data["related"]}
    assert roof.entity_key.startswith("entity:")


@pytest.mark.requirement("S2-31")
def test_of_a_person_only_what_the_records_found_name_is_shown(service: Service) -> None:
    question, corpus = "What does the cabin have to do with the glazier?", service.graphs.own_corpus()
    with service.reading() as opened:
        everybody, of_ota = (explore(opened, question, corpus, person=who).nodes for who in ("", "Ota Kralicek"))
    named = {node.name for node in everybody if node.kind in ("entity", "concept")}
    assert {"glazier", "cabin"} <= named
    assert {node.kind for node in of_ota} >= {"source", "concept"}
    named = {node.name for node in of_ota if node.kind in ("entity", "concept")}
    assert "glazier" in named
    assert "cabin" not in named
    things = [node.data for node in of_ota if node.kind in ("entity", "concept")]
    assert not any(one["description"] or any(other["description"] for other in one["related"]) for one in things), (
        "descriptions are of everybody's records"
    )
    (everywhere,), (his,) = ([node.data for node in nodes if node.name == "glazier"] for nodes in (everybody, of_ota))
    assert (everywhere["passages"], his["passages"]) == (3, 2)


def test_relations_are_those_of_the_text_units_before_the_heaviest_are_taken(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answer, "_RELATIONSHIPS", 1)
    corpus = service.graphs.own_corpus()
    assert corpus is not None
    table = corpus.index.tables["relationships"]
    stated = {
        (end, unit) for one in table.itertuples() for end in (one.source, one.target) for unit in one.text_unit_ids
    }
    lighter = 0
    for title, unit in stated:
        row = corpus.titles.index(title)
        (found,) = answer.relationships_of([row], corpus, both=False, units=frozenset([unit]))
        assert unit in table["text_unit_ids"].iat[found]
        lighter += answer.relationships_of([row], corpus, both=False) != [found]
    assert lighter, "some are lighter than what other text units state"


def test_those_who_see_a_part_of_the_archive_are_shown_no_index(config: Path) -> None:
    settings = settings_module.load(config)
    with Service(settings, None, config, clients=("acme",)) as service:
        refused = "this is for those who see the whole archive"
        for ask in (
            lambda: service.graphs.query(None, "archive", QUESTION, "global"),
            lambda: service.graphs.reports("archive", 5),
            lambda: service.graphs.trace("It leaks [Data: Sources (0)].", collection="archive"),
            lambda: service.graphrag(QUESTION),
        ):
            with pytest.raises(NotServed, match=refused):
                ask()
        with pytest.raises(NotServed):
            service.graphs.trace("It leaks [Data: Sources (0)].")
        assert service.graphs.collections().collections == []
        assert service.graphs.own_corpus() is None
        assert not service.graphs.can_trace
        assert not {"graphrag", "trace"} & mcp_server.tools(service).keys()
        found = service.explore("greenhouse roof")
        assert not [node for node in found.nodes if node.kind in ("entity", "concept")]
