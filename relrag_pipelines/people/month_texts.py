"""Finds people, relationships and facts in the texts of each month; only months that changed are read.

A month is read again if its records or identifiers differ, if its identifiers now belong to other people, or if it
contains the first word of a name that is new, gone or borne by others. So a new message costs its month, and a new
name the months that may contain it.
"""

from __future__ import annotations

import functools
import pickle
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from relrag_pipelines.identity.mentions import MentionFinder
from relrag_pipelines.identity.name_forms import beginnings
from relrag_pipelines.identity.people_tables import finder, mention_rows
from relrag_pipelines.identity.resolve import Resolution
from relrag_pipelines.people import card_notes, lake_months, text_statements
from relrag_pipelines.people.text_statements import RecordPeople, Text
from relrag_pipelines.records import MonthWord, PersonMention, PersonMonth, TextFact, TextRelationship
from relrag_pipelines.sources import record_type
from relrag_pipelines.sources.kind import RecordType
from relrag_pipelines.stores import catalog, parquet_file
from relrag_pipelines.stores.fingerprint import fingerprint
from relrag_pipelines.stores.table_schema import to_table
from relrag_pipelines.workspace import Workspace

TABLES = {
    "person_mentions": PersonMention,
    "person_months": PersonMonth,
    "text_relationships": TextRelationship,
    "text_facts": TextFact,
    "month_words": MonthWord,
}
_NAMES = ("person_names", "given_forms")
"""tables of the names that people bear"""
_TEXT_COLUMNS = ("asset_id", "text", "client_id", "thread_id", "subject")
_COLUMNS = [*_TEXT_COLUMNS, "rag_source_type", "ts", "extra"]


_MAX_SEPARATE_FINDERS, _MAX_SHARED_PEOPLE = 3, 20_000
"""maximum number of months with a finder each, and of people for whom one finder serves all months"""


class Months(NamedTuple):
    """The months to read."""

    records: dict[str, Path]
    """<source>/<YYYY-MM> -> file"""
    identifiers: dict[str, Path]
    people: dict[str, str]
    """<source>/<YYYY-MM> -> hash of the people of its entries"""
    owner: int | None
    """whose archive it is; a signature like `Dad` is about the owner's father"""


def make(
    workspace: Workspace, resolution: Resolution, names: tuple[pa.Table, pa.Table], months: Months, version: int
) -> tuple[dict[str, pa.Table], int]:
    """The tables, and the number of months that were read; `names` are the rows of person_names and of given_forms."""
    home = workspace.home
    before = lake_months.previous(home, (*TABLES, *_NAMES))
    zone = ZoneInfo(workspace.settings.timezone)
    inputs = _inputs(home, months, version, zone.key)
    stale = _stale_months(inputs, names, before)
    fresh = pa.array([month for month in inputs if month not in {*stale}], pa.string())
    # for many months one finder of everybody takes less time than a finder a month of those whom it may name
    everybody = len(stale) > _MAX_SEPARATE_FINDERS and len(resolution.people) <= _MAX_SHARED_PEOPLE
    reader = _Reader(resolution, names, months, zone, everybody=everybody)
    parts = {table: [_rows_of_months(before[table], fresh)] for table in TABLES if table != "person_months"}
    for done, month_tables in enumerate(workspace.each(reader.tables, stale), 1):
        workspace.report("people", done, len(stale))
        for table, rows in month_tables.items():
            parts[table].append(rows)
    tables = {table: pa.concat_tables(pieces) for table, pieces in parts.items()}
    tables["person_months"] = _person_months(inputs, months.people, tables["person_mentions"])
    return tables, len(stale)


def _stale_months(
    inputs: Mapping[str, str], names: tuple[pa.Table, pa.Table], before: Mapping[str, pa.Table]
) -> list[str]:
    """Months whose input differs from that of the last run, or with a word of a name whose bearers changed."""
    month_columns = (before["person_months"][name].to_pylist() for name in ("lake_month", "input"))
    earlier_inputs = dict(zip(*month_columns, strict=True))
    earlier_names = tuple(before[table] for table in _NAMES)
    # mostly the names are unchanged, and then no bearers are compared, however many people there are
    unchanged = all(new.equals(old) for new, old in zip(names, earlier_names, strict=True))
    renamed = set()
    if not unchanged:
        renamed = _with_changed_names(_bearers(*names), _bearers(*earlier_names), before["month_words"])
    return [month for month in inputs if earlier_inputs.get(month) != inputs[month] or month in renamed]


