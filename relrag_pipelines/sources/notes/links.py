"""Links between notes: `[[Note]]` of Obsidian by name, `[text](Other.md)` of Markdown by path."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import unquote

if TYPE_CHECKING:
    from relrag_pipelines.sources import Unit

NOTE_SUFFIXES = (".md", ".markdown")
MAX_LINKS = 200
"""Links of one note that become references; a note with more is an index of all notes."""
MAX_NOTES = 200_000

_WIKI = re.compile(r"!?\[\[([^\[\]\n]{1,400})\]\]")
_MARKDOWN = re.compile(r"\[[^\[\]\n]{0,400}\]\(<?([^()\n<>]{1,800})>?\)")
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:|//|#|/")


@dataclass
class NoteLinks:
    """The notes among which links lead."""

    paths: frozenset[str] = frozenset()
    """paths of all notes, relative to their source or zip"""
    by_name: dict[str, list[str]] = field(default_factory=dict)
    """name in lower case, without suffix -> paths, the shortest first"""
    folders: dict[str, int] = field(default_factory=dict)
    """folder -> its time of change, nanoseconds, as it was when the names were read"""

    def targets(self, text: str, path: str) -> list[str]:
        """The paths of the notes that a text at `path` links to, in its order, each once."""
        targets = [self._by_name(match[1], path) for match in _WIKI.finditer(text)]
        targets += [self._by_path(match[1], path) for match in _MARKDOWN.finditer(text)]
        return [target for target in dict.fromkeys(targets) if target and target != path][:MAX_LINKS]

    def _by_name(self, link: str, path: str) -> str:
        target = link.partition("|")[0].partition("#")[0].partition("^")[0].strip().strip("/")
        if target.lower().endswith(NOTE_SUFFIXES):
            target = str(PurePosixPath(target).with_suffix(""))
        if not target:
            return ""
        names = self.by_name.get(posixpath.basename(target).casefold(), [])
        if "/" in target:
            names = [name for name in names if f"/{_stem(name)}".casefold().endswith(f"/{target}".casefold())]
        here = posixpath.dirname(path)
        return next((name for name in names if posixpath.dirname(name) == here), names[0] if names else "")

    def _by_path(self, link: str, path: str) -> str:
        if _SCHEME.match(link):
            return ""
        target = unquote(link.partition(' "')[0].partition("#")[0]).strip()
        whole = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
        return whole if whole in self.paths else ""


def shown_links(text: str) -> str:
    """The text with each `[[Note|words]]` as its words, else as the note's name."""
    return _WIKI.sub(lambda match: match[1].rpartition("|")[2].strip(), text)


def links_of_paths(paths: Iterable[str]) -> NoteLinks:
    """The links among notes at these paths."""
    notes = [path for path in paths if path.lower().endswith((*NOTE_SUFFIXES, ".csv"))][:MAX_NOTES]
    by_name: dict[str, list[str]] = {}
    for path in sorted(notes, key=lambda path: (path.count("/"), path)):
        by_name.setdefault(PurePosixPath(path).stem.casefold(), []).append(path)
    return NoteLinks(frozenset(notes), by_name)


_folders: dict[Path, NoteLinks] = {}
"""what was read of the sources of this process"""


def links_of_folder(unit: Unit) -> NoteLinks:
    """The links among the notes of a unit's source; read again once a folder of it has changed."""
    links = _folders.get(unit.root)
    if links is None or not _is_current(unit.root, links):
        _folders.clear()
        links = _folders[unit.root] = _walk(unit.root)
    return links


def _is_current(root: Path, links: NoteLinks) -> bool:
    try:
        return all((root / name).stat().st_mtime_ns == changed for name, changed in links.folders.items())
    except OSError:
        return False


def _walk(root: Path) -> NoteLinks:
    paths, folders = list[str](), dict[str, int]()
    for folder, names, files in os.walk(root):
        names[:] = [name for name in names if not name.startswith(".")]
        relative = Path(folder).relative_to(root)
        folders[relative.as_posix()] = Path(folder).stat().st_mtime_ns
        paths += [(relative / file).as_posix() for file in files]
    links = links_of_paths(paths)
    links.folders = folders
    return links


def _stem(path: str) -> str:
    return path.rpartition(".")[0]
