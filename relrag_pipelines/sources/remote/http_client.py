"""A polite and wary client for the HTTP APIs of servers.

Polite: one request at a time, at most so many a fetch, and after 429 and 5xx the pause that the server asks for
(Retry-After), else one that doubles each time, with jitter. Wary: redirects are followed on the same host only, a body
has a largest size and a time in which it has to be complete, and one that ends before its announced end is asked for
again. Messages name the host, the path of the API without its query, and the status; never a header or a body.
"""

from __future__ import annotations

import json
import random
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import IO, Any
from urllib.parse import urljoin, urlsplit

import httpx

from relrag_pipelines.sources.remote import CONTINUES, FetchError
from relrag_pipelines.sources.remote.addresses import require_encryption

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_REPEATABLE = frozenset({408, 425, 429, 500, 502, 503, 504})


@dataclass(frozen=True)
class Limits:
    """How a server is treated."""

    requests: int = 100_000
    """most requests of one fetch"""
    tries: int = 5
    """of one request"""
    first_pause: float = 1.0
    """seconds before the second try where the server names none; it doubles"""
    longest_pause: float = 120.0
    """seconds; where a server asks for more, the fetch ends"""
    silence: float = 30.0
    """longest time without any byte, seconds"""
    duration: float = 600.0
    """longest time of one request with its body, seconds"""
    json_bytes: int = 64 * 2**20
    """largest answer in JSON"""
    redirects: int = 3


class _Repeat(Exception):
    """The request is worth another try."""

    def __init__(self, reason: str, pause: float | None = None) -> None:
        super().__init__(reason)
        self.reason, self.pause = reason, pause


