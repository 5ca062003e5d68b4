"""Facts and relationships: from cards, from texts, from what the owner calls people, and from what the owner says."""

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
from relrag_pipelines.pii.pseudonyms import to_entity_type
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
    found: Resolution,
    records: dict[str, Path],
    said: list[Entry],
    in_names: tuple[list[PersonFact], list[PersonRelationship]],
    of_texts: Mapping[str, pa.Table],
    of_passages: tuple[list[PersonFact], list[PersonRelationship]] = ([], []),
) -> tuple[pa.Table, pa.Table]:
    """The rows of person_facts and of person_relationships; `in_names` has what names tell.

    `of_texts` has the rows of text_relationships and text_facts, `of_passages` what a language model found.
    """
    cards = list(_cards(records))
    said = [own_words.redact_entry(entry, lambda: workspace.redactor) for entry in said]
    facts = statement_overlay.facts(
        [*of_passages[0], *_card_facts(cards, found), *in_names[0], *_text_facts(of_texts["text_facts"])],
        said,
        survivor(found),
    )
    read = [
        *_card_relationships(cards, found),
        *_fact_relationships(facts, found),
        *in_names[1],
        *_text_relationships(of_texts["text_relationships"]),
        *of_passages[1],
    ]
    surest_first = sorted(read, key=lambda row: -row.confidence)
    relationships = statement_overlay.relationships(
        statement_overlay.merge_duplicates(surest_first), said, survivor(found)
    )
    hashed = [replace(row, text_hash=text_hash(workspace.keys.content_hash, row)) for row in relationships]
    return to_table(facts, PersonFact), to_table(hashed, PersonRelationship)


def text_hash(keyed: Callable[[bytes], str], row: PersonRelationship) -> str:
    """Keyed hash of what is embedded of a relationship, by which it is embedded once."""
    return keyed(to_entity_type(statement_overlay.embedded_text(row)).encode("utf-8", "surrogatepass"))


def survivor(found: Resolution) -> statement_overlay.Survivor:
    """Who a person is now, by any id that he had."""
    return lambda one: one if one in found.people else found.redirects.get(one)


def _cards(records: dict[str, Path]) -> Iterator[dict[str, Any]]:
    """Each card and each relationship between two, once."""
    seen: set[str] = set()
    with lake_months.connect("records", records) as connection:
        types = [one.name for one in RECORD_TYPES.values() if one.about_people]
        rows = connection.sql(_CARDS, params={"types": types}).to_arrow_table().to_pylist()
    for row in rows:
        if row["asset_id"] not in seen:
            seen.add(row["asset_id"])
            yield row | {"source": row["lake_month"].split("/")[0], "extra": orjson.loads(row["extra"])}


def _card_facts(cards: Iterable[dict[str, Any]], found: Resolution) -> Iterator[PersonFact]:
    holders = {(source, entry): person_id for (source, entry, _), person_id in found.person_of.items()}
    for card in cards:
        person_id = holders.get((card["source"], card["asset_id"]))
        if person_id is None:
            continue
        for fact in _list(card["extra"].get("facts")):
            if not isinstance(fact, dict):
                continue
            predicate, value = fact.get("predicate"), fact.get("value")
            if isinstance(predicate, str) and isinstance(value, str) and value:
                quote = f"{predicate.replace('_', ' ')}: {value}"
                yield PersonFact(person_id, predicate, value, 1.0, card["asset_id"], quote)
        if note := card_notes.occupation(card_notes.read(card["extra"])):
            yield PersonFact(person_id, "occupation", note, STATED_CONFIDENCE, card["asset_id"], note)


def _card_relationships(cards: Iterable[dict[str, Any]], found: Resolution) -> Iterator[PersonRelationship]:
    named = _unique_bearers(found)

    def end(told: dict[str, Any], which: str) -> int | None:
        pinned = told.get(f"{which}_person_id")
        return survivor(found)(pinned) if type(pinned) is int else named.get(_full(told.get(f"{which}_name")))

    for card in cards:
        told = card["extra"].get("relationship")
        if not isinstance(told, dict) or not _text(told.get("relationship_type")):
            continue
        from_, to = end(told, "from"), end(told, "to")
        if from_ is None or to is None or from_ == to:
            continue
        type_, word = kinship.type_of(told["relationship_type"])
        yield PersonRelationship(
            from_,
            to,
            type_,
            card["asset_id"],
            _text(told.get("description")) or word,
            _degree(told.get("attitude")),
            _degree(told.get("proximity")),
            [note for note in _list(told.get("notes")) if _text(note)],
            client_id=card["client_id"],
        )


