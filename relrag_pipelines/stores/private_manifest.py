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
    """Records the hash that a file (its path within the home) is about to have; ManifestError if that fails."""
    files = _readable_files(home)
    digests = files.get(name, [])
    if digests[:1] != [digest]:
        _write(home, {**files, name: [digest, *digests[:1]]})


def reset(home: Path) -> None:
    """Takes the files as they are."""
    _write(home, {path.relative_to(home).as_posix(): [file_hash(path)] for path in _files(home)})


def unexpect(home: Path, names: list[str]) -> None:
    """Removes the recorded hashes of files; ManifestError if that fails."""
    files = _readable_files(home)
    if files.keys() & set(names):
        _write(home, {name: digests for name, digests in files.items() if name not in names})


def damage(home: Path) -> list[tuple[str, str]]:
    """(path within the home, what is wrong with it) of every such file; what is not noted is not looked at."""
    try:
        files = _expected_files(home)
    except sealed_json.UnusableFile as unusable:
        unchecked = [(path.relative_to(home).as_posix(), sealed_json.NO_MANIFEST) for path in _files(home)]
        return [(NAME, unusable.found), *unchecked]
    faults = []
    for name, digests in sorted(files.items()):
        if not (home / name).exists():
            # one that never had another hash may be noted and not written yet
            faults += [(name, "is missing")] if len(digests) > 1 else []
        elif file_hash(home / name) not in digests:
            faults.append((name, "is not as it was written"))
    return faults


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
