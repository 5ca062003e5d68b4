"""`forget` in the mirrors of servers: it removes items and keeps the next fetch from storing them again.

An item of which something was forgotten is withheld: its files are removed and its path is stored as a keyed hash. What
else was read of it stays in the records, until the server says that the item is gone.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from relrag_pipelines.settings import Source
from relrag_pipelines.sources import KINDS
from relrag_pipelines.sources.remote import Mirror
from relrag_pipelines.sources.remote.mirror import mirror_folder
from relrag_pipelines.stores import unit_state
from relrag_pipelines.workspace import Workspace

if TYPE_CHECKING:
    from relrag_pipelines.erasure.rule_matching import RuleMatcher


def open_mirror(workspace: Workspace, source: Source) -> Mirror:
    """The mirror of a source on a server, or of the zips of one that opens them."""
    hash_path = functools.partial(unit_state.hashed_path, hash=workspace.keys.id_hash)
    suffix = KINDS[source.kind].mirror_suffix if source.is_fetched else ""
    return Mirror(mirror_folder(workspace.home, source.name), hash_path, suffix)


def withhold(
    workspace: Workspace, source: Source, matcher: RuleMatcher, units: Iterable[str], forgotten: Collection[str]
) -> None:
    """Withholds the `forgotten` units, and each of `units` whose bytes contain forgotten text."""
    mirror = open_mirror(workspace, source)
    paths = {path for path in units if path not in forgotten and _tells(matcher, mirror.read(path))}
    paths.update(path for path in forgotten if not path.startswith(unit_state.HIDDEN))
    if source.open_zips:  # a file in the folder is the owner's
        paths &= mirror.paths()
    if paths:
        mirror.withhold(paths)


def purge(workspace: Workspace, name: str, matcher: RuleMatcher, forgotten: Collection[str]) -> None:
    """Withholds the `forgotten` units of a source, and each other unit whose bytes contain forgotten text."""
    mirrored = [source for source in workspace.settings.sources if source.name == name and source.is_mirrored]
    source = next(iter(mirrored), None)
    if source is None:
        Mirror(mirror_folder(workspace.home, name), str, "").clear()
    else:
        withhold(workspace, source, matcher, open_mirror(workspace, source).paths(), forgotten)


def release(workspace: Workspace) -> None:
    """Lets the next fetch store again whatever was withheld, since a rule was withdrawn."""
    for source in workspace.settings.sources:
        if source.is_mirrored:
            open_mirror(workspace, source).release()


def _tells(matcher: RuleMatcher, data: bytes) -> bool:
    if not matcher.reads_texts:
        return False
    # imported only here: a plan opens mirrors, and needs none of the readers of mail
    from relrag_pipelines.erasure import raw_items

    return any(matcher.names(text) or matcher.quotes(text) for text in raw_items.texts(data))
