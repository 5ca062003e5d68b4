"""Looks into a folder and says which sources it holds: what `relrag init` proposes.

Files are recognised by their content, as long as the time allows, and by their names after that. Each kind becomes
one source at the deepest folder that holds all its files; files of other kinds in there are excluded. What no kind
recognises (a damaged PDF, an encrypted zip) stays in, so that reading it says what is wrong with it.
"""

from __future__ import annotations

import glob
import os
import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from relrag_pipelines.sources import KINDS, Kind
from relrag_pipelines.sources.repository import is_bare

_NAMES = {"document": "documents", "gmail": "mail"}
_TELLS_LITTLE = frozenset({"call_recording"})
"""kinds whose suffixes music, films and data of programs share: what they do not recognise is not worth a word"""
_RESERVED = frozenset({"catalog", "published"})


@dataclass(frozen=True)
class Found:
    """One source that a folder holds."""

    name: str
    kind: str
    path: str
    """relative to the folder that was looked into, with forward slashes"""
    files: int
    sizes: Mapping[str, int]
    """suffix -> bytes"""
    exclude: tuple[str, ...] = ()
    """patterns of what lies there and another kind reads"""

    @property
    def bytes(self) -> int:
        """Of all its files."""
        return sum(self.sizes.values())


@dataclass(frozen=True)
class Discovery:
    """What a folder holds."""

    sources: list[Found] = field(default_factory=list)
    unrecognised: list[str] = field(default_factory=list)
    """files that no kind recognises and a source reads all the same, to say what is wrong with them"""
    unread: list[str] = field(default_factory=list)
    """files with a known suffix that no kind recognises and that lie in none of the sources"""
    by_name: int = 0
    """files told apart by their names alone, because time was up"""
    complete: bool = True
    """every folder was looked into"""


@dataclass(frozen=True)
class _File:
    path: str
    size: int
    kinds: tuple[str, ...]
    """kinds that read files with its suffix, the most particular first"""

    @property
    def folder(self) -> str:
        return PurePosixPath(self.path).parent.as_posix()


def discover(folder: Path, seconds: float = 10, most: int = 100_000, depth: int = 16) -> Discovery:
    """What that folder holds; looks at `most` files at the most, `depth` folders deep, and stops after `seconds`."""
    until = time.monotonic() + seconds
    files: list[_File] = []
    complete = True
    for file, allowed in _walk(folder, depth):
        complete &= allowed
        if file:
            files.append(file)
        if len(files) >= most or time.monotonic() > until:
            complete = False
            break
    recognised, late = _recognise(folder, files, until)
    owners = _owners(files, recognised)
    sources: list[Found] = []
    for kind in KINDS:
        if found := _source(kind, files, recognised, owners, {one.name for one in sources}):
            sources.append(found)
    sources += _code(files, {one.name for one in sources})
    doubtful = [
        file.path
        for file in files
        if file.path not in late and recognised[file.path] is None and not _TELLS_LITTLE.issuperset(file.kinds)
    ]
    read = {path for path in doubtful if any(one.kind == owners[path] and _below(one.path, path) for one in sources)}
    unread = [path for path in doubtful if path not in read]
    return Discovery(sources, [path for path in doubtful if path in read], unread, len(late), complete)


def _walk(folder: Path, depth: int) -> Iterator[tuple[_File | None, bool]]:
    """Files that a kind might read, in order; False beside a folder that was left out."""
    refused: list[OSError] = []
    for place, folders, names in os.walk(folder, onerror=refused.append):
        relative = Path(place).relative_to(folder)
        if found := _repository(Path(place), relative):
            yield found, True
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        if len(relative.parts) >= depth and folders:
            folders.clear()
            yield None, False
        for name in sorted(names):
            kinds = [kind for kind in KINDS.values() if kind.holds((relative / name).as_posix())]
            if kinds and not name.startswith((".", "~$")):
                file = Path(place, name)
                size = file.stat().st_size if file.exists() else 0
                yield _File((relative / name).as_posix(), size, tuple(kind.name for kind in kinds)), True
    if refused:
        yield None, False


