"""Shows that Ray computes what this machine would (`make proofs-scale`; minutes).

On two nodes, through kills of a worker, a node and the sync: months are equal, texts encrypted, and nothing is left.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from relrag_pipelines.orchestration import runner
from relrag_pipelines.settings import load
from relrag_pipelines.stores import lake
from relrag_pipelines.workers import ray_tasks
from tests import archive, ray_nodes
from tests.proofs.seen import Seen

NOTES, MONTHS = 1_500, 24
PLANTED = "the greenhouse needs pane"
"""in each note; it is redacted from none, so only encryption keeps it out of Ray's files"""
RELRAG = [sys.executable, "-c", "import sys; from relrag_query.cli import main; sys.exit(main())"]
TABLES = ("private_records", *lake.DERIVED)


def main() -> None:
    """Runs the proof in a temporary folder and prints what was seen."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        seen = Seen("Syncs on a Ray cluster")
        local = build(folder / "local")
        seen.measure("sync by processes of this machine", relrag(local), "s")
        expected = hashes(local)
        variables = ray_nodes.environment(folder)
        os.environ.update(variables)
        joined = build(folder / "joined", local)
        with nodes(folder, joined, variables) as cluster:
            behind_tls(cluster.address, variables)
            seen.note("connections", "encrypted, with a certificate on either side")
            strangers(joined, seen)
            on_two_nodes(joined, cluster, seen)
            assert hashes(joined) == expected, "months differ"
            seen.note("months of that sync", f"{len(expected)}, equal by hash to those of the first")
        killed_sync(build(folder / "killed", local), expected, seen)
        seen.print()


def build(folder: Path, like: Path | None = None) -> Path:
    """An archive of notes with the built-in model; with the keys of another."""
    folder.mkdir()
    archive.many_notes(folder, NOTES, MONTHS, 'embedder = "e5"')
    if like is not None:
        shutil.copyfile(like / "test.keys", folder / "test.keys")
        (folder / "test.keys").chmod(0o600)
    return folder


def configure(folder: Path, *lines: str) -> None:
    """Puts lines in front of its relrag.toml."""
    config = folder / "relrag.toml"
    config.write_text("\n".join([*lines, config.read_text()]))


def start(folder: Path, *words: str) -> subprocess.Popen[bytes]:
    """Starts `relrag sync` there; its output goes to sync.log."""
    with (folder / "sync.log").open("ab") as log:
        return subprocess.Popen([*RELRAG, "sync", *words], cwd=folder, stdout=log, stderr=log)


def relrag(folder: Path, *words: str) -> float:
    """The seconds of a sync; the program ends where it fails."""
    started = time.monotonic()
    code = start(folder, *words).wait()
    if code:
        sys.exit(f"relrag sync: exit code {code}\n{(folder / 'sync.log').read_text()}")
    return time.monotonic() - started


def hashes(folder: Path) -> dict[str, str]:
    """Table and month -> hash of its file, as the manifests have it."""
    home = archive.home(folder)
    manifests = {table: lake.manifest(home, table, "notes") for table in TABLES}
    return {f"{table} {month}": entry.output for table, months in manifests.items() for month, entry in months.items()}


@contextmanager
def nodes(folder: Path, archive_folder: Path, variables: dict[str, str]) -> Iterator[Any]:
    """Two nodes whose folder is private/ray-node of the archive, behind a short link; relrag.toml names them."""
    node_folder = archive.home(archive_folder) / "private" / "ray-node"
    node_folder.mkdir(parents=True, mode=0o700)
    link = folder / "n"
    link.symlink_to(node_folder)
    with ray_nodes.two_nodes(link, variables) as cluster:
        configure(archive_folder, 'executor = "ray"', f'ray_address = "{cluster.address}"')
        yield cluster


def behind_tls(address: str, variables: dict[str, str]) -> None:
    """Fails unless Ray shows the certificate of the test where it listens."""
    context = ssl.create_default_context(cafile=variables["RAY_TLS_CA_CERT"])
    context.load_cert_chain(variables["RAY_TLS_SERVER_CERT"], variables["RAY_TLS_SERVER_KEY"])
    host, port = address.split(":")
    with socket.create_connection((host, int(port)), 10) as plain:
        context.wrap_socket(plain, server_hostname=host).close()


def strangers(folder: Path, seen: Seen) -> None:
    """A sync with another token, or without TLS, ends with a message and exit code 2."""
    for name, value, reason in (
        ("RAY_AUTH_TOKEN", "0" * 64, "cannot be joined"),
        ("RAY_USE_TLS", "0", "runs with TLS"),
    ):
        given, os.environ[name] = os.environ[name], value
        started = time.monotonic()
        code = start(folder).wait()
        os.environ[name] = given
        log = (folder / "sync.log").read_text()
        (folder / "sync.log").unlink()
        assert code == 2 and "the Ray cluster at 127.0.0.1:" in log and reason in log, (code, log)
        seen.measure(f"a sync with another {name} is refused", time.monotonic() - started, "s")


def on_two_nodes(folder: Path, cluster: Any, seen: Seen) -> None:
    """A sync in whose course a worker and then a node is killed."""
    node_folder = archive.home(folder) / "private" / "ray-node"
    process = start(folder)
    searched: list[int] = []
    watching = threading.Thread(target=watch, args=(process, node_folder, searched))
    watching.start()
    started = time.monotonic()
    worker = next_of(process, lambda: computing(os.getpid()))
    os.kill(worker, signal.SIGKILL)
    seen.note("a worker killed while it computed", f"after {time.monotonic() - started:.0f} s")
    next_of(process, lambda: [path for path in [archive.home(folder) / "private" / "vectors.db"] if path.exists()])
    victim = sorted(cluster.worker_nodes, key=lambda node: str(node.unique_id))[0]
    cluster.remove_node(victim, allow_graceful=False)
    seen.note("a node killed while texts were embedded", f"after {time.monotonic() - started:.0f} s")
    code = process.wait()
    watching.join()
    assert code == 0, (folder / "sync.log").read_text()
    seen.measure("sync on two nodes, of which one is killed", time.monotonic() - started, "s")
    addresses = ray_nodes.listening(ray_nodes.descendants(os.getpid()))
    assert addresses and addresses <= ray_nodes.LOOPBACK, addresses
    seen.note("addresses on which Ray listens", "127.0.0.1 alone, with token and TLS")
    assert searched and not any(searched), "what was planted lies in Ray's folder"
    assert ray_nodes.holding(node_folder, PLANTED.encode()) == {PLANTED: []}
    seen.note("what was planted, in the folder of the nodes", f"nowhere; looked at {len(searched)} times")
    with runner.instance(archive.home(folder)) as shared:
        states = {run.status.value for run in shared.get_runs()}
    assert states == {"SUCCESS"}, states
    seen.note("its runs in Dagster", "all succeeded")


def watch(process: subprocess.Popen[bytes], folder: Path, searched: list[int]) -> None:
    """While a sync runs, notes again and again how many of Ray's files hold what was planted."""
    while process.poll() is None:
        try:
            searched.append(len(ray_nodes.holding(folder, PLANTED.encode())[PLANTED]))
        except OSError:  # gone between the listing and the look
            continue
        time.sleep(1)


