"""Files that no source reads, and sources that are stored although relrag.toml no longer has them.

Left aside is what belongs to something that is read (media of a chat, files of a saved page, indexes of mailboxes),
what is hidden, what a source excludes, and repositories, whose own kinds count what they leave out.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from relrag_pipelines.files.regular_files import leads_out, walk
from relrag_pipelines.ingest.ownership import CandidateSource, recognises
from relrag_pipelines.settings import CONFIG_NAME, Settings
from relrag_pipelines.sources import KINDS, path_of
from relrag_pipelines.sources.formats.git_repository import is_bare
from relrag_pipelines.stores import lake

_MEDIA = [re.compile(kind.media_names, re.IGNORECASE) for kind in KINDS.values() if kind.media_names]
_OF_SYSTEMS = frozenset({"thumbs.db", "desktop.ini", "__macosx"})
_SUFFIXES, _NAMED = 8, 3
"""how many are told"""


_REMEDIES = {
    (".doc", ".odt", ".rtf", ".pages", ".wps"): "save it as DOCX or PDF",
    (".xls", ".xlsx", ".ods", ".numbers"): "save each sheet as CSV",
    (".ppt", ".pptx", ".odp", ".key"): "save it as PDF",
    (".pst", ".ost", ".dbx"): "export its mails as .mbox or .eml",
    (
        ".jpg",
        ".jpeg",
        ".png",
        ".heic",
        ".gif",
        ".tif",
        ".tiff",
        ".webp",
        ".bmp",
    ): "if it has text, save it as PDF with OCR",
    (
        ".mp3",
        ".m4a",
        ".wav",
        ".ogg",
        ".opus",
        ".aac",
        ".mp4",
        ".mov",
        ".mkv",
    ): "put a transcript (.vtt, .srt, .txt) beside it",
    (".ics", ".vcs"): "give it the name of the transcript that it invites to, or keep it attached to its mail",
    (".zip", ".rar", ".7z", ".tar", ".gz", ".tgz"): "unpack it",
    (".json", ".xml", ".sqlite", ".db"): "write its items as .jsonl, see docs/jsonl.md",
    (".epub", ".mobi", ".azw3"): "save it as PDF or HTML",
}
"""suffixes of files of no kind -> what to do"""
_OTHER_REMEDY = "save it in a format that `relrag init` lists, or leave it out with `exclude`"
ALL_LISTED = "`relrag status --failures` lists all"


@dataclass(frozen=True)
class UnreadFile:
    """One file that is not part of the archive, why, and what to do to have it read."""

    path: str
    reason: str
    remedy: str


@dataclass
class UnreadFiles:
    """Files that are not part of the archive, by their paths below the folder that was examined."""

    sources: list[str] = field(default_factory=list)
    """stored, and no longer in relrag.toml"""
    of_no_kind: list[str] = field(default_factory=list)
    of_no_source: list[tuple[str, str]] = field(default_factory=list)
    """with the kind that would read it"""
    links: list[str] = field(default_factory=list)
    """files and folders that are links out of the folder of their source"""

    def files(self) -> list[UnreadFile]:
        """Every file by itself, by path."""
        found = [*map(_of_no_kind, self.of_no_kind), *map(_link, self.links)]
        found += [_of_no_source(path, kind) for path, kind in self.of_no_source]
        return sorted(found, key=lambda file: file.path)

    def sentences(self) -> Iterator[str]:
        """A sentence for each sort, with counts by suffix and the first names."""
        yield from map(describe_unconfigured, self.sources)
        if self.of_no_kind:
            counted = Counter(_suffix(path) for path in self.of_no_kind)
            ordered = sorted(counted, key=lambda suffix: (-counted[suffix], suffix))
            suffixes = ", ".join(f"{counted[suffix]:,} {suffix}" for suffix in ordered[:_SUFFIXES])
            more = " and other suffixes" if len(ordered) > _SUFFIXES else ""
            files = "file is of a kind" if len(self.of_no_kind) == 1 else "files are of kinds"
            count = f"{len(self.of_no_kind):,} {files}"
            yield f"{count} that relrag does not read: {suffixes}{more} ({_first(self.of_no_kind)})."
        if self.links:
            lead = "link leads" if len(self.links) == 1 else "links lead"
            yield (
                f"{len(self.links):,} {lead} out of the folder of a source, which does not follow them: "
                f"{_first(self.links)}; follow_links in the table of the source has them read."
            )
        by_kind: dict[str, list[str]] = {}
        for path, kind in self.of_no_source:
            by_kind.setdefault(kind, []).append(path)
        for kind, paths in by_kind.items():
            are = "file is" if len(paths) == 1 else "files are"
            yield f"{len(paths):,} {are} read by no source, as none of kind {kind} has that folder: {_first(paths)}."


def _of_no_kind(path: str) -> UnreadFile:
    named = [kind for kind in KINDS.values() if not kind.shared_suffixes and kind.matches(path)]
    if named:
        kinds = " or ".join(kind.name for kind in named)
        reason = f"it has the name of a file of kind {kinds}, but another content"
        return UnreadFile(path, reason, "it may be damaged: restore or export it again, or leave it out with `exclude`")
    suffix = _suffix(path)
    remedies = (remedy for suffixes, remedy in _REMEDIES.items() if suffix in suffixes)
    return UnreadFile(path, f"relrag reads no files {_described(suffix)}", next(remedies, _OTHER_REMEDY))


def _described(suffix: str) -> str:
    return f"with the suffix {suffix}" if suffix.startswith(".") else suffix


def _of_no_source(path: str, kind: str) -> UnreadFile:
    folder = PurePosixPath(path).parent.as_posix()
    remedy = f'add a [[sources]] table with kind = "{kind}" and path = "{folder}"'
    return UnreadFile(path, f"it is of kind {kind}, and no source of that kind has its folder", remedy)


def _link(path: str) -> UnreadFile:
    reason = "it is a link out of the folder of its source"
    return UnreadFile(path, reason, "set follow_links = true in the table of the source")


def unconfigured_sources(settings: Settings) -> list[str]:
    """Sources that are stored but no longer in relrag.toml."""
    return sorted(lake.sources(settings.home_path) - {source.name for source in settings.sources})


def describe_unconfigured(source: str) -> str:
    """A sentence about one of them."""
    return (
        f"{source}: no longer in {CONFIG_NAME}, so a sync leaves it out of the index; "
        "`relrag sync --accept-deletions` also removes what is stored of it."
    )


def find_unread(settings: Settings, folder: Path | None = None) -> UnreadFiles:
    """What the sources of an archive leave out of their folders, or of one folder and all that lies in it.

    A file is opened only where it may be of a kind that has no source there.
    """
    sources = [CandidateSource(one, settings.source_path(one)) for one in settings.sources]
    folders = sorted({one.root for one in sources if one.root.is_dir()}) if folder is None else [folder]
    tops = [
        folder for folder in folders if not any(folder.is_relative_to(other) for other in folders if other != folder)
    ]
    found = UnreadFiles([] if folder else unconfigured_sources(settings))
    for top in tops:
        base = settings.folder if top.is_relative_to(settings.folder) else top
        for file, is_link in _unread(top, sources, settings.home_path, everything=folder is not None):
            path = path_of(file, base)
            if is_link:
                found.links.append(path)
                continue
            kinds = [kind for kind in KINDS.values() if not kind.shared_suffixes and kind.matches(path)]
            kind = next((kind.name for kind in kinds if recognises(kind, file)), None)
            if kind:
                found.of_no_source.append((path, kind))
            else:
                found.of_no_kind.append(path)
    return found


def _unread(
    top: Path, sources: Sequence[CandidateSource], home: Path, *, everything: bool
) -> Iterator[tuple[Path, bool]]:
    """Files that no source reads, and whether it is a link that is not followed; of those also folders."""
    for folder, folders, names in walk(top, follow_links=any(one.source.follow_links for one in sources)):
        if ".git" in folders or ".git" in names or (folder != top and is_bare(folder)):
            folders.clear()
            continue
        pages = {name.rpartition(".")[0] for name in names if name.lower().endswith((".html", ".htm"))}
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".")
            and name.lower() not in _OF_SYSTEMS
            and folder / name != home
            and not (name.endswith("_files") and name.removesuffix("_files") in pages)
        )
        covering = [one for one in sources if folder.is_relative_to(one.root)]
        if covering or everything:
            named = {one.root for one in sources}
            links = _links(folder, covering)
            yield from ((link, True) for link in links)
            rest = sorted(set(names) - {link.name for link in links})
            yield from ((file, False) for file in _unread_here(folder, rest, covering) if file not in named)


def _links(folder: Path, covering: Sequence[CandidateSource]) -> list[Path]:
    """What in a folder is a link out of the folder of every source above, none of which follows or excludes it."""
    if not covering or any(one.source.follow_links for one in covering):
        return []
    try:
        with os.scandir(folder) as entries:
            found = sorted(folder / one.name for one in entries if one.is_symlink() and not one.name.startswith("."))
    except OSError:
        return []
    return [
        link
        for link in found
        if all(leads_out(link, one.root) and not one.source.excludes(path_of(link, one.root)) for one in covering)
    ]


def _unread_here(folder: Path, names: list[str], covering: Sequence[CandidateSource]) -> Iterator[Path]:
    """The files of one folder that none of the sources reads of those in whose folders it lies."""
    seen = [name for name in names if not name.startswith((".", "~$")) and name.lower() not in _OF_SYSTEMS]
    above = [(one, f"{path_of(folder, one.root)}/" if folder != one.root else "") for one in covering]
    read = {name for name in seen if any(_reads(one, f"{place}{name}") for one, place in above)}
    tellers = tuple(suffix for one in covering for suffix in one.kind.references_siblings)
    if all(one.kind.references_siblings for one in covering) and any(name.lower().endswith(tellers) for name in read):
        return  # all that lies beside a chat is taken for its media
    for name in seen:
        excluded = any(one.source.excludes(f"{place}{name}") for one, place in above)
        beside = any(name[:end] in read for end in range(len(name)) if name[end] == ".")
        ours = name.startswith(CONFIG_NAME) or name.endswith(".keys")
        if not (name in read or excluded or beside or ours or any(one.search(name) for one in _MEDIA)):
            yield folder / name


def _reads(one: CandidateSource, path: str) -> bool:
    return one.could_read_at(path) or (not one.kind.suffixes and one.kind.recognise(Path(path)))


def _suffix(path: str) -> str:
    suffix = Path(path).suffix.lower()
    # a suffix that is none, such as the end of a sentence, may be part of a name
    return suffix if re.fullmatch(r"\.[a-z0-9]{1,10}", suffix) else "without a suffix"


def _first(paths: Sequence[str]) -> str:
    more = len(paths) - _NAMED
    return ", ".join(paths[:_NAMED]) + (f" and {more:,} more; {ALL_LISTED}" if more > 0 else "")
