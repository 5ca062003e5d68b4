"""Has libraries parse files in a process of its own, with limits on time and memory.

A PDF of 800 bytes can have PDFium take all memory there is or abort, and nothing that runs in its process can stop it.
So a call of such a library runs in a process beside each that reads, started when it is first needed and anew after
it died. It lives on between calls, so what a call loaded is there for the next. Each kind of limits has a process of
its own: a model that transcribes is not loaded again because a PDF was read in between. A call that is over its limits,
or whose process dies, raises Stopped here; the next call is as good as the first.

Linux keeps all limits. macOS keeps no limit on address space: there the process looks five times a second at how much
memory it has, so a library that takes much at once gets further before it is ended.
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
from typing import Any, NamedTuple, ParamSpec, TypeVar

Given = ParamSpec("Given")
Result = TypeVar("Result")

TIME, MEMORY, CRASH = "time_limit", "memory_limit", "crash"
"""fault words of what stops a call"""

_BYTES_A_TURN = 2**24
"""so many bytes of input may take the time once more"""
_WALL = 5
"""so many seconds by the clock may go by for one of the processor: the machine may be busy, a network disk slow"""
_LONGEST_WAIT = 3600
"""seconds by the clock at most beyond those of the processor: who may take a day is not waited for five"""
_MOST_RESULT = 2**28
"""longest result, pickled bytes: it is held here as well"""
_WATCHED = 0.2
"""seconds between two looks of the process at itself"""
_RESERVED = 2**28
"""bytes of addresses that threads reserve and do not use"""
_OUT_OF_MEMORY = 17
"""exit status of a process that had more memory than it may"""
_START = (
    "from multiprocessing.connection import Connection; import sys; pipe = Connection(int(sys.argv[1])); "
    "sys.path[:] = pipe.recv(); from relrag_pipelines.workers import sandbox; sandbox.serve(pipe)"
)


class Limits(NamedTuple):
    """What one call may take."""

    seconds: int = 60
    """of the processor, for each begun 16 MiB of input"""
    max_bytes: int = 2**30
    """of memory, above what the process takes when it begins"""
    settings: str = "parser"
    """what the settings that say so begin with: parser_max_seconds and parser_max_bytes"""


class ParserStopped(Exception):
    """A call that did not return: a fault word, and what happened and what to do."""

    def __init__(self, fault: str, message: str) -> None:
        super().__init__(message)
        self.fault = fault


class _Died(Exception):
    """The process is gone; of what, as a fault word, and the signal that ended it."""

    def __init__(self, fault: str, signal_name: str = "") -> None:
        super().__init__(fault)
        self.fault, self.signal_name = fault, signal_name


def call(
    limits: Limits, size: int, function: Callable[Given, Result], *given: Given.args, **named: Given.kwargs
) -> Result:
    """What the function returns or raises in the other process, for an input of so many bytes.

    Raises Stopped when it does neither. Function, arguments and result are pickled, so the function stands in a module.
    """
    seconds = limits.seconds * (1 + size // _BYTES_A_TURN)
    asked = pickle.dumps((functools.partial(function, *given, **named), seconds), pickle.HIGHEST_PROTOCOL)
    with _LOCK:
        try:
            answer = _ask(limits, asked, seconds)
        except _Died as died:
            raise ParserStopped(died.fault, _describe(died, limits, seconds)) from None
    returned, result = pickle.loads(answer)  # noqa: S301  our own process pickled it
    if not returned:
        raise result
    return result  # type: ignore[no-any-return]


def stop() -> None:
    """Ends the processes there are."""
    with _LOCK:
        while _held:
            _held.popitem()[1].end()


class _Process:
    """The other process, and how to ask it."""

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

    def ask(self, asked: bytes, seconds: int) -> bytes:
        """Its answer; raises _Died, and then it is gone."""
        self.calls += 1
        try:
            self._pipe.send_bytes(asked)
            if not self._pipe.poll(min(_WALL * seconds, seconds + _LONGEST_WAIT)):
                raise _Died(TIME)
            return self._pipe.recv_bytes()
        except (EOFError, OSError):
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_WALL)
            raise _cause(self._process.poll()) from None
        except BaseException:  # also Ctrl-C: its answer would be taken for that of the next call
            self.end()
            raise

    def end(self) -> None:
        self._pipe.close()
        self._process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):  # a process that waits for a disk cannot be ended
            self._process.wait(_WALL)


_LOCK = threading.Lock()
_held: dict[str, _Process] = {}
"""those that are running, by what the settings of their limits begin with"""
atexit.register(stop)


def _process(limits: Limits) -> _Process:
    held = _held.get(limits.settings)
    if held and (held.limits.max_bytes != limits.max_bytes or not held.alive):
        _held.pop(limits.settings).end()
    if limits.settings not in _held:
        _held[limits.settings] = _Process(limits)
    return _held[limits.settings]


def _ask(limits: Limits, asked: bytes, seconds: int) -> bytes:
    process = _process(limits)
    fresh = not process.calls
    try:
        return process.ask(asked, seconds)
    except _Died as died:
        if fresh or died.fault == TIME:
            raise
    # what an earlier call left behind must not be this one's fault
    return _process(limits).ask(asked, seconds)


def _cause(code: int | None) -> _Died:
    """Of what a process ended, by its exit status."""
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
    """In the other process: answers calls until the process that asks them is gone."""
    parent, max_bytes = pipe.recv()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one that asks
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a core dump would hold what was read
    with contextlib.suppress(OSError):  # where the machine runs out of memory, this one is to go first
        Path("/proc/self/oom_score_adj").write_text("1000")
    limited = False
    while True:
        try:
            asked = pipe.recv_bytes()
        except (EOFError, OSError):
            os._exit(0)
        try:
            function, seconds = pickle.loads(asked)  # noqa: S301  our own process pickled it
            if not limited:  # what the first call needs is imported by now
                _limit_memory(parent, max_bytes)
                limited = True
            _limit_time(seconds)
            answer = _answer(function)
            _limit_time(None)
        except MemoryError:
            os._exit(_OUT_OF_MEMORY)
        if len(answer) > _MOST_RESULT:
            os._exit(_OUT_OF_MEMORY)
        pipe.send_bytes(answer)


def _answer(function: Callable[[], Any]) -> bytes:
    try:
        return pickle.dumps((True, function()), pickle.HIGHEST_PROTOCOL)
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001  raised again by the one that asks
        return _pickle_error(error)


def _pickle_error(error: Exception) -> bytes:
    """An exception, pickled; only the name of one that cannot be."""
    error.__traceback__ = error.__context__ = error.__cause__ = None
    try:
        answer = pickle.dumps((False, error), pickle.HIGHEST_PROTOCOL)
        pickle.loads(answer)  # noqa: S301  made right above
        return answer
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001  whatever keeps it from travelling
        why = f"the library that reads it failed with {type(error).__name__}; please report it with the file's format"
        return pickle.dumps((False, RuntimeError(why)))


def _limit_time(seconds: int | None) -> None:
    """Lets the process have so much more time; None: as much as it may have."""
    most = resource.getrlimit(resource.RLIMIT_CPU)[1]
    here = most if seconds is None else int(time.process_time()) + 1 + seconds
    resource.setrlimit(resource.RLIMIT_CPU, (here, most))


def _limit_memory(parent: int, max_bytes: int) -> None:
    """Limits memory to so much more than there is, and has a thread look at it, and at whether anybody asks still."""
    looked_at = None
    try:
        pages = [int(part) for part in Path("/proc/self/statm").read_text().split()]
        page = resource.getpagesize()
        for limit, now, spare in ((resource.RLIMIT_AS, pages[0], _RESERVED), (resource.RLIMIT_DATA, pages[5], 0)):
            resource.setrlimit(limit, (now * page + max_bytes + spare, resource.getrlimit(limit)[1]))
    except OSError:  # no Linux
        looked_at = _most_memory() + max_bytes
    threading.Thread(target=_watch, args=(parent, looked_at), daemon=True).start()


def _watch(parent: int, most: int | None) -> None:
    while os.getppid() == parent:
        if most is not None and _most_memory() > most:
            os._exit(_OUT_OF_MEMORY)
        time.sleep(_WATCHED)
    os._exit(1)


def _most_memory() -> int:
    """Bytes; macOS counts them, others kilobytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
