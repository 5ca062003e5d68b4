"""`relrag ui`: Dagster's web server and daemon on the archive's own instance."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from relrag_pipelines import settings as settings_module
from relrag_pipelines.files import access
from relrag_pipelines.onboarding import alerts
from relrag_pipelines.settings import Settings, SettingsError
from relrag_pipelines.stores import daemon_lock, dagster_runs
from relrag_pipelines.ui import login as logins
from relrag_pipelines.workspace import Workspace

HOST = "127.0.0.1"
DEFAULT_PORT = 3000
_LOCAL_HOSTS = (HOST, "localhost", "::1")
_POLL_SECONDS = 0.5
_WATCH_SECONDS = 60
_STUCK_SECONDS = 600


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
    path = (config or settings_module.find_config()).resolve()
    settings = settings_module.load(path)
    if login:
        print(_link(settings.home_path / "dagster", port))
        return 0
    from relrag_pipelines.orchestration.runner import instance_folder, tidy_before_ui

    folder = instance_folder(settings.home_path, settings.dagster_storage, settings.tick_retention_days)
    if not read_only:
        tidy_before_ui(Workspace(settings))
    environment = {
        "DAGSTER_EVENT_BATCH_SIZE": "500",  # events of a step are stored together
        **os.environ,
        "DAGSTER_HOME": str(folder),
        "RELRAG_CONFIG": str(path),
    }
    access.restrict_folder(settings.home_path)
    commands = _commands(host, port, settings.ui_public_url, read_only)
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
    return _serve(commands, environment, log, queue_lock, print_address, watch)


def _serve(
    commands: list[list[str]],
    environment: dict[str, str],
    log: Path,
    queue_lock: AbstractContextManager[int | None],
    print_address: Callable[[], bool],
    watch: Callable[[bool], None] | None = None,
) -> int:
    """Starts the processes, which inherit `queue_lock`, and waits for an interrupt; returns the exit code."""
    # the processes that load the definitions listen on Unix sockets in a folder that nobody else can open
    with tempfile.TemporaryDirectory(prefix="relrag-") as sockets, log.open("wb") as log_file:
        environment["TMPDIR"] = sockets
        with queue_lock as file:
            descriptors = () if file is None else (file,)
            processes = [
                subprocess.Popen(command, env=environment, stdout=log_file, stderr=log_file, pass_fds=descriptors)
                for command in commands
            ]
        return _wait_for_interrupt(processes, print_address, watch)


def _commands(host: str, port: int, public_url: str, read_only: bool) -> list[list[str]]:
    """The processes that make up the UI: the web server, and unless it only reads, the daemon that starts runs."""
    web = [sys.executable, "-m", "relrag_pipelines.ui.server", "--host", host, "--port", str(port)]
    web += ["--public-url", public_url]
    if read_only:
        return [[*web, "--read-only"]]
    # the console script of the environment that runs this command, whatever PATH says
    daemon = str(Path(sys.executable).with_name("dagster-daemon"))
    return [web, [daemon, "run", "-m", "relrag_pipelines.definitions", "--log-level", "warning"]]


def _link(folder: Path, port: int) -> str:
    if link := logins.link(folder, port):
        return link
    option = "" if port == DEFAULT_PORT else f" --port {port}"
    raise SettingsError(f"no UI of this archive runs on port {port}; start it with: relrag ui{option}")


def _address_printer(folder: Path, port: int, read_only: bool) -> Callable[[], bool]:
    """A function that prints the address once the UI answers, with a login link only on a terminal."""
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
    is_sent, next_look = False, time.monotonic() + _WATCH_SECONDS

    def watch(is_running: bool) -> None:
        nonlocal is_sent, next_look
        if is_sent or (is_running and time.monotonic() < next_look):
            return
        next_look = time.monotonic() + _WATCH_SECONDS
        age = dagster_runs.heartbeat_age(settings.home_path)
        if is_running and (age is None or age < _STUCK_SECONDS):
            return
        is_sent = True
        state = "has given no sign of life for ten minutes" if is_running else "has ended"
        message = f"Dagster's daemon {state}: schedule and sensors do not run. Start `relrag ui` again."
        if not alerts.send(settings, "the daemon stopped", message):
            print("warning: an alert could not be sent; check alert_urls", flush=True)

    return watch


def _wait_for_interrupt(
    processes: list[subprocess.Popen[bytes]],
    print_address: Callable[[], bool],
    watch: Callable[[bool], None] | None,
) -> int:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)
    look_after = watch or (lambda is_running: None)
    is_announced = False
    try:
        while all(process.poll() is None for process in processes):
            is_announced = is_announced or print_address()
            look_after(True)
            time.sleep(_POLL_SECONDS)
        look_after(False)
        raise _ended(processes)
    except KeyboardInterrupt:
        return 0
    finally:
        for process in processes:
            process.send_signal(signal.SIGINT)
        for process in processes:
            process.wait()


def _ended(processes: list[subprocess.Popen[bytes]]) -> SettingsError:
    """The error that names the process that ended: the web server, else the daemon."""
    if (code := processes[0].poll()) is not None:
        return SettingsError(f"the web server ended with {code}; is the port in use? choose another with --port")
    return SettingsError(f"Dagster's daemon ended with {processes[-1].poll()}; ui.log says why")
