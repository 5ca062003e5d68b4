"""Files that no source reads, and sources that are stored although relrag.toml no longer has them.

Left aside is what belongs to something that is read (media of a chat, files of a saved page, indexes of mailboxes),
what is hidden, what a source excludes, and repositories, whose own kinds count what they leave out.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path, PurePosixPath

from relrag_pipelines.files.regular_files import leads_out, walk
from relrag_pipelines.ingest.ownership import CandidateSource, recognises
from relrag_pipelines.records import Failure
from relrag_pipelines.settings import CONFIG_NAME, Settings, Source
from relrag_pipelines.sources import KINDS, NOT_READ, Kind
from relrag_pipelines.sources.formats.archives import is_archive
from relrag_pipelines.sources.formats.git_repository import is_bare
from relrag_pipelines.sources.unit_files import path_of
from relrag_pipelines.stores import lake
from relrag_pipelines.stores.unit_state import load_failures

_MEDIA = [re.compile(kind.media_names, re.IGNORECASE) for kind in KINDS.values() if kind.media_names]
OF_SYSTEMS = frozenset({"thumbs.db", "desktop.ini", "__macosx"})
"""lower-case names of what operating systems add"""
_SUFFIXES, _NAMED = 8, 3
"""how many are told"""


_REMEDIES = {
    (".pages", ".wps", ".wpd"): "save it as DOCX or PDF",
    (".xlsb", ".numbers"): "save it as XLSX",
    (".key",): "save it as PDF",
    (".dbx",): "export its mails as .mbox or .eml",
    (".crypt12", ".crypt14"): "back up again with end-to-end encryption, which gives a .crypt15",
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
    (".rar", ".7z", ".gz", ".bz2", ".xz"): "unpack it",
    (".json", ".xml", ".sqlite", ".db"): "write its items as .jsonl, see docs/jsonl.md",
    (".mobi", ".azw3"): "save it as EPUB or PDF",
}
"""suffixes of files of no kind -> what to do"""
_OTHER_REMEDY = "save it in a format that `relrag init` lists, or leave it out with `exclude`"
_ARCHIVE_REMEDY = "set open_zips = true in the table of a source of its folder, or unpack it"
ALL_LISTED = "`relrag status --failures` lists all"


@dataclass(frozen=True)
class UnreadFile:
    """One file that is not part of the archive, why, and what to do to have it read."""

    path: str
    reason: str
    remedy: str

    @property
    def suffix_text(self) -> str:
        """Its suffix, in words."""
        return _suffix(self.path)


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
    by_sync: list[UnreadFile] = field(default_factory=list)
    """files in zips and files of other programs, from the failures of the last sync"""

    def files(self) -> list[UnreadFile]:
        """All files, by path."""
        files = [*map(of_no_kind, self.of_no_kind), *map(_link, self.links), *self.by_sync]
        files += [_of_no_source(path, kind) for path, kind in self.of_no_source]
        return sorted(files, key=lambda file: file.path)

    def sentences(self) -> Iterator[str]:
        """A sentence for each sort, with counts by suffix and the first names."""
        yield from map(describe_unconfigured, self.sources)
        if self.of_no_kind:
            counts = Counter(_suffix(path) for path in self.of_no_kind)
            ordered = sorted(counts, key=lambda suffix: (-counts[suffix], suffix))
            suffixes = ", ".join(f"{counts[suffix]:,} {suffix}" for suffix in ordered[:_SUFFIXES])
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


def of_no_kind(path: str) -> UnreadFile:
    """A file that no kind reads, and what to do."""
    if is_archive(path):
        return UnreadFile(path, "no kind reads it as it is, and no source opens it", _ARCHIVE_REMEDY)
    if kinds := _kinds_named(path):
        reason = f"it has the name of a file of kind {kinds}, but another content"
        return UnreadFile(path, reason, "it may be damaged: restore or export it again, or leave it out with `exclude`")
    suffix = _suffix(path)
    remedies = (remedy for suffixes, remedy in _REMEDIES.items() if suffix in suffixes)
    is_shared = any(kind.matches(path) for kind in KINDS.values())
    reason = "no kind recognises what is in it" if is_shared else f"relrag reads no files {_described(suffix)}"
    return UnreadFile(path, reason, next(remedies, _OTHER_REMEDY))


def _kinds_named(path: str) -> str:
    """The kinds for whose files alone it has a name, in words."""
    kinds = (kind for kind in KINDS.values() if not kind.shared_suffixes and kind.matches(path))
    return " or ".join(kind.name for kind in kinds)


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
    """The files in the folders of an archive's sources, or below one folder, that no source reads.

    A file is opened only where it may be of a kind that has no source there.
    """
    in_folders = [source for source in settings.sources if not source.is_fetched]
    sources = [CandidateSource(source, settings.source_path(source)) for source in in_folders]
    folders = (
        sorted({candidate.root for candidate in sources if candidate.root.is_dir()}) if folder is None else [folder]
    )
    tops = [
        folder for folder in folders if not any(folder.is_relative_to(other) for other in folders if other != folder)
    ]
    unread = UnreadFiles() if folder else UnreadFiles(unconfigured_sources(settings), by_sync=_listed_by_sync(settings))
    for top in tops:
        base = settings.folder if top.is_relative_to(settings.folder) else top
        for file, is_link in _unread(top, sources, settings.own_folders, everything=folder is not None):
            path = path_of(file, base)
            if is_link:
                unread.links.append(path)
                continue
            kind = next((kind.name for kind in _kinds_of(path, file) if recognises(kind, file)), None)
            if kind:
                unread.of_no_source.append((path, kind))
            else:
                unread.of_no_kind.append(path)
    return unread


def _listed_by_sync(settings: Settings) -> list[UnreadFile]:
    """The files that no kind recognised at the last sync of each source, those in zips included."""
    files: list[UnreadFile] = []
    for source in settings.sources:
        root = settings.source_path(source)
        base = settings.folder if root.is_relative_to(settings.folder) else root
        for failure in _stored_failures(settings, source):
            if failure.fault == NOT_READ:
                reason, _, remedy = failure.message.partition("; ")
                files.append(UnreadFile(path_of(root / failure.unit, base), reason, remedy))
    return files


def _stored_failures(settings: Settings, source: Source) -> list[Failure]:
    """What could not be read at the last sync; nothing where that is damaged, which is told elsewhere."""
    try:
        return load_failures(settings.home_path, source.name)
    except lake.LakeError:
        return []


def _kinds_of(path: str, file: Path) -> list[Kind]:
    """The kinds that read files of that name, leaving out those whose suffixes unrelated files share."""
    kinds = (kind for kind in KINDS.values() if not kind.shared_suffixes)
    return [kind for kind in kinds if kind.matches(path, lambda name: (file.parent / name).exists())]


def _unread(
    top: Path, sources: Sequence[CandidateSource], own: Sequence[Path], *, everything: bool
) -> Iterator[tuple[Path, bool]]:
    """Files that no source reads, with whether each is a link that isn't followed; links may be folders."""
    for folder, folders, names in walk(top, follow_links=any(candidate.source.follow_links for candidate in sources)):
        if ".git" in folders or ".git" in names or (folder != top and is_bare(folder)):
            folders.clear()
            continue
        pages = {name.rpartition(".")[0] for name in names if name.lower().endswith((".html", ".htm"))}
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".")
            and name.lower() not in OF_SYSTEMS
            and folder / name not in own
            and not (name.endswith("_files") and name.removesuffix("_files") in pages)
        )
        covering = [candidate for candidate in sources if folder.is_relative_to(candidate.root)]
        if covering or everything:
            roots = {candidate.root for candidate in sources}
            links = _links(folder, covering)
            yield from ((link, True) for link in links)
            rest = sorted(set(names) - {link.name for link in links})
            yield from ((file, False) for file in _unread_here(folder, rest, covering) if file not in roots)


