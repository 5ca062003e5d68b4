"""The people of a generation: identities, facts and relationships, with later statements applied."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import duckdb

from relrag_pipelines.identity import lookup, statement_overlay
from relrag_pipelines.identity.inverse_types import INVERSE
from relrag_pipelines.identity.journal_statements import Entry, RelationshipNote, StatedFact, StatedRelationship
from relrag_pipelines.identity.mentions import MentionFinder
from relrag_pipelines.identity.name_forms import question_forms
from relrag_pipelines.identity.statement_overlay import Key
from relrag_pipelines.records import PersonFact, PersonRelationship
from relrag_pipelines.sources import RECORD_TYPES
from relrag_pipelines.text import kinship
from relrag_pipelines.text.names.forms import may_call
from relrag_pipelines.workers import cancellation
from relrag_query.people.indexed_person import IndexedPerson, PeopleError, SeveralPeople, is_number
from relrag_query.people.later_statements import LaterStatements
from relrag_query.people.relations import FAMILY, is_of_type
from relrag_query.understanding.people_question import Relation


class People:
    """The people of a generation."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, statements: LaterStatements) -> None:
        self._connection = connection
        self.statements = statements
        self._finders: dict[str, MentionFinder] = {}

    @functools.cached_property
    def owner(self) -> int | None:
        """The owner of the archive; None if not known."""
        row = self._connection.execute("SELECT person_id FROM persons WHERE is_owner").fetchone()
        return self.survivor(row[0]) if row else None

    def survivor(self, person_id: int) -> int:
        """The present id of a person, by a present or former id."""
        return self.statements.survivor(self._redirects.get(person_id, person_id))

    @functools.cached_property
    def _redirects(self) -> dict[int, int]:
        rows = self._connection.execute("SELECT former_person_id, person_id FROM person_redirects").fetchall()
        return dict(rows)

    def by_id(self, person_ids: Iterable[int]) -> dict[int, IndexedPerson]:
        """The existing people with these ids, ordered by id."""
        survivors = self._survivors(person_ids)
        rows = self._rows("persons", survivors)
        # the row of the person who is left comes before those of merged people: its name counts
        rows.sort(key=lambda row: (survivors[row["person_id"]] != row["person_id"], row["person_id"]))
        persons: dict[int, IndexedPerson] = {}
        for row in rows:
            survivor = survivors[row["person_id"]]
            person = persons.setdefault(survivor, IndexedPerson(survivor, row["name"]))
            person.name = person.name or row["name"]
            person.is_owner |= row["is_owner"]
        for row in self._rows("person_aliases", survivors):
            if survivors[row["person_id"]] in persons:
                persons[survivors[row["person_id"]]].aliases.append(row)
        return dict(sorted(persons.items()))

    def names_in_index(self, person_ids: Iterable[int]) -> dict[int, str]:
        """id -> name, as the generation has them, later merges ignored; ids merged before it have no name."""
        return {row["person_id"]: row["name"] for row in self._rows("persons", person_ids)}

    def every(self) -> dict[int, IndexedPerson]:
        """All people, ordered by id."""
        return self.by_id(row[0] for row in self._connection.execute("SELECT person_id FROM persons").fetchall())

    def name_bearers(self, text: str, *, sounds: bool = True, is_name: bool = False) -> dict[int, IndexedPerson]:
        """The people with a name of which a word of the text may be a form; with `sounds` in any script."""
        rows = self._connection.execute(
            """
            WITH words AS (SELECT unnest($words) AS form),
            givens AS (SELECT form FROM words UNION SELECT given FROM given_forms SEMI JOIN words USING (form))
            SELECT person_id FROM person_names SEMI JOIN givens USING (form) WHERE rank IN ('given', 'family')
            UNION SELECT person_id FROM person_names SEMI JOIN words USING (form)
            """,
            {"words": sorted(question_forms(text, sounds=sounds, is_name=is_name))},
        ).fetchall()
        return self.by_id(person_id for (person_id,) in rows)

    def find(self, typed: str) -> list[IndexedPerson]:
        """The people who match a name, an id or a stored alias best; several if they match equally well.

        An id may be written as that of a person's record, `person:7`.
        """
        number = typed.strip().removeprefix("person:")
        if is_number(number):
            return list(self.by_id([int(number)]).values())
        rows = self._connection.execute(
            "SELECT person_id, kind FROM person_aliases WHERE lower(alias) = lower($alias)", {"alias": typed.strip()}
        ).fetchall()
        if ids_by_address := [person_id for person_id, kind in rows if kind != "name"]:
            return list(self.by_id(ids_by_address).values())
        bearers = self.name_bearers(typed.title(), is_name=True)
        resolved = {person_id: person.resolved_person for person_id, person in bearers.items()}
        if ids := lookup.candidates(resolved, typed):
            return [bearers[person_id] for person_id in ids]
        return list(self.by_id(person_id for person_id, _ in rows).values())  # an alias like `brácha` is no name

    def owners_of_identifier(self, kind: str, keyed: str, written: str) -> list[int]:
        """The people with a number or address, by its keyed value or by a fact that contains it as written."""
        rows = self._connection.execute(
            "SELECT person_id FROM person_aliases WHERE kind = $kind AND keyed = $keyed "
            "UNION SELECT person_id FROM person_facts WHERE predicate = $kind AND $plain <> '' AND $plain IN "
            "(value, regexp_replace(value, '[^0-9+]', '', 'g'))",
            {"kind": kind, "keyed": keyed, "plain": re.sub(r"[^\d+]", "", written) if kind == "phone" else written},
        ).fetchall()
        return sorted({self.survivor(person_id) for (person_id,) in rows})

    def find_one(self, typed: str) -> IndexedPerson:
        """The only person who matches. Raises PeopleError, which lists the choices if there are several."""
        persons = self.find(typed)
        if not persons:
            message = f'nobody is named "{typed}"; `relrag people list` shows who there is'
            raise PeopleError(message, code="nobody", name=typed)
        if len(persons) > 1:
            ids = [person.person_id for person in persons]
            sources = self._sources(ids)
            choices = ", ".join(f"{person.person_id} ({person.name}{sources[person.person_id]})" for person in persons)
            merge = (
                f"; if they are one, `relrag people merge {' '.join(map(str, ids))}`" if self.share_name(ids) else ""
            )
            message = f'"{typed}" may be any of {len(persons)}; name one by number: {choices}{merge}'
            error = SeveralPeople(message, code="several", name=typed, choices=choices)
            error.person_ids = ids
            raise error
        return persons[0]

    def newest_records(self, person_ids: Collection[int]) -> dict[int, int]:
        """When the newest record of each of these people is from, in seconds; left out without dated records."""
        rows = self._connection.execute(
            "SELECT person_id, max(ts) FROM person_assets JOIN records ON asset_id = asset_ref "
            "WHERE list_contains($ids, person_id) AND ts IS NOT NULL GROUP BY person_id",
            {"ids": [*person_ids]},
        ).fetchall()
        return dict(rows)

    def _sources(self, person_ids: Collection[int]) -> dict[int, str]:
        """Where each person appears, in words that tell apart those of one name: `, in slack and mail`."""
        rows = self._connection.execute(
            "SELECT person_id, string_agg(DISTINCT source, ' and ' ORDER BY source) FROM person_assets "
            "JOIN records ON asset_id = asset_ref WHERE list_contains($ids, person_id) GROUP BY person_id",
            {"ids": [*person_ids]},
        ).fetchall()
        return dict.fromkeys(person_ids, "") | {person_id: f", in {sources}" for person_id, sources in rows}

    def share_name(self, person_ids: Collection[int]) -> bool:
        """Whether all have the same name of two or more words, or its given name alone: they may be one person."""
        names = [{name.words for name in person.resolved_person.names} for person in self.by_id(person_ids).values()]
        whole_names = {words for person_names in names for words in person_names if len(words) > 1}
        return any(all({words, words[:1]} & person_names for person_names in names) for words in whole_names)

    def finder(self, text: str) -> MentionFinder:
        """The finder of the people whom a text may name."""
        if text not in self._finders:
            names = {}
            for person_id, person in self.name_bearers(text, sounds=False).items():
                names[person_id] = [row["alias"] for row in person.aliases if row["kind"] == "name"]
            self._finders[text] = MentionFinder(names)
        return self._finders[text]

    def record_counts(self) -> dict[int, int]:
        """id -> records that the person wrote, received or took part in, counted as on the person's page."""
        former = {old: self.survivor(old) for old in (*self._redirects, *self.statements.survivors)}
        rows = self._connection.execute(
            """
            WITH merged AS (SELECT unnest($former) AS former, unnest($survivors) AS survivor)
            SELECT coalesce(survivor, person_id) AS person, count(DISTINCT asset_ref)
            FROM person_assets SEMI JOIN records ON asset_id = asset_ref LEFT JOIN merged ON former = person_id
            WHERE role <> 'mentioned' AND NOT list_contains($about, asset_type) GROUP BY person ORDER BY person
            """,
            {
                "former": [*former],
                "survivors": [*former.values()],
                "about": [type_.name for type_ in RECORD_TYPES.values() if type_.about_people],
            },
        ).fetchall()
        return dict(rows)

    def facts(self, person_ids: Collection[int]) -> list[PersonFact]:
        """The facts about these people; of each predicate the most certain and latest first."""
        survivors = self._survivors(person_ids)
        rows = self._rows("person_facts", survivors)
        indexed = [PersonFact(**{**row, "person_id": survivors[row["person_id"]]}) for row in rows]
        ids = {*survivors.values()}

        def requested(person_id: int) -> int | None:
            survivor = self.survivor(person_id)
            return survivor if survivor in ids else None

        facts = statement_overlay.facts(indexed, self.statements.entries, requested)
        return sorted(facts, key=lambda fact: (fact.person_id, fact.predicate, -fact.confidence, _latest_first(fact)))

    def relationships(
        self, person_ids: Collection[int] | None = None, types: Collection[str] | None = None
    ) -> list[Relation]:
        """The relations of these people, seen from them, or all relationships as stated; each once, in order.

        `types` are types of the other person, or their last words: `manager` includes `former_manager`.
        """
        relations: dict[tuple[int, int, str], Relation] = {}
        for relation in self._directed_relations(person_ids):
            if types is None or is_of_type(relation.type, types):
                relations.setdefault((relation.person_id, relation.other_id, relation.type), relation)
        return [relations[key] for key in sorted(relations)]

    def _directed_relations(self, person_ids: Collection[int] | None) -> Iterator[Relation]:
        """The relations of these people from their side; without people, all from the side that is stated."""
        rows = self._relationship_rows(person_ids)
        survivors = None if person_ids is None else {self.survivor(person_id) for person_id in person_ids}
        for row in rows:
            stated = Relation(row.from_person_id, row.to_person_id, row.relationship_type, row)
            if survivors is None:
                yield stated
                continue
            inverse = Relation(stated.other_id, stated.person_id, INVERSE.get(stated.type, stated.type), row)
            yield from (relation for relation in (stated, inverse) if relation.person_id in survivors)

    def expand_person_ids_with_relationships(
        self, person_ids: Collection[int], types: Collection[str] = FAMILY, depth: int = 1
    ) -> list[int]:
        """These people, then the people whom relationships of these types reach in up to `depth` steps, in order."""
        reached = list(dict.fromkeys(self.survivor(person_id) for person_id in person_ids))
        frontier = reached
        for _ in range(depth):
            others = [relation.other_id for relation in self.relationships(frontier, types)]
            frontier = [other for other in dict.fromkeys(others) if other not in reached]
            reached = [*reached, *frontier]
        return reached

    def holders_of_role(self, type_: str) -> list[int]:
        """The people, except the owner, with an occupation of that type in any language: `dentist`, `zubařka`."""
        if type_ not in kinship.ROLES:
            return []
        rows = self._connection.execute(
            "SELECT person_id, value FROM person_facts WHERE predicate IN ('occupation', 'role') ORDER BY ALL"
        ).fetchall()
        for entry in self.statements.entries:
            if isinstance(entry.statement, StatedFact) and entry.statement.predicate in ("occupation", "role"):
                rows.append((entry.statement.person_id, entry.statement.value))
        holders = {self.survivor(person_id) for person_id, value in rows if type_ in kinship.roles_in(value)}
        return sorted(holders - {self.owner or 0})

    def relative_facts(self, name: str) -> list[PersonFact]:
        """Facts that name as somebody's relative a person of that name without a record: `my friend Simona`."""
        rows = self._connection.execute(
            "SELECT DISTINCT person_id FROM person_facts WHERE starts_with(lower(value), lower($begin)) "
            "AND predicate IN (SELECT unnest($types))",
            {"begin": name[:1], "types": sorted(kinship.relationship_types())},
        ).fetchall()
        facts = self.facts([person_id for (person_id,) in rows])
        types = kinship.relationship_types()
        return [fact for fact in facts if fact.predicate in types and may_call(name, fact.value)]

    def cards(self, person_id: int) -> list[str]:
        """The asset_ids of a person's cards."""
        rows = self._connection.execute(
            "SELECT DISTINCT asset_ref FROM person_assets WHERE role = 'owner' AND person_id IN (SELECT unnest($ids)) "
            "AND list_contains($cards, asset_type) ORDER BY 1",
            {
                "ids": self.ids_in_index([person_id]),
                "cards": [type_.name for type_ in RECORD_TYPES.values() if type_.card],
            },
        ).fetchall()
        return [ref for (ref,) in rows]

    def person_counts(self, chunk_ids: Sequence[str], person_ids: Sequence[int]) -> dict[str, int]:
        """chunk_id -> number of these people who take part in the passage or are mentioned in it."""
        rows = self._connection.execute(
            "SELECT chunk_id, len(list_distinct(list_intersect(list_concat(person_ids, mentioned_person_ids), $ids))) "
            "FROM chunks WHERE chunk_id IN (SELECT unnest($chunks))",
            {"chunks": list(chunk_ids), "ids": list(person_ids)},
        ).fetchall()
        return dict(rows)

    def ids_in_index(self, person_ids: Iterable[int]) -> list[int]:
        """The ids by which the passages of the generation know these people."""
        return sorted({old for person_id in person_ids for old in self.statements.former(person_id)})

    def filter_ids(self, typed: str) -> tuple[int, ...]:
        """The ids by which the index knows the only person who matches. Raises PeopleError like `find_one`."""
        return tuple(self.ids_in_index([self.find_one(typed).person_id]))

    def relationships_by_key(self, keys: Sequence[Key]) -> list[PersonRelationship]:
        """The relationships with these keys in the generation, and all that the owner stated later, as they stand."""
        entries = self._relationship_entries(None)
        every = dict.fromkeys([*keys, *itertools.chain.from_iterable(map(self._keys_in_index, entries))])
        values = {name: [key[part] for key in every] for part, name in enumerate(("one", "other", "type"))}
        query = """FROM person_relationships SEMI JOIN (
            SELECT unnest($one) AS from_person_id, unnest($other) AS to_person_id, unnest($type) AS relationship_type
        ) USING (from_person_id, to_person_id, relationship_type)"""
        return self._present(self._connection.execute(query, values), entries) if every else []

    def _keys_in_index(self, entry: Entry) -> list[Key]:
        """The keys by which the generation may know the relationship of a later statement."""
        statement = entry.statement
        if not isinstance(statement, StatedRelationship | RelationshipNote):
            return []
        ends = self.survivor(statement.from_person_id), self.survivor(statement.to_person_id)
        pairs = itertools.product(*(self.ids_in_index([end]) for end in ends))
        return [(from_id, to_id, statement.relationship_type) for from_id, to_id in pairs]

    def _relationship_rows(self, person_ids: Collection[int] | None) -> list[PersonRelationship]:
        query, values = "FROM person_relationships", {}
        if person_ids is not None:
            query += " WHERE from_person_id IN (SELECT unnest($ids)) OR to_person_id IN (SELECT unnest($ids))"
            values = {"ids": self.ids_in_index(self.survivor(person_id) for person_id in person_ids)}
        return self._present(self._connection.execute(query, values), self._relationship_entries(person_ids))

    def _present(self, cursor: duckdb.DuckDBPyConnection, entries: list[Entry]) -> list[PersonRelationship]:
        """Rows of the generation with later merges and these statements applied."""
        names = [column[0] for column in cursor.description or ()]
        rows = [PersonRelationship(**dict(zip(names, row, strict=True))) for row in cursor.fetchall()]
        ends = self.statements.survivor
        moved = [
            replace(row, from_person_id=ends(row.from_person_id), to_person_id=ends(row.to_person_id)) for row in rows
        ]
        between_two = [row for row in moved if row.from_person_id != row.to_person_id]
        return statement_overlay.relationships(statement_overlay.merge_duplicates(between_two), entries, self.survivor)

    def _relationship_entries(self, person_ids: Collection[int] | None) -> list[Entry]:
        """Later statements about the relationships of these people, or about all."""
        survivors = None if person_ids is None else {self.survivor(person_id) for person_id in person_ids}
        entries = []
        for entry in self.statements.entries:
            statement = entry.statement
            if isinstance(statement, StatedRelationship | RelationshipNote):
                ends = {self.survivor(statement.from_person_id), self.survivor(statement.to_person_id)}
                if survivors is None or not survivors.isdisjoint(ends):
                    entries.append(entry)
        return entries

    def _survivors(self, person_ids: Iterable[int]) -> dict[int, int]:
        """Each id by which the generation knows one of these people -> the person's present id."""
        survivors = {self.survivor(person_id) for person_id in person_ids}
        return {old: survivor for survivor in survivors for old in self.statements.former(survivor)}

    def _rows(self, table: str, person_ids: Iterable[int]) -> list[dict[str, Any]]:
        cancellation.check()
        query = f"FROM {table} WHERE person_id IN (SELECT unnest($ids)) ORDER BY ALL"
        cursor = self._connection.execute(query, {"ids": list(person_ids)})
        names = [column[0] for column in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def _latest_first(fact: PersonFact) -> Sequence[int]:
    """Sort key that puts facts with a later start, or stated later, first."""
    begin = statement_overlay.JOURNAL
    number = int(fact.source_ref.removeprefix(begin)) if fact.source_ref.startswith(begin) else 0
    return [-ord(char) for char in fact.valid_from or ""] or [0], -number  # type: ignore[return-value]
