"""What passages say, message by message, with who writes and who reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from relrag_pipelines.stores.vectors import ChunkFilter
from relrag_query.people.people import People
from relrag_query.retrieval import catalog_reader
from relrag_query.retrieval.context import QueryContext

_PASSAGES = 40
"""passages that are read"""


class Said(NamedTuple):
    """A message, or a passage of something longer."""

    ref: str
    text: str
    ts: int
    writer: int | None
    reader: int | None
    present: frozenset[int]


def conversations(asked: str, where: ChunkFilter, people: People, context: QueryContext) -> list[list[Said]]:
    """The passages that hold words of what is asked: of each chat its messages in order, else one text."""
    hits = context.vectors.search(asked, _PASSAGES, where, None)
    chunks = [*catalog_reader.chunks(context.connection, [one.chunk_id for one in hits]).values()]
    members = list(dict.fromkeys(ref for one in chunks for ref in one.members))
    messages = catalog_reader.messages(context.connection, members) if members else {}
    roles = _roles([*members, *(one.asset_id for one in chunks)], people, context)
    threads: dict[str, dict[str, Said]] = {}
    for chunk in chunks:
        if not chunk.members:
            threads[chunk.chunk_id] = {chunk.chunk_id: _said(chunk.asset_id, chunk.text, chunk.ts, roles)}
            continue
        inside = threads.setdefault(chunk.thread_id or chunk.chunk_id, {})
        for ref in chunk.members:
            if ref in messages:
                inside[ref] = _said(ref, messages[ref].text, messages[ref].ts, roles)
    return [_with_readers(sorted(one.values(), key=lambda said: said.ts)) for one in threads.values()]


def _roles(refs: Sequence[str], people: People, context: QueryContext) -> dict[str, list[tuple[int, str]]]:
    """Who has to do with each record, and how: sender, recipient, participant, owner, mentioned."""
    rows = context.connection.execute(
        "SELECT asset_ref, person_id, role FROM person_assets WHERE asset_ref IN (SELECT unnest($refs)) ORDER BY ALL",
        {"refs": list(refs)},
    ).fetchall()
    found: dict[str, list[tuple[int, str]]] = {}
    for ref, person_id, role in rows:
        found.setdefault(ref, []).append((people.survivor(person_id), role))
    return found


def _said(ref: str, text: str, ts: int | None, roles: dict[str, list[tuple[int, str]]]) -> Said:
    here = roles.get(ref, [])
    writers = [person for person, role in here if role == "sender"]
    others = {person for person, role in here if role in ("recipient", "participant")} - {*writers}
    reader = next(iter(others)) if len(others) == 1 else None
    present = frozenset(person for person, role in here if role != "mentioned")
    return Said(ref, text, ts or 0, writers[0] if len(writers) == 1 else None, reader, present)


def _with_readers(some: list[Said]) -> list[Said]:
    """In a chat of two whoever does not write reads."""
    writers = {one.writer for one in some if one.writer is not None}
    if len(writers) != 2:
        return some
    return [one._replace(reader=next(iter(writers - {one.writer}))) if one.writer else one for one in some]
