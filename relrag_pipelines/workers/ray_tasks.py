"""Ray as the executor of `Workspace.each`: on a cluster of this machine, or on one that runs already.

A task is given where the keys are, never what they are. What passes through Ray, with its object store, spilled objects
and sockets, is encrypted under these keys; a worker with other keys can read nothing. A task answers with a result or
an error, encrypted as well, so that Ray has no message of an error to log.

Ray's folder is private/ray. Its sockets have paths of at most 107 bytes, so Ray knows the folder by a short link.
"""

from __future__ import annotations

import functools
import importlib.util
import itertools
import os
import pickle
import secrets
import shutil
import signal
import socket
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Generic, TypeVar
from urllib.parse import urlsplit

from relrag_pipelines.errors import SafeError
from relrag_pipelines.files.atomic import make_private
from relrag_pipelines.privacy import fault_report
from relrag_pipelines.privacy.key_stores import KeyStore
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.privacy.loopback import is_loopback
from relrag_pipelines.workers import pool
from relrag_pipelines.workers.pool import ENDED_TWICE, MAKE_ROOM, WorkerKilled

Item = TypeVar("Item")
Result = TypeVar("Result")

FOLDER = "private/ray"
"""of a cluster that a sync starts, within the home"""
_LINK_FOLDERS, _LINK_PREFIX, _LINK = Path("/tmp"), "relrag-ray-", "r"  # noqa: S108  mkdtemp makes it 0700
"""the system's own folder for temporary files can have a long path, as on macOS"""
_NODE = "n"
"""in the folder, since Ray opens its own to everybody"""
_SEALED_FOR = "ray"
_STORE_BYTES = 2**29
"""of the object store, in memory; Ray writes what is beyond it below its folder"""
_QUEUED_PER_PROCESS = 3
"""running and waiting items per process"""
_MOST_LOSSES = 5
"""how often a lost node may cost an item, before the sync ends"""
_LOOK_SECONDS = 20
"""after so long without a result, whether the cluster can still compute"""
_CONNECT_SECONDS = 10
_TLS = ("RAY_TLS_SERVER_CERT", "RAY_TLS_SERVER_KEY", "RAY_TLS_CA_CERT")
_TOKENS = ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH")


class ClusterError(SafeError):
    """The Ray cluster cannot be used; the message says why and what to do."""


class Cluster:
    """A Ray cluster, started or joined when it gets its first items."""

    def __init__(self, home: Path, store: KeyStore, address: str = "") -> None:
        """Of the archive in that home with its keys in that store, at that address, else one of its own.

        Raises ClusterError where the package is missing, or the cluster at that address would be open to others.
        """
        if importlib.util.find_spec("ray") is None:
            raise ClusterError('executor = "ray" needs Ray; install it by: pip install "relrag[ray]"')
        self._home, self._store, self._address = home, store, address
        self._started = self._has_folder = False
        if address:
            _require_protection(address)

    def each(
        self,
        function: Callable[[Item], Result],
        items: Iterable[Item],
        given_up: Callable[[Item], Result] | None = None,
    ) -> Iterator[Result]:
        """As workers.map_batches, by tasks; a single item is computed here. ClusterError if the cluster is lost."""
        items = iter(items)
        first = list(itertools.islice(items, 2))
        if len(first) < 2:
            yield from map(function, first)
            return
        self._start()
        tasks = _Tasks(self._store, function, given_up)
        limit = _QUEUED_PER_PROCESS * _processors()
        queue: deque[tuple[Item, Any]] = deque()
        for item in itertools.chain(first, items):
            queue.append((item, tasks.submit(item)))
            if len(queue) > limit:
                yield tasks.result(*queue.popleft())
        while queue:
            yield tasks.result(*queue.popleft())

    def stop(self) -> None:
        """Ends the cluster that was started here and empties its folder, or leaves the one that was joined."""
        if self._started or self._has_folder:
            import ray

            ray.shutdown()
        if self._has_folder:
            sweep(self._home)
        self._started = self._has_folder = False

    def _start(self) -> None:
        if self._started:
            return
        local = not self._address or is_loopback(_host(self._address))
        os.environ["RAY_AUTH_MODE"] = "token"
        if local:  # else Ray listens on all addresses of the machine, even where it is told to use this one
            os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
        if self._address:
            _require_listener(self._address)
            _connect(address=self._address)
        else:
            os.environ.setdefault(_TOKENS[0], secrets.token_hex(32))
            self._has_folder = True
            _connect(
                address="local",
                include_dashboard=False,
                object_store_memory=_STORE_BYTES,
                _temp_dir=str(_make_folder(self._home)),
            )
        self._started = True
        require_closed_folder()