def _repository(place: Path, relative: Path) -> _File | None:
    """What makes a folder a git repository: its `.git`, or the folder itself where it is bare."""
    if (place / ".git").exists():
        return _File((relative / ".git").as_posix(), 0, ("git",))
    return _File(relative.as_posix(), 0, ("git",)) if relative.parts and is_bare(place) else None


def _code(files: list[_File], taken: set[str]) -> list[Found]:
    """The source code of the repositories among the files."""
    folders = [file.folder for file in files if PurePosixPath(file.path).name == ".git"]
    if not folders:
        return []
    root = os.path.commonpath(folders) or "."
    return [Found(_name(root, "code", taken), "code", root, len(folders), {})]


def _recognise(folder: Path, files: list[_File], until: float) -> tuple[dict[str, str | None], set[str]]:
    """Path -> the kind that recognises the file, None for no kind; and the paths for which time was up."""
    found: dict[str, str | None] = {}
    late: set[str] = set()
    for file in files:
        if time.monotonic() > until:
            late.add(file.path)
        else:
            found[file.path] = next((kind for kind in file.kinds if _is(KINDS[kind], folder / file.path)), None)
    return found, late


def _is(kind: Kind, file: Path) -> bool:
    try:
        return kind.recognise(file)
    except OSError:
        return False


def _owners(files: list[_File], recognised: dict[str, str | None]) -> dict[str, str]:
    """Path -> the kind that is to read it: one that recognises it, else the commonest in its folder."""
    near: dict[str, Counter[str]] = {}
    for file in files:
        if kind := recognised.get(file.path):
            near.setdefault(file.folder, Counter())[kind] += 1
    owners = {}
    for file in files:
        counted = near.get(file.folder, Counter())
        # the last kind is the least particular one: plain text is a document
        usual = max(reversed(file.kinds), key=counted.__getitem__)
        owners[file.path] = recognised.get(file.path) or usual
    return owners


def _source(
    kind: str, files: list[_File], recognised: dict[str, str | None], owners: dict[str, str], taken: set[str]
) -> Found | None:
    certain = [file for file in files if recognised.get(file.path) == kind]
    # without one that was recognised, those for which there was no time
    if not certain and kind not in _TELLS_LITTLE:
        certain = [file for file in files if owners[file.path] == kind and file.path not in recognised]
    if not certain:
        return None
    root = os.path.commonpath([file.folder for file in certain]) or "."
    inside = [file for file in files if kind in file.kinds and _below(root, file.path)]
    own = [file for file in inside if owners[file.path] == kind]
    sizes: Counter[str] = Counter()
    for file in own:
        sizes[PurePosixPath(file.path).suffix.lower()] += file.size
    return Found(_name(root, kind, taken), kind, root, len(own), sizes, _exclude(root, inside, own))


def _exclude(root: str, inside: list[_File], own: list[_File]) -> tuple[str, ...]:
    """Patterns for all files inside that are not the source's own: whole folders where none of its own lies there."""
    paths = {file.path for file in own}
    kept = {parent for path in paths for parent in PurePosixPath(path).parents}
    patterns = []
    for file in inside:
        if file.path not in paths:
            around = [parent for parent in PurePosixPath(file.path).parents if _below(root, parent.as_posix())]
            alone = [parent.as_posix() for parent in around if parent not in kept]
            patterns.append(f"{_escaped(root, alone[-1])}/*" if alone else _escaped(root, file.path))
    return tuple(dict.fromkeys(patterns))


def _escaped(root: str, path: str) -> str:
    inside = path if root == "." else path.removeprefix(f"{root}/")
    # as a sync writes names that are no valid UTF-8
    return glob.escape(inside.encode("utf-8", "backslashreplace").decode())


def _below(root: str, path: str) -> bool:
    return path != root if root == "." else path.startswith(f"{root}/")


def _name(root: str, kind: str, taken: set[str]) -> str:
    """A source's name: the folder's where it can be one, else the kind's."""
    plain = re.sub(r"[^a-z0-9]+", "_", PurePosixPath(root).name.lower()).strip("_")
    usual = _NAMES.get(kind, kind)
    names = [plain] if re.fullmatch(r"[a-z][a-z0-9_]{0,40}", plain) and plain not in _RESERVED else []
    names += [usual, *(f"{usual}_{number}" for number in range(2, len(taken) + 3))]
    return next(name for name in names if name not in taken)
