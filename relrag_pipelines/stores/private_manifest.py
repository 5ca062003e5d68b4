"""The hashes of private files that no manifest of months lists: units, failures and threads of a source, the owner's
words.

A file's new hash is noted before the file takes its place, and its earlier one is kept beside it, so that a kill
between the two leaves nothing that looks damaged.
"""

from __future__ import annotations

from pathlib import Path

from relrag_pipelines.errors import SafeError
from relrag_pipelines.files import sealed_json
from relrag_pipelines.files.atomic import write_text
from relrag_pipelines.files.sealed_json import file_hash
from relrag_pipelines.records import SCHEMA_VERSION

NAME = "private/MANIFEST.json"
_OF_SOURCES = ("units", "failures", "threads")
_OWNERS = ("approvals.jsonl", "forgotten.json", "journal.jsonl", "links.jsonl", "reveals.jsonl")


class ManifestError(SafeError):
    """The manifest of private files cannot be read; the message says where it lies and what to do."""


def expect(home: Path, name: str, digest: str) -> None:
    """Notes the hash that a file (its path within the home) is about to have; ManifestError where that cannot be."""
    known = _readable_files(home)
    before = known.get(name, [])
    if before[:1] != [digest]:
        _write(home, {**known, name: [digest, *before[:1]]})


def reset(home: Path) -> None:
    """Takes the files as they are."""
    _write(home, {path.relative_to(home).as_posix(): [file_hash(path)] for path in _files(home)})


def unexpect(home: Path, names: list[str]) -> None:
    """Expects files no more; ManifestError where that cannot be noted."""
    known = _readable_files(home)
    if known.keys() & set(names):
        _write(home, {name: digests for name, digests in known.items() if name not in names})


def damage(home: Path) -> list[tuple[str, str]]:
    """(path within the home, what is wrong with it) of every such file; what is not noted is not looked at."""
    try:
        known = _expected_files(home)
    except sealed_json.UnusableFile as unusable:
        unchecked = [(path.relative_to(home).as_posix(), sealed_json.NO_MANIFEST) for path in _files(home)]
        return [(NAME, unusable.found), *unchecked]
    wrong = []
    for name, digests in sorted(known.items()):
        if not (home / name).exists():
            # one that never had another hash may be noted and not written yet
            wrong += [(name, "is missing")] if len(digests) > 1 else []
        elif file_hash(home / name) not in digests:
            wrong.append((name, "is not as it was written"))
    return wrong


def _files(home: Path) -> list[Path]:
    private = home / "private"
    tables = (path for sort in _OF_SOURCES for path in (private / sort).glob("*.parquet"))
    return sorted([*tables, *(private / name for name in _OWNERS if (private / name).exists())])


def _readable_files(home: Path) -> dict[str, list[str]]:
    try:
        return _expected_files(home)
    except sealed_json.UnusableFile as unusable:
        raise ManifestError(f"{home / NAME} {unusable}") from None


def _expected_files(home: Path) -> dict[str, list[str]]:
    try:
        return dict(sealed_json.read(home / NAME)["files"])
    except FileNotFoundError:
        return {}


def _write(home: Path, files: dict[str, list[str]]) -> None:
    write_text(home / NAME, sealed_json.seal({"schema_version": SCHEMA_VERSION, "files": dict(sorted(files.items()))}))
