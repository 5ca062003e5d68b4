"""The graph of an archive: people of most records first, records, and the three classes of edges."""

from pathlib import Path

import duckdb
import pytest
from starlette.testclient import TestClient

from relrag_pipelines.records import TABLES
from relrag_pipelines.stores import inventory
from relrag_pipelines.stores.generations import Generation, clean_up, layouts
from relrag_pipelines.stores.table_schema import columns, ddl
from relrag_query.graph import layout_store
from relrag_query.graph.full_graph import FullGraph, FullGraphNode, GraphEdge, get_full_graph_data, get_graph_around
from relrag_query.graph.layout import layout
from tests import archive
from tests.web_app import BEARER, client

SARA, DAVID, MIA = 1, 2, 3


@pytest.fixture
def catalog() -> duckdb.DuckDBPyConnection:
    """Three people: Sara with three records, David with one, Mia with none."""
    connection = duckdb.connect()
    for name in (
        *("records", "asset_asset_edges", "persons", "person_aliases", "person_facts"),
        *("person_assets", "person_relationships"),
    ):
        for statement in ddl(TABLES[name]):
            connection.execute(statement)
    rows = [
        ("whatsapp:1", "whatsapp", "Alex Rubin", 100),
        ("gmail:m1", "email", "Invoice", 200),
        ("gmail:m1:0", "email_attachment", "Invoice", 200),
        ("document:d1", "documentation", "Lease", 300),
        ("calls:c1", "call_recording", "Call", 400),
    ]
    for ref, kind, subject, ts in rows:
        record = {
            column.name: [] if "List" in str(column.type) or "list" in str(column.type) else None
            for column in columns(TABLES["records"].row)
        }
        record |= {"asset_id": ref, "source_id": ref, "text": f"Text of {ref}", "source": "s", "kind": "k"}
        record |= {
            "rag_source_type": kind,
            "subject": subject,
            "ts": ts,
            "timestamp": f"2024-01-01T00:{ts // 100:02}:00Z",
        }
        record |= {"date_quality": "exact", "extra": "{}", "content_hash": "h"}
        names = ", ".join(f'"{name}"' for name in record)
        marks = ", ".join("?" for _ in record)
        connection.execute(f"INSERT INTO records ({names}) VALUES ({marks})", list(record.values()))
    connection.execute("INSERT INTO asset_asset_edges VALUES ('gmail:m1:0', 'gmail:m1', 'attachment_of', 1, '')")
    connection.execute("INSERT INTO asset_asset_edges VALUES ('calls:c1', 'gmail:m1', 'references', 0.9, 'number')")
    people = "(1, 'Sara', true), (2, 'David', false), (3, 'Mia', false)"
    connection.execute(f"INSERT INTO persons (person_id, name, is_owner) VALUES {people}")
    connection.execute(
        "INSERT INTO person_aliases (person_id, alias, script, kind, keyed, stated) "
        "VALUES (1, 'Sara', 'latin', 'name', 'a', true), (1, 'שרה', 'hebrew', 'name', 'b', false)"
    )
    connection.execute(
        "INSERT INTO person_facts (person_id, predicate, value, confidence, source_ref) "
        "VALUES (1, 'lives_in', 'Haifa', 1, 'gmail:m1')"
    )
    connection.execute(
        "INSERT INTO person_assets VALUES (1, 'email', 'gmail:m1', 'sender', 1), "
        "(1, 'email', 'gmail:m1:0', 'sender', 1), "
        "(1, 'documentation', 'document:d1', 'mentioned', 1), (2, 'call_recording', 'calls:c1', 'participant', 1), "
        "(2, 'email', 'gmail:gone', 'sender', 1)"
    )
    connection.execute(
        "INSERT INTO person_relationships (from_person_id, to_person_id, relationship_type, source_ref, notes, "
        "further_source_refs, "
        "confidence, text_hash) VALUES (1, 2, 'spouse', 'journal:1', [], [], 1, '')"
    )
    return connection


def edges(graph: FullGraph) -> set[tuple[str, str, str]]:
    return {(one.source, one.target, one.type) for one in graph.edges}


