"""The stage that makes the tables of people: identities across all sources, facts, and relationships."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from operator import attrgetter
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa

from relrag_pipelines.identity import lookup, people_tables
from relrag_pipelines.identity.entries import Claim, NamingEntry, from_counts
from relrag_pipelines.identity.journal_statements import PERSON, Entry, Statement, number_statements, valid_entries
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
_MONTH_ENTRIES = """
    CREATE TEMP TABLE month_entries AS
    SELECT lake_month, entry, person_id, kind, keyed, shared, min(value) AS value,
        count(*) FILTER (role = 'sender') AS sent, bool_or(entry = asset_id) AS is_card
    FROM identifiers GROUP BY ALL
"""
"""The entries of each month; a month has few, so that the identifiers are read once for all that is asked of them."""
_COUNTED = """
    SELECT split_part(lake_month, '/', 1) AS source, entry, person_id, kind, keyed, shared, min(value) AS value,
        sum(sent)::BIGINT AS sent, bool_or(is_card) AS is_card
    FROM month_entries GROUP BY ALL ORDER BY ALL
"""
_PEOPLE_OF_MONTHS = """
    WITH entries AS (SELECT DISTINCT lake_month, entry, person_id AS pinned FROM month_entries)
    SELECT lake_month, md5(string_agg(concat_ws('/', entries.entry, pinned, who.person_id), ','
        ORDER BY entries.entry, pinned))
    FROM entries LEFT JOIN who ON who.source = split_part(lake_month, '/', 1) AND who.entry = entries.entry
        AND who.pinned_person_id = coalesce(pinned, -1)
    GROUP BY lake_month
"""
_OWNER = "owner"
"""the entry of an owner whom the archive does not name"""


def make(workspace: Workspace, inputs: Mapping[str, Dataset]) -> tuple[dict[str, pa.Table], dict[str, float]]:
    """The tables in TABLES, and counts. New ids are recorded in the journal."""
    records, identifiers = (lake_months.month_files(inputs[table]) for table in ("records", "identifiers"))
    passage_statements = inputs["passage_statements"].to_table()
    with lake_months.connect("identifiers", identifiers) as connection:
        statements = valid_entries(journal.entries(workspace.home))
        resolution, owner = people(workspace, _entries(connection), statements)
        journal.append(workspace.home, resolution.allocations)
        entries = people_tables.person_entries(resolution)
        connection.register("who", entries)
        month_people = dict(connection.execute(_PEOPLE_OF_MONTHS).fetchall())
        in_names = profiles.read_names(resolution, owner, connection)
        names, forms = _names(resolution)
        of_passages = resolved_statements.make(resolution, passage_statements, (names, forms), connection)
    months = Months(records, identifiers, month_people, owner)
    of_texts, months_read = month_texts.make(workspace, resolution, (names, forms), months, VERSION)
    facts, relationships = profiles.make(
        workspace, resolution, records, statements, in_names, of_texts, of_passages[:2]
    )
    tables = {
        "persons": people_tables.persons(resolution, owner),
        "person_aliases": people_tables.person_aliases(resolution),
        "person_redirects": people_tables.person_redirects(resolution),
        "person_names": names,
        "given_forms": forms,
        "person_entries": entries,
        "person_facts": facts,
        "person_relationships": relationships,
        **of_texts,
    }
    counts: dict[str, float] = {"people": len(resolution.people), "months_read": months_read}
    if passage_statements.num_rows:
        counts["statements_of_nobody_known"] = of_passages[2]
    return tables, counts


def people(
    workspace: Workspace, entries: list[NamingEntry], statements: Iterable[Entry]
) -> tuple[Resolution, int | None]:
    """The resolved people, and the owner among them, who exists from the first sync by the name in the settings."""
    statements = list(statements)
    unnamed_after, name = workspace.settings.person_unnamed_after, workspace.settings.owner

    keyed = functools.partial(_pseudonym, workspace)
    resolution = resolve(entries, statements, keyed, unnamed_after, name)
    owner = lookup.owner(resolution.people, name) if name else None
    card = None
    if owner is None and parse(name).words and not lookup.candidates(resolution.people, name):
        card = NamingEntry("", _OWNER, True, (Claim("name", name, keyed(name), False),), None, 0)
    elif pair := lookup.owner_and_namesake(resolution.people, name):
        card = _owner_card(resolution, *pair)
    if card:
        resolution = resolve([*entries, card], statements, keyed, unnamed_after, name)
        owner = resolution.person_of[card.source, card.entry, None]
    return resolution, owner


def _owner_card(resolution: Resolution, owner: int, namesake: int) -> NamingEntry:
    """A card that joins the owner with a person who is named by the owner's given name alone."""
    own = [claim for entry in resolution.people[owner].entries for claim in entry.claims]
    names = [claim for entry in resolution.people[namesake].entries for claim in entry.names]
    # an identifier that only the owner has, if there is one, ties the card to the owner
    identifiers = sorted(claim for claim in own if claim.kind != "name" and not claim.shared)[:1]
    claims = [*(claim for claim in own if claim.kind == "name"), *names, *identifiers]
    return NamingEntry("", _OWNER, True, tuple(sorted(set(claims))), None, 0)


def read_people(workspace: Workspace, *more: Statement) -> tuple[Resolution, Callable[[str], str]]:
    """The people of the present lake with the statements `more` added, and the function that hashes anchors' names."""
    home = workspace.home
    files = {
        f"{source.name}/{month}": path
        for source in workspace.settings.sources
        for month, path in lake.month_files(home, "identifiers", source.name).items()
    }
    with lake_months.connect("identifiers", files) as connection:
        statements = valid_entries(journal.entries(home))
        resolution, _ = people(workspace, _entries(connection), number_statements(statements, more))
    return resolution, functools.partial(_pseudonym, workspace)


def _pseudonym(workspace: Workspace, name: str) -> str:
    return workspace.keys.pseudonym(PERSON, name)


def _entries(connection: duckdb.DuckDBPyConnection) -> list[NamingEntry]:
    connection.execute(_MONTH_ENTRIES)
    rows = connection.sql(_COUNTED).to_arrow_table().to_pylist()
    by_source: dict[str, list[dict[str, object]]] = {}
    for row in rows:
        by_source.setdefault(row["source"], []).append(row)
    return [entry for source in sorted(by_source) for entry in from_counts(source, by_source[source])]


def _names(resolution: Resolution) -> tuple[pa.Table, pa.Table]:
    """The rows of person_names and of given_forms as they are stored: the next run compares them."""
    people = [person for _, person in sorted(resolution.people.items())]
    names = (claim.value for person in people for entry in person.entries for claim in entry.names)
    rows = sorted(
        (row for person in people for row in person_names(person)), key=attrgetter("form", "person_id", "rank")
    )
    return to_table(rows, PersonName), to_table(given_forms(names), GivenForm)
