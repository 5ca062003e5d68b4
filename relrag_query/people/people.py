"""The people of a generation: who is who, and what is known about them, later statements included."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

import duckdb

from relrag_pipelines.identity import lookup, statement_overlay
from relrag_pipelines.identity.inverse_types import INVERSE
from relrag_pipelines.identity.journal_statements import Entry, RelationshipNote, StatedFact, StatedRelationship
from relrag_pipelines.identity.mentions import MentionFinder
from relrag_pipelines.identity.name_forms import question_forms
from relrag_pipelines.records import PersonFact, PersonRelationship
from relrag_pipelines.sources import RECORD_TYPES
from relrag_pipelines.text import kinship
from relrag_pipelines.text.names.forms import may_call
from relrag_pipelines.text.names.personal_name import parse
from relrag_pipelines.workers import cancellation
from relrag_query.people.indexed_person import IndexedPerson, PeopleError, is_number
from relrag_query.people.later_statements import LaterStatements
from relrag_query.people.relations import FAMILY, Relation, is_of_type


class People:
    """The people of a generation."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, statements: LaterStatements) -> None:
        self._connection = connection
        self.statements = statements
        self._finders: dict[str, MentionFinder] = {}

    @functools.cached_property
    def owner(self) -> int | None:
        """Whose archive it is; None where nobody is known to be."""
        row = self._connection.execute("SELECT person_id FROM persons WHERE is_owner").fetchone()
        return self.survivor(row[0]) if row else None

    def survivor(self, person_id: int) -> int:
        """Who that is now, by an id that somebody has or had."""
        return self.statements.survivor(self._redirects.get(person_id, person_id))

    @functools.cached_property
    def _redirects(self) -> dict[int, int]:
        rows = self._connection.execute("SELECT former_person_id, person_id FROM person_redirects").fetchall()
        return dict(rows)

    def by_id(self, person_ids: Iterable[int]) -> dict[int, IndexedPerson]:
        """The people of these ids that there are, by id, in order."""
        now = self._survivors(person_ids)
        rows = self._rows("persons", now)
        found: dict[int, IndexedPerson] = {}
        for row in sorted(rows, key=lambda one: (now[one["person_id"]] != one["person_id"], one["person_id"])):
            known = found.setdefault(now[row["person_id"]], IndexedPerson(now[row["person_id"]], row["name"]))
            known.name = known.name or row["name"]
            known.is_owner |= row["is_owner"]
        for row in self._rows("person_aliases", now):
            if now[row["person_id"]] in found:
                found[now[row["person_id"]]].aliases.append(row)
        return dict(sorted(found.items()))

    def names_in_index(self, person_ids: Iterable[int]) -> dict[int, str]:
        """The names under which a generation knows ids, whoever that is now; of one that was merged before, none."""
        return {row["person_id"]: row["name"] for row in self._rows("persons", person_ids)}

    def every(self) -> dict[int, IndexedPerson]:
        """All people, by id, in order."""
        return self.by_id(one for (one,) in self._connection.execute("SELECT person_id FROM persons").fetchall())

    def name_bearers(self, text: str, *, sounds: bool = True, is_name: bool = False) -> dict[int, IndexedPerson]:
        """Who bears a name of which some word of a text, or of a name, may be a form; with `sounds` in any script."""
        rows = self._connection.execute(
            """
            WITH asked AS (SELECT unnest($words) AS form),
            givens AS (SELECT form FROM asked UNION SELECT given FROM given_forms SEMI JOIN asked USING (form))
            SELECT person_id FROM person_names SEMI JOIN givens USING (form) WHERE rank IN ('given', 'family')
            UNION SELECT person_id FROM person_names SEMI JOIN asked USING (form)
            """,
            {"words": sorted(question_forms(text, sounds=sounds, is_name=is_name))},
        ).fetchall()
        return self.by_id(one for (one,) in rows)

    def find(self, typed: str) -> list[IndexedPerson]:
        """The people whom a name, an id or an alias as it is stored fits best; several where it fits them equally."""
        if is_number(typed.strip()):
            return list(self.by_id([int(typed)]).values())
        rows = self._connection.execute(
            "SELECT person_id, kind FROM person_aliases WHERE lower(alias) = lower($alias)", {"alias": typed.strip()}
        ).fetchall()
        if reached := [one for one, kind in rows if kind != "name"]:
            return list(self.by_id(reached).values())
        known = self.name_bearers(typed.title(), is_name=True)
        ids = lookup.candidates({one: person.resolved_person for one, person in known.items()}, typed)
        return [known[one] for one in ids] or list(self.by_id(one for one, _ in rows).values())  # `brácha` is no name

    def owners_of_identifier(self, kind: str, keyed: str, written: str) -> list[int]:
        """Whose a number or address is, by its keyed value; and who is stated to have it, as it is written there."""
        rows = self._connection.execute(
            "SELECT person_id FROM person_aliases WHERE kind = $kind AND keyed = $keyed "
            "UNION SELECT person_id FROM person_facts WHERE predicate = $kind AND $plain <> '' AND $plain IN "
            "(value, regexp_replace(value, '[^0-9+]', '', 'g'))",
            {"kind": kind, "keyed": keyed, "plain": re.sub(r"[^\d+]", "", written) if kind == "phone" else written},
        ).fetchall()
        return sorted({self.survivor(one) for (one,) in rows})

    def one(self, typed: str) -> IndexedPerson:
        """The one person who is meant. Raises PeopleError, which offers the choices where there are several."""
        found = self.find(typed)
        if not found:
            raise PeopleError(f'nobody is named "{typed}"; `relrag people list` shows who there is')
        if len(found) > 1:
            told = ", ".join(f"{one.person_id} ({one.name})" for one in found)
            raise PeopleError(f'"{typed}" may be any of {len(found)}; name one by number: {told}')
        return found[0]

    def share_name(self, person_ids: Collection[int]) -> bool:
        """Whether all bear the same name of two words or more, or its given name and no other: they may be one."""
        borne = [one.resolved_person.names for one in self.by_id(person_ids).values()]
        whole = {name for names in borne for name in names if len(name.words) > 1}
        return any(
            all(any(name.words in (one.words, one.words[:1]) for name in names) for names in borne) for one in whole
        )

    def namesakes(self, person_id: int) -> list[int]:
        """A person, and who else bears his whole name."""
        names = {name.full for name in self.by_id([person_id])[person_id].resolved_person.names if len(name.words) > 1}
        rows = self._connection.execute(
            "SELECT DISTINCT person_id FROM person_names WHERE rank = 'whole' AND form IN (SELECT unnest($names))",
            {"names": sorted(names)},
        ).fetchall()
        return [person_id, *sorted({self.survivor(one) for (one,) in rows} - {person_id})]

    def finder(self, text: str) -> MentionFinder:
        """What finds in a text whom it may name."""
        if text not in self._finders:
            known = self.name_bearers(text, sounds=False).items()
            names = {one: [row["alias"] for row in person.aliases if row["kind"] == "name"] for one, person in known}
            self._finders[text] = MentionFinder(names)
        return self._finders[text]

    def record_counts(self) -> dict[int, int]:
        """How many records each person wrote, received or took part in, by id: as the page of each counts them."""
        former = {one: self.survivor(one) for one in (*self._redirects, *self.statements.survivors)}
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
                "about": [one.name for one in RECORD_TYPES.values() if one.about_people],
            },
        ).fetchall()
        return dict(rows)

    def facts(self, person_ids: Collection[int]) -> list[PersonFact]:
        """What is known of these people; of each predicate the surest and latest first."""
        now = self._survivors(person_ids)
        rows = [PersonFact(**{**row, "person_id": now[row["person_id"]]}) for row in self._rows("person_facts", now)]
        wanted = {*now.values()}
        laid = statement_overlay.facts(rows, self.statements.entries, lambda one: _keep(self.survivor(one), wanted))
        return sorted(laid, key=lambda one: (one.person_id, one.predicate, -one.confidence, _latest_first(one)))

    def relationships(
        self, person_ids: Collection[int] | None = None, types: Collection[str] | None = None
    ) -> list[Relation]:
        """What others are to these people, or all relationships as they are stated, each once, ordered by who and what.

        `types` are what the other is, or words of the type: `manager` is a `former_manager` too.
        """
        rows = self._relationship_rows(person_ids)
        wanted = None if person_ids is None else {self.survivor(one) for one in person_ids}
        found: dict[tuple[int, int, str], Relation] = {}
        for row in rows:
            ends = Relation(row.from_person_id, row.to_person_id, row.relationship_type, row)
            back = Relation(ends.other_id, ends.person_id, INVERSE.get(ends.type, ends.type), row)
            for one in (ends, back) if wanted is not None else (ends,):
                if (wanted is None or one.person_id in wanted) and (types is None or is_of_type(one.type, types)):
                    found.setdefault((one.person_id, one.other_id, one.type), one)
        return [found[key] for key in sorted(found)]

    def expand_person_ids_with_relationships(
        self, person_ids: Collection[int], types: Collection[str] = FAMILY, depth: int = 1
    ) -> list[int]:
        """These people and whom relationships of these types lead to in so many steps, in either direction.

        In the order in which they are reached: first who was named.
        """
        found = list(dict.fromkeys(self.survivor(one) for one in person_ids))
        edge = found
        for _ in range(depth):
            reached = [one.other_id for one in self.relationships(edge, types)]
            edge = [one for one in dict.fromkeys(reached) if one not in found]
            found = [*found, *edge]
        return found

    def holders_of_role(self, type_: str) -> list[int]:
        """Who is known to have a role by occupation, in any language: `dentist`, `zubařka`."""
        if type_ not in kinship.ROLES:
            return []
        rows = self._connection.execute(
            "SELECT person_id, value FROM person_facts WHERE predicate IN ('occupation', 'role') ORDER BY ALL"
        ).fetchall()
        for entry in self.statements.entries:
            if isinstance(entry.statement, StatedFact) and entry.statement.predicate in ("occupation", "role"):
                rows.append((entry.statement.person_id, entry.statement.value))
        return sorted({self.survivor(one) for one, said in rows if type_ in kinship.roles_in(said)} - {self.owner or 0})

    def relative_facts(self, name: str) -> list[PersonFact]:
        """What texts say of relatives by that name whom no record knows: `my friend Simona`."""
        rows = self._connection.execute(
            "SELECT DISTINCT person_id FROM person_facts WHERE starts_with(lower(value), lower($begin)) "
            "AND predicate IN (SELECT unnest($types))",
            {"begin": name[:1], "types": sorted(kinship.relationship_types())},
        ).fetchall()
        facts = self.facts([one for (one,) in rows])
        return [one for one in facts if one.predicate in kinship.relationship_types() and may_call(name, one.value)]

    def cards(self, person_id: int) -> list[str]:
        """The asset_ids of a person's cards."""
        rows = self._connection.execute(
            "SELECT DISTINCT asset_ref FROM person_assets WHERE role = 'owner' AND person_id IN (SELECT unnest($ids)) "
            "AND list_contains($cards, asset_type) ORDER BY 1",
            {"ids": self.ids_in_index([person_id]), "cards": [one.name for one in RECORD_TYPES.values() if one.card]},
        ).fetchall()
        return [ref for (ref,) in rows]

    def person_counts(self, chunk_ids: Sequence[str], person_ids: Sequence[int]) -> dict[str, int]:
        """How many of some people each passage has to do with."""
        rows = self._connection.execute(
            "SELECT chunk_id, len(list_distinct(list_intersect(list_concat(person_ids, mentioned_person_ids), $ids))) "
            "FROM chunks WHERE chunk_id IN (SELECT unnest($chunks))",
            {"chunks": list(chunk_ids), "ids": list(person_ids)},
        ).fetchall()
        return dict(rows)

    def ids_in_index(self, person_ids: Iterable[int]) -> list[int]:
        """The ids by which the passages of a generation know these people."""
        return sorted({old for one in person_ids for old in self.statements.former(one)})

    def filter_ids(self, typed: str) -> tuple[int, ...]:
        """Ids under which the index knows the one person who is meant. Raises PeopleError as `one` does."""
        return tuple(self.ids_in_index([self.one(typed).person_id]))

    def _relationship_rows(self, person_ids: Collection[int] | None) -> list[PersonRelationship]:
        if person_ids is None:
            query, values = "FROM person_relationships", {}
        else:
            wanted = self.ids_in_index(self.survivor(one) for one in person_ids)
            query, values = (
                "FROM person_relationships WHERE from_person_id IN (SELECT unnest($ids)) "
                "OR to_person_id IN (SELECT unnest($ids))",
                {"ids": wanted},
            )
        cursor = self._connection.execute(query, values)
        names = [column[0] for column in cursor.description or ()]
        rows = [PersonRelationship(**dict(zip(names, row, strict=True))) for row in cursor.fetchall()]
        ends = self.statements.survivor
        moved = [
            replace(row, from_person_id=ends(row.from_person_id), to_person_id=ends(row.to_person_id)) for row in rows
        ]
        kept = [row for row in moved if row.from_person_id != row.to_person_id]
        said = self._relationship_entries(person_ids)
        return statement_overlay.relationships(statement_overlay.merge_duplicates(kept), said, self.survivor)

    def _relationship_entries(self, person_ids: Collection[int] | None) -> list[Entry]:
        """What was said since of these people's relationships."""
        wanted = None if person_ids is None else {self.survivor(one) for one in person_ids}
        found = []
        for entry in self.statements.entries:
            said = entry.statement
            if isinstance(said, StatedRelationship | RelationshipNote):
                ends = {self.survivor(said.from_person_id), self.survivor(said.to_person_id)}
                if wanted is None or not wanted.isdisjoint(ends):
                    found.append(entry)
        return found

    def _survivors(self, person_ids: Iterable[int]) -> dict[int, int]:
        """Every id of the generation that means one of these people -> who that is."""
        return {old: one for one in {self.survivor(some) for some in person_ids} for old in self.statements.former(one)}

    def _rows(self, table: str, person_ids: Iterable[int]) -> list[dict[str, Any]]:
        cancellation.check()
        query = f"FROM {table} WHERE person_id IN (SELECT unnest($ids)) ORDER BY ALL"
        cursor = self._connection.execute(query, {"ids": list(person_ids)})
        names = [column[0] for column in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def _keep(person_id: int, wanted: Collection[int]) -> int | None:
    """The id where it is wanted, else None."""
    return person_id if person_id in wanted else None


def words_of(name: str) -> frozenset[str]:
    """The words of a name as names are compared."""
    return frozenset(parse(name).words)


def _latest_first(fact: PersonFact) -> Sequence[int]:
    """Sorts what holds since later, or was said later, first."""
    begin = statement_overlay.JOURNAL
    number = int(fact.source_ref.removeprefix(begin)) if fact.source_ref.startswith(begin) else 0
    return [-ord(char) for char in fact.valid_from or ""] or [0], -number  # type: ignore[return-value]
