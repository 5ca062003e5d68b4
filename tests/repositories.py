"""Small git repositories that tests make, the same in every run."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from relrag_pipelines.records import Failure, Record
from relrag_pipelines.sources import KINDS, ListingScope, ReadContext, Unit, UnitRef
from relrag_pipelines.sources.unit_files import unit_of_ref

READING = ReadContext("projects", "UTC", lambda text: "0123456789abcdef")
_AUTHOR = ("Jan Novák", "jan.novak@firma.cz")


def git(folder: Path, *arguments: str, when: str = "1736520480 +0100", who: tuple[str, str] = _AUTHOR) -> str:
    """Runs git there as that author and committer at that time; what it prints."""
    person = {
        f"GIT_{role}_{what}": value
        for role in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", who[0]), ("EMAIL", who[1]), ("DATE", when))
    }
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1", **person}
    done = subprocess.run(["git", "-C", str(folder), *arguments], env=environment, capture_output=True, check=True)
    return done.stdout.decode(errors="replace").strip()


def make(folder: Path) -> Path:
    """An empty repository with the branch main."""
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet", "--initial-branch=main")
    return folder


def commit(folder: Path, message: str, files: dict[str, str] | None = None, when: str = "1736520480 +0100") -> str:
    """Writes the files, commits all that is there, and returns the hash."""
    for name, text in (files or {}).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--cleanup=verbatim", "-m", message, when=when)
    return git(folder, "rev-parse", "HEAD")


def units_of(kind: str, root: Path) -> list[Unit]:
    """The units of a source of that kind."""
    units = KINDS[kind].units
    assert units
    listed = units(ListingScope(root)).units
    return [unit_of_ref(one, root) if isinstance(one, UnitRef) else one for one in listed]


def read(kind: str, unit: Unit) -> tuple[list[Record], list[Failure]]:
    """Its records and failures."""
    items = list(KINDS[kind].read(unit, READING))
    return [one for one in items if isinstance(one, Record)], [one for one in items if isinstance(one, Failure)]
