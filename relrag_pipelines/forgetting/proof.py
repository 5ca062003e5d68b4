"""The proof that nothing is left: what only the forgotten records held is looked for in every file of the archive.

What also stands in records that stay, or among this program's own words, says nothing about what was forgotten and is
left out of the search. A text is looked for by runs of a few words, so that a passage of it is found as well.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from relrag_pipelines.forgetting import purge, rules, traces
from relrag_pipelines.forgetting.traces import LEAST_BYTES, Needles, Searched
from relrag_pipelines.identity.identifiers import parse
from relrag_pipelines.workspace import Workspace

MOST = 20_000
"""values that are searched for at most; of more, these are a fair sample"""
_RUN = 4
_LONGEST = 200
_LINES = re.compile(r"[^\r\n\f\v\x85\u2028\u2029]+")
_TIME = re.compile(r"[\d:./ TZ+-]*")


@dataclass
class Proof:
    """What the search for forgotten values saw."""

    searched: Searched
    values: int = 0
    """how many were searched for"""
    of: int = 0
    """how many there are that only forgotten records held"""
    shared: int = 0
    """how many stand in records that stay as well"""
    still_named: list[str] = field(default_factory=list)
    """names that were to be forgotten, as given, and stand in what stays"""

    @property
    def holds(self) -> bool:
        """No file holds any of the values, and all could be read."""
        return not (self.searched.holding or self.searched.unread or self.still_named)


def values_of(tables: Iterable[pa.Table]) -> set[str]:
    """What private records say that can be told from anything else: ids, names, addresses, runs of words."""
    return {value for table in tables for column, texts, _ in rules.strings(table) for value in _told(column, texts)}


def prove(workspace: Workspace, values: set[str], named: Iterable[str] = ()) -> Proof:
    """Searches the archive, from which the records are gone, for their values and for what named a person."""
    wanted = {said for who in named for said in _ways(who)}
    needles = Needles(sorted(values | wanted))
    within: set[str] = set()
    standing: set[str] = set()
    for text in _staying(workspace):
        within |= needles.found(text)
        standing |= needles.whole(text) & wanted if wanted else set()
    own = {value for value in wanted for place in _places(workspace) if value in place}
    words = sorted(wanted - standing - own)
    # one that is part of a longer word that stays can be told from it only where words are read, not in packed bytes
    names = [value for value in words if value not in within and len(value.encode()) >= LEAST_BYTES]
    alone = sorted(values - within - own - wanted, key=_by_chance)
    searched = traces.search(workspace.home, [*names, *alone[:MOST]], words)
    count = len(words) + min(len(alone), MOST)
    return Proof(searched, count, len(words) + len(alone), len(values & within), sorted(standing - own))


def _ways(who: str) -> set[str]:
    """How somebody may stand in a file: as given, and each name and address of it alone."""
    named = parse(who)
    return {who.strip(), *(one.value for one in named), *(one.normalised for one in named if one.kind == "email")}


def _told(column: str, texts: pa.Array) -> Iterator[str]:
    for text in pc.unique(texts).to_pylist():
        if column == "extra":
            yield from (run for said in rules.texts_in(orjson.loads(text)) for run in _runs(said))
        elif column == "text":
            yield from _runs(text)
        elif _telling(text, least_words=2):
            yield text


def _runs(text: str) -> Iterator[str]:
    """A text in runs of a few words, none beyond a line; the last of a line overlaps the one before it."""
    for line in _LINES.findall(text):
        words = [found.span() for found in re.finditer(r"\S+", line)]
        for first in range(0, len(words), _RUN):
            run = words[max(0, min(first, len(words) - _RUN)) : first + _RUN]
            value = line[run[0][0] : run[-1][1]][:_LONGEST]
            if _telling(value, least_words=3):
                yield value


def _telling(value: str, least_words: int) -> bool:
    """Whether finding it would mean something: no everyday word, no number or time that stands anywhere."""
    size = len(value.encode("utf-8", "surrogatepass"))
    if size < LEAST_BYTES or _TIME.fullmatch(value):
        return sum(map(str.isdecimal, value)) > 8 and not value.startswith(("19", "20"))
    if len(value.split()) >= least_words:
        return size >= 2 * LEAST_BYTES or not value.isascii()
    return len(value.split()) == 1 and (not value.isascii() or "@" in value or any(map(str.isdecimal, value)))


def _staying(workspace: Workspace) -> Iterator[bytes]:
    """All strings of the records that stay, and the words of this program and its tables."""
    for _, _, table in purge.private(workspace):
        for _, texts, _ in rules.strings(table):
            yield from traces.joined(texts)
    for module in Path(__file__).parents[1].rglob("*.py"):
        yield module.read_bytes()


def _places(workspace: Workspace) -> list[str]:
    """Where this program and the archive lie: Dagster notes it, and a home folder names its owner."""
    settings = workspace.settings
    return [str(settings.folder), str(settings.home_path), sys.prefix, *(source.name for source in settings.sources)]


def _by_chance(value: str) -> bytes:
    return hashlib.blake2b(value.encode("utf-8", "surrogatepass"), digest_size=8).digest()
