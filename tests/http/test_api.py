"""The API: what Python returns, as JSON; what is asked wrongly is a problem that says nothing private."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from relrag_query.http.openapi import description
from relrag_query.operations.table import OPERATIONS
from relrag_query.service import Service
from relrag_query.service.record_replies import MAX_TEXT_CHARACTERS
from tests import archive
from tests.web_app import BEARER, client

JSON = "application/json"


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    config = archive.make(tmp_path_factory.mktemp("api"))
    archive.first_sync(config)
    return config


@pytest.fixture(scope="module")
def api(config: Path) -> Iterator[TestClient]:
    with client(config) as opened:
        opened.headers |= BEARER
        yield opened


def same(reply: Any) -> Any:
    """Without how long each step took."""
    return {name: value for name, value in reply.items() if name != "trace"}


def test_search_and_ask_are_what_python_returns(api: TestClient, config: Path) -> None:
    found = api.post("/api/v1/search", json={"query": "boiler", "sources": ["notes"], "since": "2024-02"}).json()
    asked = api.post("/api/v1/ask", json={"question": "Who has the key of the cabin?"}).json()
    with Service.open(config) as service:
        told = service.ask("Who has the key of the cabin?").model_dump(mode="json", by_alias=True)
    assert [hit["asset_id"] for hit in found["hits"]] == ["jsonl:notes:n1"]
    assert found["hits"][0]["from"] == "Ota"
    assert found["hits"][0]["time"] == "2024-02-15T09:00:00+01:00"
    assert same(asked) == same(told)
    assert "I do" in asked["answer"]


def test_a_long_record_comes_in_parts(tmp_path: Path) -> None:
    config = archive.make(tmp_path)
    long = "".join(f"Line {number} of the log of the boiler.\n" for number in range(7_000))
    archive.write_notes(tmp_path, {"id": "log", "text": long, "timestamp": "2024-03-01T08:00:00Z", "thread_id": "t"})
    archive.first_sync(config)
    with client(config) as opened:
        opened.headers |= BEARER
        asked, parts = {"ref": "jsonl:notes:log"}, []
        while not parts or "cursor" in asked:
            reply = opened.get("/api/v1/show", params=asked).json()
            parts.append((len(reply["record"]["text"]), reply["record"]["text"], len(reply["related"])))
            asked = {"ref": "jsonl:notes:log"} | ({"cursor": reply["next_cursor"]} if reply["next_cursor"] else {})
    assert "".join(text for _, text, _ in parts) == long
    assert [(size, related > 0) for size, _, related in parts] == [
        (MAX_TEXT_CHARACTERS, True),
        (MAX_TEXT_CHARACTERS, False),
        (len(long) - 2 * MAX_TEXT_CHARACTERS, False),
    ]


def test_what_a_record_is_related_to(api: TestClient) -> None:
    shown = api.get("/api/v1/show", params={"ref": "jsonl:notes:n2"}).json()
    assert shown["record"]["text"] == "Remember to thank the plumber."
    assert ("thread:thanks", "thread_member", "out") in {
        (one["ref"], one["relation_type"], one["direction"]) for one in shown["related"]
    }
    thread = api.get("/api/v1/thread", params={"thread_id": "thanks"}).json()
    assert [one["ref"] for one in thread["members"]] == ["jsonl:notes:n2"]
    types = {"ref": "jsonl:notes:n2", "relation_types": ["thread_member", "reply_to"], "direction": "out"}
    neighbors = api.get("/api/v1/neighbors", params=types).json()["neighbors"]
    assert [one["ref"] for one in neighbors] == ["thread:thanks"]


@pytest.mark.requirement("S1-8")
def test_a_batch_has_50_ids_at_most_and_leaves_out_what_is_not_known(api: TestClient) -> None:
    hits = api.post("/api/v1/search", json={"query": "plumber"}).json()["hits"]
    known = [hit["chunk_id"] for hit in hits]
    batch = api.post("/api/v1/chunks/batch", json={"chunk_ids": [*known, "none", known[0]]}).json()["data"]
    assert batch["count"] == len(known) == 2
    assert {row["id"] for row in batch["chunks"]} == set(known)
    assert api.post("/api/v1/chunks/batch", json={"chunk_ids": ["x"] * 51}).status_code == 422


@pytest.mark.requirement("S1-18")
def test_a_batch_and_its_refusal_have_one_envelope(api: TestClient) -> None:
    none = api.post("/api/v1/chunks/batch", json={"chunk_ids": ["x"] * 50})
    assert none.json() == {"data": {"chunks": [], "count": 0}, "error": None}
    for body, status, says in (({"chunk_ids": ["x"] * 51}, 422, "does not fit"), (b"{", 400, "not JSON")):
        sent = {"json": body} if isinstance(body, dict) else {"content": body, "headers": {"content-type": JSON}}
        refused = api.post("/api/v1/chunks/batch", **sent)
        told = refused.json()
        assert (refused.status_code, told["data"]) == (status, None)
        assert says in told["error"] == told["detail"]


@pytest.mark.parametrize(
    ("method", "path", "given", "status", "said"),
    [
        ("GET", "/show?ref=jsonl:none", None, 404, 'nothing named "jsonl:none"'),
        ("GET", "/show", None, 422, "does not fit"),
        ("GET", "/show?ref=x&secret=1", None, 422, "does not fit"),
        ("GET", "/thread?thread_id=thanks&cursor=!", None, 422, "does not fit"),
        ("GET", "/thread?thread_id=thanks&cursor=999-1", None, 409, "begin again"),
        ("GET", "/thread?thread_id=thanks&limit=1000", None, 422, "does not fit"),
        ("GET", "/nothing", None, 404, "openapi.json"),
        ("POST", "/search", b"{", 400, "not JSON"),
        ("POST", "/search", b"[]", 422, "does not fit"),
        ("POST", "/search", b'{"query": "  "}', 422, "does not fit"),
        ("POST", "/search", b'{"query": "x", "since": "soon"}', 422, "does not fit"),
        ("POST", "/search", b'{"query": "x", "since": "2024-13"}', 422, "does not fit"),
        ("POST", "/search", b'{"query": "x", "until": "2023-02-29"}', 422, "does not fit"),
        (
            "POST",
            "/search",
            b'{"query": "x", "sources": ["notebook"]}',
            400,
            'no source is named "notebook"; this archive has: ',
        ),
        ("POST", "/ask", b'{"question": "x", "kinds": ["gmail"]}', 400, 'no kind is named "gmail"; this archive has: '),
        ("POST", "/search", b'{"query": "x", "since": "2024-03", "until": "2023"}', 409, "give the earlier time first"),
        ("POST", "/search", b'{"query": "x", "limit": "5"}', 422, "does not fit"),
        ("POST", "/explore", b'{"query": "x", "search_relationships": 0}', 422, "does not fit"),
        ("PUT", "/search", b"{}", 405, "this address takes POST"),
        ("TRACE", "/people", None, 405, "this address takes GET and HEAD"),
        ("DELETE", "/openapi.json", None, 405, "this address takes GET"),
        ("PATCH", "/nothing", b"{}", 404, "openapi.json"),
        ("POST", "/graphrag/trace", b'{"answer": "x [Data: Reports (1)]"}', 404, "--index"),
        ("POST", "/search", b'{"query": "' + b"x" * 5_000_000 + b'"}', 413, "longer than"),
    ],
)
def test_what_is_asked_wrongly_is_a_problem(
    api: TestClient, method: str, path: str, given: bytes | None, status: int, said: str
) -> None:
    answer = api.request(method, f"/api/v1{path}", content=given, headers={"content-type": "application/json"})
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert problem["status"] == status
    assert said in problem["detail"]


def test_a_fault_says_nothing_private(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ValueError("Dana Levi has the key")

    monkeypatch.setattr(Service, "search", broken)
    with client(config) as api:
        answer = api.post("/api/v1/search", json={"query": "key"}, headers=BEARER)
        page = api.get("/search?q=key", headers={**BEARER, "cookie": ""})
    assert (answer.status_code, page.status_code) == (500, 401)
    assert answer.json()["detail"].startswith("unexpected ValueError at test_api.py:")
    assert "Dana" not in answer.text


def test_an_answer_is_streamed_as_events(api: TestClient) -> None:
    headers = {"accept": "text/event-stream"}
    answer = api.post("/api/v1/ask", json={"question": "What is broken again?"}, headers=headers)
    assert answer.headers["content-type"].startswith("text/event-stream")
    events = [part.split("\n") for part in answer.text.strip().split("\n\n")]
    assert [name for name, _ in events] == ["event: begun", "event: answer"]
    told = json.loads(events[-1][1].removeprefix("data: "))
    whole = api.post("/api/v1/ask", json={"question": "What is broken again?"}).json()
    assert same(told) == same(whole)


def test_a_stream_ends_with_what_went_wrong(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def answer_in_pieces(_: Service, question: str, filters: object, limit: object, tell: Any, follows: object) -> None:
        tell("The boiler ")
        tell("is\nbroken")
        raise ValueError("Dana Levi")

    monkeypatch.setattr(Service, "ask", answer_in_pieces)
    with client(config) as api:
        answer = api.post("/api/v1/ask", json={"question": "?"}, headers={**BEARER, "accept": "text/event-stream"})
    assert [json.loads(line[6:]) for line in answer.text.splitlines() if line.startswith("data: ")][1:3] == [
        "The boiler ",
        "is\nbroken",
    ]
    assert answer.text.rstrip().splitlines()[-2] == "event: problem"
    assert "Dana" not in answer.text


def test_every_operation_is_described_and_its_schemas_are_there(api: TestClient, config: Path) -> None:
    described = api.get("/api/v1/openapi.json").json()
    with Service.open(config) as service:
        assert described == json.loads(json.dumps(description(service)))
    operations = {one["operationId"] for path in described["paths"].values() for one in path.values()}
    assert operations == {one.name for one in OPERATIONS}
    schemas = described["components"]["schemas"]
    named = {part.split('"')[0] for part in json.dumps(described).split("#/components/schemas/")[1:]}
    assert named <= schemas.keys()
    assert schemas["HitReply"]["properties"]["from"]["anyOf"] == [{"type": "string"}, {"type": "null"}]
    assert "sender" not in schemas["HitReply"]["properties"]