def _inputs(home: Path, months: Months, version: int, zone: str) -> dict[str, str]:
    """Month -> hash of all that its rows depend on."""
    every = sorted({*months.records, *months.identifiers})
    outputs = [lake_months.outputs(home, table, every) for table in ("records", "identifiers")]
    shared = [version, months.owner, zone]
    return {
        month: fingerprint([shared, *(output[month] for output in outputs), months.people.get(month)])
        for month in every
    }


def _bearers(names: pa.Table, forms: pa.Table) -> pa.Table:
    """Rows of word, name, person_id: the names that begin with a word in any of its cases, and their bearers."""
    with catalog.scratch() as connection:
        connection.register("names", names)
        connection.register("forms", forms)
        return connection.sql(
            """
            WITH whole AS (SELECT split_part(form, ' ', 1) AS word, form AS name, person_id FROM names
                           WHERE rank = 'whole'
                           UNION SELECT form, form, person_id FROM names WHERE rank = 'family')
            FROM whole UNION SELECT form, name, person_id FROM whole JOIN forms ON given = word WHERE rank = 'case'
            """
        ).to_arrow_table()


def _with_changed_names(bearers: pa.Table, before: pa.Table, words: pa.Table) -> set[str]:
    """Months with the first word of a name whose bearers changed."""
    with catalog.scratch() as connection:
        for name, table in (("bearers", bearers), ("before", before), ("words", words)):
            connection.register(name, table)
        rows = connection.execute(
            """
            WITH changed AS ((FROM bearers EXCEPT FROM before) UNION (FROM before EXCEPT FROM bearers))
            SELECT DISTINCT lake_month FROM words SEMI JOIN changed USING (word)
            """
        ).fetchall()
    return {month for (month,) in rows}


def _rows_of_months(table: pa.Table, months: pa.Array) -> pa.Table:
    return table.filter(pc.is_in(table["lake_month"], months))


class _Reader:
    """Reads months, here or in other processes."""

    def __init__(
        self,
        resolution: Resolution,
        names: tuple[pa.Table, pa.Table],
        months: Months,
        zone: ZoneInfo,
        *,
        everybody: bool,
    ) -> None:
        self._resolution, self._names, self._months = resolution, names, months
        self._zone, self._everybody = zone, everybody

    def __reduce__(self) -> tuple[Any, ...]:
        return _reader_in_worker, (self._state,)

    @functools.cached_property
    def _state(self) -> bytes:
        return pickle.dumps((self._resolution, self._names, self._months, self._zone, self._everybody))

    @functools.cached_property
    def _shared_finder(self) -> MentionFinder | None:
        return finder(self._resolution) if self._everybody else None

    def tables(self, month: str) -> dict[str, pa.Table]:
        """The rows of one month, by table."""
        if month not in self._months.records:
            return {}
        rows = parquet_file.read(self._months.records[month], _COLUMNS)
        first_words = beginnings(_words(rows))
        records = rows.to_pylist()
        texts = {record["asset_id"]: tuple(filter(None, (record["subject"], record["text"]))) for record in records}
        words = [MonthWord(month, word) for word in sorted(first_words)]
        present, writers, own = _appearing(month, self._months, self._resolution)
        people = RecordPeople(present, writers, self._months.owner)
        mention_finder = self._shared_finder or finder(self._resolution, name_bearers(*self._names, first_words))
        every_mention = mention_rows(mention_finder, month, texts, present)
        mentions = [mention for mention in every_mention if (mention.asset_id, mention.person_id) not in own]
        types = [(record, record_type(record["rag_source_type"])) for record in records]
        statement_texts = [_text(record, type_, self._zone) for record, type_ in types if not type_.card]
        cards = [record for record, type_ in types if type_.card]
        relations, facts = text_statements.read(mention_finder, month, statement_texts, people, self._resolution)
        relations += _card_relations(month, cards, own, people.owner, mention_finder)
        return {
            "person_mentions": to_table(mentions, PersonMention),
            "text_relationships": to_table(relations, TextRelationship),
            "text_facts": to_table(facts, TextFact),
            "month_words": to_table(words, MonthWord),
        }


def _words(records: pa.Table) -> list[str]:
    """The distinct words of subjects and texts, split at white space."""
    texts = [chunk for name in ("subject", "text") for chunk in records[name].chunks]
    words: list[str] = (
        pc.list_flatten(pc.ascii_split_whitespace(pa.chunked_array(texts, pa.string()))).unique().to_pylist()
    )
    return words