@pytest.mark.requirement("S0-94")
@pytest.mark.requirement("S0-95")
@pytest.mark.requirement("S0-96")
@pytest.mark.requirement("S0-97")
def test_people_records_and_the_three_classes_of_edges(catalog: duckdb.DuckDBPyConnection) -> None:
    graph = get_full_graph_data(catalog, limit_persons=100, limit_assets_per_person=10, include_asset_edges=True)
    said = {node.id: node.model_dump(exclude_none=True, exclude={"preview"}) for node in graph.nodes}
    assert list(said)[:3] == ["person:1", "person:2", "person:3"]
    assert said["person:1"] == {
        "id": "person:1", "type": "person", "label": "Sara", "facts_count": 1, "aliases_count": 2,
        "facts": ["lives in: Haifa"],
    }  # fmt: skip
    assert said["gmail:m1"] == {
        "id": "gmail:m1", "type": "gmail", "label": "Invoice", "timestamp": "2024-01-01T00:02:00Z",
    }  # fmt: skip
    assert {one: node["type"] for one, node in said.items() if node["type"] != "person"} == {
        "gmail:m1": "gmail",
        "gmail:m1:0": "gmail",
        "document:d1": "document",
        "calls:c1": "call_recording",
    }
    assert edges(graph) == {
        ("person:1", "person:2", "spouse"),
        ("person:1", "gmail:m1", "sender"),
        ("person:1", "gmail:m1:0", "sender"),
        ("person:1", "document:d1", "mentioned"),
        ("person:2", "calls:c1", "participant"),
        ("gmail:m1:0", "gmail:m1", "attachment_of"),
        ("calls:c1", "gmail:m1", "references"),
    }


def test_limits_keep_the_people_of_most_records_and_their_newest(catalog: duckdb.DuckDBPyConnection) -> None:
    graph = get_full_graph_data(catalog, limit_persons=1, limit_assets_per_person=1, include_asset_edges=False)
    assert [node.id for node in graph.nodes] == ["person:1", "document:d1"]
    assert edges(graph) == {("person:1", "document:d1", "mentioned")}
    assert graph.omitted == {"persons": 2, "records": 2}
    whole = get_full_graph_data(catalog, include_asset_edges=False)
    assert not {"attachment_of", "references"} & {one.type for one in whole.edges}


def test_a_catalog_without_people_gives_records_that_are_related(catalog: duckdb.DuckDBPyConnection) -> None:
    catalog.execute("DROP TABLE person_facts")
    assert get_full_graph_data(catalog).nodes == []
    graph = get_full_graph_data(catalog, records=10)
    assert [node.id for node in graph.nodes] == ["calls:c1", "gmail:m1", "gmail:m1:0"]
    assert edges(graph) == {("gmail:m1:0", "gmail:m1", "attachment_of"), ("calls:c1", "gmail:m1", "references")}


def test_what_is_around_a_node(catalog: duckdb.DuckDBPyConnection) -> None:
    around = get_graph_around(catalog, "gmail:m1")
    assert [node.id for node in around.nodes] == ["calls:c1", "gmail:m1", "gmail:m1:0"]
    assert (len(around.edges), around.omitted) == (2, {})
    person = get_graph_around(catalog, "person:1", 2)
    assert {node.id for node in person.nodes} == {"document:d1", "gmail:m1"}
    assert person.omitted == {"records": 1}
    assert get_graph_around(catalog, "gmail:m1", 1).omitted == {"records": 1}
    assert get_graph_around(catalog, "person:x").nodes == []
    assert get_graph_around(catalog, "nothing").nodes == []


