"""Proves an erasure: searches every file for values that only the forgotten records held.

Values that also occur in remaining records or in this program's own source prove nothing and are left out. Texts are
searched for by runs of a few words, so that a passage of a text is found as well.
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
from relrag_pipelines.erasure.byte_search import MIN_BYTES, SearchPatterns, SearchResult
from relrag_pipelines.identity.participants import parse_identifiers
from relrag_pipelines.journal import journal
from relrag_pipelines.journal.journal import JournalError
from relrag_pipelines.workspace import Workspace

MAX_VALUES = 20_000
"""largest number of values to search for"""
_RUN_WORDS = 4
_MAX_VALUE_CHARS = 200
_MAX_SHARING_RECORDS = 3
"""a phrase in more records than this counts as an everyday phrase"""
_LINES = re.compile(r"[^\r\n\f\v\x85\u2028\u2029]+")
_TIME = re.compile(r"[\d:./ TZ+-]*")


class SimilarRecord(NamedTuple):
    """A remaining record that contains phrases of forgotten records."""

    kind: str
    rag_source_type: str
    ts: int | None
    date_quality: str
    asset_id: str
    phrases: int


@dataclass
class ErasureProof:
    """The result of the search for forgotten values."""

    search: SearchResult
    values: int = 0
    """number of values searched for"""
    is_sample: bool = False
    """the values are a sample of all"""
    shared_values: int = 0
    """number of values that also occur in remaining records; not searched for"""
    program_values: int = 0
    """number of values that occur in this program's source or the archive's paths; not searched for"""
    short: int = 0
    """number of words, numbers and dates that are too common to prove anything; not searched for"""
    similar_records: list[SimilarRecord] = field(default_factory=list)
    """remaining records with rare phrases of forgotten ones, which may be fragments; those with the most come first"""
    remaining_names: list[str] = field(default_factory=list)
    """names to be forgotten, as given, that occur in remaining records"""

    @property
    def holds(self) -> bool:
        """Whether every file could be read and none holds any of the values."""
        return not (self.search.holding or self.search.unreadable or self.remaining_names)


def distinctive_values(tables: Iterable[pa.Table]) -> tuple[set[str], bool]:
    """The distinctive values of private records: ids, names, addresses, runs of words; and whether they are a sample.

    At most MAX_VALUES, those with the lowest hashes.
    """
    values: set[str] = set()
    sampled = False
    for table in tables:
        for column, texts, _ in rule_matching.external_strings(table):
            values.update(_texts_of_column(column, texts))
            if len(values) > MAX_VALUES:
                values, sampled = set(sorted(values, key=_sample_key)[:MAX_VALUES]), True
    return values, sampled


def verify_erased(
    workspace: Workspace, values: set[str], given_names: Iterable[str] = (), *, sampled: bool = False, short: int = 0
) -> ErasureProof:
    """Searches the archive, after the records were removed, for their values and for the person's given names."""
    name_values = {variant for name in given_names for variant in _name_variants(name)}
    needles = SearchPatterns(sorted(values | name_values))
    partial: set[str] = set()
    remaining_names: set[str] = set()
    for text in _remaining_values(workspace):
        partial |= needles.values_in(text)
        remaining_names |= needles.whole(text) & name_values
    program_values = {value for text in _program_words(workspace) for value in needles.values_in(text)}
    words = sorted(name_values - remaining_names - program_values)
    # a name within a longer remaining word can be distinguished from it only in unpacked text, not in raw bytes
    searched_names = [value for value in words if value not in partial and len(value.encode()) >= MIN_BYTES]
    alone = sorted(values - partial - program_values - name_values)
    searched = byte_search.search(workspace.home, [*searched_names, *alone], words)
    shared = len((values & partial) - program_values - remaining_names)
    similar = _similar_records(workspace, sorted(values & partial - program_values))
    still_named = sorted(remaining_names - program_values)
    return ErasureProof(
        searched,
        len(words) + len(alone),
        sampled,
        shared,
        len((values | name_values) & program_values),
        short,
        similar,
        still_named,
    )


