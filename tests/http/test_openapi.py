"""The API does what its OpenAPI description says: each limit of each parameter, methods, media types, problems.

Walks the description as schemathesis does, without that dependency: a value at each limit, and one beyond it.
"""

import calendar
import itertools
import re
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from starlette.testclient import TestClient

from relrag_query.operations.operation import Operation
from relrag_query.operations.parameters import DATE_PATTERN, TIME_PATTERN
from relrag_query.operations.table import OPERATIONS
from tests import archive
from tests.web_app import BEARER, client

ACCEPTED = {200, 404, 409}
"""what fits is answered, or names nothing that the archive has"""
REFUSED = {400, 422}
METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"}
NULL = {"type": "null"}
SAMPLES: dict[str, tuple[list[Any], list[Any]]] = {
    "integer": ([], ["many", 1.5, None, True, []]),
    "boolean": ([True, False], ["maybe", 2, None]),
    "array": ([[]], ["text", 7]),
    "string": ([], [7, None, {}, []]),
}
"""type -> values that fit, values that do not"""
PATTERNS = {
    "since": (["2024", "2024-02", "2024-02-29", "1999-12-31"], ["24", "2024-13", "2023-02-29", "2024-04-31", "0999"]),
    "added": (
        ["2024", "2024-02-29", "2024-02-29T23:59Z", "2024-01-31T00:00:07.123456+02:00"],
        ["24", "2023-02-29", "2024-02-29T24:00Z", "2024-02-29T10:00", "2024-02T10:00Z", "2024-02-29T10:00:00.1234567Z"],
    ),
    "cursor": (["1-0", "3-20", "999-1"], ["1", "01-2", "1--2", "MTox", "1-00", "-1"]),
    "text": (["x", "?", " שלום "], ["", " ", "\n\t", "\u00a0"]),
}
"""texts that a pattern lets in, and texts that it does not"""


def test_a_date_and_a_time_have_the_same_calendar() -> None:
    for year, month, day in itertools.product((1000, 1900, 2000, 2023, 2024, 2100, 2999), range(14), range(33)):
        text = f"{year}-{month:02}-{day:02}"
        exists = 1 <= month <= 12 and 1 <= day <= calendar.monthrange(year, month)[1]
        assert bool(re.search(DATE_PATTERN, text)) == exists
        assert bool(re.search(TIME_PATTERN, f"{text}T10:00Z")) == exists


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    config = archive.make(tmp_path_factory.mktemp("openapi"), "web_writes_enabled = true")
    archive.first_sync(config)
    with client(config) as opened:
        opened.headers |= BEARER
        yield opened


@pytest.fixture(scope="module")
def described(api: TestClient) -> dict[str, Any]:
    reply: dict[str, Any] = api.get("/api/v1/openapi.json").json()
    return reply


def parameters(described: dict[str, Any], operation: Operation) -> tuple[dict[str, Any], set[str]]:
    """The schema of each parameter, and the names of those that are required."""
    entry = described["paths"][f"/api/v1{operation.path}"][operation.method.lower()]
    if operation.method == "GET":
        return (
            {one["name"]: one["schema"] for one in entry["parameters"]},
            {one["name"] for one in entry["parameters"] if one["required"]},
        )
    schema = described["components"]["schemas"][operation.request.__name__]
    return schema["properties"], set(schema.get("required", []))


def values(name: str, schema: dict[str, Any]) -> Iterator[tuple[Any, bool]]:
    """Values of a parameter, and whether each fits."""
    if "anyOf" in schema:
        (inner,) = (kind for kind in schema["anyOf"] if kind != NULL)
        yield None, True
        yield from ((value, fits) for value, fits in values(name, inner) if value is not None)
        return
    fitting, failing = SAMPLES[schema.get("type", "string")]
    yield from ((value, True) for value in fitting)
    yield from ((value, False) for value in failing)
    for limit, step in (("minimum", -1), ("maximum", 1)):
        if limit in schema:
            yield schema[limit], True
            yield schema[limit] + step, False
    if "maxLength" in schema:
        yield "x" * (schema["maxLength"] + 1), False
    if "maxItems" in schema:
        yield ["x"] * (schema["maxItems"] + 1), False
    if "enum" in schema.get("items", {}):
        yield schema["items"]["enum"], True
        yield ["no such name"], False
    if "pattern" in schema:
        kind = "since" if name in ("since", "until") else name if name in PATTERNS else "text"
        for fits, texts in zip((True, False), PATTERNS[kind], strict=True):
            yield from ((text, fits) for text in texts)
    if "enum" in schema:
        yield from ((value, True) for value in schema["enum"])
        yield "no such value", False


