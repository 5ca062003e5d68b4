"""Resolves the names in a language model's statements to people, as the names that patterns find are resolved."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import duckdb
import pyarrow as pa

from relrag_pipelines.identity.mentions import certain_person
from relrag_pipelines.identity.name_forms import beginnings
from relrag_pipelines.identity.people_tables import finder
from relrag_pipelines.identity.resolve import Resolution
from relrag_pipelines.people import month_texts
from relrag_pipelines.people.passage_question import AUTHOR
from relrag_pipelines.records import PersonFact, PersonRelationship
from relrag_pipelines.text import kinship
from relrag_pipelines.text.names import tables

MAX_CONFIDENCE = 0.7
"""of a model's statement: less than a sure pattern's, and than the owner's"""
_PRESENT = """
    SELECT DISTINCT asset_id, person_id, role = 'sender' FROM
        (SELECT asset_id, role, who.person_id FROM identifiers SEMI JOIN (SELECT unnest($refs) AS asset_id)
            USING (asset_id)
         JOIN who ON who.source = split_part(lake_month, '/', 1) AND who.entry = identifiers.entry
            AND who.pinned_person_id = coalesce(identifiers.person_id, -1))
    ORDER BY ALL
"""


def make(
    resolution: Resolution,
    statements: pa.Table,
    names: tuple[pa.Table, pa.Table],
    connection: duckdb.DuckDBPyConnection,
) -> tuple[list[PersonFact], list[PersonRelationship], int]:
    """Facts, relationships, and the number of statements whose people are not certain.

    `statements` are rows of passage_statements, `names` those of person_names and given_forms; `connection` has views
    of identifiers, and of person_entries as `who`.
    """
    facts: list[PersonFact] = []
    relationships: list[PersonRelationship] = []
    rows = statements.to_pylist()
    people = _Names(resolution, rows, names, connection)
    for row in rows:
        person = people.person_of(row["person"], row)
        other = people.person_of(row["value"], row) if row["is_relationship"] else None
        if person is None or person == other or (row["is_relationship"] and other is None):
            continue
        fields = {name: row[name] for name in ("source_quote", "valid_from", "valid_to")}
        fields["confidence"] = min(row["confidence"], MAX_CONFIDENCE)
        if other is None:
            facts.append(PersonFact(person, row["predicate"], row["value"], source_ref=row["asset_id"], **fields))
            continue
        type_, word = kinship.type_of(row["predicate"])
        relationships.append(
            PersonRelationship(
                person, other, type_, row["asset_id"], description=word, client_id=row["client_id"], **fields
            )
        )
    return facts, relationships, len(rows) - len(facts) - len(relationships)


class _Names:
    """Finds the people whom the names in statements mean."""

    def __init__(
        self,
        resolution: Resolution,
        rows: list[dict[str, Any]],
        names: tuple[pa.Table, pa.Table],
        connection: duckdb.DuckDBPyConnection,
    ) -> None:
        self._present: dict[str, set[int]] = {}
        self._writers: dict[str, int] = {}
        statement_names = [
            name for row in rows for name in (row["person"], row["value"] if row["is_relationship"] else "")
        ]
        self._finder = finder(resolution, month_texts.name_bearers(*names, beginnings(statement_names)) if rows else ())
        refs = sorted({ref for row in rows for ref in (row["asset_id"], *row["among"])})
        for ref, person_id, is_sender in connection.execute(_PRESENT, {"refs": refs}).fetchall() if refs else ():
            self._present.setdefault(ref, set()).add(person_id)
            if is_sender:
                self._writers[ref] = person_id

    def person_of(self, name: str, row: Mapping[str, Any]) -> int | None:
        """The person whom a name means in a conversation; None if that is not certain."""
        if name == AUTHOR:
            return self._writers.get(row["asset_id"])
        mentions = self._finder.find(name)
        if len(mentions) != 1 or not _is_title(name[: mentions[0].start]) or name[mentions[0].end :].strip():
            return None  # such as `Petr's wife`
        return certain_person(mentions[0]._replace(is_word=False), self._participants(row))

    def _participants(self, row: Mapping[str, Any]) -> Collection[int]:
        refs: Iterable[str] = (row["asset_id"], *row["among"])
        return {person_id for ref in refs for person_id in self._present.get(ref, ())}


def _is_title(before: str) -> bool:
    """Whether the text before a name is empty or consists of titles."""
    return all(tables.plain(word.rstrip(".")) in tables.before_family_names() for word in before.split())
