"""The stage that makes people: who is who in all sources, what is known of them, and what they are to one another."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from operator import attrgetter
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa

from relrag_pipelines.identity import lookup, people_tables
from relrag_pipelines.identity.entries import Claim, NamingEntry, from_counts
from relrag_pipelines.identity.journal_statements import PERSON, Entry, Statement, holding, number_statements
from relrag_pipelines.identity.name_forms import given_forms, person_names
from relrag_pipelines.identity.resolve import Resolution, resolve
from relrag_pipelines.journal import journal
from relrag_pipelines.people import VERSION, lake_months, month_texts, profiles, resolved_statements
from relrag_pipelines.people.month_texts import Months
from relrag_pipelines.records import GivenForm, PersonName
from relrag_pipelines.stores import lake
from relrag_pipelines.stores.table_schema import to_table
from relrag_pipelines.text.names.personal_name import parse
from relrag_pipelines.workspace import Workspace

if TYPE_CHECKING:
    from pyarrow.dataset import Dataset

TABLES = (
    "persons",
    "person_aliases",
    "person_redirects",
    "person_names",
    "given_forms",
    "person_entries",
    "person_facts",
    "person_relationships",
    *month_texts.TABLES,
)
_COUNTED = """
    SELECT split_part(lake_month, '/', 1) AS source, entry, person_id, kind, keyed, shared, min(value) AS value,
        count(*) FILTER (role = 'sender') AS sent, bool_or(entry = asset_id) AS is_card
    FROM identifiers GROUP BY ALL ORDER BY ALL
"""
_PEOPLE_OF_MONTHS = """
    WITH appearing AS (SELECT DISTINCT lake_month, entry, person_id AS pinned FROM identifiers)
    SELECT lake_month, md5(string_agg(concat_ws('/', appearing.entry, pinned, who.person_id), ','
        ORDER BY appearing.entry, pinned))
    FROM appearing LEFT JOIN who ON who.source = split_part(lake_month, '/', 1) AND who.entry = appearing.entry
        AND who.pinned_person_id = coalesce(pinned, -1)
    GROUP BY lake_month
"""
_OWNER = "owner"
"""the entry of an owner whom the archive does not name"""


def make(workspace: Workspace, inputs: Mapping[str, Dataset]) -> tuple[dict[str, pa.Table], dict[str, float]]:
    """The tables in TABLES, and what they took. Ids that are given for the first time go into the journal."""
    records, identifiers = (lake_months.month_files(inputs[table]) for table in ("records", "identifiers"))
    statements = inputs["passage_statements"].to_table()
    with lake_months.connect("identifiers", identifiers) as connection:
        said = holding(journal.entries(workspace.home))
        found, owner = people(workspace, _entries(connection), said)
        journal.append(workspace.home, found.allocations)
        entries = people_tables.person_entries(found)
        connection.register("who", entries)
        whose = dict(connection.execute(_PEOPLE_OF_MONTHS).fetchall())
        in_names = profiles.read_names(found, owner, connection)
        names, forms = _names(found)
        of_passages = resolved_statements.make(found, statements, (names, forms), connection)
    months = Months(records, identifiers, whose, owner)
    of_texts, read = month_texts.make(workspace, found, (names, forms), months, VERSION)
    facts, relationships = profiles.make(workspace, found, records, said, in_names, of_texts, of_passages[:2])
    tables = {
        "persons": people_tables.persons(found, owner),
        "person_aliases": people_tables.person_aliases(found),
        "person_redirects": people_tables.person_redirects(found),
        "person_names": names,
        "given_forms": forms,
        "person_entries": entries,
        "person_facts": facts,
        "person_relationships": relationships,
        **of_texts,
    }
    counts: dict[str, float] = {"people": len(found.people), "months_read": read}
    if statements.num_rows:
        counts["statements_of_nobody_known"] = of_passages[2]
    return tables, counts


def people(workspace: Workspace, entries: list[NamingEntry], said: Iterable[Entry]) -> tuple[Resolution, int | None]:
    """Who is who, and who of them is the owner: somebody from the first, if only by the name in the settings."""
    said = list(said)
    least, name = workspace.settings.person_unnamed_after, workspace.settings.owner

    keyed = functools.partial(_pseudonym, workspace)
    found = resolve(entries, said, keyed, least, name)
    owner = lookup.owner(found.people, name) if name else None
    card = None
    if owner is None and parse(name).words and not lookup.candidates(found.people, name):
        card = NamingEntry("", _OWNER, True, (Claim("name", name, keyed(name), False),), None, 0)
    elif alone := lookup.owner_and_namesake(found.people, name):
        card = _owner_card(found, *alone)
    if card:
        found = resolve([*entries, card], said, keyed, least, name)
        owner = found.person_of[card.source, card.entry, None]
    return found, owner


def _owner_card(found: Resolution, owner: int, alone: int) -> NamingEntry:
    """What says that the owner is whoever is called by his given name and nothing else, as a card would."""
    own = [claim for entry in found.people[owner].entries for claim in entry.claims]
    named = [claim for entry in found.people[alone].entries for claim in entry.names]
    # one of the owner's own identifiers, where he has any, makes it his
    sure = sorted(claim for claim in own if claim.kind != "name" and not claim.shared)[:1]
    claims = [*(claim for claim in own if claim.kind == "name"), *named, *sure]
    return NamingEntry("", _OWNER, True, tuple(sorted(set(claims))), None, 0)


def read_people(workspace: Workspace, *more: Statement) -> tuple[Resolution, Callable[[str], str]]:
    """The people of the lake as it is now, if `more` is stated too, and what hashes their names in anchors."""
    home = workspace.home
    files = {
        f"{source.name}/{month}": path
        for source in workspace.settings.sources
        for month, path in lake.month_files(home, "identifiers", source.name).items()
    }
    with lake_months.connect("identifiers", files) as connection:
        said = holding(journal.entries(home))
        found, _ = people(workspace, _entries(connection), number_statements(said, more))
    return found, functools.partial(_pseudonym, workspace)


def _pseudonym(workspace: Workspace, name: str) -> str:
    return workspace.keys.pseudonym(PERSON, name)


def _entries(connection: duckdb.DuckDBPyConnection) -> list[NamingEntry]:
    rows = connection.sql(_COUNTED).to_arrow_table().to_pylist()
    by_source: dict[str, list[dict[str, object]]] = {}
    for row in rows:
        by_source.setdefault(row["source"], []).append(row)
    return [entry for source in sorted(by_source) for entry in from_counts(source, by_source[source])]


def _names(found: Resolution) -> tuple[pa.Table, pa.Table]:
    """The rows of person_names and of given_forms, as they are stored, since they are compared with what is."""
    people = [person for _, person in sorted(found.people.items())]
    names = (claim.value for person in people for entry in person.entries for claim in entry.names)
    rows = sorted(
        (row for person in people for row in person_names(person)), key=attrgetter("form", "person_id", "rank")
    )
    return to_table(rows, PersonName), to_table(given_forms(names), GivenForm)
