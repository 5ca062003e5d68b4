"""Proves that nothing is left: searches every file for values that only the forgotten records held.

What also stands in records that stay, or among this program's own words, says nothing about what was forgotten and is
left out of the search. A text is looked for by runs of a few words, so that a passage of it is found as well.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from relrag_pipelines.erasure import byte_search, journal_removal, record_selection, rule_matching
from relrag_pipelines.erasure.byte_search import LEAST_BYTES, SearchPatterns, SearchResult
from relrag_pipelines.identity.participants import parse_identifiers
from relrag_pipelines.journal import journal
from relrag_pipelines.journal.journal import JournalError
from relrag_pipelines.workspace import Workspace

MOST = 20_000
"""values that are searched for at most"""
_RUN = 4
_LONGEST = 200
_FEW = 3
"""records that hold the same phrase although it is no everyday one"""
_LINES = re.compile(r"[^\r\n\f\v\x85\u2028\u2029]+")
_TIME = re.compile(r"[\d:./ TZ+-]*")


class SimilarRecord(NamedTuple):
    """A record that stays and holds phrases of what is forgotten."""

    kind: str
    rag_source_type: str
    ts: int | None
    date_quality: str
    asset_id: str
    phrases: int


@dataclass
class ErasureProof:
    """What the search for forgotten values saw."""

    search: SearchResult
    values: int = 0
    """how many were searched for"""
    is_sample: bool = False
    """there are more; these are a fair sample"""
    shared_values: int = 0
    """how many stand in records that stay as well, and are not searched for"""
    own: int = 0
    """how many are among this program's own words or in the paths of the archive, and are not searched for"""
    short: int = 0
    """how many words, numbers and dates tell nothing by themselves, and are not searched for"""
    alike: list[SimilarRecord] = field(default_factory=list)
    """records that stay and hold what few others do: they may hold pieces of it; those with the most come first"""
    remaining_names: list[str] = field(default_factory=list)
    """names that were to be forgotten, as given, and stand in what stays"""

    @property
    def holds(self) -> bool:
        """No file holds any of the values, and all could be read."""
        return not (self.search.holding or self.search.unreadable or self.remaining_names)


def distinctive_values(tables: Iterable[pa.Table]) -> tuple[set[str], bool]:
    """What private records say that can be told from anything else: ids, names, addresses, runs of words.

    At most MOST of them, those with the lowest hashes, and whether there are more.
    """
    values: set[str] = set()
    sampled = False
    for table in tables:
        for column, texts, _ in rule_matching.external_strings(table):
            values.update(_texts_of_column(column, texts))
            if len(values) > MOST:
                values, sampled = set(sorted(values, key=_is_coincidence)[:MOST]), True
    return values, sampled


def verify_erased(
    workspace: Workspace, values: set[str], named: Iterable[str] = (), *, sampled: bool = False, short: int = 0
) -> ErasureProof:
    """Searches the archive, from which the records are gone, for their values and for what named a person."""
    wanted = {said for who in named for said in _name_variants(who)}
    needles = SearchPatterns(sorted(values | wanted))
    within: set[str] = set()
    standing: set[str] = set()
    for text in _remaining_values(workspace):
        within |= needles.values_in(text)
        standing |= needles.whole(text) & wanted
    own = {value for text in _program_words(workspace) for value in needles.values_in(text)}
    words = sorted(wanted - standing - own)
    # one that is part of a longer word that stays can be told from it only where words are read, not in packed bytes
    names = [value for value in words if value not in within and len(value.encode()) >= LEAST_BYTES]
    alone = sorted(values - within - own - wanted)
    searched = byte_search.search(workspace.home, [*names, *alone], words)
    shared = len((values & within) - own - standing)
    alike = _similar_records(workspace, sorted(values & within - own))
    still_named = sorted(standing - own)
    return ErasureProof(
        searched, len(words) + len(alone), sampled, shared, len((values | wanted) & own), short, alike, still_named
    )