def sweep(home: Path) -> None:
    """Empties the folder of a cluster that has ended, or whose sync was killed, and removes the link to it."""
    folder = home / FOLDER
    for link in _LINK_FOLDERS.glob(f"{_LINK_PREFIX}*/{_LINK}"):
        with suppress(OSError):  # another user's, or gone meanwhile
            if link.readlink() == folder:
                shutil.rmtree(link.parent)
    for _ in range(50):  # processes that are ending still write there
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
        time.sleep(0.1)


def _make_folder(home: Path) -> Path:
    """The folder that Ray makes for its node, behind a link to that of the cluster; the latter is closed to others."""
    sweep(home)
    folder = home / FOLDER
    make_private(folder.parent)
    make_private(folder)
    link = Path(tempfile.mkdtemp(prefix=_LINK_PREFIX, dir=_LINK_FOLDERS)) / _LINK
    link.symlink_to(folder)
    return link / _NODE


def _connect(**options: Any) -> None:
    """Starts or joins a cluster; ClusterError where that fails."""
    import ray

    in_main_thread = threading.current_thread() is threading.main_thread()
    handler = signal.getsignal(signal.SIGTERM)
    fault = ""
    try:
        ray.init(log_to_driver=False, logging_level="CRITICAL", **options)
    except Exception as error:  # noqa: BLE001  Ray raises many, with paths and addresses of the machine
        fault = type(error).__name__
    finally:
        if in_main_thread:  # Ray puts its own in place, which ends the process in the middle of a write
            signal.signal(signal.SIGTERM, handler)
    if fault:
        where = f"the Ray cluster at {options['address']} cannot be joined" if options["address"] != "local" else ""
        advice = 'see that it runs and has the same token and certificates, or set executor = "processes"'
        raise ClusterError(f"{where or 'Ray cannot be started'} ({fault}); {advice}")


def _host(address: str) -> str:
    return urlsplit(f"//{address}").hostname or ""


def _require_protection(address: str) -> None:
    """Raises ClusterError for a cluster without a token, or on other machines without TLS."""
    if not any(map(os.environ.get, _TOKENS)):
        raise ClusterError(f"ray_address is {address}, and no token is given; set RAY_AUTH_TOKEN_PATH to its file")
    if not is_loopback(_host(address)):
        _require_tls(f"ray_address is {address}, another machine")


def _uses_tls() -> bool:
    return os.environ.get("RAY_USE_TLS", "").lower() in ("1", "true")


def _require_listener(address: str) -> None:
    """Raises ClusterError where nothing listens, or TLS is on at one end alone: Ray would try for many minutes."""
    target = (_host(address), int(address.rpartition(":")[2]))
    try:
        with socket.create_connection(target, _CONNECT_SECONDS) as connection:
            has_tls = _speaks_tls(connection)
    except OSError:
        raise ClusterError(
            f"no Ray cluster listens at {address}; start it, or set ray_address to where it is"
        ) from None
    if has_tls != _uses_tls():
        there = "with" if has_tls else "without"
        raise ClusterError(f"the Ray cluster at {address} runs {there} TLS; set RAY_USE_TLS there and here alike")


def _speaks_tls(connection: socket.socket) -> bool:
    """Whether the other end answers a greeting of TLS; Ray itself checks the certificate."""
    import ssl  # every sync imports this module, and few join a cluster

    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    try:
        context.wrap_socket(connection).close()
    except OSError:
        return False
    return True


def _require_tls(reason: str) -> None:
    missing = [name for name in _TLS if not os.environ.get(name)]
    if not _uses_tls() or missing:
        raise ClusterError(f"{reason}: set RAY_USE_TLS=1, {', '.join(_TLS)} there and here, as docs/deploy.md shows")


def require_closed_folder() -> None:
    """Raises ClusterError unless Ray's folder on this node, with logs and spilled objects, is closed to others."""
    from ray._private import worker

    if not is_closed(Path(worker._global_node.get_temp_dir_path())):
        raise ClusterError(
            "Ray's folder on a node can be read by others; start the node by `ray start --temp-dir` with a folder "
            "within one of mode 0700, as docs/deploy.md shows"
        )


def is_closed(folder: Path) -> bool:
    """Whether the folder, or one that holds it, is for its owner only: Ray opens its own to everybody."""
    folder = folder.resolve()
    return any(parent.stat().st_mode & 0o077 == 0 for parent in (folder, *folder.parents))


def _processors() -> int:
    """Processors of the cluster; ClusterError where it has none."""
    import ray

    count = int(ray.cluster_resources().get("CPU", 0))
    if not count:
        raise ClusterError("the Ray cluster has no processor left; start a node, then run `relrag sync` again")
    return count


