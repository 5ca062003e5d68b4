"""The operations. A new one is a row here, a request in `requests.py` and a method of the service."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from relrag_query.exploration import DESCRIPTION
from relrag_query.graphrag.answer_reply import GraphAnswerReply
from relrag_query.graphrag.trace_reply import TraceReply
from relrag_query.operations import requests
from relrag_query.operations.operation import Operation
from relrag_query.operations.replies import ChunkBatch, ChunkRow, ChunksReply
from relrag_query.service import GraphLimits, GraphReply, Service
from relrag_query.service.archive_status import Status
from relrag_query.service.graph_index_cache import CollectionsReply, CollectionStatusReply, ReportsReply
from relrag_query.service.person_replies import ExploreReply, PeopleReply, PersonReply
from relrag_query.service.record_replies import NeighborsReply, ShowReply, ThreadReply, record_part
from relrag_query.service.relationship_statements import (
    StatementReply,
    add_note_to_relationship,
    create_relationship,
    update_relationship,
)
from relrag_query.service.replies import AnswerReply, SearchReply


def ask(service: Service, request: requests.AskRequest, on_text: Callable[[str], None] | None = None) -> AnswerReply:
    """The answer; `on_text` receives each piece of its text as it is written."""
    return service.ask(request.question, request.filters, request.limit, on_text, request.follows)


def _search(service: Service, request: requests.SearchRequest) -> SearchReply:
    return service.search(
        request.query or "", request.filters, request.limit, request.cursor, request.order, request.overview
    )


def _show(service: Service, request: requests.ShowRequest) -> ShowReply:
    return record_part(service.show(request.ref, request.limit), request.cursor)


def _chunk(service: Service, request: requests.ChunkRequest) -> ChunkRow:
    return ChunkRow(**service.chunk(request.chunk_id))


def _fields_to(method: Callable[..., Any]) -> Callable[[Service, Any], Any]:
    """Calls a method of the service with the fields of a request; its argument `after` is the cursor."""

    def call(service: Service, request: requests.Request) -> Any:
        arguments = dict(request)
        if "cursor" in arguments:
            arguments["after"] = arguments.pop("cursor")
        return method(service, **arguments)

    return call


OPERATIONS = (
    Operation(
        "search",
        "/search",
        requests.SearchRequest,
        SearchReply,
        _search,
        method="POST",
        tool=True,
        entries="hits",
        for_clients=True,
    ),
    Operation(
        "ask",
        "/ask",
        requests.AskRequest,
        AnswerReply,
        ask,
        method="POST",
        tool=True,
        entries="sources",
        for_clients=True,
        streams=True,
    ),
    Operation("show", "/show", requests.ShowRequest, ShowReply, _show, tool=True, for_clients=True),
    Operation(
        "thread",
        "/thread",
        requests.ThreadRequest,
        ThreadReply,
        _fields_to(Service.thread),
        tool=True,
        entries="members",
        for_clients=True,
    ),
    Operation(
        "neighbors",
        "/neighbors",
        requests.NeighborsRequest,
        NeighborsReply,
        _fields_to(Service.neighbors),
        tool=True,
        entries="neighbors",
        for_clients=True,
    ),
    Operation(
        "chunks",
        "/chunks/batch",
        requests.ChunksRequest,
        ChunksReply,
        lambda service, request: ChunksReply(data=ChunkBatch(**service.chunks(request.chunk_ids))),
        method="POST",
        for_clients=True,
        envelope=True,
    ),
    Operation("chunk", "/chunk", requests.ChunkRequest, ChunkRow, _chunk, for_clients=True),
    Operation(
        "explore",
        "/explore",
        requests.ExploreRequest,
        ExploreReply,
        _fields_to(Service.explore),
        method="POST",
        description=DESCRIPTION,
        tool=True,
        entries="nodes",
    ),
    Operation(
        "person",
        "/person",
        requests.PersonRequest,
        PersonReply,
        _fields_to(Service.person),
        tool=True,
        entries="latest",
    ),
    Operation(
        "people",
        "/people",
        requests.PeopleRequest,
        PeopleReply,
        _fields_to(Service.people),
        tool=True,
        entries="people",
    ),
    Operation(
        "graph",
        "/graph",
        requests.GraphRequest,
        GraphReply,
        lambda service, request: service.full_graph(GraphLimits(**dict(request))),
        for_clients=True,
    ),
    Operation(
        "graph_around",
        "/graph/around",
        requests.AroundRequest,
        GraphReply,
        _fields_to(Service.graph_around),
        for_clients=True,
    ),
    Operation(
        "status", "/status", requests.StatusRequest, Status, _fields_to(Service.status), tool=True, entries="sources"
    ),
    Operation(
        "graphrag",
        "/graphrag/query",
        requests.GraphQuestionRequest,
        GraphAnswerReply,
        _fields_to(Service.graphrag),
        method="POST",
        tool=True,
        entries="sources",
        served=lambda service: bool(service.graphs.collections().collections),
    ),
    Operation(
        "trace",
        "/graphrag/trace",
        requests.TraceRequest,
        TraceReply,
        lambda service, request: service.graphs.trace(**dict(request)),
        method="POST",
        tool=True,
        entries="sources",
        served=lambda service: service.graphs.can_trace,
    ),
    Operation(
        "collections",
        "/graphrag/collections",
        requests.CollectionsRequest,
        CollectionsReply,
        lambda service, request: service.graphs.collections(),
    ),
    Operation(
        "collection_status",
        "/graphrag/status",
        requests.CollectionStatusRequest,
        CollectionStatusReply,
        lambda service, request: service.graphs.status(request.collection),
    ),
    Operation("reports", "/graphrag/reports", requests.ReportsRequest, ReportsReply, _fields_to(Service.reports)),
    Operation(
        "create_relationship",
        "/relationships",
        requests.CreateRelationshipRequest,
        StatementReply,
        _fields_to(create_relationship),
        method="POST",
        tool=True,
        writes="adds",
    ),
    Operation(
        "update_relationship",
        "/relationships/update",
        requests.UpdateRelationshipRequest,
        StatementReply,
        _fields_to(update_relationship),
        method="POST",
        tool=True,
        writes="changes",
    ),
    Operation(
        "add_note_to_relationship",
        "/relationships/notes",
        requests.RelationshipNoteRequest,
        StatementReply,
        _fields_to(add_note_to_relationship),
        method="POST",
        tool=True,
        writes="adds",
    ),
)
BY_NAME = {operation.name: operation for operation in OPERATIONS}


def operations_of(service: Service) -> list[Operation]:
    """The operations of a service; fewer if it is limited to some clients."""
    return [operation for operation in OPERATIONS if operation.for_clients or not service.clients]
