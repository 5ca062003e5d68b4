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
"""values that are searched for at most"""
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
    sampled: bool = False
    """there are more; these are a fair sample"""
    shared: int = 0
    """how many stand in records that stay as well"""
    still_named: list[str] = field(default_factory=list)
    """names that were to be forgotten, as given, and stand in what stays"""

    @property
    def holds(self) -> bool:
        """No file holds any of the values, and all could be read."""
        return not (self.searched.holding or self.searched.unread or self.still_named)


def values_of(tables: Iterable[pa.Table]) -> tuple[set[str], bool]:
    """What private records say that can be told from anything else: ids, names, addresses, runs of words.

    At most MOST of them, those with the lowest hashes, and whether there are more.
    """
    values: set[str] = set()
    sampled = False
    for table in tables:
        for column, texts, _ in rules.strings(table):
            values.update(_told(column, texts))
            if len(values) > MOST:
                values, sampled = set(sorted(values, key=_by_chance)[:MOST]), True
    return values, sampled


def prove(workspace: Workspace, values: set[str], named: Iterable[str] = (), *, sampled: bool = False) -> Proof:
    """Searches the archive, from which the records are gone, for their values and for what named a person."""
    wanted = {said for who in named for said in _ways(who)}
    needles = Needles(sorted(values | wanted))
    within: set[str] = set()
    standing: set[str] = set()
    for text in _staying(workspace):
        within |= needles.found(text)
        standing |= needles.whole(text) & wanted
    own = {value for text in _own(workspace) for value in needles.found(text)}
    words = sorted(wanted - standing - own)
    # one that is part of a longer word that stays can be told from it only where words are read, not in packed bytes
    names = [value for value in words if value not in within and len(value.encode()) >= LEAST_BYTES]
    alone = sorted(values - within - own - wanted)
    searched = traces.search(workspace.home, [*names, *alone], words)
    shared = len((values & within | (values | wanted) & own) - standing)
    return Proof(searched, len(words) + len(alone), sampled, shared, sorted(standing - own))


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
            else:
                yield from (word for word in value.split() if _telling(word, least_words=3))


def _telling(value: str, least_words: int) -> bool:
    """Whether finding it would mean something: no everyday word, no number or time that stands anywhere."""
    size = len(value.encode("utf-8", "surrogatepass"))
    if size < LEAST_BYTES or _TIME.fullmatch(value):
        return sum(map(str.isdecimal, value)) > 8 and not value.startswith(("19", "20"))
    if not value.isascii():
        return True
    if len(value.split()) >= least_words:
        return size >= 2 * LEAST_BYTES
    return len(value.split()) == 1 and ("@" in value or any(map(str.isdecimal, value)))


def _staying(workspace: Workspace) -> Iterator[bytes]:
    """All strings of the records that stay."""
    for _, _, table in purge.private(workspace):
        for _, texts, _ in rules.strings(table):
            yield from traces.joined(texts)


def _own(workspace: Workspace) -> Iterator[bytes]:
    """This program's own words, which name its tables and assets, and where it and the archive lie: Dagster notes that,
    and the path of a home folder names its owner.
    """
    settings = workspace.settings
    places = [str(settings.folder), str(settings.home_path), sys.prefix, *(source.name for source in settings.sources)]
    yield "\0".join(places).encode("utf-8", "surrogateescape")
    for module in Path(__file__).parents[1].rglob("*.py"):
        yield module.read_bytes()


def _by_chance(value: str) -> bytes:
    return hashlib.blake2b(value.encode("utf-8", "surrogatepass"), digest_size=8).digest()
