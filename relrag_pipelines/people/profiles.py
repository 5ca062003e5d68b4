"""Facts and relationships of people: from cards, texts, names, and the owner's statements."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import orjson
import pyarrow as pa

from relrag_pipelines.identity import statement_overlay
from relrag_pipelines.identity.entries import NamingEntry
from relrag_pipelines.identity.journal_statements import Entry
from relrag_pipelines.identity.resolve import Resolution
from relrag_pipelines.people import card_notes, lake_months, own_words
from relrag_pipelines.people.text_statements import STATED_CONFIDENCE
from relrag_pipelines.privacy.pseudonyms import to_entity_type
from relrag_pipelines.records import PersonFact, PersonRelationship
from relrag_pipelines.sources import RECORD_TYPES
from relrag_pipelines.stores.table_schema import to_table
from relrag_pipelines.text import kinship
from relrag_pipelines.text.names.personal_name import parse
from relrag_pipelines.text.names.tables import given_names, kin
from relrag_pipelines.workspace import Workspace

_CARDS = """
    SELECT lake_month, asset_id, rag_source_type, client_id, extra FROM records
    WHERE list_contains($types, rag_source_type) ORDER BY lake_month, asset_id
"""
_FIRST = """
    SELECT entry, min(asset_id) FROM identifiers SEMI JOIN (SELECT unnest($entries) AS entry) USING (entry)
    WHERE role IN ('sender', 'owner') GROUP BY entry
"""


def make(
    workspace: Workspace,
    resolution: Resolution,
    records: dict[str, Path],
    entries: list[Entry],
    in_names: tuple[list[PersonFact], list[PersonRelationship]],
    of_texts: Mapping[str, pa.Table],
    of_passages: tuple[list[PersonFact], list[PersonRelationship]] = ([], []),
) -> tuple[pa.Table, pa.Table]:
    """The rows of person_facts and of person_relationships; `in_names` has what `read_names` returns.

    `of_texts` has the rows of text_relationships and text_facts, `of_passages` what a language model stated.
    """
    cards = list(_cards(records))
    entries = [own_words.redact_entry(entry, lambda: workspace.redactor) for entry in entries]
    facts = statement_overlay.facts(
        [*of_passages[0], *_card_facts(cards, resolution), *in_names[0], *_text_facts(of_texts["text_facts"])],
        entries,
        survivor(resolution),
    )
    stated = [
        *_card_relationships(cards, resolution),
        *_fact_relationships(facts, resolution),
        *in_names[1],
        *_text_relationships(of_texts["text_relationships"]),
        *of_passages[1],
    ]
    surest_first = sorted(stated, key=lambda row: -row.confidence)
    relationships = statement_overlay.relationships(
        statement_overlay.merge_duplicates(surest_first), entries, survivor(resolution)
    )
    hashed = [replace(row, text_hash=text_hash(workspace.keys.content_hash, row)) for row in relationships]
    return to_table(facts, PersonFact), to_table(hashed, PersonRelationship)


def text_hash(keyed: Callable[[bytes], str], row: PersonRelationship) -> str:
    """Keyed hash of the text of a relationship; equal texts are embedded once."""
    return keyed(to_entity_type(statement_overlay.embedded_text(row)).encode("utf-8", "surrogatepass"))


def survivor(resolution: Resolution) -> statement_overlay.Survivor:
    """A function that gives the present id of a person by any id of that person; None if there is none."""
    return lambda person_id: person_id if person_id in resolution.people else resolution.redirects.get(person_id)


def _cards(records: dict[str, Path]) -> Iterator[dict[str, Any]]:
    """Each card and each relationship between two, once."""
    seen: set[str] = set()
    with lake_months.connect("records", records) as connection:
        types = [type_.name for type_ in RECORD_TYPES.values() if type_.about_people]
        rows = connection.sql(_CARDS, params={"types": types}).to_arrow_table().to_pylist()
    for row in rows:
        if row["asset_id"] not in seen:
            seen.add(row["asset_id"])
            yield row | {"source": row["lake_month"].split("/")[0], "extra": orjson.loads(row["extra"])}


def _card_facts(cards: Iterable[dict[str, Any]], resolution: Resolution) -> Iterator[PersonFact]:
    card_people = {(source, entry): person_id for (source, entry, _), person_id in resolution.person_of.items()}
    for card in cards:
        person_id = card_people.get((card["source"], card["asset_id"]))
        if person_id is None:
            continue
        yield from _stated_card_facts(card, person_id)
        if note := card_notes.occupation(card_notes.read(card["extra"])):
            yield PersonFact(person_id, "occupation", note, STATED_CONFIDENCE, card["asset_id"], note)


def _stated_card_facts(card: Mapping[str, Any], person_id: int) -> Iterator[PersonFact]:
    for fact in _list(card["extra"].get("facts")):
        if not isinstance(fact, dict):
            continue
        predicate, value = fact.get("predicate"), fact.get("value")
        if isinstance(predicate, str) and isinstance(value, str) and value:
            quote = f"{predicate.replace('_', ' ')}: {value}"
            yield PersonFact(person_id, predicate, value, 1.0, card["asset_id"], quote)


def _card_relationships(cards: Iterable[dict[str, Any]], resolution: Resolution) -> Iterator[PersonRelationship]:
    bearers = _unique_bearers(resolution)

    def end(relationship: dict[str, Any], which: str) -> int | None:
        pinned = relationship.get(f"{which}_person_id")
        if type(pinned) is int:
            return survivor(resolution)(pinned)
        return bearers.get(_full(relationship.get(f"{which}_name")))

    for card in cards:
        relationship = card["extra"].get("relationship")
        if not isinstance(relationship, dict) or not _text(relationship.get("relationship_type")):
            continue
        from_, to = end(relationship, "from"), end(relationship, "to")
        if from_ is None or to is None or from_ == to:
            continue
        type_, word = kinship.type_of(relationship["relationship_type"])
        yield PersonRelationship(
            from_,
            to,
            type_,
            card["asset_id"],
            _text(relationship.get("description")) or word,
            _degree(relationship.get("attitude")),
            _degree(relationship.get("proximity")),
            [note for note in _list(relationship.get("notes")) if _text(note)],
            client_id=card["client_id"],
        )


def _text(value: object) -> str | None:
    """The value if it is a text that is not blank; a jsonl file may contain any value."""
    return value if isinstance(value, str) and value.strip() else None


def _degree(value: object) -> int | None:
    """The value if it is an attitude or a proximity, 1 to 5."""
    return value if type(value) is int and value in range(1, 6) else None


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _fact_relationships(facts: Iterable[PersonFact], resolution: Resolution) -> Iterator[PersonRelationship]:
    """The relationships of facts whose predicate is a relationship type: `spouse: איתן פיקל`."""
    bearers, types = _unique_bearers(resolution), kinship.relationship_types()
    for fact in facts:
        other = bearers.get(_full(fact.value)) if fact.predicate in types else None
        if other is not None and other != fact.person_id:
            row = PersonRelationship(fact.person_id, other, fact.predicate, fact.source_ref)
            yield replace(row, source_quote=fact.source_quote or fact.value, confidence=fact.confidence)


def read_names(
    resolution: Resolution, owner: int | None, connection: duckdb.DuckDBPyConnection
) -> tuple[list[PersonFact], list[PersonRelationship]]:
    """Occupations and relationships that names contain: `Vadim Plumber`; `Mom` and `Máma Zdena` of the owner.

    Relationships to the owner come only from names that the owner wrote: those of cards and chats, not of mails.
    `connection` has the identifiers in a view.
    """
    typed_names = list(_typed_names(resolution))
    entries = [entry.entry for _, entry, _, _ in typed_names]
    refs = dict(connection.execute(_FIRST, {"entries": entries}).fetchall())
    facts: dict[tuple[int, str], PersonFact] = {}
    kinds: defaultdict[int, dict[str, tuple[str, str]]] = defaultdict(dict)
    for person_id, entry, name, kind in typed_names:
        if entry.entry not in refs:
            continue
        ref = refs[entry.entry]
        if kind in kinship.ROLES:
            fact = PersonFact(person_id, "occupation", kind, STATED_CONFIDENCE, ref, name)
            facts.setdefault((person_id, kind), fact)
        elif owner not in (None, person_id) and (_is_by_owner(entry) or _is_signed(entry, name)):
            kinds[person_id].setdefault(kind, (ref, name))
    return [*facts.values()], [*_only_kinds(kinds, owner or 0)]


def _only_kinds(kinds: Mapping[int, Mapping[str, tuple[str, str]]], owner: int) -> Iterator[PersonRelationship]:
    """The owner's relationship to each person whose names contain one type of relationship, and no other."""
    for person_id, by_kind in kinds.items():
        if len(by_kind) == 1:
            ((kind, (ref, name)),) = by_kind.items()
            yield PersonRelationship(owner, person_id, kind, ref, source_quote=name, confidence=STATED_CONFIDENCE)


