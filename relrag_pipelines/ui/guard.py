"""ASGI middleware in front of every endpoint: decides which requests pass, and adds security headers to answers.

A browser sends requests for any open page, with the cookie if the page is on another port of this machine, because
that counts as the same site. So a request has to name this server (Host, against DNS rebinding), come from one of its
pages (Origin and Sec-Fetch-Site), and have a session; a query is a POST of JSON, which no form can send.
A program sends the archive's token instead of a session, if the server accepts tokens.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from relrag_pipelines.ui.login import Login

HEALTH = "/server_info"
"""lists versions; answered without a session, because health checks have none"""
USUAL_PORT = 3000
_UNSPECIFIED = ("0.0.0.0", "::", "")  # noqa: S104  browsers resolve them to this machine; never valid as a Host
_DEFAULT_PORTS = {"http": 80, "https": 443}
_STYLE = """:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 40em; margin: 4em auto; padding: 0 1em }"""
_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>relrag</title>
<style>{style}</style>
<h1>{title}</h1>
<p>{text}</p>
<p>Logged in already? <a href="/">Continue to {name}</a></p>
"""
STYLE_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
"""hash of the only inline style, for a Content-Security-Policy"""
_HOW = """Open the link that <code>{command}</code> has printed; it works once, and for an hour.<br>
For another one, type in the archive's folder: <code>{command} --login{port}</code>"""


@dataclass(frozen=True)
class GuardedServer:
    """Names and policies of a guarded server."""

    name: str
    """names its cookie and its key file"""
    title: str
    """its name on the page for users without a session"""
    command: str
    usual_port: int
    public: frozenset[str]
    """paths that are answered without a session: health checks have none"""
    cacheable_prefix: str
    """prefix of paths that may be cached: files named by their hash"""
    policy: str
    """additional Content-Security-Policy of its pages; {socket} is its WebSocket"""
    setting: str = "ui_public_url"
    """setting with its public name"""
    takes_signature: tuple[str, ...] = ()
    """prefixes of paths that take signed bodies from programs by POST, and check the signature themselves"""
    takes_token: tuple[str, ...] = ()
    """prefixes of paths that accept the archive's token; they answer with problems (RFC 9457), not pages"""
    checks_media_type: tuple[str, ...] = ()
    """prefixes of paths that check the media type of bodies themselves, after the method"""


DAGSTER = GuardedServer(
    "ui",
    "the UI",
    "relrag ui",
    USUAL_PORT,
    frozenset({HEALTH}),
    "/_next/",
    # added to the UI's own policy, which restricts scripts: both apply
    "connect-src 'self' {socket}; img-src 'self' data: blob:; font-src 'self' data:",
)


def sites(host: str, port: int, public_url: str = "") -> dict[str, str]:
    """Host -> origin of every name that the server answers to.

    These are the names of this machine and the bound address, with the port, and the public name of a proxy.
    """
    addresses = [address(name, port) for name in ("127.0.0.1", "localhost", "::1", host)]
    return dict(spelled for url in [*addresses, public_url] if url for spelled in _spellings(url))


def public_sites(public_url: str) -> dict[str, str]:
    """Host -> origin for a server behind a proxy: only the proxy's public name."""
    return dict(_spellings(public_url))


def address(host: str, port: int) -> str:
    """The URL by which this machine reaches a server bound to that host."""
    if host in _UNSPECIFIED:
        host = "127.0.0.1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _spellings(address: str) -> Iterator[tuple[str, str]]:
    """Yields (Host, origin) as browsers write them: without the scheme's default port."""
    parts = urlsplit(address)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else f"{parts.hostname}"
    usual = _DEFAULT_PORTS[parts.scheme]
    port = parts.port or usual
    if port == usual:
        yield host, f"{parts.scheme}://{host}"
    yield f"{host}:{port}", f"{parts.scheme}://{host}" + ("" if port == usual else f":{port}")