class _Tasks(Generic[Item, Result]):
    """Calls of one function."""

    def __init__(
        self, store: KeyStore, function: Callable[[Item], Result], given_up: Callable[[Item], Result] | None
    ) -> None:
        import ray

        self._store, self._keys, self._given_up = store, store.load(), given_up
        self._call = ray.remote(num_cpus=1, max_retries=0)(compute)
        self._function = ray.put(self._seal(function))

    def _seal(self, value: object) -> bytes:
        return self._keys.seal_bytes(pickle.dumps(value, pickle.HIGHEST_PROTOCOL), _SEALED_FOR)

    def submit(self, item: Item) -> Any:
        """Starts the call for an item."""
        return self._call.remote(self._store, self._function, self._seal(item))

    def result(self, item: Item, task: Any) -> Result:
        """The result of a call; where the system ends two processes that work on it, that of `given_up`."""
        from ray import exceptions

        ended = lost = 0
        while ended < 2 and lost < _MOST_LOSSES:
            try:
                return self._answer(task)
            except (exceptions.WorkerCrashedError, exceptions.OutOfMemoryError):
                ended += 1
            except exceptions.RayTaskError as error:
                raise _own_error(error) from None
            except exceptions.RayError:  # the node has ended, with the item or its result
                lost += 1
            task = self.submit(item)
        if ended < 2:
            raise ClusterError("nodes of the Ray cluster end again and again; run `relrag sync` when they are up")
        if self._given_up is None:
            raise WorkerKilled(f"{ENDED_TWICE}; {MAKE_ROOM}")
        return self._given_up(item)

    def _answer(self, task: Any) -> Result:
        import ray

        while not ray.wait([task], timeout=_LOOK_SECONDS)[0]:
            _processors()
        returned, result = _open(self._keys, ray.get(task))
        if not returned:
            raise result
        return result  # type: ignore[no-any-return]


def _own_error(error: Any) -> SafeError:
    """What keeps a worker from beginning; any other error of a task comes as its answer."""
    cause = error.cause
    return cause if isinstance(cause, SafeError) else ClusterError(f"a Ray worker failed ({type(cause).__name__})")


def compute(store: KeyStore, function: bytes, item: bytes) -> bytes:
    """In a worker: the function's result for the item, or its error, all of them encrypted.

    Raises KeysError where the worker does not reach the keys, ClusterError where the node is open.
    """
    _begin()
    keys = _keys(store)
    try:
        with fault_report.during("a task of Ray"):
            result = _function(store, function)(_open(keys, item))
            answer = pickle.dumps((True, result), pickle.HIGHEST_PROTOCOL)
    except (SystemExit, KeyboardInterrupt):
        raise
    except BaseException as error:  # noqa: BLE001  a panic of a library in Rust quotes what it read
        answer = pickle.dumps((False, _portable(error)), pickle.HIGHEST_PROTOCOL)
    return keys.seal_bytes(answer, _SEALED_FOR)


@functools.cache
def _begin() -> None:
    """Once a worker: it prints nothing, and its node is closed to others."""
    pool.silence()
    pool.reduce_gc()
    require_closed_folder()
    if os.environ.get("RAY_AUTH_MODE") != "token":
        raise ClusterError("a node of the Ray cluster was started without RAY_AUTH_MODE=token; start it with that")
    from ray.util import get_node_ip_address

    if not is_loopback(get_node_ip_address()):
        _require_tls("a node of the Ray cluster is on another machine")


@functools.lru_cache(maxsize=1)
def _function(store: KeyStore, sealed: bytes) -> Callable[[Any], Any]:
    function: Callable[[Any], Any] = _open(_keys(store), sealed)
    return function


@functools.lru_cache(maxsize=1)
def _keys(store: KeyStore) -> Keys:
    return store.load()


def _open(keys: Keys, sealed: bytes) -> Any:
    """What was encrypted under the archive's keys; nobody else's bytes are unpickled."""
    plain = keys.unseal_bytes(sealed, _SEALED_FOR)
    if plain is None:
        raise ClusterError("a Ray worker has other keys than this archive; give it the same `keys_file` or RELRAG_KEYS")
    return pickle.loads(plain)  # noqa: S301


def _portable(error: BaseException) -> Exception:
    """The error without what it came from; for a panic, or where it cannot be pickled, one that names its type."""
    if not isinstance(error, Exception):
        return RuntimeError(type(error).__name__)
    error.__traceback__ = error.__context__ = error.__cause__ = None
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301  made right here
    except Exception:  # noqa: BLE001  whatever keeps it from travelling
        return RuntimeError(type(error).__name__)
    return error
