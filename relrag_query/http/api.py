"""The routes of the API: the operations of `operations/table.py` over HTTP."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from relrag_query.http.concurrency import RequestLimiter
from relrag_query.http.event_stream import MEDIA_TYPE, event_stream
from relrag_query.http.openapi import PREFIX, description
from relrag_query.http.problems import BodyTooLong, NotJson, WrongMediaType, error_response, problem
from relrag_query.operations import requests
from relrag_query.operations.operation import Operation
from relrag_query.operations.table import BY_NAME, ask, operations_of
from relrag_query.service import GraphReply, Service

FULL_GRAPH = "/entities/graph/full"
"""path of the graph in older front ends"""
METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"]
_MAX_BODY_BYTES = 4 * 2**20
"""bytes"""
_JSON = "application/json"

Endpoint = Callable[[Request], Awaitable[Response]]


def routes(service: Service, limiter: RequestLimiter) -> list[Route]:
    """The routes of the API. An unsupported method gets 405, an unknown path below the prefix 404."""
    endpoints: dict[str, Mapping[str, Endpoint]] = {
        f"{PREFIX}{operation.path}": {operation.method: _endpoint(operation, service, limiter)}
        for operation in operations_of(service)
    }
    endpoints[FULL_GRAPH] = {"GET": _endpoint(BY_NAME["graph"], service, limiter)}
    endpoints[f"{PREFIX}/openapi.json"] = {"GET": _openapi(service)}
    operation_routes = [Route(path, _by_method(methods), methods=METHODS) for path, methods in endpoints.items()]
    return [*operation_routes, Route(f"{PREFIX}/{{path:path}}", _not_found, methods=METHODS)]


def _by_method(endpoints: Mapping[str, Endpoint]) -> Endpoint:
    """Calls the endpoint of a request's method; 405 if there is none. HEAD is GET without a body."""
    allowed = [*endpoints, *(["HEAD"] if "GET" in endpoints else [])]

    async def endpoint(request: Request) -> Response:
        method = "GET" if request.method == "HEAD" else request.method
        if method in endpoints:
            return await endpoints[method](request)
        return problem(405, f"this address takes {' and '.join(allowed)}", {"Allow": ", ".join(allowed)})

    return endpoint


def _endpoint(operation: Operation, service: Service, limiter: RequestLimiter) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        try:
            as_text = operation.method == "GET"
            arguments = _query(request, operation.request) if as_text else await _body(request)
            parsed = await limiter.run(operation.parse, arguments, service, as_text=as_text)
            if operation.streams and MEDIA_TYPE in request.headers.get("accept", ""):
                return _stream_answer(service, limiter, parsed)
            reply = await limiter.run(operation.call, service, parsed)
            return Response(_dump(reply, operation), media_type=_JSON)
        except Exception as error:  # noqa: BLE001  reported without private text
            return error_response(error, envelope=operation.envelope)

    return endpoint


def _dump(reply: Any, operation: Operation) -> bytes:
    return operation.adapter.dump_json(reply, by_alias=True, exclude_none=isinstance(reply, GraphReply))


def _stream_answer(service: Service, limiter: RequestLimiter, request: Any) -> Response:
    def answer(on_text: Callable[[str], None]) -> Any:
        return ask(service, request, on_text).model_dump(mode="json", by_alias=True)

    return event_stream(limiter, answer)


async def _body(request: Request) -> Any:
    """The parsed JSON body. Raises WrongMediaType, BodyTooLong or NotJson."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != _JSON:
        raise WrongMediaType(f"send JSON, as Content-Type: {_JSON}")
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > _MAX_BODY_BYTES:
            raise BodyTooLong(f"the body is longer than {_MAX_BODY_BYTES:,} bytes")
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        raise NotJson("the body is not JSON") from None


def _query(request: Request, model: type[requests.Request]) -> dict[str, Any]:
    """The parameters of the query string, where a list is a repeated name."""
    lists = {name for name, field in model.model_fields.items() if "list[" in str(field.annotation)}
    values = request.query_params
    return {name: values.getlist(name) if name in lists else values[name] for name in values}


def _openapi(service: Service) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        return JSONResponse(description(service))

    return endpoint


async def _not_found(request: Request) -> Response:
    return problem(404, f"no such operation; {PREFIX}/openapi.json lists them")