def _similar_records(workspace: Workspace, phrases: list[str]) -> list[SimilarRecord]:
    """The records that stay and hold phrases which no more than _FEW records hold; what more hold is everyday."""
    needles = SearchPatterns(phrases)
    holding: dict[str, set[str]] = defaultdict(set)
    known: dict[str, tuple[str, str, int | None, str]] = {}
    for _, _, table in record_selection.private_months(workspace) if phrases else ():
        ids = table["asset_id"].to_pylist()
        times = table.select(["kind", "rag_source_type", "ts", "date_quality"]).to_pydict().values()
        described = list(zip(*times, strict=True))
        for _, texts, rows in rule_matching.external_strings(table):
            for text, row in zip(texts.to_pylist(), rows.tolist(), strict=True):
                for phrase in needles.values_in(text.encode("utf-8", "surrogatepass")):
                    holding[phrase].add(ids[row])
                    known[ids[row]] = described[row]
    few = Counter(one for records in holding.values() if len(records) <= _FEW for one in records)
    return [
        SimilarRecord(*known[one], one, count) for one, count in sorted(few.items(), key=lambda one: (-one[1], one[0]))
    ]


def short_in(tables: Iterable[pa.Table]) -> int:
    """How many different short words, numbers and dates private records hold that tell nothing by themselves."""
    found: set[str] = set()
    for table in tables:
        for column, texts, _ in rule_matching.external_strings(table):
            for text in pc.unique(texts).to_pylist():
                said = rule_matching.json_texts(orjson.loads(text)) if column == "extra" else [text]
                found.update(word for one in said for word in one.split() if not _is_distinctive(word, least_words=3))
    return len(found)


def _name_variants(who: str) -> set[str]:
    """How somebody may stand in a file: as given, and each name and address of it alone."""
    named = parse_identifiers(who)
    return {who.strip(), *(one.value for one in named), *(one.normalised for one in named if one.kind == "email")}


def _texts_of_column(column: str, texts: pa.Array) -> Iterator[str]:
    for text in pc.unique(texts).to_pylist():
        if column == "extra":
            yield from (run for said in rule_matching.json_texts(orjson.loads(text)) for run in _runs(said))
        elif column == "text":
            yield from _runs(text)
        elif _is_distinctive(text, least_words=2):
            yield text


def _runs(text: str) -> Iterator[str]:
    """A text in runs of a few words, none beyond a line; the last of a line overlaps the one before it."""
    for line in _LINES.findall(text):
        words = [found.span() for found in re.finditer(r"\S+", line)]
        for first in range(0, len(words), _RUN):
            run = words[max(0, min(first, len(words) - _RUN)) : first + _RUN]
            value = line[run[0][0] : run[-1][1]][:_LONGEST]
            if _is_distinctive(value, least_words=3):
                yield value
            else:
                yield from (word for word in value.split() if _is_distinctive(word, least_words=3))


def _is_distinctive(value: str, least_words: int) -> bool:
    """Whether finding it would mean something: no everyday word, no number or time that stands anywhere."""
    size = len(value.encode("utf-8", "surrogatepass"))
    if size < LEAST_BYTES or _TIME.fullmatch(value):
        return sum(map(str.isdecimal, value)) > 8 and not value.startswith(("19", "20"))
    if not value.isascii():
        return True
    if len(value.split()) >= least_words:
        return size >= 2 * LEAST_BYTES
    return len(value.split()) == 1 and ("@" in value or any(map(str.isdecimal, value)))


def _remaining_values(workspace: Workspace) -> Iterator[bytes]:
    """All strings of the records that stay, and the owner's own words about what stays."""
    with suppress(JournalError):
        for entry in journal.entries(workspace.home):
            yield from (text.encode() for text in journal_removal.own_words(entry.statement))
    for _, _, table in record_selection.private_months(workspace):
        for _, texts, _ in rule_matching.external_strings(table):
            yield from byte_search.distinct_strings(texts)


def _program_words(workspace: Workspace) -> Iterator[bytes]:
    """This program's own words, which name its tables and assets, and where it and the archive lie: Dagster notes that,
    and the path of a home folder names its owner.
    """
    settings = workspace.settings
    places = [str(settings.folder), str(settings.home_path), sys.prefix, *(source.name for source in settings.sources)]
    yield "\0".join(places).encode("utf-8", "surrogateescape")
    for module in Path(__file__).parents[1].rglob("*.py"):
        yield module.read_bytes()


def _is_coincidence(value: str) -> bytes:
    return hashlib.blake2b(value.encode("utf-8", "surrogatepass"), digest_size=8).digest()
