"""Takes what servers send to `relrag serve`: new messages, signed with the secret of their source.

A source without such a secret takes nothing. What is taken lies in the mirror of the source until the next sync, which
`relrag watch` or a schedule starts.
"""

from __future__ import annotations

import hmac
import importlib
from collections.abc import Mapping
from types import ModuleType

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from relrag_pipelines.erasure.mirrored_items import open_mirror
from relrag_pipelines.ingest import fetching
from relrag_pipelines.settings import Settings, Source, now
from relrag_pipelines.sources import KINDS
from relrag_pipelines.sources.remote.secrets import SecretError
from relrag_pipelines.workspace import Workspace
from relrag_query.http.concurrency import RequestLimiter
from relrag_query.http.problems import error_response, problem
from relrag_query.service import Service

PREFIX = "/webhooks/"
_MAX_BODY_BYTES = 2**20
"""bytes; files are not sent along, or are left out"""
_STORED, _IGNORED = 201, 204


def routes(service: Service, limiter: RequestLimiter) -> list[Route]:
    """The route that takes events, at every path below the prefix: the guard lets all of them pass."""

    async def endpoint(request: Request) -> Response:
        body = bytearray()
        async for part in request.stream():
            body += part
            if len(body) > _MAX_BODY_BYTES:
                return problem(413, f"an event has at most {_MAX_BODY_BYTES:,} bytes; send no files along")
        try:
            return await limiter.run(
                _take, service.settings, request.path_params["source"], request.headers, bytes(body)
            )
        except Exception as error:  # noqa: BLE001  reported without private text
            return error_response(error)

    return [Route(f"{PREFIX}{{source:path}}", endpoint, methods=["POST"])]


def _take(settings: Settings, name: str, headers: Mapping[str, str], body: bytes) -> Response:
    """Checks the signature of an event, and stores what it tells. A stranger does not learn which sources there are."""
    source = next((source for source in settings.sources if source.name == name and _takes_events(source)), None)
    if source is None or not _is_signed(settings, source, headers, body):
        return problem(401, "no source of that name takes events, or the body is not signed with its webhook secret")
    module = _module(source)
    workspace = Workspace(settings)
    mirror = open_mirror(workspace, source)
    if not mirror.exists:
        return Response(status_code=_IGNORED)  # the first sync fetches it
    try:
        is_stored = module.store_event(mirror, source.url, body, int(now().timestamp()))
    except (ValueError, TypeError, LookupError, AttributeError):
        return problem(400, "the event has an unexpected form")
    return Response(status_code=_STORED if is_stored else _IGNORED)


def _is_signed(settings: Settings, source: Source, headers: Mapping[str, str], body: bytes) -> bool:
    """Whether the source has a webhook key, and the body is signed with it."""
    module = _module(source)
    try:
        secret = fetching.read_webhook_secret(settings, source)
    except SecretError:
        return False
    expected = hmac.new(secret.encode(), body, module.ALGORITHM).hexdigest()
    return hmac.compare_digest(expected.encode(), headers.get(module.SIGNATURE, "").strip().lower().encode())


def _module(source: Source) -> ModuleType:
    return importlib.import_module(f"relrag_pipelines.sources.{KINDS[source.kind].webhook}")


def _takes_events(source: Source) -> bool:
    return source.is_fetched and bool(KINDS[source.kind].webhook)