def send(api: TestClient, operation: Operation, arguments: dict[str, Any]) -> Any:
    if operation.method == "GET":
        return api.get(f"/api/v1{operation.path}", params=arguments)
    return api.post(f"/api/v1{operation.path}", json=arguments)


def is_sent_as_text(value: Any, schema: dict[str, Any]) -> bool:
    """Whether a query can say a value: it has texts only, and a list is a text that is repeated."""
    if schema.get("type") == "integer":
        return isinstance(value, str | int) and not isinstance(value, bool)
    return isinstance(value, str) and schema.get("type") != "array"


def smallest(described: dict[str, Any], operation: Operation) -> dict[str, Any]:
    """Arguments that fit, with nothing that may be left out."""
    schemas, required = parameters(described, operation)
    samples = {"array": [], "string": "nobody"}
    return {name: samples[schemas[name].get("type", "string")] for name in sorted(required)}


def is_problem(answer: Any, status: int) -> bool:
    return answer.headers["content-type"] == "application/problem+json" and answer.json()["status"] == status


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_each_limit_holds_and_nothing_else_is_refused(
    api: TestClient, described: dict[str, Any], operation: Operation
) -> None:
    schemas, required = parameters(described, operation)
    base = smallest(described, operation)
    assert send(api, operation, base).status_code in ACCEPTED
    for name, schema in schemas.items():
        for value, fits in values(name, schema):
            if operation.method == "GET" and not is_sent_as_text(value, schema):
                continue
            answer = send(api, operation, {**base, name: value})
            assert (answer.status_code in ACCEPTED) == fits, (name, value, answer.text[:300])
            assert answer.status_code in ACCEPTED | REFUSED, (name, value, answer.text[:300])
    for name in required:
        missing = {other: value for other, value in base.items() if other != name}
        assert is_problem(send(api, operation, missing), 422)
    assert is_problem(send(api, operation, {**base, "unknown": "x"}), 422)


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_other_methods_and_media_types_are_problems(
    api: TestClient, described: dict[str, Any], operation: Operation
) -> None:
    path = f"/api/v1{operation.path}"
    allowed = {"GET", "HEAD"} if operation.method == "GET" else {"POST"}
    for method in METHODS - allowed:
        answer = api.request(method, path)
        assert answer.status_code == 405, method
        assert {*answer.headers["allow"].split(", ")} == allowed
        assert method == "HEAD" or is_problem(answer, 405)
    if operation.method == "POST":
        for media_type in ("text/plain", "application/x-www-form-urlencoded", ""):
            assert is_problem(api.post(path, content=b"{}", headers={"content-type": media_type}), 415)
    assert is_problem(api.request(operation.method, path, headers={"authorization": "Bearer other"}), 401)
    assert is_problem(api.request(operation.method, path, headers={"host": "evil.example"}), 403)


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_replies_fit_their_schemas(api: TestClient, described: dict[str, Any], operation: Operation) -> None:
    arguments = {
        "search": {"query": "key of the cabin"},
        "ask": {"question": "Who has the key of the cabin?"},
        "explore": {"query": "the cabin"},
        "show": {"ref": "jsonl:notes:n2"},
        "thread": {"thread_id": "thanks"},
        "neighbors": {"ref": "jsonl:notes:n2"},
        "person": {"name": "Dana Levi"},
        "graph_around": {"ref": "jsonl:notes:n2"},
    }.get(operation.name) or smallest(described, operation)
    answer = send(api, operation, arguments)
    entry = described["paths"][f"/api/v1{operation.path}"][operation.method.lower()]
    media_type = "application/json" if answer.status_code == 200 else "application/problem+json"
    schema = entry["responses"][str(answer.status_code)]["content"][media_type]["schema"]
    Draft202012Validator({**schema, "components": described["components"]}).validate(answer.json())
