"""Tasks on a Ray cluster: as a pool's work, and nothing of what they are given or say is seen outside of it."""

from __future__ import annotations

import functools
import importlib.util
import os
import pickle
import signal
import socket
import stat
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pytest

from relrag_pipelines.errors import SafeError
from relrag_pipelines.privacy import fault_report
from relrag_pipelines.privacy.key_stores import KeyFile
from relrag_pipelines.settings import Settings
from relrag_pipelines.workers import ray_tasks
from relrag_pipelines.workers.pool import WorkerKilled
from relrag_pipelines.workers.ray_tasks import Cluster, ClusterError
from relrag_pipelines.workspace import Workspace
from tests import ray_nodes

HAS_RAY = importlib.util.find_spec("ray") is not None
needs_ray = pytest.mark.skipif(not HAS_RAY, reason="needs the extra relrag[ray]; `make proofs-scale` runs these")
PRIVATE = "kumquat-Ofelia-7213"


class NotRead(SafeError):
    """What a stage raises."""


class Stubborn(Exception):
    """Holds what cannot be pickled."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.handler: Callable[[], None] = lambda: None


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> KeyFile:
    store = KeyFile(tmp_path_factory.mktemp("keys") / "test.keys")
    store.create()
    return store


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its path is longer than a socket's may be."""
    return tmp_path_factory.mktemp("h" * 100)


@pytest.fixture(scope="module")
def cluster(home: Path, store: KeyFile) -> Iterator[Cluster]:
    started = Cluster(home, store)
    yield started
    started.stop()


def square(number: int) -> tuple[int, int]:
    time.sleep(0.05)
    return number * number, os.getpid()


@needs_ray
def test_results_come_in_order_from_other_processes(cluster: Cluster) -> None:
    results = list(cluster.each(square, range(20)))
    assert [number for number, _ in results] == [number * number for number in range(20)]
    assert os.getpid() not in {process for _, process in results}


@needs_ray
def test_a_single_item_is_computed_here(cluster: Cluster) -> None:
    assert list(cluster.each(square, [3])) == [(9, os.getpid())]
    assert list(cluster.each(square, [])) == []


def deadly(folder: Path, item: tuple[int, int]) -> int:
    """The number; before that, the item ends so many workers."""
    number, deaths = item
    begun = folder / str(number)
    times = len(begun.read_bytes()) if begun.exists() else 0
    begun.write_bytes(b"." * (times + 1))
    if times < deaths:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


@needs_ray
def test_what_a_killed_worker_was_doing_is_done_again(cluster: Cluster, tmp_path: Path) -> None:
    items = [(number, int(number == 1)) for number in range(6)]
    assert list(cluster.each(functools.partial(deadly, tmp_path), items)) == list(range(6))
    assert (tmp_path / "1").read_bytes() == b".."


@needs_ray
def test_what_ends_two_workers_is_given_up(cluster: Cluster, tmp_path: Path) -> None:
    items = [(number, 9 * (number == 1)) for number in range(3)]
    call = functools.partial(deadly, tmp_path)
    assert list(cluster.each(call, items, lambda item: -item[0])) == [0, -1, 2]
    assert (tmp_path / "1").read_bytes() == b".."
    (tmp_path / "1").unlink()
    with pytest.raises(WorkerKilled, match="ended two processes that worked on it"):
        list(cluster.each(call, items))


def loud(kind: type[Exception], text: str) -> NoReturn:
    print(text, flush=True)
    os.write(2, text.encode())
    raise kind(text)


@needs_ray
@pytest.mark.parametrize("kind", [NotRead, ValueError, Stubborn])
def test_no_text_of_an_error_reaches_the_logs_of_ray(cluster: Cluster, home: Path, kind: type[Exception]) -> None:
    """A control file shows that the search sees what it looks for."""
    expected = RuntimeError if kind is Stubborn else kind
    with pytest.raises(expected) as caught:
        list(cluster.each(functools.partial(loud, kind), [PRIVATE, PRIVATE]))
    assert str(caught.value) == ("Stubborn" if kind is Stubborn else PRIVATE)
    if kind is not Stubborn:
        assert "test_ray_tasks.py" in fault_report.describe(caught.value), "where it was raised is known"
    folder = home / ray_tasks.FOLDER
    logs = sorted(folder.glob("n/session_*/logs/worker-*"))
    assert logs, "Ray has logs"
    assert ray_nodes.holding(folder, PRIVATE.encode()) == {PRIVATE: []}
    (folder / "control").write_text(PRIVATE)
    assert ray_nodes.holding(folder, PRIVATE.encode()) == {PRIVATE: ["control"]}
    (folder / "control").unlink()


