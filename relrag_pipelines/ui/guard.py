"""Stands before every endpoint of a web server: which requests are let through, and what no answer goes without.

A browser sends requests in the name of any page that is open in it, and the cookie along with those of pages on other
ports of this machine, which count as the same site. So a request has to name us (Host, against DNS rebinding), come
from a page of ours (Origin and Sec-Fetch-Site), and carry a session; a query is a POST of JSON, which no form can send.
A program shows the archive's token in place of a session, where the server takes one.
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
"""names versions, and is answered without a session: health checks have none"""
USUAL_PORT = 3000
_UNSPECIFIED = ("0.0.0.0", "::", "")  # noqa: S104  browsers take them for this machine: never a name of ours
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
"""of the one inline style, as a Content-Security-Policy names it"""
_HOW = """Open the link that <code>{command}</code> has printed; it works once, and for an hour.<br>
For another one, type in the archive's folder: <code>{command} --login{port}</code>"""


@dataclass(frozen=True)
class GuardedServer:
    """What a server is called, and what differs between those that a guard stands before."""

    name: str
    """of its cookie and its key file"""
    title: str
    """as the page of a stranger calls it"""
    command: str
    usual_port: int
    public: frozenset[str]
    """paths that are answered without a session: health checks have none"""
    kept: str
    """how paths begin whose answers a cache may keep: files named by their hash"""
    policy: str
    """what a page may load, beside that nothing frames it and it sends nothing elsewhere; {socket} is its WebSocket"""
    setting: str = "ui_public_url"
    """says under what other name it is reached"""
    takes_token: tuple[str, ...] = ()
    """how paths begin that programs ask for with the archive's token; they get problems (RFC 9457), not pages"""
    checks_media_type: str = ""
    """how paths begin that refuse a body other than JSON themselves, after they have looked at the method"""


DAGSTER = GuardedServer(
    "ui",
    "the UI",
    "relrag ui",
    USUAL_PORT,
    frozenset({HEALTH}),
    "/_next/",
    # beside that of the UI, which says what scripts may be run: both hold
    "connect-src 'self' {socket}; img-src 'self' data: blob:; font-src 'self' data:",
)


def sites(host: str, port: int, public_url: str = "") -> dict[str, str]:
    """Every Host that the server answers to, with the origin of its pages.

    These are the names of this machine and the address bound to, all with the port, and what a proxy is reached under.
    """
    addresses = [address(name, port) for name in ("127.0.0.1", "localhost", "::1", host)]
    return dict(spelled for one in [*addresses, public_url] if one for spelled in _spellings(one))


def public_sites(public_url: str) -> dict[str, str]:
    """What a server answers to that only a proxy can reach: the name of that proxy."""
    return dict(_spellings(public_url))


def address(host: str, port: int) -> str:
    """Where this machine reaches a server that is bound to that host."""
    if host in _UNSPECIFIED:
        host = "127.0.0.1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _spellings(address: str) -> Iterator[tuple[str, str]]:
    """(Host, origin) as browsers write them: without the port where it is the usual one of the scheme."""
    parts = urlsplit(address)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else f"{parts.hostname}"
    usual = _DEFAULT_PORTS[parts.scheme]
    port = parts.port or usual
    if port == usual:
        yield host, f"{parts.scheme}://{host}"
    yield f"{host}:{port}", f"{parts.scheme}://{host}" + ("" if port == usual else f":{port}")


class Guard:
    """ASGI middleware: answers what is refused, and logins, by itself."""

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
        """`token` returns what programs show, asked each time; an empty one lets none in.

        Where the proxy before us says who asks, `identity` decides in place of logins and tokens: whether that one may,
        or None where nobody is named.
        """
        self._app = app
        self._sites = sites
        self._login = login
        self._server = server
        self._token = token
        self._identity = identity
        option = "" if port == server.usual_port else f" --port {port}"
        self._how = _HOW.format(command=server.command, port=option)
        # cookies know no ports: two servers on this machine would log each other out
        self._cookie = f"relrag-{server.name}-{port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on, or answers it."""
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
        """What is answered in place of the UI; None for a request that it may have."""
        path, method = request.scope["path"], request.scope.get("method", "GET")
        looks = method in ("GET", "HEAD")
        if site is None:
            text = f"This server is not known under that name; see {self._server.setting} in docs/settings.md"
            return self._refused(path, text, 403)
        if not _comes_from(request, site):
            return self._refused(path, "Not for pages of other sites", 403)
        if any(where not in ("same-origin", "none") for where in request.headers.getlist("sec-fetch-site")):
            if looks and request.headers.get("sec-fetch-mode") == "navigate":
                return self._begin_session(request, site) if path == "/login" else self._redirect()
            return self._refused(path, "Not for pages of other sites", 403)
        if path in self._server.public and looks:
            return None
        if path == "/login" and not self._identity:
            return self._begin_session(request, site)
        if refused := self._refusal(request, path):
            return refused
        checked = self._server.checks_media_type
        if looks or (checked and path.startswith(checked)) or _media_type(request) == "application/json":
            return None
        return self._refused(path, "Send JSON", 415)

    def _refusal(self, request: HTTPConnection, path: str) -> Response | None:
        """What is answered to one whom we do not know; None to one who may ask."""
        if self._identity:
            known = self._identity(request)
            if known:
                return None
            if known is False:
                return self._refused(path, "Not for you", 403)
            return self._refused(path, "The proxy does not say who you are", 401)
        if self._login.knows(request.cookies.get(self._cookie, "")) or self._shows_token(request):
            return None
        return self._stranger(path=path)

    def _begin_session(self, request: HTTPConnection, site: str) -> Response:
        """Begins a session for the token of a link, and goes on to where no token stands in the address."""
        if request.scope.get("method") != "GET":
            return _plain("Open the link in a browser", 405)
        session = self._login.enter(request.query_params.get("token", ""))
        if not session and not self._login.knows(request.cookies.get(self._cookie, "")):
            return self._stranger("This link was used already, or is too old")
        answer = RedirectResponse("/", 303)
        if session:
            secure = site.startswith("https:")
            lasts = self._login.sessions.seconds  # else it would end with the browser
            answer.set_cookie(self._cookie, session, max_age=lasts, httponly=True, secure=secure, samesite="strict")
        return answer

    def _shows_token(self, request: HTTPConnection) -> bool:
        """Whether a program shows the token, for what programs may ask for."""
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
    """Whether a request names no origin but ours; that of a WebSocket always names one."""
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
    """Answers are framed by nobody, read by no other site, kept by no cache, and load and send nothing elsewhere."""
    socket = (site or "").replace("http", "ws", 1)  # some browsers do not count it as 'self'
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
    if not path.startswith(server.kept):
        headers["Cache-Control"] = "no-store"
