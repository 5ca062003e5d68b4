"""`relrag ui`: Dagster's web server and daemon on the archive's own instance."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from relrag_pipelines import settings as settings_module
from relrag_pipelines.settings import SettingsError

_HOST = "127.0.0.1"
_QUIET = ("--log-level", "warning")


def ui(config: Path | None = None, *, port: int = 3000, read_only: bool = False) -> int:
    """Serves the UI until it is interrupted; returns the exit code.

    Only this machine can reach it: the web server has no login. read_only starts no daemon and refuses launches.
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
    # console scripts of the environment that runs this command, whatever PATH says
    scripts = Path(sys.executable).parent
    web = [str(scripts / "dagster-webserver"), *module, "--host", _HOST, "--port", str(port), *_QUIET]
    commands = (
        [[*web, "--read-only"]] if read_only else [web, [str(scripts / "dagster-daemon"), "run", *module, *_QUIET]]
    )
    log = settings.home_path / "dagster" / "ui.log"
    print(f"Dagster UI: http://{_HOST}:{port}{' (read-only)' if read_only else ''}; stop it with Ctrl-C")
    print(f"What it and its runs say goes to {log}", flush=True)
    with log.open("wb") as out:
        started = [subprocess.Popen(command, env=environment, stdout=out, stderr=out) for command in commands]
        return _until_interrupted(started)


def _until_interrupted(started: list[subprocess.Popen[bytes]]) -> int:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)
    try:
        code = started[0].wait()
        raise SettingsError(f"the web server ended with {code}; is the port in use? choose another with --port")
    except KeyboardInterrupt:
        return 0
    finally:
        for process in started:
            process.send_signal(signal.SIGINT)
        for process in started:
            process.wait()