def test_the_layout_is_the_same_for_the_same_graph_and_keeps_nodes_apart() -> None:
    people = [FullGraphNode(id=f"person:{number}", type="person", label="") for number in range(40)]
    records = [FullGraphNode(id=f"r{number}", type="document", label="") for number in range(400)]
    held = [GraphEdge(source=f"person:{number % 40}", target=f"r{number}", type="sender") for number in range(400)]
    related = [
        GraphEdge(source=f"person:{number}", target=f"person:{number + 1}", type="friend") for number in range(9)
    ]
    graph = FullGraph(nodes=people + records, edges=held + related, omitted={})
    places = layout(graph)
    assert places == layout(graph)
    assert len(set(places)) == 440
    at = dict(zip((node.id for node in graph.nodes), places, strict=True))
    for number in range(400):
        person, record = at[f"person:{number % 40}"], at[f"r{number}"]
        assert (person[0] - record[0]) ** 2 + (person[1] - record[1]) ** 2 <= (0.36**2) * 11
    assert layout(FullGraph(nodes=[], edges=[], omitted={})) == []
    assert len(layout(FullGraph(nodes=people[:1], edges=[], omitted={}))) == 1


def test_a_graph_is_laid_out_once_for_a_generation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    people = [FullGraphNode(id=f"person:{number}", type="person", label="") for number in range(9)]
    graph = FullGraph(nodes=people, edges=[], omitted={})
    generation = Generation(3, tmp_path / "published" / "3", {"files": {"catalog.duckdb": {"sha256": "ab"}}})
    generation.path.mkdir(parents=True)
    first = layout_store.places(tmp_path, generation, graph)
    (stored,) = layouts(tmp_path, 3).iterdir()
    assert (stored.stat().st_mode & 0o777, stored.stat().st_size) == (0o600, 9 * 8)
    assert inventory.part(stored.relative_to(tmp_path).as_posix())
    monkeypatch.setattr(layout_store, "layout", lambda graph: pytest.fail("it was laid out again"))
    assert layout_store.places(tmp_path, generation, graph) == first
    stored.write_bytes(b"short")
    monkeypatch.undo()
    assert layout_store.places(tmp_path, generation, graph) == first
    related = GraphEdge(source="person:1", target="person:2", type="friend")
    for edges in ([], [related], [related] * 2, [related] * 3, [related] * 4, [related] * 5):
        layout_store.places(tmp_path, generation, FullGraph(nodes=people, edges=edges, omitted={}))
    assert len(list(layouts(tmp_path, 3).iterdir())) == 4


def test_layouts_go_with_their_generation_and_tell_nobody_what_was_in_it(tmp_path: Path) -> None:
    graph = FullGraph(nodes=[FullGraphNode(id="person:1", type="person", label="")], edges=[], omitted={})
    one, other = (Generation(3, tmp_path / "published" / "3", {"files": {"a": name}}) for name in ("ab", "cd"))
    assert layout_store.fingerprint(one, graph) != layout_store.fingerprint(other, graph)
    layout_store.places(tmp_path, one, graph)
    assert not layouts(tmp_path, 3).exists()  # a reader of a generation that is gone
    one.path.mkdir(parents=True)
    layout_store.places(tmp_path, one, graph)
    clean_up(tmp_path)
    assert layouts(tmp_path, 3).exists()
    one.path.rmdir()
    clean_up(tmp_path)
    assert not layouts(tmp_path, 3).exists()


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> TestClient:
    config: Path = archive.many_notes(tmp_path_factory.mktemp("graph"), 6)
    archive.first_sync(config)
    with client(config) as opened:
        opened.headers |= BEARER
        yield opened


@pytest.mark.requirement("S0-98")
def test_the_graph_has_an_address(api: TestClient) -> None:
    full = api.get("/entities/graph/full", params={"limit_persons": 5, "include_asset_edges": False})
    assert full.json() == {"generation": 1, "nodes": [], "edges": [], "omitted": {}}
    assert api.get("/api/v1/graph", params={"limit_persons": 5}).json() == full.json()
    around = api.get("/api/v1/graph/around", params={"ref": "jsonl:notes:n1"}).json()
    assert [node["label"] for node in around["nodes"]] == ["Note 1: the greenhouse needs pane 7."]
    assert api.get("/api/v1/graph/around", params={"ref": "nothing"}).status_code == 404
    assert api.get("/entities/graph/full?limit_persons=100000").status_code == 422
    assert api.get("/entities/graph/full", headers={"authorization": ""}).status_code == 401
