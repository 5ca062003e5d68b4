"""A PostgreSQL of its own for a test, started from the system's binaries and stopped afterwards."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

PASSWORD = "a-secret-of-the-database"


def binaries() -> Path:
    """The folder of initdb and pg_ctl; skips where there is none."""
    folders = [*sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True), Path(shutil.which("initdb") or "")]
    for folder in (one if one.is_dir() else one.parent for one in folders):
        if (folder / "initdb").is_file() and (folder / "pg_ctl").is_file():
            return folder
    pytest.skip("no PostgreSQL on this machine (initdb is neither in /usr/lib/postgresql nor in PATH)")


@contextmanager
def postgres() -> Iterator[str]:
    """Its URL; it listens on this machine only, and leaves nothing behind."""
    found, owner = binaries(), _owner()
    with tempfile.TemporaryDirectory(prefix="relrag-postgres-") as name:
        folder = Path(name)
        data = folder / "data"
        data.mkdir(mode=0o700)
        (folder / "password").write_text(PASSWORD)
        for one in (folder, data, folder / "password") if owner else ():
            shutil.chown(one, owner)
        with _started(found, folder, data, owner) as url:
            yield url


def _owner() -> str | None:
    """Whom the server runs as, if not as this user: initdb refuses to work as root."""
    if os.geteuid():
        return None
    try:
        return pwd.getpwnam("postgres").pw_name
    except KeyError:
        pytest.skip("PostgreSQL does not run as root, and this machine has no user postgres")


@contextmanager
def _started(found: Path, folder: Path, data: Path, owner: str | None) -> Iterator[str]:
    def run(*command: str) -> None:
        subprocess.run(command, user=owner, check=True, stdout=subprocess.DEVNULL, cwd="/")

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    secret = f"--pwfile={folder / 'password'}"
    run(str(found / "initdb"), "-D", str(data), "-U", "dagster", "-A", "scram-sha-256", secret, "--no-sync")
    options = f"-c listen_addresses=127.0.0.1 -c port={port} -c unix_socket_directories= -c fsync=off"
    run(str(found / "pg_ctl"), "-D", str(data), "-w", "-l", str(data / "log"), "-o", options, "start")
    try:
        yield f"postgresql+psycopg2://dagster:{PASSWORD}@127.0.0.1:{port}/postgres"
    finally:
        run(str(found / "pg_ctl"), "-D", str(data), "-m", "immediate", "stop")
