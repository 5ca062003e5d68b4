"""Files in zips that no source reads: they are listed as those of folders are, with the reason and what to do.

Left aside are files that a source excludes, that others are read with, that Takeout states about its products, and
what was sent in a chat that is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from relrag_pipelines.ingest.unread_files import OF_SYSTEMS, UnreadFile, is_accompanying, of_no_kind
from relrag_pipelines.ingest.zip_contents import ZipContents, ZipFile
from relrag_pipelines.settings import Source
from relrag_pipelines.sources import KINDS, Kind
from relrag_pipelines.sources.formats.takeout import STATED, product_folder


def unread_in_zip(item_folder: str, content: ZipContents, sources: Sequence[Source]) -> Iterator[UnreadFile]:
    """The files of a zip that none of the `sources` which open it reads, by their paths in it.

    `item_folder` is where its files lie for the patterns of `exclude`.
    """
    if not content.is_bundle and (not content.kind or KINDS[content.kind].chat):
        return
    readers = [source.kind for source in sources] if content.is_bundle else [content.kind]
    failed = {failure.location for failure in content.failures}
    accompanied = _Accompanied(content, readers)
    unread = (file for file in content.files if file.kind not in readers and file.path not in failed)
    for within in unread:
        is_left_out = any(source.excludes(f"{item_folder}/{within.path}") for source in sources)
        if is_visible(within) and not is_left_out and not accompanied.has(within):
            yield _of_no_source(within) if within.kind else of_no_kind(within.path)


NOTHING_KNOWN = UnreadFile(
    "", "none of the files in it is of a kind that relrag reads", "leave it out with `exclude`, or unpack what matters"
)
"""a zip of which nothing is read"""


def is_visible(within: ZipFile) -> bool:
    """Whether a file is one that its owner sees, and not what Takeout states about its products."""
    path = PurePosixPath(within.path)
    is_hidden = any(part.startswith((".", "~$")) or part.lower() in OF_SYSTEMS for part in path.parts)
    is_stated = not within.kind and bool(product_folder(within.path)) and within.path.lower().endswith(STATED)
    return not (is_hidden or is_stated)


class _Accompanied:
    """Which files of a zip others are read with."""

    def __init__(self, content: ZipContents, readers: Sequence[str]) -> None:
        units = [PurePosixPath(within.path) for within in content.files if within.kind in readers]
        self._names: dict[PurePosixPath, set[str]] = {}
        for path in units:
            self._names.setdefault(path.parent, set()).add(path.name)
        self._folders = {
            KINDS[name]: {PurePosixPath(within.path).parent for within in content.files if within.kind == name}
            for name in dict.fromkeys(readers)
        }

    def has(self, within: ZipFile) -> bool:
        """Whether a file is read with one beside or above it."""
        path = PurePosixPath(within.path)
        if is_accompanying(path.name, self._names.get(path.parent, set())):
            return True
        return any(is_read_with(kind, within, folders) for kind, folders in self._folders.items())


def is_read_with(kind: Kind, within: ZipFile, folders: set[PurePosixPath]) -> bool:
    """Whether units of a kind in these folders are read with a file."""
    path = PurePosixPath(within.path)
    lies_with_units = path.parent in folders
    is_companion = path.name.lower().endswith(kind.companions)
    reasons = (
        lies_with_units and bool(kind.references_siblings or is_companion),
        kind.references_below and not folders.isdisjoint(path.parents),
        path.name in kind.context_names and _is_near(path.parent, folders),
        bool(folders) and kind.references_units and "/." in f"/{within.path}",
    )
    return any(reasons)


def _is_near(folder: PurePosixPath, folders: set[PurePosixPath]) -> bool:
    """Whether a folder is one of these, or at most two above one."""
    return any(folder in (inner, *list(inner.parents)[:2]) for inner in folders)


def _of_no_source(within: ZipFile) -> UnreadFile:
    reason = f"it is of kind {within.kind}, and no source of that kind opens the zip"
    remedy = f'add a [[sources]] table with kind = "{within.kind}", the folder of the zip as path and open_zips = true'
    return UnreadFile(within.path, reason, remedy)