def _similar_records(workspace: Workspace, phrases: list[str]) -> list[SimilarRecord]:
    """The remaining records that contain phrases which at most _MAX_SHARING_RECORDS records contain."""
    needles = SearchPatterns(phrases)
    holding: dict[str, set[str]] = defaultdict(set)
    metadata: dict[str, tuple[str, str, int | None, str]] = {}
    for _, _, table in record_selection.private_months(workspace) if phrases else ():
        ids = table["asset_id"].to_pylist()
        times = table.select(["kind", "rag_source_type", "ts", "date_quality"]).to_pydict().values()
        described = list(zip(*times, strict=True))
        for _, texts, rows in rule_matching.external_strings(table):
            for text, row in zip(texts.to_pylist(), rows.tolist(), strict=True):
                for phrase in needles.values_in(text.encode("utf-8", "surrogatepass")):
                    holding[phrase].add(ids[row])
                    metadata[ids[row]] = described[row]
    phrase_counts = Counter(
        asset_id for records in holding.values() if len(records) <= _MAX_SHARING_RECORDS for asset_id in records
    )
    return [
        SimilarRecord(*metadata[asset_id], asset_id, count)
        for asset_id, count in sorted(phrase_counts.items(), key=lambda asset_id: (-asset_id[1], asset_id[0]))
    ]


def short_in(tables: Iterable[pa.Table]) -> int:
    """How many different short words, numbers and dates private records hold that tell nothing by themselves."""
    short_words: set[str] = set()
    for table in tables:
        for column, texts, _ in rule_matching.external_strings(table):
            for text in pc.unique(texts).to_pylist():
                content = rule_matching.json_texts(orjson.loads(text)) if column == "extra" else [text]
                short_words.update(
                    word for string in content for word in string.split() if not _is_distinctive(word, min_words=3)
                )
    return len(short_words)


def _name_variants(who: str) -> set[str]:
    """The forms of a person's name in files: as given, and each name and address in it."""
    identifiers = parse_identifiers(who)
    return {
        who.strip(),
        *(identifier.value for identifier in identifiers),
        *(identifier.normalised for identifier in identifiers if identifier.kind == "email"),
    }


def _texts_of_column(column: str, texts: pa.Array) -> Iterator[str]:
    for text in pc.unique(texts).to_pylist():
        if column == "extra":
            yield from (run for string in rule_matching.json_texts(orjson.loads(text)) for run in _runs(string))
        elif column == "text":
            yield from _runs(text)
        elif _is_distinctive(text, min_words=2):
            yield text


def _runs(text: str) -> Iterator[str]:
    """Yields runs of a few words, line by line; the last run of a line overlaps the one before it."""
    for line in _LINES.findall(text):
        words = [match.span() for match in re.finditer(r"\S+", line)]
        for start in range(0, len(words), _RUN_WORDS):
            run = words[max(0, min(start, len(words) - _RUN_WORDS)) : start + _RUN_WORDS]
            value = line[run[0][0] : run[-1][1]][:_MAX_VALUE_CHARS]
            if _is_distinctive(value, min_words=3):
                yield value
            else:
                yield from (word for word in value.split() if _is_distinctive(word, min_words=3))


def _is_distinctive(value: str, min_words: int) -> bool:
    """Whether a match would prove something: not for everyday words, and numbers and times found anywhere."""
    size = len(value.encode("utf-8", "surrogatepass"))
    if size < MIN_BYTES or _TIME.fullmatch(value):
        return sum(map(str.isdecimal, value)) > 8 and not value.startswith(("19", "20"))
    if not value.isascii():
        return True
    if len(value.split()) >= min_words:
        return size >= 2 * MIN_BYTES
    return len(value.split()) == 1 and ("@" in value or any(map(str.isdecimal, value)))


def _remaining_values(workspace: Workspace) -> Iterator[bytes]:
    """Yields all strings of the remaining records, and the owner's own words in the journal."""
    with suppress(JournalError):
        for entry in journal.entries(workspace.home):
            yield from (text.encode() for text in journal_removal.own_words(entry.statement))
    for _, _, table in record_selection.private_months(workspace):
        for _, texts, _ in rule_matching.external_strings(table):
            yield from byte_search.distinct_strings(texts)


def _program_words(workspace: Workspace) -> Iterator[bytes]:
    """Yields this program's source, which names its tables and assets, and its paths and the archive's: Dagster stores
    these, and the path of a home folder names its owner.
    """
    settings = workspace.settings
    places = [str(settings.folder), str(settings.home_path), sys.prefix, *(source.name for source in settings.sources)]
    yield "\0".join(places).encode("utf-8", "surrogateescape")
    for module in Path(__file__).parents[1].rglob("*.py"):
        yield module.read_bytes()


def _sample_key(value: str) -> bytes:
    return hashlib.blake2b(value.encode("utf-8", "surrogatepass"), digest_size=8).digest()