def next_of(process: subprocess.Popen[bytes], look: Callable[[], list[Any]]) -> Any:
    """The first of what is seen, once anything is, while the sync runs."""
    while process.poll() is None:
        if now := look():
            return now[0]
        time.sleep(0.05)
    sys.exit(f"the sync ended before anything was seen: {look}")


def computing(parent: int) -> list[int]:
    """Ray's workers, below that process, that compute an item."""
    names = {process: Path(f"/proc/{process}/cmdline") for process in ray_nodes.descendants(parent)}
    return [process for process, name in names.items() if name.exists() and b"ray::compute" in name.read_bytes()]


def killed_sync(folder: Path, expected: dict[str, str], seen: Seen) -> None:
    """A sync with a cluster of its own is killed while it embeds; the next one goes on, and empties Ray's folder."""
    configure(folder, 'executor = "ray"')
    for name in ("RAY_AUTH_TOKEN", "RAY_USE_TLS"):
        os.environ.pop(name, None)
    cache, ray_folder = archive.home(folder) / "private" / "vectors.db", archive.home(folder) / ray_tasks.FOLDER
    process = start(folder, "--full")
    next_of(process, lambda: [cache] if cache.exists() and cache.stat().st_size > 2**20 else [])
    process.kill()
    process.wait()
    held = ray_nodes.holding(ray_folder, PLANTED.encode())
    assert held == {PLANTED: []} and any(ray_folder.iterdir()), held
    seen.note("what was planted, in Ray's folder after a kill of the sync", "nowhere")
    seen.measure("the sync after the kill", relrag(folder, "--full"), "s")
    assert hashes(folder) == expected, "months differ"
    assert not ray_folder.exists() and not list(links(load(folder / "relrag.toml").home_path)), "Ray left something"
    seen.note("Ray's folder afterwards", "gone; months equal by hash")


def links(home: Path) -> Iterator[Path]:
    """Links to the folder of Ray's cluster in that home."""
    for link in ray_tasks._LINK_FOLDERS.glob("relrag-ray-*/r"):
        if link.readlink() == home / ray_tasks.FOLDER:
            yield link


if __name__ == "__main__":
    main()
