"""Resolves who wrote a hit: the person, not just the name in the record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from relrag_query.people.people import People
from relrag_query.people.references import named_ids
from relrag_query.retrieval.catalog_reader import Connection
from relrag_query.retrieval.hit import Hit
from relrag_query.understanding.phrases import bare, load_phrases

_WRITERS = """
    SELECT DISTINCT asset_ref, person_id FROM person_assets
    SEMI JOIN (SELECT unnest($refs) AS asset_ref) USING (asset_ref) WHERE role = 'sender' ORDER BY ALL
"""


def asks_who_said(question: str) -> bool:
    """Whether a question asks who said, wrote or told something."""
    return load_phrases().people.said.search(bare(question)) is not None


def writers(refs: Iterable[str], people: People, connection: Connection) -> dict[str, tuple[int, ...]]:
    """Who sent these records, by their asset_id; none where nobody who is known did."""
    found: dict[str, dict[int, None]] = {}
    for ref, person_id in connection.execute(_WRITERS, {"refs": sorted(set(refs))}).fetchall():
        found.setdefault(ref, {})[people.survivor(person_id)] = None
    return {ref: tuple(ids) for ref, ids in found.items()}


def names(question: str, refs: Mapping[str, str], people: People, connection: Connection) -> dict[str, list[str]]:
    """Of each quote, whose record `refs` has, the usual names of who said it; none where nobody asks for that."""
    if not asks_who_said(question):
        return {}
    known = writers(refs.values(), people, connection)
    called = {one: person.name for one, person in people.by_id(one for ids in known.values() for one in ids).items()}
    return {quote: [name for one in known.get(ref, ()) if (name := called.get(one, ""))] for quote, ref in refs.items()}


def with_writers(hits: Sequence[Hit], people: People, connection: Connection) -> list[Hit]:
    """The hits, each with who wrote it; of a chat window all who wrote in it."""
    refs = {hit.chunk.chunk_id: hit.members or (hit.chunk.asset_id,) for hit in hits}
    known = writers((one for some in refs.values() for one in some), people, connection)

    def writer_ids(hit: Hit) -> tuple[int, ...]:
        return tuple(dict.fromkeys(one for ref in refs[hit.chunk.chunk_id] for one in known.get(ref, ())))

    return [replace(hit, writer_ids=writer_ids(hit)) for hit in hits]


def people_of(question: str, told: str, quoted: Iterable[str], people: People, connection: Connection) -> set[int]:
    """Whom a question or its answer names for certain, and who wrote the records that the answer quotes."""
    asked = named_ids(question, people)
    wrote = {one for ids in writers(quoted, people, connection).values() for one in ids}
    return wrote | people.finder(told).people(told, wrote) | (set(asked) if len(asked) == 1 else set())