class Guard:
    """ASGI middleware that answers refused requests and logins itself."""

    def __init__(
        self,
        app: ASGIApp,
        sites: Mapping[str, str],
        login: Login,
        port: int,
        server: GuardedServer = DAGSTER,
        token: Callable[[], str] = str,
        identity: Callable[[HTTPConnection], bool | None] | None = None,
    ) -> None:
        """`token` returns the current token of programs; an empty one refuses them all.

        If a proxy authenticates users, `identity` replaces logins and tokens: True allows the user, False refuses, and
        None means that the request names no user.
        """
        self._app = app
        self._sites = sites
        self._login = login
        self._server = server
        self._token = token
        self._identity = identity
        option = "" if port == server.usual_port else f" --port {port}"
        self._how = _HOW.format(command=server.command, port=option)
        # cookies ignore ports: without the port in its name, two servers would overwrite each other's cookie
        self._cookie = f"relrag-{server.name}-{port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forwards a request or answers it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        request = HTTPConnection(scope)
        hosts = request.headers.getlist("host")
        site = self._sites.get(hosts[0].lower()) if len(hosts) == 1 else None
        answer = self._answer(request, site)
        if scope["type"] == "websocket":
            await (WebSocketClose(1008) if answer else self._app)(scope, receive, send)
            return

        async def send_sealed(message: Message) -> None:
            if message["type"] == "http.response.start":
                _seal(MutableHeaders(scope=message), scope["path"], site, self._server)
            await send(message)

        await (answer or self._app)(scope, receive, send_sealed)

    def _answer(self, request: HTTPConnection, site: str | None) -> Response | None:
        """The answer to a refused request or a login; None if the request may pass."""
        path, method = request.scope["path"], request.scope.get("method", "GET")
        is_read = method in ("GET", "HEAD")
        if site is None:
            text = f"This server is not known under that name; see {self._server.setting} in docs/settings.md"
            return self._refused(path, text, 403)
        if not _comes_from(request, site):
            return self._refused(path, "Not for pages of other sites", 403)
        if any(fetch_site not in ("same-origin", "none") for fetch_site in request.headers.getlist("sec-fetch-site")):
            if is_read and request.headers.get("sec-fetch-mode") == "navigate":
                return self._begin_session(request, site) if path == "/login" else self._redirect()
            return self._refused(path, "Not for pages of other sites", 403)
        if path in self._server.public and is_read:
            return None
        if method == "POST" and path.startswith(self._server.takes_signature):
            return None
        if path == "/login" and not self._identity:
            return self._begin_session(request, site)
        if refused := self._refusal(request, path):
            return refused
        if is_read or path.startswith(self._server.checks_media_type) or _media_type(request) == "application/json":
            return None
        return self._refused(path, "Send JSON", 415)

    def _refusal(self, request: HTTPConnection, path: str) -> Response | None:
        """The answer to an unauthenticated user; None if the user may ask."""
        if self._identity:
            allowed = self._identity(request)
            if allowed:
                return None
            if allowed is False:
                return self._refused(path, "Not for you", 403)
            return self._refused(path, "The proxy does not say who you are", 401)
        if self._login.knows(request.cookies.get(self._cookie, "")) or self._shows_token(request):
            return None
        return self._stranger(path=path)

    def _begin_session(self, request: HTTPConnection, site: str) -> Response:
        """Begins a session for a link's token, and redirects to an address without the token."""
        if request.scope.get("method") != "GET":
            return _plain("Open the link in a browser", 405)
        session = self._login.enter(request.query_params.get("token", ""))
        if not session and not self._login.knows(request.cookies.get(self._cookie, "")):
            return self._stranger("This link was used already, or is too old")
        answer = RedirectResponse("/", 303)
        if session:
            secure = site.startswith("https:")
            lasts = self._login.sessions.seconds  # otherwise it would end with the browser
            answer.set_cookie(self._cookie, session, max_age=lasts, httponly=True, secure=secure, samesite="strict")
        return answer

    def _shows_token(self, request: HTTPConnection) -> bool:
        """Whether the request has the valid token, for a path that accepts it."""
        if not self._is_for_programs(request.scope["path"]) or not (token := self._token()):
            return False
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        return scheme.lower() == "bearer" and hmac.compare_digest(given.strip().encode(), token.encode())

    def _stranger(self, title: str = "Log in first", path: str = "") -> Response:
        if self._is_for_programs(path):
            text = f"a token is needed, as Authorization: Bearer; `{self._server.command} --token` prints it"
            return _problem(text, 401)
        return HTMLResponse(_PAGE.format(style=_STYLE, title=title, text=self._how, name=self._server.title), 401)

    def _refused(self, path: str, text: str, status: int) -> Response:
        return _problem(text, status) if self._is_for_programs(path) else _plain(text, status)

    def _is_for_programs(self, path: str) -> bool:
        return path.startswith(self._server.takes_token)

    def _redirect(self) -> Response:
        text = "Another site has linked to this page. Nothing was opened."
        page = _PAGE.format(style=_STYLE, title="You come from elsewhere", text=text, name=self._server.title)
        return HTMLResponse(page, 403)


def _comes_from(request: HTTPConnection, site: str) -> bool:
    """Whether the request's origin is the site; a WebSocket must name its origin."""
    origins = request.headers.getlist("origin")
    return all(origin == site for origin in origins) and bool(origins or request.scope["type"] == "http")


def _media_type(request: HTTPConnection) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip()


def _problem(text: str, status: int) -> Response:
    """A refusal as a problem (RFC 9457)."""
    problem = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": text}
    headers = {"WWW-Authenticate": "Bearer"} if status == HTTPStatus.UNAUTHORIZED else None
    return JSONResponse(problem, status, headers, media_type="application/problem+json")


def _plain(text: str, status: int) -> Response:
    return PlainTextResponse(f"{text}.\n", status)


def _seal(headers: MutableHeaders, path: str, site: str | None, server: GuardedServer) -> None:
    """Sets security headers: no framing, no cross-origin reads, no caching, and a Content-Security-Policy."""
    socket = (site or "").replace("http", "ws", 1)  # some browsers do not include it in 'self'
    headers["X-Frame-Options"] = "DENY"
    headers["X-Content-Type-Options"] = "nosniff"
    headers["Referrer-Policy"] = "same-origin"
    headers["Cross-Origin-Opener-Policy"] = "same-origin"
    headers["Cross-Origin-Resource-Policy"] = "same-origin"
    headers.append(
        "Content-Security-Policy",
        "frame-ancestors 'none'; base-uri 'none'; form-action 'self'; object-src 'none'; "
        + server.policy.format(socket=socket),
    )
    if not path.startswith(server.cacheable_prefix):
        headers["Cache-Control"] = "no-store"
