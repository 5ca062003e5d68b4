"""The operations of the API, each declared once: its path, what it is asked with, what it replies.

What is added goes into OPERATIONS, behind a method of the service.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import orjson
from pydantic import BaseModel, TypeAdapter
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from relrag_query.graphrag.answer_reply import GraphAnswerReply
from relrag_query.graphrag.trace_reply import TraceReply
from relrag_query.http import requests
from relrag_query.http.event_stream import MEDIA_TYPE, event_stream
from relrag_query.http.problems import BodyTooLong, NotJson, of_error, problem
from relrag_query.http.turns import Turns
from relrag_query.service import GraphLimits, GraphReply, Service, record_replies, replies
from relrag_query.service.archive_status import Status
from relrag_query.service.graph_index_cache import CollectionsReply, ReportsReply
from relrag_query.service.person_replies import ExploreReply, PeopleReply, PersonReply
from relrag_query.service.relationship_statements import (
    StatementReply,
    add_note_to_relationship,
    create_relationship,
    update_relationship,
)

PREFIX = "/api/v1"
FULL_GRAPH = "/entities/graph/full"
"""another address of the graph, the one that older front ends ask"""
_LONGEST_BODY = 4 * 2**20
"""bytes"""


@dataclass(frozen=True)
class Operation:
    """One thing that can be asked of the service."""

    name: str
    method: str
    path: str
    request: type[BaseModel]
    reply: Any
    call: Callable[[Service, Any], Any]
    streams: bool = False
    for_clients: bool = False
    """may be asked by those who see the records of some clients only"""


def _search(service: Service, asked: requests.SearchRequest) -> replies.SearchReply:
    return service.search(asked.query, asked.filters, asked.limit, asked.cursor)


def _ask(service: Service, asked: requests.AskRequest) -> replies.AnswerReply:
    return service.ask(asked.question, asked.filters, asked.limit, None, asked.follows)


def _neighbors(service: Service, asked: requests.NeighborsRequest) -> record_replies.NeighborsReply:
    return service.neighbors(asked.ref, asked.relation_types, asked.direction, asked.limit, asked.cursor)


def _graph(service: Service, asked: requests.GraphRequest) -> GraphReply:
    return service.full_graph(GraphLimits(**dict(asked)))


def _stated(call: Callable[..., StatementReply]) -> Callable[[Service, Any], StatementReply]:
    return lambda service, asked: call(service, **dict(asked))


OPERATIONS = (
    Operation("search", "POST", "/search", requests.SearchRequest, replies.SearchReply, _search, for_clients=True),
    Operation("ask", "POST", "/ask", requests.AskRequest, replies.AnswerReply, _ask, streams=True, for_clients=True),
    Operation(
        "show",
        "GET",
        "/show",
        requests.ShowRequest,
        record_replies.ShowReply,
        lambda to, asked: record_replies.part_of(to.show(asked.ref, asked.limit), asked.cursor),
        for_clients=True,
    ),
    Operation(
        "thread",
        "GET",
        "/thread",
        requests.ThreadRequest,
        record_replies.ThreadReply,
        lambda to, asked: to.thread(asked.thread_id, asked.limit, asked.cursor),
        for_clients=True,
    ),
    Operation(
        "neighbors",
        "GET",
        "/neighbors",
        requests.NeighborsRequest,
        record_replies.NeighborsReply,
        _neighbors,
        for_clients=True,
    ),
    Operation(
        "chunks",
        "POST",
        "/chunks/batch",
        requests.ChunksRequest,
        requests.ChunksReply,
        lambda to, asked: requests.ChunksReply(**to.chunks(asked.chunk_ids)),
        for_clients=True,
    ),
    Operation(
        "explore",
        "POST",
        "/explore",
        requests.ExploreRequest,
        ExploreReply,
        lambda to, asked: to.explore(asked.query, asked.search_relationships, asked.person, asked.limit),
    ),
    Operation("person", "GET", "/person", requests.PersonRequest, PersonReply, lambda to, asked: to.person(asked.name)),
    Operation(
        "people",
        "GET",
        "/people",
        requests.PeopleRequest,
        PeopleReply,
        lambda to, asked: to.people(asked.limit, asked.cursor),
    ),
    Operation("graph", "GET", "/graph", requests.GraphRequest, GraphReply, _graph, for_clients=True),
    Operation(
        "graph_around",
        "GET",
        "/graph/around",
        requests.AroundRequest,
        GraphReply,
        lambda to, asked: to.graph_around(asked.ref, asked.limit),
        for_clients=True,
    ),
    Operation("status", "GET", "/status", requests.StatusRequest, Status, lambda to, _: to.status()),
    Operation(
        "trace",
        "POST",
        "/graphrag/trace",
        requests.TraceRequest,
        TraceReply,
        lambda to, asked: to.graphs.trace(asked.answer, asked.question, asked.collection),
    ),
    Operation(
        "graphrag",
        "POST",
        "/graphrag/query",
        requests.GraphQuestionRequest,
        GraphAnswerReply,
        lambda to, asked: to.graphrag(asked.question, asked.collection, asked.method),
    ),
    Operation(
        "collections",
        "GET",
        "/graphrag/collections",
        requests.CollectionsRequest,
        CollectionsReply,
        lambda to, _: to.graphs.collections(),
    ),
    Operation(
        "reports",
        "GET",
        "/graphrag/reports",
        requests.ReportsRequest,
        ReportsReply,
        lambda to, asked: to.reports(asked.collection, asked.limit, asked.cursor),
    ),
    *(
        Operation(call.__name__, "POST", path, request, StatementReply, _stated(call))
        for path, request, call in (
            ("/relationships", requests.CreateRelationshipRequest, create_relationship),
            ("/relationships/update", requests.UpdateRelationshipRequest, update_relationship),
            ("/relationships/notes", requests.RelationshipNoteRequest, add_note_to_relationship),
        )
    ),
)


def routes(service: Service, turns: Turns, operations: tuple[Operation, ...] = OPERATIONS) -> list[Route]:
    """The routes of the API; what has none of these paths is a problem of its own."""
    operations = tuple(one for one in operations if one.for_clients or not service.clients)
    found = [
        Route(
            FULL_GRAPH,
            _endpoint(next(one for one in operations if one.name == "graph"), service, turns),
            methods=["GET"],
        )
    ]
    found += [Route(f"{PREFIX}{one.path}", _endpoint(one, service, turns), methods=[one.method]) for one in operations]
    return [*found, Route(f"{PREFIX}/{{path:path}}", _unknown, methods=["GET", "POST", "PUT", "PATCH", "DELETE"])]


def dump(reply: Any, adapter: TypeAdapter[Any]) -> bytes:
    """A reply as JSON."""
    return adapter.dump_json(reply, by_alias=True, exclude_none=isinstance(reply, GraphReply))


def _endpoint(operation: Operation, service: Service, turns: Turns) -> Callable[[Request], Any]:
    adapter: TypeAdapter[Any] = TypeAdapter(operation.reply)

    async def endpoint(request: Request) -> Response:
        try:
            asked = operation.request.model_validate(await _given(request, operation))
            if operation.streams and MEDIA_TYPE in request.headers.get("accept", ""):
                return _streamed(service, turns, cast(requests.AskRequest, asked))
            reply = await turns.run(operation.call, service, asked)
            return Response(dump(reply, adapter), media_type="application/json")
        except Exception as error:  # noqa: BLE001  said without private text
            return of_error(error)

    return endpoint


def _streamed(service: Service, turns: Turns, asked: requests.AskRequest) -> Response:
    def ask(tell: Callable[[str], None]) -> Any:
        reply = service.ask(asked.question, asked.filters, asked.limit, tell, asked.follows)
        return reply.model_dump(mode="json", by_alias=True)

    return event_stream(turns, ask)


async def _given(request: Request, operation: Operation) -> Any:
    """What a request says: its body as JSON, or its query, in which a list is a name given again."""
    if operation.method == "GET":
        lists = {name for name, field in operation.request.model_fields.items() if "list[" in str(field.annotation)}
        asked = request.query_params
        return {name: asked.getlist(name) if name in lists else asked[name] for name in asked}
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > _LONGEST_BODY:
            raise BodyTooLong(f"the body is longer than {_LONGEST_BODY:,} bytes")
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        raise NotJson("the body is not JSON") from None


async def _unknown(request: Request) -> Response:
    return problem(404, f"no such operation; {PREFIX}/openapi.json lists them")
