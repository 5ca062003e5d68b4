"""The indexes that can be asked, by name: those built from this archive, and those that the owner registered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from relrag_pipelines.errors import RelragError
from relrag_pipelines.journal import journal, registered_indexes
from relrag_pipelines.journal.entry_kinds import GraphRAGIndex
from relrag_pipelines.settings import COLLECTION_NAME, Settings
from relrag_pipelines.stages import redaction_policy
from relrag_pipelines.stores import generations, graph_indexes, lock
from relrag_pipelines.workspace import Workspace
from relrag_query.graphrag import registered_vectors
from relrag_query.graphrag.index import Index, IndexMissing, open_index


class CollectionError(RelragError):
    """No index has that name, or the name cannot be given; the message lists the existing ones."""


@dataclass(frozen=True)
class NamedIndex:
    """An index by its name."""

    name: str
    folder: Path | None
    """None: relrag.toml asks for it, and it is not made yet"""
    own: bool
    """made of this archive"""


def list_indexes(settings: Settings) -> list[NamedIndex]:
    """All indexes there are names for: the archive's own, then registered ones."""
    home = settings.home_path
    own = dict.fromkeys([*settings.graphrag.own_collections, *graph_indexes.collections(home)])
    registered = registered_indexes.load(home).items()
    return [
        *(NamedIndex(name, graph_indexes.current_folder(home, name), own=True) for name in own),
        *(NamedIndex(name, Path(folder), own=False) for name, folder in registered if name not in own),
    ]


def find(settings: Settings, name: str) -> NamedIndex:
    """The index with a name; CollectionError lists the existing ones, or says what to do for one not built yet."""
    indexes = list_indexes(settings)
    for index in indexes:
        if index.name == name and index.folder is not None:
            return index
        if index.name == name:
            raise CollectionError(f"the index {name} is not built yet; run `relrag sync`")
    if name == "archive":
        message = 'no index of this archive is made; write [graphrag] with method = "fast" into relrag.toml'
        raise CollectionError(f"{message} and run `relrag sync`")
    names = ", ".join(index.name for index in indexes) or "none; `relrag graphrag add NAME DIR` registers one"
    raise CollectionError(f'no index is named "{name}"; indexes: {names}')


def load(settings: Settings, name: str) -> tuple[NamedIndex, Index]:
    """The index with a name and all that queries read. Raises CollectionError, and IndexMissing if it is deleted."""
    while True:
        named = find(settings, name)
        assert named.folder
        # before the index is opened: with a stricter policy a new one is published
        policy = generations.current_manifest(settings.home_path).get("policy", "") if named.own else None
        try:
            index = open_index(named.folder, whole=True)
        except IndexMissing:
            if named == find(settings, name):
                raise
            continue  # a newer one took its place in between
        if named.own and named != find(settings, name):
            continue
        index = redact_if_stale(settings, index, policy)
        return named, index if named.own else registered_vectors.attach(settings, name, index)


def add(settings: Settings, name: str, folder: Path) -> Index:
    """Registers an index that lies in a folder, under a name, and returns it; where there is an embedder, with vectors.

    Raises CollectionError where the name cannot be given, IndexMissing where no index lies there, EmbeddingError where
    its entities cannot be embedded, and lock.LockedByOther while another process writes: with these two it is
    registered all the same, and searched by words.
    """
    if not COLLECTION_NAME.fullmatch(name):
        rule = "use lower-case letters, digits and _, beginning with a letter"
        raise CollectionError(f'"{name}" cannot be a name; {rule}')
    same_name = [index for index in list_indexes(settings) if index.name == name]
    if name == "archive" or any(index.own for index in same_name):
        raise CollectionError(f'"{name}" is the name of an index of this archive; give another one')
    index = redact_if_stale(settings, open_index(folder.resolve(), whole=True))
    journal.append(settings.home_path, [GraphRAGIndex(name, str(folder.resolve()))])
    registered_vectors.embed(Workspace(settings), name, index)
    return registered_vectors.attach(settings, name, index)


def redact_if_stale(settings: Settings, index: Index, policy: str | None = None) -> Index:
    """The index redacted by the current policies.

    `policy` is the hash of those that an index of this archive was redacted by, with its passages; None for one from
    elsewhere, which nobody has redacted.
    """
    workspace = Workspace(settings)
    if redaction_policy.is_current(workspace, policy):
        return index
    # imported only here: most questions need none
    from relrag_query.graphrag import redacted_index

    return redacted_index.redact(index, workspace, own=policy is not None)


def remove(settings: Settings, name: str) -> None:
    """Takes a registered index's name back; its files stay, its vectors go.

    Raises CollectionError where none is registered under it, and lock.LockedByOther.
    """
    home = settings.home_path
    if name not in registered_indexes.load(home):
        if all(index.name != name for index in list_indexes(settings)):
            find(settings, name)  # says which there are
        raise CollectionError(f'"{name}" is built from this archive; remove it from [graphrag] in relrag.toml')
    with lock.writing(home, "relrag graphrag remove"):
        registered_indexes.drop_vectors(home, name)  # first: a name that is gone can't be removed again
        journal.append(home, [GraphRAGIndex(name, "")])


def problems(index: NamedIndex) -> Iterator[str]:
    """The problem of a named index, for `list`."""
    if index.folder is None:
        yield "not built yet; run `relrag sync`"
    elif not index.folder.exists():
        yield f"{index.folder} is not there"