def _card_relations(
    month: str,
    cards: Iterable[Mapping[str, Any]],
    own: Collection[tuple[str, int]],
    owner: int | None,
    mention_finder: MentionFinder,
) -> list[TextRelationship]:
    """The relationships that the notes on cards state, each once."""
    card_people: dict[str, set[int]] = {}
    for ref, person_id in own:
        card_people.setdefault(ref, set()).add(person_id)
    relations: dict[tuple[str, int, int, str, str], TextRelationship] = {}
    for card in cards:
        ref, name = card["asset_id"], card["subject"]
        people = card_people.get(ref, set())
        if not name or len(people) != 1 or '"notes"' not in card["extra"]:
            continue
        (person_id,) = people
        notes = card_notes.read(orjson.loads(card["extra"]))
        for person, other, kind, quote in card_notes.relations(notes, name, person_id, owner, mention_finder):
            key = (month, person, other, kind, ref)
            relations.setdefault(key, TextRelationship(*key, quote, card["client_id"]))
    return list(relations.values())


@functools.lru_cache(maxsize=1)
def _reader_in_worker(state: bytes) -> _Reader:
    # the bytes come from the parent process alone, which pickled them itself
    resolution, names, months, zone, everybody = pickle.loads(state)  # noqa: S301
    return _Reader(resolution, names, months, zone, everybody=everybody)


def _text(record: Mapping[str, Any], type_: RecordType, zone: ZoneInfo) -> Text:
    day = None if record["ts"] is None else datetime.fromtimestamp(record["ts"], zone).date()
    text = Text(type=type_, day=day, ts=record["ts"], **{name: record[name] for name in _TEXT_COLUMNS})
    if not type_.mail or not any(word in record["extra"] for word in ('"apart"', '"bulk"')):
        return text
    extra = orjson.loads(record["extra"])
    return text._replace(signature=(extra.get("apart") or {}).get("signature") or "", bulk=bool(extra.get("bulk")))


def name_bearers(names: pa.Table, forms: pa.Table, words: set[str]) -> list[int]:
    """The people with a name that begins with one of these words, in any of its cases."""
    with catalog.scratch() as connection:
        for name, table in (("names", names), ("forms", forms)):
            connection.register(name, table)
        rows = connection.execute(
            """
            WITH words AS (SELECT unnest($words) AS word),
            givens AS (FROM words UNION SELECT given FROM forms SEMI JOIN words ON word = form WHERE rank = 'case')
            SELECT DISTINCT person_id FROM names
            WHERE (rank = 'whole' AND split_part(form, ' ', 1) IN (FROM givens))
                OR (rank = 'family' AND form IN (FROM givens)) ORDER BY ALL
            """,
            {"words": sorted(words)},
        ).fetchall()
    return [person_id for (person_id,) in rows]


def _appearing(
    month: str, months: Months, resolution: Resolution
) -> tuple[dict[str, set[int]], dict[str, int], set[tuple[str, int]]]:
    """The people of each record, its writer, and pairs of a record and its writer or the person of the card."""
    present: dict[str, set[int]] = {}
    writers: dict[str, int] = {}
    own: set[tuple[str, int]] = set()
    if month not in months.identifiers:
        return present, writers, own
    columns = ["asset_id", "role", "entry", "person_id"]
    rows = parquet_file.read(months.identifiers[month], columns)
    source = month.split("/")[0]
    for asset_id, role, entry, pinned in zip(*(rows[name].to_pylist() for name in columns), strict=True):
        person_id = resolution.person_of.get((source, entry, pinned))
        if person_id is None:
            continue
        present.setdefault(asset_id, set()).add(person_id)
        if role in ("sender", "owner"):
            own.add((asset_id, person_id))
        if role == "sender":
            writers[asset_id] = person_id
    return present, writers, own


def _person_months(inputs: Mapping[str, str], people: Mapping[str, str], mentions: pa.Table) -> pa.Table:
    month_mentions: dict[str, list[list[object]]] = {}
    columns = (mentions[name].to_pylist() for name in ("lake_month", "asset_id", "person_id"))
    for month, asset_id, person_id in zip(*columns, strict=True):
        month_mentions.setdefault(month, []).append([asset_id, person_id])
    rows = []
    for month, input_hash in inputs.items():
        appearances = fingerprint([people.get(month), sorted(month_mentions.get(month, ()), key=str)])
        rows.append(PersonMonth(month, input_hash, appearances))
    return to_table(rows, PersonMonth)
