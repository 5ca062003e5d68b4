"""`relrag ui`: Dagster's web server and daemon on the archive's own instance."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from relrag_pipelines.files import access
from relrag_query.cli import dispatch
from relrag_query.cli.options import Config

if TYPE_CHECKING:
    from relrag_pipelines.settings import Settings, SettingsError

app = typer.Typer()


@app.command("ui", epilog="Example: relrag ui --port 3001")
def ui_command(
    port: Annotated[int, typer.Option("--port", metavar="PORT", min=1, max=65535, help="Port to listen on.")] = 3000,
    read_only: Annotated[bool, typer.Option("--read-only", help="Forbid launching runs.")] = False,
    host: Annotated[str, typer.Option("--host", metavar="ADDRESS", help="Address to listen on.")] = "127.0.0.1",
    login: Annotated[bool, typer.Option("--login", help="Only print a link to the running server.")] = False,
    config: Config = None,
) -> None:
    """Serve Dagster's UI and daemon on the archive's own instance.

    Whoever opens the link that is printed is logged in; it works once. --login prints another one.
    """
    dispatch.run(ui, config, port=port, read_only=read_only, host=host, login=login)


HOST = "127.0.0.1"
DEFAULT_PORT = 3000
_LOCAL_HOSTS = (HOST, "localhost", "::1")
_POLL_SECONDS = 0.5
_STOP_SECONDS = 20.0
"""how long a process has to end before it gets a stronger signal"""
_WATCH_SECONDS = 60
_STUCK_SECONDS = 600
_REFUSED = 2
"""exit code of a command that says what is wrong with the settings"""
_DEFINITIONS = "relrag_pipelines.definitions"
_CODE_SERVER, _WEB_SERVER = "the code server", "the web server"
_SOCKET, _WORKSPACE = "code.sock", "workspace.yaml"
_WORKSPACE_YAML = """\
load_from:
  - grpc_server:
      socket: "{socket}"
      location_name: {name}
"""


def ui(
    config: Path | None = None,
    *,
    port: int = DEFAULT_PORT,
    read_only: bool = False,
    host: str = HOST,
    login: bool = False,
) -> int:
    """Serves the UI until it is interrupted; returns the exit code.

    Once it is ready it prints a login link; `login` prints another one and serves nothing. Use a `host` other than this
    machine only in a container or behind a proxy. `read_only` starts no daemon and refuses launches.
    """
    from relrag_pipelines import settings as settings_module
    from relrag_pipelines.onboarding import alerts
    from relrag_pipelines.orchestration.instance import instance_folder
    from relrag_pipelines.stores import daemon_lock

    path = (config or settings_module.find_config()).resolve()
    settings = settings_module.load(path)
    if login:
        print(_link(settings.home_path / "dagster", port))
        return 0
    folder = instance_folder(settings.home_path, settings.dagster_storage, settings.tick_retention_days)
    environment = {
        "DAGSTER_EVENT_BATCH_SIZE": "500",  # events of a step are stored together
        "MALLOC_ARENA_MAX": "2",  # glibc would keep memory for each of many threads that mostly wait
        **os.environ,
        "DAGSTER_HOME": str(folder),
        "RELRAG_CONFIG": str(path),
    }
    if not read_only:
        _tidy(environment)
    access.restrict_folder(settings.home_path)
    web = _web_server(host, port, settings.ui_public_url, read_only)
    log = folder / "ui.log"
    if host not in _LOCAL_HOSTS and not settings.ui_public_url.startswith("https:"):
        print(
            "warning: pages and logins cross the network unencrypted; docs/deploy.md shows a proxy that encrypts them"
        )
    print(f"Output of the UI and its runs goes to {log}; stop it with Ctrl-C", flush=True)
    print_address = _address_printer(folder, port, read_only)
    alerts.check(settings)
    watch = _daemon_watch(settings) if settings.alert_urls and not read_only else None
    # the processes that can start a queued run hold this lock while they live
    queue_lock = nullcontext() if read_only else daemon_lock.alive(settings.home_path)
    return _serve(_Commands(web, read_only), environment, log, queue_lock, print_address, watch)


def _tidy(environment: Mapping[str, str]) -> None:
    """Ends runs whose process has died; SettingsError if Dagster's store cannot be opened."""
    from relrag_pipelines.settings import SettingsError

    command = [sys.executable, "-m", "relrag_pipelines.orchestration.tidy"]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True)
    if done.returncode == _REFUSED:
        raise SettingsError(done.stdout.strip())
    done.check_returncode()


