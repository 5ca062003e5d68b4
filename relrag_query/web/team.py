"""The server of a team: a proxy says who asks, and each sees the archive, or the clients' records that are theirs.

Whoever may see some clients only gets a server of their own, in which nothing else exists: the same answers, counts and
errors as if there were no other records. What is about the archive as a whole, and what is known of people, has no
place in it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import HTTPConnection
from starlette.routing import Mount
from starlette.types import ASGIApp, Receive, Scope, Send

from relrag_pipelines.settings import Settings, SettingsError
from relrag_pipelines.ui.guard import Guard, public_sites
from relrag_pipelines.ui.login import Login
from relrag_query.http.turns import WAITING
from relrag_query.service import Service
from relrag_query.web.app import SERVER, app_of

EVERYTHING = "*"
Clients = tuple[str, ...]
"""whose records somebody sees; empty for the whole archive"""
Services = Callable[[Clients], Service]
"""opens the service of some clients"""


@contextmanager
def team_app(settings: Settings, services: Services, waiting: int = WAITING) -> Iterator[Starlette]:
    """The ASGI app. Its caller makes sure that only the proxy can reach it.

    Raises SettingsError where the settings do not say who may ask, or where the proxy is.
    """
    users = scopes(settings)
    header = settings.web_identity_header
    with ExitStack() as held:
        apps = {
            clients: app_of(held.enter_context(services(clients)), waiting=waiting)
            for clients in sorted(set(users.values()))
        }

        @asynccontextmanager
        async def lifespan(_: Starlette) -> AsyncIterator[None]:
            async with AsyncExitStack() as running:
                for app in apps.values():
                    await running.enter_async_context(app.router.lifespan_context(app))
                yield

        def is_known(request: HTTPConnection) -> bool | None:
            named = request.headers.getlist(header)
            return (named[0].casefold() in users) if len(named) == 1 and named[0] else None

        named = public_sites(settings.web_public_url)
        guard = Middleware(Guard, sites=named, login=Login(b""), port=0, server=SERVER, identity=is_known)
        dispatch = Mount("/", app=_Dispatch(apps, users, header))
        yield Starlette(routes=[dispatch], middleware=[guard], lifespan=lifespan)


class _Dispatch:
    """Hands a request to the server of whoever asks."""

    def __init__(self, apps: Mapping[Clients, ASGIApp], users: Mapping[str, Clients], header: str) -> None:
        self._apps, self._users, self._header = apps, users, header

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        who = HTTPConnection(scope).headers.get(self._header, "").casefold()
        # health checks name nobody, and ask for nothing of the archive
        app = self._apps[self._users[who]] if who in self._users else next(iter(self._apps.values()))
        await app(scope, receive, send)


def scopes(settings: Settings) -> dict[str, Clients]:
    """Whose records each person sees, by name in small letters."""
    if not settings.web_users:
        raise SettingsError('web_users is empty; name who may ask: [web_users] with "dana@example.org" = ["*"]')
    if not settings.web_public_url:
        raise SettingsError(
            "web_public_url is not set; name the address of the proxy, such as https://memory.example.org"
        )
    found: dict[str, Clients] = {}
    for name, clients in settings.web_users.items():
        if not clients:
            raise SettingsError(f'web_users: "{name}" sees nothing; give "{EVERYTHING}" or client_ids')
        if name.casefold() in found:
            raise SettingsError(f'web_users: "{name}" stands there twice; capitals make no difference')
        found[name.casefold()] = () if EVERYTHING in clients else tuple(sorted(set(clients)))
    return found
