"""Finds the people who wrote the records of hits."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from relrag_query.people.people import People
from relrag_query.retrieval.catalog_reader import Connection
from relrag_query.retrieval.hit import Hit

_WRITERS = """
    SELECT DISTINCT asset_ref, person_id FROM person_assets
    SEMI JOIN (SELECT unnest($refs) AS asset_ref) USING (asset_ref) WHERE role = 'sender' ORDER BY ALL
"""


def writers(refs: Iterable[str], people: People, connection: Connection) -> dict[str, tuple[int, ...]]:
    """asset_id of each record -> the people who sent it; records without a known sender are left out."""
    senders: dict[str, dict[int, None]] = {}
    for ref, person_id in connection.execute(_WRITERS, {"refs": sorted(set(refs))}).fetchall():
        senders.setdefault(ref, {})[people.survivor(person_id)] = None
    return {ref: tuple(ids) for ref, ids in senders.items()}


def names(refs: Mapping[str, str], people: People, connection: Connection) -> dict[str, list[str]]:
    """Quote -> names of its writers. `refs` has the record of each quote."""
    by_ref = writers(refs.values(), people, connection)
    persons = people.by_id(person_id for ids in by_ref.values() for person_id in ids)
    quote_names = {}
    for quote, ref in refs.items():
        known_writers = [persons[person_id].name for person_id in by_ref.get(ref, ()) if person_id in persons]
        quote_names[quote] = [name for name in known_writers if name]
    return quote_names


def usual_names(refs: Iterable[str], people: People, connection: Connection) -> dict[str, str]:
    """asset_id of each record -> the usual name of its sender; records without a known name are left out."""
    by_ref = writers(refs, people, connection)
    persons = people.by_id(person_id for ids in by_ref.values() for person_id in ids)
    names_of = {
        ref: [persons[person_id].name for person_id in ids if person_id in persons] for ref, ids in by_ref.items()
    }
    return {ref: senders[0] for ref, senders in names_of.items() if senders and senders[0]}


def sent_by(ids: Collection[int], refs: Iterable[str], people: People, connection: Connection) -> frozenset[str]:
    """Those of the records that one of these people sent."""
    by_ref = writers(refs, people, connection) if ids else {}
    return frozenset(ref for ref, senders in by_ref.items() if not {*senders}.isdisjoint(ids))


def with_writers(hits: Sequence[Hit], people: People, connection: Connection) -> list[Hit]:
    """The hits, each with its writers; a chat window with the writers of all its messages."""
    refs = {hit.chunk.chunk_id: hit.members or (hit.chunk.asset_id,) for hit in hits}
    by_ref = writers((ref for members in refs.values() for ref in members), people, connection)

    def writer_ids(hit: Hit) -> tuple[int, ...]:
        ids = (person_id for ref in refs[hit.chunk.chunk_id] for person_id in by_ref.get(ref, ()))
        return tuple(dict.fromkeys(ids))

    return [replace(hit, writer_ids=writer_ids(hit)) for hit in hits]


def people_of(
    named: Collection[int], answer: str, quoted: Iterable[str], people: People, connection: Connection
) -> set[int]:
    """The people whom a question or its answer certainly names, and the writers of the records that it quotes.

    `named` are all whom the question may name.
    """
    quoted_writers = {person_id for ids in writers(quoted, people, connection).values() for person_id in ids}
    certain = set(named) if len(named) == 1 else set()
    return quoted_writers | people.finder(answer).people(answer, quoted_writers) | certain
