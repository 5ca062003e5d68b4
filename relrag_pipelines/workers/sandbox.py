"""Runs parsing libraries in a separate process, with limits on time and memory.

A PDF of 800 bytes can make PDFium take all memory or abort, and nothing in its process can stop it. So such calls run
in a sandbox process, started on first use and again after a crash. It stays between calls, so that loaded modules are
reused. Each kind of limits has its own process: a transcription model is not loaded again because a PDF was read in
between. A call that exceeds its limits, or whose process dies, raises ParserStopped; the next call is unaffected.

Linux enforces all limits. macOS does not limit address space: there the process checks its memory five times a second,
so a library that allocates quickly can exceed the limit before it is ended.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import pickle
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from relrag_pipelines.workers.limits import Limits

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

TIME, MEMORY, CRASH = "time_limit", "memory_limit", "crash"
"""faults of stopped calls"""

_BYTES_PER_TIME_UNIT = 2**24
"""the time limit is granted once per this many bytes of input"""
_WALL_RATIO = 5
"""allowed elapsed time per processor time: the machine may be busy, a network disk slow"""
_MAX_EXTRA_WAIT = 3600
"""largest allowed elapsed time beyond the processor time, in seconds"""
_MAX_RESULT_BYTES = 2**28
"""largest pickled result; the caller holds it in memory too"""
_WATCH_INTERVAL = 0.2
"""seconds between two memory checks"""
_RESERVED = 2**28
"""bytes of address space that threads reserve without using it"""
_OUT_OF_MEMORY = 17
"""exit status of a process that exceeded its memory limit"""
_START = (
    "from multiprocessing.connection import Connection; import sys; pipe = Connection(int(sys.argv[1])); "
    "sys.path[:] = pipe.recv(); from relrag_pipelines.workers import sandbox; sandbox.serve(pipe)"
)


class ParserStopped(Exception):
    """A call did not return; `fault` is the kind, and the message says what happened and what to do."""

    def __init__(self, fault: str, message: str) -> None:
        super().__init__(message)
        self.fault = fault


class _Died(Exception):
    """The sandbox process died; `fault` is the kind, `signal_name` the signal that ended it."""

    def __init__(self, fault: str, signal_name: str = "") -> None:
        super().__init__(fault)
        self.fault, self.signal_name = fault, signal_name


def call(
    limits: Limits, size: int, function: Callable[Arguments, Result], *args: Arguments.args, **options: Arguments.kwargs
) -> Result:
    """Calls the function in the sandbox for an input of `size` bytes; returns its result or raises its exception.

    Raises ParserStopped if it does neither. Function, arguments and result are pickled, so the function must be defined
    in a module.
    """
    seconds = limits.seconds * (1 + size // _BYTES_PER_TIME_UNIT)
    request = pickle.dumps((functools.partial(function, *args, **options), seconds), pickle.HIGHEST_PROTOCOL)
    with _LOCK:
        try:
            answer = _ask(limits, request, seconds)
        except _Died as died:
            raise ParserStopped(died.fault, _describe(died, limits, seconds)) from None
    returned, result = pickle.loads(answer)  # noqa: S301  our own process pickled it
    if not returned:
        raise result
    return result  # type: ignore[no-any-return]


def stop() -> None:
    """Ends all sandbox processes."""
    with _LOCK:
        while _running:
            _running.popitem()[1].end()


class _Process:
    """A sandbox process and the pipe to it."""

    def __init__(self, limits: Limits) -> None:
        self.limits, self.calls = limits, 0
        self._pipe, theirs = Pipe()
        command = [sys.executable, "-I", "-c", _START, str(theirs.fileno())]
        nowhere = subprocess.DEVNULL  # what a library prints could be text of the archive
        with theirs:
            self._process = subprocess.Popen(
                command, stdin=nowhere, stdout=nowhere, stderr=nowhere, pass_fds=[theirs.fileno()]
            )
        self._pipe.send([path or str(Path.cwd()) for path in sys.path])
        self._pipe.send((os.getpid(), limits.max_bytes))

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def ask(self, request: bytes, seconds: int) -> bytes:
        """The answer to a pickled request; raises _Died if the process ended or was ended."""
        self.calls += 1
        try:
            self._pipe.send_bytes(request)
            if not self._pipe.poll(min(_WALL_RATIO * seconds, seconds + _MAX_EXTRA_WAIT)):
                raise _Died(TIME)
            return self._pipe.recv_bytes()
        except (EOFError, OSError):
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_WALL_RATIO)
            raise _cause(self._process.poll()) from None
        except BaseException:  # also Ctrl-C: its answer would be taken for that of the next call
            self.end()
            raise

    def end(self) -> None:
        self._pipe.close()
        self._process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):  # a process that waits for a disk cannot be ended
            self._process.wait(_WALL_RATIO)


_LOCK = threading.Lock()
_running: dict[str, _Process] = {}
"""running processes by the settings prefix of their limits"""
atexit.register(stop)


def _process(limits: Limits) -> _Process:
    process = _running.get(limits.settings)
    if process and (process.limits.max_bytes != limits.max_bytes or not process.alive):
        _running.pop(limits.settings).end()
    if limits.settings not in _running:
        _running[limits.settings] = _Process(limits)
    return _running[limits.settings]


def _ask(limits: Limits, request: bytes, seconds: int) -> bytes:
    process = _process(limits)
    fresh = not process.calls
    try:
        return process.ask(request, seconds)
    except _Died as died:
        if fresh or died.fault == TIME:
            raise
    # an earlier call may have damaged the process: retry in a new one
    return _process(limits).ask(request, seconds)


def _cause(code: int | None) -> _Died:
    """The cause of a process's end, by its exit status."""
    if code in (_OUT_OF_MEMORY, -signal.SIGKILL):  # the second by Linux, when the machine has no more memory
        return _Died(MEMORY)
    if code == -signal.SIGXCPU:
        return _Died(TIME)
    return _Died(CRASH, signal.Signals(-code).name if code and code < 0 else f"exit status {code}")


