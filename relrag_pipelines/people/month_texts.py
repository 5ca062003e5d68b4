"""Who is named in the texts of each month, and what they say of relationships; only months that changed are read.

A month is read again when its records or identifiers differ, when somebody in it is somebody else, or when it holds a
word with which a name begins that is new, gone, or another's. So a new message costs its month, and a new name the
months that may hold it.
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
"""tables that say who bears a name"""
_AS_THEY_ARE = ("asset_id", "text", "client_id", "thread_id", "subject")
_READ = [*_AS_THEY_ARE, "rag_source_type", "ts", "extra"]


_FEW, _MANY = 3, 20_000
"""months that are read with a finder each, and people of whom one finder is made for all months"""


class Months(NamedTuple):
    """What there is to read."""

    records: dict[str, Path]
    """<source>/<YYYY-MM> -> file"""
    identifiers: dict[str, Path]
    people: dict[str, str]
    """<source>/<YYYY-MM> -> hash of whom its entries are of"""
    owner: int | None
    """whose archive it is, of whom a signature as `Dad` speaks"""


def make(
    workspace: Workspace, found: Resolution, names: tuple[pa.Table, pa.Table], months: Months, version: int
) -> tuple[dict[str, pa.Table], int]:
    """The tables, and how many months were read for them; `names` are the rows of person_names and of given_forms."""
    home = workspace.home
    before = lake_months.previous(home, (*TABLES, *_NAMES))
    zone = ZoneInfo(workspace.settings.timezone)
    wanted = _inputs(home, months, version, zone.key)
    known = dict(zip(*(before["person_months"][name].to_pylist() for name in ("lake_month", "input")), strict=True))
    earlier = tuple(before[table] for table in _NAMES)
    # mostly nobody is new, and then nothing is compared, however many people there are
    same = all(one.equals(other) for one, other in zip(names, earlier, strict=True))
    renamed = set() if same else _with_changed_names(_bearers(*names), _bearers(*earlier), before["month_words"])
    stale = [month for month in wanted if known.get(month) != wanted[month] or month in renamed]
    kept = pa.array([month for month in wanted if month not in {*stale}], pa.string())
    # of many months one finder of everybody is made sooner than one a month of whom it may name
    reader = _Reader(found, names, months, zone, everybody=len(stale) > _FEW and len(found.people) <= _MANY)
    parts = {table: [_of_months(before[table], kept)] for table in TABLES if table != "person_months"}
    for done, read in enumerate(workspace.each(reader.tables, stale), 1):
        workspace.report("people", done, len(stale))
        for table, rows in read.items():
            parts[table].append(rows)
    made = {table: pa.concat_tables(some) for table, some in parts.items()}
    made["person_months"] = _person_months(wanted, months.people, made["person_mentions"])
    return made, len(stale)


def _inputs(home: Path, months: Months, version: int, zone: str) -> dict[str, str]:
    every = sorted({*months.records, *months.identifiers})
    held = [lake_months.outputs(home, table, every) for table in ("records", "identifiers")]
    of_all = [version, months.owner, zone]
    return {month: fingerprint([of_all, *(one[month] for one in held), months.people.get(month)]) for month in every}


def _bearers(names: pa.Table, forms: pa.Table) -> pa.Table:
    """The names that begin with a word, in any of its cases, and who bears them: word, name, person_id."""
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
    """Months with a word that begins a name which is not borne by whom it was before."""
    with catalog.scratch() as connection:
        for name, table in (("bearers", bearers), ("before", before), ("words", words)):
            connection.register(name, table)
        found = connection.execute(
            """
            WITH changed AS ((FROM bearers EXCEPT FROM before) UNION (FROM before EXCEPT FROM bearers))
            SELECT DISTINCT lake_month FROM words SEMI JOIN changed USING (word)
            """
        ).fetchall()
    return {month for (month,) in found}


def _of_months(table: pa.Table, months: pa.Array) -> pa.Table:
    return table.filter(pc.is_in(table["lake_month"], months))


class _Reader:
    """Reads months, here or in other processes."""

    def __init__(
        self, found: Resolution, names: tuple[pa.Table, pa.Table], months: Months, zone: ZoneInfo, *, everybody: bool
    ) -> None:
        self._found, self._names, self._months, self._zone, self._everybody = found, names, months, zone, everybody

    def __reduce__(self) -> tuple[Any, ...]:
        return _reader_in_worker, (self._state,)

    @functools.cached_property
    def _state(self) -> bytes:
        return pickle.dumps((self._found, self._names, self._months, self._zone, self._everybody))

    @functools.cached_property
    def _every(self) -> MentionFinder | None:
        return finder(self._found) if self._everybody else None

    def tables(self, month: str) -> dict[str, pa.Table]:
        """The rows that one month gives, by table."""
        if month not in self._months.records:
            return {}
        rows = parquet_file.read(self._months.records[month], _READ)
        begun = beginnings(_pieces(rows))
        records = rows.to_pylist()
        texts = {one["asset_id"]: tuple(filter(None, (one["subject"], one["text"]))) for one in records}
        words = [MonthWord(month, word) for word in sorted(begun)]
        present, writers, own = _appearing(month, self._months, self._found)
        people = RecordPeople(present, writers, self._months.owner)
        named = self._every or finder(self._found, name_bearers(*self._names, begun))
        every = mention_rows(named, month, texts, present)
        mentions = [one for one in every if (one.asset_id, one.person_id) not in own]
        types = [(one, record_type(one["rag_source_type"])) for one in records]
        spoken = [_text(one, type_, self._zone) for one, type_ in types if not type_.card]
        relations, facts = text_statements.read(named, month, spoken, people, self._found)
        relations += _of_cards(month, [one for one, type_ in types if type_.card], own, people.owner, named)
        return {
            "person_mentions": to_table(mentions, PersonMention),
            "text_relationships": to_table(relations, TextRelationship),
            "text_facts": to_table(facts, TextFact),
            "month_words": to_table(words, MonthWord),
        }


def _pieces(records: pa.Table) -> list[str]:
    """What stands between blanks in subjects and texts, each once: most words come again and again."""
    said = [chunk for name in ("subject", "text") for chunk in records[name].chunks]
    pieces: list[str] = (
        pc.list_flatten(pc.ascii_split_whitespace(pa.chunked_array(said, pa.string()))).unique().to_pylist()
    )
    return pieces


def _of_cards(
    month: str,
    cards: Iterable[Mapping[str, Any]],
    own: Collection[tuple[str, int]],
    owner: int | None,
    named: MentionFinder,
) -> list[TextRelationship]:
    """What notes on cards say, each once."""
    holders: dict[str, set[int]] = {}
    for ref, person_id in own:
        holders.setdefault(ref, set()).add(person_id)
    found: dict[tuple[str, int, int, str, str], TextRelationship] = {}
    for card in cards:
        ref, name = card["asset_id"], card["subject"]
        held_by = holders.get(ref, set())
        if name and len(held_by) == 1:
            (person_id,) = held_by
            notes = card_notes.read(orjson.loads(card["extra"])) if '"notes"' in card["extra"] else []
            for one, other, kind, quote in card_notes.relations(notes, name, person_id, owner, named):
                key = (month, one, other, kind, ref)
                found.setdefault(key, TextRelationship(*key, quote, card["client_id"]))
    return list(found.values())


@functools.lru_cache(maxsize=1)
def _reader_in_worker(state: bytes) -> _Reader:
    # only what this project pickled in the process that started this one comes here
    found, names, months, zone, everybody = pickle.loads(state)  # noqa: S301
    return _Reader(found, names, months, zone, everybody=everybody)


def _text(record: Mapping[str, Any], type_: RecordType, zone: ZoneInfo) -> Text:
    day = None if record["ts"] is None else datetime.fromtimestamp(record["ts"], zone).date()
    found = Text(type=type_, day=day, ts=record["ts"], **{name: record[name] for name in _AS_THEY_ARE})
    if not type_.mail or not any(word in record["extra"] for word in ('"apart"', '"bulk"')):
        return found
    told = orjson.loads(record["extra"])
    return found._replace(signature=(told.get("apart") or {}).get("signature") or "", bulk=bool(told.get("bulk")))


def name_bearers(names: pa.Table, forms: pa.Table, words: set[str]) -> list[int]:
    """Who bears a name that begins with one of these words, in any of its cases."""
    with catalog.scratch() as connection:
        for name, table in (("names", names), ("forms", forms)):
            connection.register(name, table)
        found = connection.execute(
            """
            WITH asked AS (SELECT unnest($words) AS word),
            givens AS (FROM asked UNION SELECT given FROM forms SEMI JOIN asked ON word = form WHERE rank = 'case')
            SELECT DISTINCT person_id FROM names
            WHERE (rank = 'whole' AND split_part(form, ' ', 1) IN (FROM givens))
                OR (rank = 'family' AND form IN (FROM givens)) ORDER BY ALL
            """,
            {"words": sorted(words)},
        ).fetchall()
    return [one for (one,) in found]


def _appearing(
    month: str, months: Months, found: Resolution
) -> tuple[dict[str, set[int]], dict[str, int], set[tuple[str, int]]]:
    """Who appears in each record; who wrote it; records with those who wrote them or whose card they are."""
    present: dict[str, set[int]] = {}
    writers: dict[str, int] = {}
    own: set[tuple[str, int]] = set()
    if month in months.identifiers:
        columns = ["asset_id", "role", "entry", "person_id"]
        rows = parquet_file.read(months.identifiers[month], columns)
        source = month.split("/")[0]
        for asset_id, role, entry, pinned in zip(*(rows[name].to_pylist() for name in columns), strict=True):
            person_id = found.person_of.get((source, entry, pinned))
            if person_id is None:
                continue
            present.setdefault(asset_id, set()).add(person_id)
            if role in ("sender", "owner"):
                own.add((asset_id, person_id))
            if role == "sender":
                writers[asset_id] = person_id
    return present, writers, own


def _person_months(wanted: Mapping[str, str], people: Mapping[str, str], mentions: pa.Table) -> pa.Table:
    named: dict[str, list[list[object]]] = {}
    columns = (mentions[name].to_pylist() for name in ("lake_month", "asset_id", "person_id"))
    for month, asset_id, person_id in zip(*columns, strict=True):
        named.setdefault(month, []).append([asset_id, person_id])
    rows = [
        PersonMonth(month, made_from, fingerprint([people.get(month), sorted(named.get(month, ()), key=str)]))
        for month, made_from in wanted.items()
    ]
    return to_table(rows, PersonMonth)
