"""A connection to a Qdrant server: the key from the environment, patience, and errors that say what to do.

No message repeats the key, or what the server said: that may quote what it was sent.
"""

from __future__ import annotations

import json
import os
import re
import time
import warnings
from collections.abc import Callable, Sequence
from typing import TypeVar

from qdrant_client import QdrantClient
from qdrant_client.common.client_exceptions import QdrantException
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from relrag_pipelines.stores.vectors.protocol import StoreError

KEY = "QDRANT_API_KEY"
"""variable of the environment with the key of the archive's own server"""
OLDEST = (1, 10)
"""version of the server: the first with IDF of sparse vectors and with the query API"""
TIMEOUT_SECONDS = 60
PAUSES: tuple[float, ...] = (1.0, 4.0)
"""seconds before a write is tried again that the server does not take for now"""

_PASSING = frozenset({429, 500, 502, 503, 504})
_KEPT = "what is published is still there, and the next `relrag sync` begins again"

Answer = TypeVar("Answer")


class Connection:
    """An open connection; nothing is asked before `ask`."""

    def __init__(self, url: str, client: QdrantClient, variable: str = KEY) -> None:
        self.url = url
        self.variable = variable
        self._client = client

    def ask(self, call: Callable[[QdrantClient], Answer], pauses: Sequence[float] = ()) -> Answer:
        """What `call` returns; again after each pause while the server cannot be reached or is busy, then StoreError.

        What is asked more than once must be the same to do twice.
        """
        fault = StoreError("unreachable")
        for pause in (*pauses, None):
            try:
                return call(self._client)
            except UnexpectedResponse as error:
                fault, passing = _refusal(self.url, error.status_code, self.variable), error.status_code in _PASSING
            except QdrantException:
                fault, passing = _refusal(self.url, 429, self.variable), True
            except ResponseHandlingException as error:
                fault, passing = _unreachable(self.url, error.source), not isinstance(error.source, ValueError)
            except json.JSONDecodeError as error:
                fault, passing = _unreachable(self.url, error), False
            if pause is None or not passing:
                break
            time.sleep(pause)
        raise fault

    def version(self) -> str:
        """The version of the server; StoreError where it does not answer as Qdrant, or is too old."""
        version = str(self.ask(lambda client: client.info()).version)
        numbers = re.match(r"(\d+)\.(\d+)", version)
        if not numbers or tuple(map(int, numbers.groups())) < OLDEST:
            least = ".".join(map(str, OLDEST))
            raise StoreError(f"Qdrant at {self.url} is version {version or 'unknown'}; relrag needs {least} or newer")
        # the version is told without a key
        self.ask(lambda client: client.get_collections())
        return version

    def names(self) -> list[str]:
        """All collections on the server."""
        return sorted(collection.name for collection in self.ask(lambda client: client.get_collections()).collections)

    def close(self) -> None:
        """Lets go of it."""
        self._client.close()


def connect(url: str, timeout: int = TIMEOUT_SECONDS, variable: str = KEY) -> Connection:
    """A connection with the key that the environment has in that variable: a server gets no other's key."""
    with warnings.catch_warnings():
        # a key that goes over a network in the clear: `relrag doctor` says it, and what to do
        warnings.simplefilter("ignore")
        key = os.environ.get(variable, "").strip() or None
        client = QdrantClient(url=url, api_key=key, timeout=timeout, check_compatibility=False)
        return Connection(url, client, variable)


def _refusal(url: str, status: int | None, variable: str) -> StoreError:
    reasons = {
        401: f"does not accept the key (401); check {variable}",
        403: f"does not allow this key to do that (403); check {variable}",
        404: "does not have what was asked for (404): the collection is gone, `relrag verify --repair` makes it again, "
        "or the address is wrong, check qdrant_url",
        413: "does not take so large a request (413); raise max_request_size_mb of the server",
        429: f"still refuses for too many requests (429); {_KEPT}",
    }
    other = f"failed ({status}); {_KEPT}" if status in _PASSING else f"does not accept the request ({status})"
    return StoreError(f"Qdrant at {url} {reasons.get(status or 0, other)}")


def _unreachable(url: str, source: Exception) -> StoreError:
    if isinstance(source, ValueError):  # of json or pydantic: the answer is not Qdrant's
        return StoreError(f"{url} does not answer as Qdrant; check qdrant_url")
    return StoreError(f"Qdrant at {url} could not be reached ({type(source).__name__}); check that it runs; {_KEPT}")