def variables(number: int) -> dict[str, str | None]:
    names = ("RAY_USAGE_STATS_ENABLED", "RAY_AUTH_MODE", "OMP_NUM_THREADS")
    return {name: os.environ.get(name) for name in names}


@needs_ray
def test_workers_report_no_use_and_ask_for_a_token(cluster: Cluster) -> None:
    expected = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "token", "OMP_NUM_THREADS": "1"}
    assert list(cluster.each(variables, range(2))) == [expected] * 2


@needs_ray
@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="Linux")
def test_nothing_of_it_listens_beyond_this_machine(cluster: Cluster) -> None:
    list(cluster.each(square, range(2)))
    addresses = ray_nodes.listening({os.getpid(), *ray_nodes.descendants(os.getpid())})
    assert addresses and addresses <= ray_nodes.LOOPBACK


@needs_ray
def test_its_folder_is_closed_and_then_gone(tmp_path: Path, cluster: Cluster, home: Path) -> None:
    folder = home / ray_tasks.FOLDER
    list(cluster.each(square, range(2)))
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [path for path in _links() if path.readlink() == folder]
    cluster.stop()
    assert not folder.exists() and not [path for path in _links() if path.readlink() == folder]
    assert not any("plasma" in path.name for path in ray_nodes.SHARED_MEMORY.glob("*"))
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL, "Ray's own would end a sync in the middle of a write"


def _links() -> list[Path]:
    return [path for path in ray_tasks._LINK_FOLDERS.glob("relrag-ray-*/r") if path.is_symlink()]


def sealed(store: KeyFile, value: object) -> bytes:
    return store.load().seal_bytes(pickle.dumps(value), "ray")


def test_a_task_is_given_neither_keys_nor_text(store: KeyFile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_tasks, "_begin", lambda: None)
    keys = store.load()
    arguments = (store, sealed(store, len), sealed(store, PRIVATE))
    answer = ray_tasks.compute(*arguments)
    for secret in (keys.ids, keys.pseudonyms, keys.ids.hex().encode(), PRIVATE.encode()):
        assert secret not in pickle.dumps(arguments) + answer
    plain = keys.unseal_bytes(answer, "ray")
    assert plain and pickle.loads(plain) == (True, len(PRIVATE))  # noqa: S301


def test_what_other_keys_sealed_is_not_unpickled(
    store: KeyFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray_tasks, "_begin", lambda: None)
    other = KeyFile(tmp_path / "other.keys")
    other.create()
    answer = ray_tasks.compute(other, sealed(store, len), sealed(store, PRIVATE))
    with pytest.raises(ClusterError, match="has other keys than this archive"):
        ray_tasks._open(store.load(), answer)


class Panic(BaseException):
    """As libraries in Rust raise it: no Exception, with what they read in its message."""


def panic(text: str) -> None:
    raise Panic(text)


def generator(text: str) -> object:
    return (letter for letter in text)


@pytest.mark.parametrize(("function", "name"), [(panic, "Panic"), (generator, "TypeError")])
def test_no_error_leaves_a_task_unsealed(
    store: KeyFile, monkeypatch: pytest.MonkeyPatch, function: Callable[[str], object], name: str
) -> None:
    monkeypatch.setattr(ray_tasks, "_begin", lambda: None)
    answer = ray_tasks.compute(store, sealed(store, function), sealed(store, PRIVATE))
    returned, error = ray_tasks._open(store.load(), answer)
    assert not returned
    assert PRIVATE not in str(error)
    assert name in f"{type(error).__name__} {error}"