class UnexpectedStatusError(FetchError):
    """The server refused a request that is not worth repeating."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class OversizeError(FetchError):
    """An answer is larger than it may be."""


@dataclass
class HttpClient:
    """Requests to one server. Raises FetchError for an address over which a secret could be read by others."""

    base: str
    """address that paths are relative to"""
    authorize: Callable[[], Mapping[str, str]]
    """gives the headers that log in; asked again after a 401, since a token may have ended"""
    secret_name: str
    """where the secret is expected, for messages"""
    limits: Limits = field(default_factory=Limits)
    accept: str = "application/json"
    """type of content that is asked for"""
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    ca_file: Path | None = None

    def __post_init__(self) -> None:
        require_encryption(self.base)
        parts = urlsplit(self.base)
        self._origin = (parts.scheme, parts.hostname, parts.port)
        self.host = parts.netloc
        self._requests, self._deadline = 0, 0.0
        verify = ssl.create_default_context(cafile=str(self.ca_file) if self.ca_file else None)
        limits = httpx.Limits(max_connections=1, max_keepalive_connections=1)
        # trust_env off: neither a proxy nor ~/.netrc of the environment, which no setting names
        self._http = httpx.Client(timeout=self.limits.silence, limits=limits, verify=verify, trust_env=False)

    def close(self) -> None:
        """Ends the connection."""
        self._http.close()

    def get_json(self, path: str, query: Mapping[str, Any] | None = None) -> Any:
        """The JSON of an answer. Raises UnexpectedStatusError where it is refused, FetchError where it is no JSON."""

        return self._with_tries("GET", path, self._read_json, query=query)

    def post_form(self, path: str, form: Mapping[str, str]) -> Any:
        """The JSON of the answer to a form."""

        return self._with_tries("POST", path, self._read_json, form=form)

    def _read_json(self, response: httpx.Response) -> Any:
        body = b"".join(self._blocks(response, self.limits.json_bytes))
        try:
            return json.loads(body)
        except (ValueError, RecursionError):
            raise _Repeat("sent an answer that is not JSON") from None

    def download(self, path: str, open_target: Callable[[], IO[bytes]], max_bytes: int) -> int:
        """Writes the body of an answer into a file that is opened anew for each try; its bytes."""

        def read(response: httpx.Response) -> int:
            size = 0
            with open_target() as target:
                for block in self._blocks(response, max_bytes):
                    target.write(block)
                    size += len(block)
            return size

        size: int = self._with_tries("GET", path, read)
        return size

    def _with_tries(
        self,
        method: str,
        path: str,
        read: Callable[[httpx.Response], Any],
        **content: Mapping[str, Any] | None,
    ) -> Any:
        reason, renewed = "", False
        for attempt in range(self.limits.tries):
            try:
                return self._request(method, path, read, **content)
            except _Repeat as repeat:
                reason = repeat.reason
                if attempt + 1 < self.limits.tries:
                    self.sleep(self._pause(attempt, repeat.pause))
            except UnexpectedStatusError as refused:
                if refused.status != 401 or renewed:
                    raise
                renewed = True
        raise FetchError(f"{self.host} {reason} ({_api_path(path)}, {self.limits.tries} times); {CONTINUES}")

    def _request(
        self,
        method: str,
        path: str,
        read: Callable[[httpx.Response], Any],
        query: Mapping[str, Any] | None = None,
        form: Mapping[str, str] | None = None,
    ) -> Any:
        url = urljoin(self.base if self.base.endswith("/") else f"{self.base}/", path)
        for _ in range(self.limits.redirects + 1):
            self._require_same_host(url)
            self._count()
            self._deadline = self.clock() + self.limits.duration
            sent = {"Accept": self.accept, "Accept-Encoding": "identity", **self.authorize()}
            with self._answer(method, url, sent, query, form) as response:
                if response.status_code not in _REDIRECTS:
                    self._check_status(response, path)
                    return read(response)
                url, query = urljoin(url, response.headers.get("location", "")), None
        raise FetchError(f"{self.host} redirects without end ({_api_path(path)}); check url in relrag.toml")

    @contextmanager
    def _answer(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        query: Mapping[str, Any] | None,
        form: Mapping[str, str] | None,
    ) -> Iterator[httpx.Response]:
        """An answer whose body is not read yet; faults of the connection become reasons for another try."""
        fault: Exception
        try:
            with self._http.stream(method, url, headers=headers, params=query, data=form) as response:
                yield response
            return
        except httpx.TimeoutException:
            fault = _Repeat(f"did not answer within {self.limits.silence:g} s")
        except httpx.RemoteProtocolError:
            fault = _Repeat("broke off its answer")
        except httpx.TransportError as error:
            name = type(error.__cause__ or error).__name__
            fault = _Repeat(f"could not be reached ({name})")
        except httpx.HTTPError as error:
            fault = FetchError(f"{self.host} sent an answer that cannot be read ({type(error).__name__}); {CONTINUES}")
        # raised outside the except blocks: the library's errors hold the request with its headers
        raise fault

    def _blocks(self, response: httpx.Response, max_bytes: int) -> Iterator[bytes]:
        """The body, within its limits of size and time."""
        size = 0
        announced = response.headers.get("content-length", "")
        for block in response.iter_raw():  # as they come: a block of a size would wait for a server that sends slowly
            size += len(block)
            if size > max_bytes:
                raise OversizeError(f"{self.host} sends more than {max_bytes:,} bytes in one answer; it is not read")
            if self.clock() > self._deadline:
                raise _Repeat(f"took more than {self.limits.duration:g} s for an answer")
            yield block
        if announced.isdecimal() and size < int(announced):
            raise _Repeat("broke off its answer")

    def _check_status(self, response: httpx.Response, path: str) -> None:
        status = response.status_code
        if status < 300:
            return
        if status in _REPEATABLE:
            raise _Repeat(f"answered {status}", self._asked_pause(response))
        reasons = {
            401: f"does not accept the secret (401); check {self.secret_name}",
            403: f"does not allow this account to read (403); check its permissions and {self.secret_name}",
        }
        reason = reasons.get(status, f"answered {status}; check url in relrag.toml")
        raise UnexpectedStatusError(f"{self.host} {reason} ({_api_path(path)}); {CONTINUES}", status)

    def _asked_pause(self, response: httpx.Response) -> float | None:
        """The pause of Retry-After, seconds, from either of its forms (RFC 9110, 10.2.3)."""
        value = response.headers.get("retry-after", "").strip()
        if not value:
            return None
        if value.isdecimal():
            seconds = float(value)
        else:
            try:
                seconds = (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds()
            except (ValueError, TypeError):
                return None
        if seconds > self.limits.longest_pause:
            raise FetchError(f"{self.host} asks to wait {seconds:,.0f} s before the next request; {CONTINUES}")
        return max(0.0, seconds)

    def _pause(self, attempt: int, requested: float | None) -> float:
        if requested is not None:
            return requested
        longest: float = min(self.limits.first_pause * 2**attempt, self.limits.longest_pause)
        return longest * (0.5 + random.random() / 2)  # noqa: S311

    def _count(self) -> None:
        self._requests += 1
        if self._requests > self.limits.requests:
            raise FetchError(f"{self.host} was sent {self.limits.requests:,} requests in this fetch; {CONTINUES}")

    def _require_same_host(self, url: str) -> None:
        parts = urlsplit(url)
        if (parts.scheme, parts.hostname, parts.port) != self._origin:
            raise FetchError(
                f"{self.host} sends relrag to another address, {parts.scheme}://{parts.netloc.rpartition('@')[2]}, "
                "which is not followed; write that into url in relrag.toml if it is the right one"
            )


def _api_path(path: str) -> str:
    return urlsplit(path).path