def _text(told: object) -> str | None:
    """What is told, where it is a text; a jsonl file may say anything in its place."""
    return told if isinstance(told, str) and told.strip() else None


def _degree(told: object) -> int | None:
    """An attitude or a proximity, where it is one."""
    return told if type(told) is int and told in range(1, 6) else None


def _list(told: object) -> list[Any]:
    return told if isinstance(told, list) else []


def _fact_relationships(facts: Iterable[PersonFact], found: Resolution) -> Iterator[PersonRelationship]:
    """Of a fact whose predicate is a relationship: `spouse: איתן פיקל`."""
    named, types = _unique_bearers(found), kinship.relationship_types()
    for fact in facts:
        other = named.get(_full(fact.value)) if fact.predicate in types else None
        if other is not None and other != fact.person_id:
            made = PersonRelationship(fact.person_id, other, fact.predicate, fact.source_ref)
            yield replace(made, source_quote=fact.source_quote or fact.value, confidence=fact.confidence)


def read_names(
    found: Resolution, owner: int | None, connection: duckdb.DuckDBPyConnection
) -> tuple[list[PersonFact], list[PersonRelationship]]:
    """What names tell beside whom they name: `Vadim Plumber`, and of the owner `Mom`, `Máma Zdena`.

    Of what somebody is to the owner only the names that the owner wrote tell: those of cards and chats, not of mails.
    `connection` has the identifiers in a view.
    """
    told = [
        (person_id, entry, name, kind)
        for person_id, person in sorted(found.people.items())
        for entry in person.entries
        for claim in entry.names
        if (kind := kinship.type_in_name(parse(name := claim.value).words) or _kin_in_remark(name))
    ]
    refs = dict(connection.execute(_FIRST, {"entries": [entry.entry for _, entry, _, _ in told]}).fetchall())
    facts: dict[tuple[int, str], PersonFact] = {}
    kinds: defaultdict[int, dict[str, tuple[NamingEntry, str]]] = defaultdict(dict)
    for person_id, entry, name, kind in told:
        if entry.entry not in refs:
            continue
        if kind in kinship.ROLES:
            made = PersonFact(person_id, "occupation", kind, STATED_CONFIDENCE, refs[entry.entry], name)
            facts.setdefault((person_id, kind), made)
        elif (_is_by_owner(entry) or _is_signed(entry, name)) and owner not in (None, person_id):
            kinds[person_id].setdefault(kind, (entry, name))
    relationships = [
        PersonRelationship(
            owner or 0, person_id, kind, refs[entry.entry], source_quote=name, confidence=STATED_CONFIDENCE
        )
        for person_id, some in kinds.items()
        if len(some) == 1
        for kind, (entry, name) in some.items()
    ]
    return [*facts.values()], relationships


def _kin_in_remark(name: str) -> str | None:
    """What somebody is by a remark beside the name: `Dougal (electrician)`."""
    remark = re.search(r"\(([^()]+)\)", name)
    kinds = kinship.types_of_word(remark[1]) if remark else frozenset()
    return next(iter(kinds)) if len(kinds) == 1 else None


def _is_signed(entry: NamingEntry, name: str) -> bool:
    """Whether the sender of mails calls himself so from an address of his own: `Aunt Ruth <ruth@example.com>`."""
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


def _unique_bearers(found: Resolution) -> Mapping[str, int]:
    """Full names of more than a word that one person alone bears -> that person."""
    bearers: defaultdict[str, set[int]] = defaultdict(set)
    for person_id, person in found.people.items():
        for name in person.names:
            bearers[name.full].add(person_id)
    return {name: next(iter(ids)) for name, ids in bearers.items() if len(ids) == 1 and " " in name}


def _full(name: object) -> str:
    return parse(name).full if isinstance(name, str) else ""