def _typed_names(resolution: Resolution) -> Iterator[tuple[int, NamingEntry, str, str]]:
    """Yields (person, entry, name, relationship type) of each name that contains a word for the type."""
    for person_id, person in sorted(resolution.people.items()):
        for entry in person.entries:
            for claim in entry.names:
                name = claim.value
                if kind := kinship.type_in_name(parse(name).words) or _kin_in_remark(name):
                    yield person_id, entry, name, kind


def _kin_in_remark(name: str) -> str | None:
    """The relationship type in a remark behind a name: `Dougal (electrician)`."""
    remark = re.search(r"\(([^()]+)\)", name)
    kinds = kinship.types_of_word(remark[1]) if remark else frozenset()
    return next(iter(kinds)) if len(kinds) == 1 else None


def _is_signed(entry: NamingEntry, name: str) -> bool:
    """Whether the sender of mails uses that name with an address of their own: `Aunt Ruth <ruth@example.com>`."""
    words = parse(name).words
    own = any(claim.kind == "email" and not claim.shared for claim in entry.claims)
    return own and entry.sent > 0 and len(words) == 2 and words[0] in kin() and words[1] in given_names()


def _is_by_owner(entry: NamingEntry) -> bool:
    return entry.is_card or (entry.sent > 0 and not any(claim.kind == "email" for claim in entry.claims))


def _text_facts(rows: pa.Table) -> Iterator[PersonFact]:
    for row in rows.drop_columns(["lake_month"]).sort_by("source_ref").to_pylist():
        yield PersonFact(**row)


def _text_relationships(rows: pa.Table) -> Iterator[PersonRelationship]:
    for row in rows.drop_columns(["lake_month"]).sort_by("source_ref").to_pylist():
        yield PersonRelationship(**row, confidence=STATED_CONFIDENCE)


def _unique_bearers(resolution: Resolution) -> Mapping[str, int]:
    """Full name of two or more words -> the only person who bears it."""
    bearers: defaultdict[str, set[int]] = defaultdict(set)
    for person_id, person in resolution.people.items():
        for name in person.names:
            bearers[name.full].add(person_id)
    return {name: next(iter(ids)) for name, ids in bearers.items() if len(ids) == 1 and " " in name}


def _full(name: object) -> str:
    return parse(name).full if isinstance(name, str) else ""
