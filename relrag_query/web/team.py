"""The server of a team: a proxy identifies the user, who sees the whole archive or the records of some clients.

Users limited to some clients get a separate app in which no other record exists: answers, counts and errors are the
same as without the other records. That app serves nothing about the whole archive and nothing about people.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from dataclasses import replace

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import HTTPConnection
from starlette.routing import Mount
from starlette.types import ASGIApp, Receive, Scope, Send

from relrag_pipelines.settings import Settings, SettingsError
from relrag_pipelines.ui.guard import Guard, public_sites
from relrag_pipelines.ui.login import Login
from relrag_query.http.concurrency import MAX_QUEUE
from relrag_query.service import Service
from relrag_query.web.app import SERVER, app_of

EVERYTHING = "*"
Clients = tuple[str, ...]
"""the clients whose records a user sees; empty for the whole archive"""
Services = Callable[[Clients], Service]
"""opens the service of some clients"""


@contextmanager
def team_app(settings: Settings, services: Services, max_queue: int = MAX_QUEUE) -> Iterator[Starlette]:
    """The ASGI app. The caller must ensure that only the proxy can reach it.

    Raises SettingsError if the settings name no users or no address of the proxy.
    """
    users = scopes(settings)
    header = settings.web_identity_header
    with ExitStack() as services_stack:
        apps = {
            clients: app_of(services_stack.enter_context(services(clients)), max_queue=max_queue)
            for clients in sorted(set(users.values()))
        }

        @asynccontextmanager
        async def lifespan(_: Starlette) -> AsyncIterator[None]:
            async with AsyncExitStack() as running:
                for app in apps.values():
                    await running.enter_async_context(app.router.lifespan_context(app))
                yield

        def is_known(request: HTTPConnection) -> bool | None:
            names = request.headers.getlist(header)
            return (names[0].casefold() in users) if len(names) == 1 and names[0] else None

        public = public_sites(settings.web_public_url)
        server = replace(SERVER, takes_signature=())  # whoever passes is a user whom the proxy names
        guard = Middleware(Guard, sites=public, login=Login(b""), port=0, server=server, identity=is_known)
        dispatch = Mount("/", app=_Dispatch(apps, users, header))
        yield Starlette(routes=[dispatch], middleware=[guard], lifespan=lifespan)


class _Dispatch:
    """Passes a request to the app of its user."""

    def __init__(self, apps: Mapping[Clients, ASGIApp], users: Mapping[str, Clients], header: str) -> None:
        self._apps, self._users, self._header = apps, users, header

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        user = HTTPConnection(scope).headers.get(self._header, "").casefold()
        # health checks name no user, and read nothing of the archive
        app = self._apps[self._users[user]] if user in self._users else next(iter(self._apps.values()))
        await app(scope, receive, send)


def scopes(settings: Settings) -> dict[str, Clients]:
    """The clients of each user, by lower-case name. Raises SettingsError for invalid settings."""
    if not settings.web_users:
        raise SettingsError('web_users is empty; name who may ask: [web_users] with "dana@example.org" = ["*"]')
    if not settings.web_public_url:
        raise SettingsError(
            "web_public_url is not set; name the address of the proxy, such as https://memory.example.org"
        )
    users: dict[str, Clients] = {}
    for name, clients in settings.web_users.items():
        if not clients:
            raise SettingsError(f'web_users: "{name}" sees nothing; give "{EVERYTHING}" or client_ids')
        if name.casefold() in users:
            raise SettingsError(f'web_users: "{name}" stands there twice; capitals make no difference')
        users[name.casefold()] = () if EVERYTHING in clients else tuple(sorted(set(clients)))
    return users