def test_another_process_gets_no_address_of_alerts() -> None:
    """They hold passwords, and no stage sends alerts."""
    settings = Settings(alert_urls=["ntfys://dana:swordfish@ntfy.example.org/x"])
    opened = pickle.loads(pickle.dumps(Workspace(settings)))  # noqa: S301
    assert b"swordfish" not in pickle.dumps(Workspace(settings))
    assert opened.settings.alert_urls == [] and opened.settings.archive == settings.archive


def test_without_the_package_its_command_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    workspace = Workspace(Settings(executor="ray", home=tmp_path))
    with pytest.raises(ClusterError, match=r'pip install "relrag\[ray\]"'):
        workspace.with_cluster()
    assert replace(workspace, settings=Settings()).with_cluster().cluster is None


@pytest.mark.parametrize(
    ("address", "given", "missing"),
    [
        ("127.0.0.1:6379", {}, "no token is given"),
        ("127.0.0.1:6379", {"RAY_AUTH_TOKEN": "t"}, None),
        ("[::1]:6379", {"RAY_AUTH_TOKEN_PATH": "t"}, None),
        ("10.0.0.5:6379", {"RAY_AUTH_TOKEN": "t"}, "RAY_USE_TLS=1"),
        ("10.0.0.5:6379", {"RAY_AUTH_TOKEN": "t", "RAY_USE_TLS": "1"}, "RAY_TLS_CA_CERT"),
        ("10.0.0.5:6379", {"RAY_AUTH_TOKEN": "t", "RAY_USE_TLS": "1", **dict.fromkeys(ray_tasks._TLS, "f")}, None),
        ("10.0.0.5:6379", {"RAY_AUTH_TOKEN": "t", "RAY_USE_TLS": "0", **dict.fromkeys(ray_tasks._TLS, "f")}, "=1"),
    ],
)
def test_a_cluster_that_is_open_to_others_is_refused(
    address: str, given: dict[str, str], missing: str | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    for name in ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH", "RAY_USE_TLS", *ray_tasks._TLS):
        monkeypatch.delenv(name, raising=False)
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    if missing is None:
        Cluster(tmp_path, KeyFile(tmp_path / "k"), address)
        return
    with pytest.raises(ClusterError, match=missing):
        Cluster(tmp_path, KeyFile(tmp_path / "k"), address)


def test_a_cluster_that_is_not_there_or_has_no_tls_is_named_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_USE_TLS", "1")
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        threading.Thread(target=lambda: server.accept()[0].close(), daemon=True).start()
        with pytest.raises(ClusterError, match=f"the Ray cluster at {address} runs without TLS"):
            ray_tasks._require_listener(address)
    with pytest.raises(ClusterError, match=f"no Ray cluster listens at {address}"):
        ray_tasks._require_listener(address)


def test_a_folder_is_closed_by_itself_or_by_one_that_holds_it() -> None:
    """In the system's folder for temporary files, which is open to everybody."""
    with tempfile.TemporaryDirectory() as outer:
        inner = Path(outer) / "inner"
        inner.mkdir()
        inner.chmod(0o755)  # whatever the umask of this process is
        assert ray_tasks.is_closed(inner)
        Path(outer).chmod(0o755)
        assert not ray_tasks.is_closed(inner)
        inner.chmod(0o700)
        assert ray_tasks.is_closed(inner)


def test_what_a_kill_left_is_removed(tmp_path: Path) -> None:
    """The link to another home's folder stays."""
    mine, other = (ray_tasks._make_folder(tmp_path / name).parent for name in ("mine", "other"))
    (tmp_path / "mine" / ray_tasks.FOLDER / "session").mkdir()
    assert mine.is_symlink() and stat.S_IMODE(mine.parent.stat().st_mode) == 0o700
    ray_tasks.sweep(tmp_path / "mine")
    assert not mine.parent.exists() and not (tmp_path / "mine" / ray_tasks.FOLDER).exists()
    assert other.is_symlink() and other.resolve().is_dir()
    ray_tasks.sweep(tmp_path / "other")
    assert not other.parent.exists()


@pytest.mark.parametrize("address", ["ray://127.0.0.1:10001", "127.0.0.1", "host:0", "a b:6379"])
def test_an_address_is_host_and_port(address: str) -> None:
    with pytest.raises(ValueError, match="is no address of a Ray cluster"):
        Settings(ray_address=address)
