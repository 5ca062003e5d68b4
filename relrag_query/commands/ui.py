"""`relrag ui`: Dagster's web server and daemon on the archive's own instance."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from relrag_pipelines import settings as settings_module
from relrag_pipelines.settings import SettingsError
from relrag_pipelines.stores import access

HOST = "127.0.0.1"
_LOOK_SECONDS = 0.5
_QUIET = ("--log-level", "warning")


def ui(config: Path | None = None, *, port: int = 3000, read_only: bool = False, host: str = HOST) -> int:
    """Serves the UI until it is interrupted; returns the exit code.

    Only this machine can reach it: the web server has no login. Another `host` is for a container, or behind a proxy
    that has one. read_only starts no daemon and refuses launches.
    """
    path = (config or settings_module.find_config()).resolve()
    settings = settings_module.load(path)
    from relrag_pipelines.run import instance_folder

    environment = {
        **os.environ,
        "DAGSTER_HOME": str(instance_folder(settings.home_path, settings.dagster_storage)),
        "RELRAG_CONFIG": str(path),
    }
    module = ["-m", "relrag_pipelines.definitions"]
    access.close(settings.home_path)
    # console scripts of the environment that runs this command, whatever PATH says
    scripts = Path(sys.executable).parent
    web = [str(scripts / "dagster-webserver"), *module, "--host", host, "--port", str(port), *_QUIET]
    commands = (
        [[*web, "--read-only"]] if read_only else [web, [str(scripts / "dagster-daemon"), "run", *module, *_QUIET]]
    )
    log = settings.home_path / "dagster" / "ui.log"
    if host != HOST:
        print("warning: it has no login, and whoever reaches this address can start runs")
    print(f"Dagster UI: http://{host}:{port}{' (read-only)' if read_only else ''}; stop it with Ctrl-C")
    print(f"What it and its runs say goes to {log}", flush=True)
    with log.open("wb") as out:
        started = [subprocess.Popen(command, env=environment, stdout=out, stderr=out) for command in commands]
        return _until_interrupted(started)


def _until_interrupted(started: list[subprocess.Popen[bytes]]) -> int:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)
    try:
        while all(process.poll() is None for process in started):
            time.sleep(_LOOK_SECONDS)
        if (code := started[0].poll()) is not None:
            raise SettingsError(f"the web server ended with {code}; is the port in use? choose another with --port")
        raise SettingsError(f"Dagster's daemon ended with {started[-1].poll()}; ui.log says why")
    except KeyboardInterrupt:
        return 0
    finally:
        for process in started:
            process.send_signal(signal.SIGINT)
        for process in started:
            process.wait()