def _describe(died: _Died, limits: Limits, seconds: int) -> str:
    if died.fault == TIME:
        return f"reading it did not end within {seconds} s; exclude it, or raise {limits.settings}_max_seconds"
    memory = f"needed more than {limits.max_bytes:,} bytes of memory"
    if died.fault == MEMORY:
        return f"reading it {memory}; exclude it, or raise {limits.settings}_max_bytes"
    crash = f"the library that reads it crashed ({died.signal_name})"
    return f"{crash}: it is damaged, or {memory}; repair or exclude it, or raise {limits.settings}_max_bytes"


def serve(pipe: Connection) -> None:
    """Runs in the sandbox process: answers calls until the parent process is gone."""
    parent, max_bytes = pipe.recv()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a core dump would contain private text
    with contextlib.suppress(OSError):  # if memory runs out, the system should end this process first
        Path("/proc/self/oom_score_adj").write_text("1000")
    limited = False
    while True:
        try:
            request = pipe.recv_bytes()
        except (EOFError, OSError):
            os._exit(0)
        try:
            function, seconds = pickle.loads(request)  # noqa: S301  our own process pickled it
            if not limited:  # unpickling has imported what the first call needs
                _limit_memory(parent, max_bytes)
                limited = True
            _limit_time(seconds)
            answer = _answer(function)
            _limit_time(None)
        except MemoryError:
            os._exit(_OUT_OF_MEMORY)
        if len(answer) > _MAX_RESULT_BYTES:
            os._exit(_OUT_OF_MEMORY)
        pipe.send_bytes(answer)


def _answer(function: Callable[[], Any]) -> bytes:
    try:
        return pickle.dumps((True, function()), pickle.HIGHEST_PROTOCOL)
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001  raised again in the parent
        return _pickle_error(error)


def _pickle_error(error: Exception) -> bytes:
    """A pickled exception; a RuntimeError with its type's name if it cannot be pickled."""
    error.__traceback__ = error.__context__ = error.__cause__ = None
    try:
        answer = pickle.dumps((False, error), pickle.HIGHEST_PROTOCOL)
        pickle.loads(answer)  # noqa: S301  made right above
        return answer
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001  whatever keeps it from travelling
        reason = (
            f"the library that reads it failed with {type(error).__name__}; please report it with the file's format"
        )
        return pickle.dumps((False, RuntimeError(reason)))


def _limit_time(seconds: int | None) -> None:
    """Limits the further processor time of this process; None removes the limit."""
    maximum = resource.getrlimit(resource.RLIMIT_CPU)[1]
    limit = maximum if seconds is None else int(time.process_time()) + 1 + seconds
    resource.setrlimit(resource.RLIMIT_CPU, (limit, maximum))


def _limit_memory(parent: int, max_bytes: int) -> None:
    """Limits memory beyond the present use, and starts a thread that checks memory and whether the parent lives."""
    watched_limit = None
    try:
        pages = [int(part) for part in Path("/proc/self/statm").read_text().split()]
        page = resource.getpagesize()
        for limit, current_pages, spare in (
            (resource.RLIMIT_AS, pages[0], _RESERVED),
            (resource.RLIMIT_DATA, pages[5], 0),
        ):
            resource.setrlimit(limit, (current_pages * page + max_bytes + spare, resource.getrlimit(limit)[1]))
    except OSError:  # no Linux
        watched_limit = _peak_memory() + max_bytes
    threading.Thread(target=_watch, args=(parent, watched_limit), daemon=True).start()


def _watch(parent: int, max_bytes: int | None) -> None:
    while os.getppid() == parent:
        if max_bytes is not None and _peak_memory() > max_bytes:
            os._exit(_OUT_OF_MEMORY)
        time.sleep(_WATCH_INTERVAL)
    os._exit(1)


def _peak_memory() -> int:
    """Peak memory of this process in bytes; macOS counts in bytes, other systems in kilobytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