@dataclass(frozen=True)
class _Commands:
    """The processes that make up the UI."""

    web: list[str]
    read_only: bool

    def code_server(self, folder: Path) -> list[str]:
        """Loads the definitions, once for web server and daemon, and starts runs."""
        (folder / _WORKSPACE).write_text(_WORKSPACE_YAML.format(socket=folder / _SOCKET, name=_DEFINITIONS))
        command = [sys.executable, "-m", "dagster", "code-server", "start", "--module-name", _DEFINITIONS]
        return [*command, "--location-name", _DEFINITIONS, "--socket", str(folder / _SOCKET), "--log-level", "warning"]

    def clients(self, folder: Path) -> dict[str, list[str]]:
        """Web server and daemon, which ask the code server; a UI that only reads has neither."""
        if self.read_only:
            return {_WEB_SERVER: self.web}
        workspace = ["--workspace", str(folder / _WORKSPACE)]
        # the console script of the environment that runs this command, whatever PATH says
        daemon = str(Path(sys.executable).with_name("dagster-daemon"))
        return {
            _WEB_SERVER: [*self.web, *workspace],
            "Dagster's daemon": [daemon, "run", *workspace, "--log-level", "warning"],
        }


def _serve(
    commands: _Commands,
    environment: dict[str, str],
    log: Path,
    queue_lock: AbstractContextManager[int | None],
    print_address: Callable[[], bool],
    watch: Callable[[bool], None] | None = None,
) -> int:
    """Starts the processes, which inherit `queue_lock`, and waits for an interrupt; returns the exit code."""
    # the processes that load the definitions listen on Unix sockets in a folder that nobody else can open
    with tempfile.TemporaryDirectory(prefix="relrag-") as name, log.open("wb") as log_file:
        sockets = Path(name)
        environment["TMPDIR"] = name
        with queue_lock as file:
            descriptors = () if file is None else (file,)

            def start(command: list[str]) -> subprocess.Popen[bytes]:
                return subprocess.Popen(
                    command, env=environment, stdout=log_file, stderr=log_file, pass_fds=descriptors
                )

            processes: dict[str, subprocess.Popen[bytes]] = {}
            if not commands.read_only:
                processes[_CODE_SERVER] = start(commands.code_server(sockets))
                _wait_for_socket(sockets / _SOCKET, processes[_CODE_SERVER])
            processes |= {name: start(command) for name, command in commands.clients(sockets).items()}
        return _wait_for_interrupt(processes, print_address, watch)


def _wait_for_socket(path: Path, server: subprocess.Popen[bytes]) -> None:
    """Waits until the server answers there or has ended."""
    while server.poll() is None:
        with socket.socket(socket.AF_UNIX) as client, suppress(OSError):
            client.connect(str(path))
            return
        time.sleep(_POLL_SECONDS)


def _web_server(host: str, port: int, public_url: str, read_only: bool) -> list[str]:
    web = [sys.executable, "-m", "relrag_pipelines.ui.server", "--host", host, "--port", str(port)]
    return [*web, "--public-url", public_url, *(["--read-only"] if read_only else [])]


def _link(folder: Path, port: int) -> str:
    from relrag_pipelines.settings import SettingsError
    from relrag_pipelines.ui import login as logins

    if link := logins.link(folder, port):
        return link
    option = "" if port == DEFAULT_PORT else f" --port {port}"
    raise SettingsError(f"no UI of this archive runs on port {port}; start it with: relrag ui{option}")


