"""Qdrant servers for tests: the local mode of its client, as it is and behind HTTP, and one that refuses."""

from __future__ import annotations

import json
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from pydantic import BaseModel
from qdrant_client import QdrantClient, models

from relrag_pipelines.stores.vectors import server_index
from relrag_pipelines.stores.vectors.server_connection import Connection


def local() -> QdrantClient:
    """A client that is its own server, in memory. Closing a connection to it leaves it as it is."""
    return QdrantClient(":memory:")


@contextmanager
def served_locally(monkeypatch: pytest.MonkeyPatch, client: QdrantClient) -> Iterator[None]:
    """Lets every server be that client."""

    class Kept(Connection):
        def close(self) -> None:
            pass

    def connect(url: str, timeout: int = 0, variable: str = "") -> Connection:
        return Kept(url, client)

    monkeypatch.setattr(server_index, "connect", connect)
    monkeypatch.setattr("relrag_pipelines.stores.vectors.server_connection.connect", connect)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what local mode does without
        yield


class Rest:
    """The requests that relrag makes of a server, read by the models of Qdrant's API and done in local mode.

    So what is sent over the wire is what the API takes: these models know no field but its own.
    """

    def __init__(self, client: QdrantClient) -> None:
        self.client = client
        self.snapshots: list[dict[str, Any]] = []

    def answer(self, method: str, path: str, body: bytes) -> Any:
        """The `result` of an answer; KeyError where nothing of the kind is served."""
        match [method, *path.strip("/").split("/")]:
            case ["GET", "collections"]:
                return self.client.get_collections()
            case ["GET", "collections", name, "exists"]:
                return {"exists": self.client.collection_exists(name)}
            case ["GET", "collections", name]:
                return self.client.get_collection(name)
            case ["PUT", "collections", name]:
                made = models.CreateCollection.model_validate_json(body)
                return self.client.create_collection(
                    name, vectors_config=made.vectors or {}, sparse_vectors_config=made.sparse_vectors
                )
            case ["PATCH", "collections", _]:
                models.UpdateCollection.model_validate_json(body)
                return True
            case ["DELETE", "collections", name]:
                return self.client.delete_collection(name)
            case ["PUT", "collections", name, "index"]:
                models.CreateFieldIndex.model_validate_json(body)
                return _DONE
            case ["PUT", "collections", name, "points"]:
                self.client.upsert(name, models.PointsList.model_validate_json(body).points)
                return _DONE
            case ["POST", "collections", name, "points", *rest]:
                return self._points(name, "/".join(rest), body)
            case ["POST", "collections", name, "snapshots"]:
                self.snapshots.append({"name": f"{name}-{len(self.snapshots)}.snapshot", "size": 1})
                return self.snapshots[-1]
            case ["GET", "collections", _, "snapshots"]:
                return self.snapshots
        raise KeyError(path)

    def _points(self, name: str, what: str, body: bytes) -> Any:
        match what:
            case "delete":
                self.client.delete(name, models.FilterSelector.model_validate_json(body))
            case "":
                found = self.client.retrieve(name, models.PointRequest.model_validate_json(body).ids)
                return [one.model_dump(mode="json") for one in found]
            case "batch":
                operations = models.UpdateOperations.model_validate_json(body).operations
                self.client.batch_update_points(name, operations)
                return [_DONE] * len(operations)
            case "payload":
                given = models.SetPayload.model_validate_json(body)
                self.client.set_payload(name, given.payload, given.filter)
            case "payload/delete":
                gone = models.DeletePayload.model_validate_json(body)
                self.client.delete_payload(name, gone.keys, gone.filter)
            case "query":
                return self._query(name, models.QueryRequest.model_validate_json(body))
            case "scroll":
                page = models.ScrollRequest.model_validate_json(body)
                found, following = self.client.scroll(name, page.filter, limit=page.limit or 10, offset=page.offset)
                return models.ScrollResult(points=found, next_page_offset=following)
            case "count":
                return self.client.count(name, models.CountRequest.model_validate_json(body).filter)
            case _:
                raise KeyError(what)
        return _DONE

    def _query(self, name: str, asked: models.QueryRequest) -> Any:
        query: Any = asked.query
        return self.client.query_points(
            name, query=query, using=asked.using, query_filter=asked.filter, limit=asked.limit or 10
        )


_DONE = {"operation_id": 0, "status": "completed"}


@contextmanager
def over_http(client: QdrantClient, asked: list[tuple[str, bytes]] | None = None) -> Iterator[str]:
    """The URL of a server that does what it is asked in local mode; `asked` takes (method and path, body)."""
    rest = Rest(client)

    def answer(method: str, path: str, body: bytes) -> tuple[int, str]:
        if asked is not None:
            asked.append((f"{method} {path}", body))
        if path == "/":
            return 200, json.dumps({"title": "qdrant - vector search engine", "version": "1.20.0"})
        try:
            found = rest.answer(method, path, body)
        except KeyError:
            return 404, "{}"
        result = found.model_dump(mode="json") if isinstance(found, BaseModel) else found
        return 200, json.dumps({"result": result, "status": "ok", "time": 0.0})

    with _serving(answer) as url:
        yield url


@contextmanager
def answering(answers: Mapping[str, tuple[int, str]], status: int = 200) -> Iterator[tuple[str, list[str]]]:
    """A server that gives these answers by path (status, JSON), else an empty one; its URL, and what it was asked."""
    asked: list[str] = []

    def answer(method: str, path: str, body: bytes, key: str = "") -> tuple[int, str]:
        asked.append(f"{method} {path} {key}".strip())
        return answers.get(path, (status, "{}"))

    with _serving(answer, keyed=True) as url:
        yield url, asked


@contextmanager
def _serving(answer: Callable[..., tuple[int, str]], keyed: bool = False) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            key = [self.headers.get("api-key", "")] if keyed else []
            code, said = answer(self.command, self.path.partition("?")[0], body, *key)
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(said.encode())))
            self.end_headers()
            self.wfile.write(said.encode())

        do_GET = do_PUT = do_POST = do_DELETE = do_PATCH = _answer  # noqa: N815  names of the standard library

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as httpd:
        thread = threading.Thread(target=httpd.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{httpd.server_address[1]}"
        finally:
            httpd.shutdown()
            thread.join()
