"""A PostgreSQL of its own for a test, started from the system's binaries and stopped afterwards."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
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
def postgres(folder: Path) -> Iterator[str]:
    """Its URL; the server's files are in that folder, and it listens on this machine only."""
    found = binaries()
    # initdb refuses to work as root
    owner = "postgres" if os.geteuid() == 0 else None
    (folder / "password").write_text(PASSWORD)
    data = folder / "data"
    data.mkdir()
    if owner:
        for one in (data, folder / "password"):
            shutil.chown(one, owner)
        for one in (folder, *folder.parents):
            if one.stat().st_uid == os.geteuid() and not one.stat().st_mode & 0o001:
                one.chmod(one.stat().st_mode | 0o011)

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
