"""What every step needs at hand: the settings of one archive, its keys and its redactor."""

from __future__ import annotations

import functools
import hashlib
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import orjson

from relrag_pipelines import again, claims, embedders, workers
from relrag_pipelines import keys as key_files
from relrag_pipelines.embedders import Embedder
from relrag_pipelines.keys import Keys, KeysError
from relrag_pipelines.records import TABLES, UnitState
from relrag_pipelines.settings import Settings, Source, now
from relrag_pipelines.sources import KINDS, Reading, Unit
from relrag_pipelines.stores import approvals, decided, raw, units
from relrag_pipelines.workers import Pool

if TYPE_CHECKING:
    from relrag_pipelines.pii import PIIRedactor

_LIMITS = ("unit_max_bytes", "archive_max_ratio", "archive_max_bytes")
"""what was refused for one of them is read when it is raised"""
FINISHED = 3
"""raised when the export finishes what connectors read in another way, so that every unit is read again"""

Item = TypeVar("Item")
Result = TypeVar("Result")
Progress = Callable[[str, int, int], None]
"""called with what is being done, how much of it is done, and how much there is; 0 of 0: it has happened"""


@dataclass(frozen=True)
class Workspace:
    """One archive, ready to be read and written."""

    settings: Settings
    progress: Progress | None = None
    pool: Pool | None = None
    """further processes that take part in what is computed; see workers.py"""

    def __reduce__(self) -> tuple[Any, ...]:
        """In another process it is opened once, and has neither progress nor pool there."""
        return _opened, (pickle.dumps(self.settings),)

    def each(
        self,
        function: Callable[[Item], Result],
        items: Iterable[Item],
        given_up: Callable[[Item], Result] | None = None,
    ) -> Iterator[Result]:
        """The function's result for every item, in order, with all processes there are; see workers.each."""
        return workers.each(self.pool, function, items, given_up)

    @contextmanager
    def aside(self) -> Iterator[tuple[Executor | None, Workspace]]:
        """A further process for a job that keeps its state there, if there is one, and this without it; see workers."""
        with workers.aside(self.pool) as (one, others):
            yield one, replace(self, pool=others)

    @functools.cached_property
    def keys(self) -> Keys:
        """The archive's keys, made when it is new.

        Raises KeysError when the archive has data and its keys are gone: new ones would rename every record.
        """
        path = self.settings.keys_path
        if path.is_relative_to(self.settings.home_path):
            raise KeysError(f"keys_file is {path}, inside home; keep keys apart from what they protect")
        if not path.exists() and not (self.settings.home_path / "private").exists():
            return key_files.create(path)
        return key_files.load(path)

    def report(self, what: str, done: int, total: int) -> None:
        """Tells whoever watches how far something is."""
        if self.progress:
            self.progress(what, done, total)

    @functools.cached_property
    def home(self) -> Path:
        """RELRAG_HOME, absolute."""
        return self.settings.home_path

    @functools.cached_property
    def redactor(self) -> PIIRedactor:
        """The redactor under this archive's policies."""
        # imported only here: a sync that finds nothing to do has no need of it
        from relrag_pipelines.pii import PIIRedactor

        return PIIRedactor(self.settings.pii_policies, self.keys, enabled=self.settings.pii_redaction_enabled)

    @functools.cached_property
    def embedder(self) -> Embedder:
        """The configured embedder, loaded once; EmbeddingError where it cannot be."""
        return embedders.load(self.settings)

    def channel(self, source: Source) -> str:
        """Redaction policy of what that source holds, where a record's own type has none."""
        return source.channel or KINDS[source.kind].channel

    def zone(self, source: str) -> str:
        """IANA name of the zone of that source's local times, whether it is configured or not."""
        named = (one.timezone for one in self.settings.sources if one.name == source)
        return next(named, None) or self.settings.timezone

    def reading(self, source: Source) -> Reading:
        """What the connector of that source is given."""
        return Reading(
            source=source.name,
            timezone=self.zone(source.name),
            hash=self.keys.id_hash,
            date_order=source.date_order,
            owner=self.settings.owner,
            file_names=tuple(source.file_names),
            approval_required=source.approval_required,
            approvals=functools.partial(approvals.load, self.home),
            transcription_model=str(model) if (model := self.settings.transcription_model_path) else "",
            transcription_max_seconds=self.settings.transcription_max_seconds,
            transcription_max_bytes=self.settings.transcription_max_bytes,
            transcripts=self.home / "private" / "transcripts",
            archive_max_ratio=self.settings.archive_max_ratio,
            archive_max_bytes=self.settings.archive_max_bytes,
            unit_max_bytes=self.settings.unit_max_bytes,
            parser_max_seconds=self.settings.parser_max_seconds,
            parser_max_bytes=self.settings.parser_max_bytes,
            follow_links=source.follow_links,
            units=functools.partial(self.units, source),
            keep=functools.partial(raw.keep, self.home, source.name, self.keys),
        )

    def reader(self, source: Source) -> str:
        """All that decides how units of that source are read, as stores/decided.py writes it."""
        kind, reading = KINDS[source.kind], self.reading(source)
        decides: dict[str, Any] = {
            units.READER: [kind.name, kind.version, FINISHED, TABLES["private_records"].since],
            "keys_file": self.keys.id_fingerprint,
            "first_month": self.settings.first_month,
            **{name: getattr(reading, name) for name in (*_LIMITS, *kind.options)},
        }
        if said := claims.said_of_rivals(self.settings, source):
            decides[units.RIVALS] = said
        return stamp_settings(decides)

    def scan(self, source: Source, known: dict[str, UnitState]) -> units.Scan:
        """Looks at every unit of a source; SourceMissing where its path is not there."""
        path, reader, kind = self.settings.source_path(source), self.reader(source), KINDS[source.kind]
        found = units.scan(path, kind, source, known, reader, self.keys.id_hash, self._taken(source, known))
        first, last = self.settings.first_month, now().strftime("%Y-%m")
        due = again.due(self.home, source.name, first, last) & found.units.keys() - found.why.keys()
        if due:  # one that can no longer be read to its end would be due for ever
            due -= {one.unit for one in units.load_failures(self.home, source.name) if one.whole_unit}
        again_why = dict.fromkeys(sorted(due), units.DUE)
        if kind.asks_others and (found.changed or found.gone):
            failures = units.load_failures(self.home, source.name)
            asked = {one.unit for one in failures if one.fault == kind.asks_others} & found.units.keys()
            again_why |= dict.fromkeys(sorted(asked - found.why.keys()), units.ASKED)
        changed = tuple(dict.fromkeys((*found.changed, *again_why)))
        return replace(found, changed=changed, why={**found.why, **again_why})

    def units(self, source: Source) -> list[Unit]:
        """The units of a source as they lie there now; SourceMissing where its path is not there."""
        known, kind = units.load(self.home, source.name), KINDS[source.kind]
        return list(units.list_units(self.settings.source_path(source), kind, source, self._taken(source, known)))

    def _taken(self, source: Source, known: dict[str, UnitState]) -> Callable[[Path], bool]:
        """Whether another source reads a file; `known` are the units of this one as last read."""

        def as_read(one: Source) -> dict[str, UnitState]:
            read, reader = known if one == source else units.load(self.home, one.name), self.reader(one)
            return {path: state for path, state in read.items() if units.reader_of(state) == reader}

        return claims.taken(self.settings, source, as_read)


@functools.lru_cache(maxsize=1)
def _opened(settings: bytes) -> Workspace:
    # only what this project pickled in the process that started this one comes here
    return Workspace(pickle.loads(settings))  # noqa: S301


def stamp_settings(decides: Mapping[str, Any]) -> str:
    """Settings by their names, as stores/decided.py writes them."""
    return decided.written({name: stamp_hash(value) for name, value in decides.items()})


def stamp_hash(parts: Any) -> str:
    """Hash of anything JSON can hold: 16 hex digits."""
    return hashlib.blake2b(orjson.dumps(parts, option=orjson.OPT_SORT_KEYS), digest_size=8).hexdigest()