def _links(folder: Path, covering: Sequence[CandidateSource]) -> list[Path]:
    """Links in a folder that lead out of all sources above it, none of which follows or excludes them."""
    if not covering or any(candidate.source.follow_links for candidate in covering):
        return []
    try:
        with os.scandir(folder) as entries:
            links = sorted(
                folder / entry_.name for entry_ in entries if entry_.is_symlink() and not entry_.name.startswith(".")
            )
    except OSError:
        return []
    return [
        link
        for link in links
        if all(
            leads_out(link, candidate.root) and not candidate.source.excludes(path_of(link, candidate.root))
            for candidate in covering
        )
    ]


def _unread_here(folder: Path, names: list[str], covering: Sequence[CandidateSource]) -> Iterator[Path]:
    """The files of a folder that none of the sources around it reads."""
    visible = [name for name in names if not name.startswith((".", "~$")) and name.lower() not in OF_SYSTEMS]
    prefixes = [(source, f"{path_of(folder, source.root)}/" if folder != source.root else "") for source in covering]
    read = {name for name in visible if any(_reads(source, f"{prefix}{name}") for source, prefix in prefixes)}
    if _contains_media(covering, read):
        return
    context = {name for source in covering for name in source.kind.context_names}
    for name in visible:
        excluded = any(source.source.excludes(f"{prefix}{name}") for source, prefix in prefixes)
        if name not in read and name not in context and not excluded and not is_accompanying(name, read):
            yield folder / name


def _contains_media(covering: Sequence[CandidateSource], read: Set[str]) -> bool:
    """Whether other files of a folder are taken for the media of a chat in it."""
    suffixes = tuple(chain.from_iterable(source.kind.references_siblings for source in covering))
    if not all(source.kind.references_siblings for source in covering):
        return False
    return any(name.lower().endswith(suffixes) for name in read)


def is_accompanying(name: str, read: Set[str]) -> bool:
    """Whether a file belongs to a file that is read, to relrag itself, or to a chat as its media."""
    if name.startswith(CONFIG_NAME) or name.endswith(".keys"):
        return True
    if any(name[:end] in read for end in range(len(name)) if name[end] == "."):
        return True
    return any(pattern.search(name) for pattern in _MEDIA)


def _reads(source: CandidateSource, path: str) -> bool:
    if source.source.open_zips and is_archive(path):
        return True  # what is wrong with one is a failure of its
    return source.could_read_at(path) or (not source.kind.suffixes and source.kind.recognise(Path(path)))


def _suffix(path: str) -> str:
    suffix = Path(path).suffix.lower()
    # a suffix that is none, such as the end of a sentence, may be part of a name
    return suffix if re.fullmatch(r"\.[a-z0-9]{1,10}", suffix) else "without a suffix"


def _first(paths: Sequence[str]) -> str:
    more = len(paths) - _NAMED
    return ", ".join(paths[:_NAMED]) + (f" and {more:,} more; {ALL_LISTED}" if more > 0 else "")