def _address_printer(folder: Path, port: int, read_only: bool) -> Callable[[], bool]:
    """A function that prints the address once the UI answers, with a login link only on a terminal."""
    from relrag_pipelines.ui import login as logins

    path = logins.key_file(folder, port)
    old_key = path.read_bytes() if path.exists() else b""  # of a web server that was killed

    def tell() -> bool:
        if not path.exists() or path.read_bytes() == old_key:
            return False
        kind = "Dagster UI (read-only)" if read_only else "Dagster UI"
        option = "" if port == DEFAULT_PORT else f" --port {port}"
        command = f"relrag ui --login{option}"
        if sys.stdout.isatty():
            print(f"{kind}: {_link(folder, port)}")
            print(f"The link logs in once, within an hour; another one: {command}", flush=True)
        else:
            print(f"{kind}: ready; a link to log in: {command}", flush=True)
        return True

    return tell


def _daemon_watch(settings: Settings) -> Callable[[bool], None]:
    """A function that is told again and again whether the daemon runs, and sends one alert if it is dead or stuck."""
    from relrag_pipelines.onboarding import alerts

    is_sent, next_look = False, time.monotonic() + _WATCH_SECONDS

    def watch(is_running: bool) -> None:
        nonlocal is_sent, next_look
        if is_sent or (is_running and time.monotonic() < next_look):
            return
        next_look = time.monotonic() + _WATCH_SECONDS
        age = _heartbeat_age(settings)
        if is_running and (age is None or age < _STUCK_SECONDS):
            return
        is_sent = True
        state = "has given no sign of life for ten minutes" if is_running else "has ended"
        message = f"Dagster's daemon {state}: schedule and sensors do not run. Start `relrag ui` again."
        if not alerts.send(settings, "the daemon stopped", message):
            print("warning: an alert could not be sent; check alert_urls", flush=True)

    return watch


def _heartbeat_age(settings: Settings) -> float | None:
    from relrag_pipelines.publishing import event_database
    from relrag_pipelines.stores import dagster_runs

    if settings.dagster_storage == "postgres":
        return event_database.heartbeat_age()
    return dagster_runs.heartbeat_age(settings.home_path)


def _wait_for_interrupt(
    processes: Mapping[str, subprocess.Popen[bytes]],
    print_address: Callable[[], bool],
    watch: Callable[[bool], None] | None,
) -> int:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)
    look_after = watch or (lambda is_running: None)
    is_announced = False
    try:
        while all(process.poll() is None for process in processes.values()):
            is_announced = is_announced or print_address()
            look_after(True)
            time.sleep(_POLL_SECONDS)
        look_after(False)
        raise _ended(processes)
    except KeyboardInterrupt:
        return 0
    finally:
        _stop(list(processes.values())[::-1])  # first those that ask others


def _stop(processes: Sequence[subprocess.Popen[bytes]], seconds: float = _STOP_SECONDS) -> None:
    """Ends the processes; one that misses a signal, as while it starts, gets a stronger one after some seconds."""
    for strength in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        for process in processes:
            process.send_signal(strength)  # nothing happens to one that has ended
        if _all_end(processes, seconds):
            return


def _all_end(processes: Sequence[subprocess.Popen[bytes]], seconds: float) -> bool:
    """Whether the processes end within so many seconds."""
    deadline = time.monotonic() + seconds
    for process in processes:
        try:
            process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            return False
    return True


def _ended(processes: Mapping[str, subprocess.Popen[bytes]]) -> SettingsError:
    """The error that names the process that ended."""
    from relrag_pipelines.settings import SettingsError

    ended = {name: process.poll() for name, process in processes.items() if process.poll() is not None}
    if _WEB_SERVER in ended:
        return SettingsError(
            f"the web server ended with {ended[_WEB_SERVER]}; is the port in use? choose another with --port"
        )
    name, code = next(iter(ended.items()))
    return SettingsError(f"{name} ended with {code}; ui.log says why")
