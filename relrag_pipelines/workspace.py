"""What every stage needs: the settings of one archive, its keys, its redactor and its pool of processes."""

from __future__ import annotations

import functools
import pickle
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from relrag_pipelines import embedders
from relrag_pipelines.embedders import Embedder
from relrag_pipelines.privacy.keys import Keys, KeysError, new_keys
from relrag_pipelines.settings import Settings, Source
from relrag_pipelines.sources import KINDS, Listing
from relrag_pipelines.stores import archive_regions
from relrag_pipelines.workers import pool as workers
from relrag_pipelines.workers.pool import Pool

if TYPE_CHECKING:
    from relrag_pipelines.pii import PIIRedactor
    from relrag_pipelines.workers.ray_tasks import Cluster

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
    """further processes that take part in what is computed; see workers/pool.py"""
    cluster: Cluster | None = None
    """a Ray cluster that computes in place of the pool; see workers/ray_tasks.py"""
    listings: dict[str, Listing] | None = None
    """by source what its lister gave first: a sync looks at each source once. None where every look lists anew"""

    def __reduce__(self) -> tuple[Any, ...]:
        """In another process it is opened once, and has neither progress nor other processes there."""
        without_secrets = self.settings.model_copy(update={"alert_urls": []})  # no stage sends alerts
        return _open_in_worker, (pickle.dumps(without_secrets),)

    def each(
        self,
        function: Callable[[Item], Result],
        items: Iterable[Item],
        given_up: Callable[[Item], Result] | None = None,
    ) -> Iterator[Result]:
        """The function's result for every item, in order, with all processes there are; see workers.map_batches."""
        if self.cluster is not None:
            return self.cluster.each(function, items, given_up)
        return workers.map_batches(self.pool, function, items, given_up)

    @contextmanager
    def dedicated_worker(self) -> Iterator[tuple[Executor | None, Workspace]]:
        """A further process for a job that keeps its state there, if there is one, and this without it; see workers."""
        with workers.dedicated_worker(self.pool) as (worker, others):
            yield worker, replace(self, pool=others)

    @functools.cached_property
    def keys(self) -> Keys:
        """The archive's keys, made when it is new.

        Raises KeysError when the archive has data and its keys are gone: new ones would rename every record.
        """
        path, store = self.settings.keys_path, self.settings.key_store
        if self.settings.keys_store == "file" and path.is_relative_to(self.settings.home_path):
            raise KeysError(f"keys_file is {path}, inside home; keep keys apart from what they protect")
        if not store.exists() and not (self.settings.home_path / "private").exists():
            return store.create()
        return store.load()

    @property
    def passing_redactor(self) -> PIIRedactor:
        """The redactor for a try: where the archive has no keys yet, with keys that are not kept."""
        from relrag_pipelines.pii import PIIRedactor

        has_keys = self.settings.key_store.exists() or (self.settings.home_path / "private").exists()
        return PIIRedactor.from_settings(self.settings, self.keys if has_keys else new_keys(), self.regions)

    def with_cluster(self) -> Workspace:
        """The workspace with its Ray cluster, not started yet, if the settings name that executor; ClusterError."""
        if self.settings.executor != "ray":
            return self
        from relrag_pipelines.workers.ray_tasks import Cluster

        return replace(self, cluster=Cluster(self.home, self.settings.key_store, self.settings.ray_address))

    def report(self, what: str, done: int, total: int) -> None:
        """Tells whoever watches how far something is."""
        if self.progress:
            self.progress(what, done, total)

    @functools.cached_property
    def home(self) -> Path:
        """RELRAG_HOME, absolute."""
        return self.settings.home_path

    @property
    def regions(self) -> tuple[str, ...]:
        """Countries whose national numbers count by their form alone: those of the settings, else what was detected."""
        return tuple(self.settings.pii_regions) or archive_regions.load(self.home)

    @property
    def redactor(self) -> PIIRedactor:
        """The redactor under this archive's policies and in its regions, which a sync may change."""
        return self._redactor_in(self.regions)

    @functools.cached_property
    def _redactor_in(self) -> Callable[[tuple[str, ...]], PIIRedactor]:
        # imported only here: a sync that finds nothing to do has no need of it
        from relrag_pipelines.pii import PIIRedactor

        return functools.lru_cache(maxsize=1)(functools.partial(PIIRedactor.from_settings, self.settings, self.keys))

    @functools.cached_property
    def embedder(self) -> Embedder:
        """The configured embedder, loaded once; EmbeddingError where it cannot be."""
        return embedders.load(self.settings)

    def channel(self, source: Source) -> str:
        """Redaction policy of what that source holds, where a record's own type has none."""
        return source.channel or KINDS[source.kind].channel

    def zone(self, source: str) -> str:
        """IANA name of the zone of that source's local times, whether it is configured or not."""
        named = (configured.timezone for configured in self.settings.sources if configured.name == source)
        return next(named, None) or self.settings.timezone


@functools.lru_cache(maxsize=1)
def _open_in_worker(settings: bytes) -> Workspace:
    # only what this project pickled in the process that started this one comes here
    return Workspace(pickle.loads(settings), listings={})  # noqa: S301
