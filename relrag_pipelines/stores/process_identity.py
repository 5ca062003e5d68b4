"""What tells one process from every other: its number, start, machine, boot and namespace of numbers.

A number alone is given to another process in time, and means another process in each container.
"""

from __future__ import annotations

import hashlib
import os
import platform
from enum import Enum
from functools import cache
from pathlib import Path


class Life(Enum):
    """What can be said of a process from here."""

    RUNNING = "running"
    ENDED = "ended"
    ELSEWHERE = "elsewhere"
    """on another machine or in another container: nothing can be said"""


def identify(number: int | None = None) -> str:
    """The identity of a process of this namespace, or of this process: five words, hashes among them."""
    number = os.getpid() if number is None else number
    return " ".join((str(number), _start(number), *_namespace()))


def life(identity: str) -> Life:
    """Whether the process of an identity is running; one of an unknown form is elsewhere."""
    words = identity.split(" ")
    if len(words) != 5 or not words[0].isdigit():
        return Life.ELSEWHERE
    number, start, machine, boot, numbers = words
    here = _namespace()
    if machine != here[0]:
        return Life.ELSEWHERE
    if boot != here[1]:
        return Life.ENDED
    if numbers != here[2]:
        return Life.ELSEWHERE
    return Life.RUNNING if is_running(int(number)) and _start(int(number)) == start else Life.ENDED


def namespace() -> str:
    """The part of an identity that all processes which can see each other share."""
    return " ".join(_namespace())


def namespace_of(identity: str) -> str:
    """That part of an identity; empty if it is of an unknown form."""
    words = identity.split(" ")
    return " ".join(words[2:]) if len(words) == 5 else ""


def is_running(number: int) -> bool:
    """Whether a process of this namespace has that number."""
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return _state(number) != "Z"  # has ended, and its parent has not looked


@cache
def _namespace() -> tuple[str, str, str]:
    """Machine, boot and namespace of process numbers; the machine's name is hashed, since tags of runs show it."""
    machine = hashlib.sha256(platform.node().encode()).hexdigest()[:12]
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return machine, boot, str(Path("/proc/self/ns/pid").readlink())
    except OSError:  # no Linux
        return machine, "-", "-"


def _state(number: int) -> str:
    return _status(number)[0]


def _start(number: int) -> str:
    """When a process started, in ticks since the boot; - where it cannot be known."""
    return _status(number)[1]


def _status(number: int) -> tuple[str, str]:
    """Fields 3 and 22 of /proc/<number>/stat (proc_pid_stat(5))."""
    try:
        # the name, in brackets, may hold blanks and brackets
        fields = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
        return fields[0], fields[19]
    except (OSError, IndexError):
        return "-", "-"
