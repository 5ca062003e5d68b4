"""Texts of many months that other processes embed: as month after month would, and none twice after a kill."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from relrag_pipelines.embedders import embed_ahead
from relrag_pipelines.embedders.embed_ahead import Batch, EmbeddedBatch
from relrag_pipelines.embedders.embed_chunks import EmbeddingCounts
from relrag_pipelines.stages import month_stages
from relrag_pipelines.stores import lake, vector_cache
from relrag_pipelines.workspace import Workspace
from tests import archive
from tests.embedders.test_embed_chunks import MODEL, Counting, chunks, embed, keyed

MONTHS = [("2024-01", chunks("the same", "one text", "a third text here")), ("2024-02", chunks("the same", "new"))]


def run(home: Path, embedder: Counting, ends_after: int = 99) -> dict[str, EmbeddingCounts]:
    """Embeds the months; ends as a kill would after so many batches."""

    def embed_each(batches: Iterator[Batch]) -> Iterator[EmbeddedBatch]:
        for number, batch in enumerate(batches):
            if number == ends_after:
                raise KeyboardInterrupt
            yield embed_ahead.embed_batch(embedder, batch)

    return dict(embed_ahead.embed(iter(MONTHS), MODEL, embed_each, keyed, home))


def test_batches_are_those_of_month_after_month(tmp_path: Path) -> None:
    ahead, after = Counting(), Counting()
    counts = run(tmp_path / "ahead", ahead)
    for _, table in MONTHS:
        embed(table, tmp_path / "after", after)
    assert ahead.batches == after.batches == [["one text", "the same"], ["a third text here"], ["new"]]
    assert counts == {"2024-01": EmbeddingCounts(texts=3, tokens=8), "2024-02": EmbeddingCounts(texts=1, tokens=1)}


def test_what_came_back_before_a_kill_is_not_embedded_again(tmp_path: Path) -> None:
    killed, next_, last = Counting(), Counting(), Counting()
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, killed, ends_after=1)
    with vector_cache.open(tmp_path) as cache:
        assert len(vector_cache.find(cache, MODEL.name, [keyed(b"one text"), keyed(b"the same"), keyed(b"new")])) == 2
    run(tmp_path, next_)
    assert killed.batches == [["one text", "the same"]] and next_.batches == [["a third text here"], ["new"]]
    table, tally = embed(MONTHS[0][1], tmp_path, last)
    assert (last.batches, tally.texts, table.num_rows) == ([], 0, 3)


class Elsewhere:
    """A cluster that computes here, and counts what it was given."""

    def __init__(self) -> None:
        self.items: list[Any] = []

    def each(self, function: Any, items: Any, given_up: Any = None) -> Iterator[Any]:
        """As a cluster's."""
        for item in items:
            self.items.append(item)
            yield function(item)


def test_a_stage_makes_and_counts_the_same_with_a_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts for a service are not sent from elsewhere."""
    made = archive.sync(archive.many_notes(tmp_path, count=6, months=2))
    source, (stage,) = made.settings.source("notes"), [one for one in month_stages.STAGES if one.name == "embeddings"]
    months = ["2023-01", "2023-02"]
    model = replace(MODEL, languages=(), usd_per_million=None)
    monkeypatch.setattr(month_stages.embedders, "model", lambda settings: model)

    def rows(cluster: Elsewhere | None) -> Any:
        vector_cache.path(made.home).unlink(missing_ok=True)
        workspace: Any = Workspace(made.settings, cluster=cluster)  # type: ignore[arg-type]
        vars(workspace)["embedder"] = Counting()
        _, counts = month_stages.run(workspace, source, stage, months)
        tables = [lake.read(made.home, "embeddings", "notes", month).to_pylist() for month in months]
        return tables, {month: {**count, "seconds": 0} for month, count in counts.items()}

    elsewhere = Elsewhere()
    assert rows(elsewhere) == rows(None)
    assert {type(item) for item in elsewhere.items} == {Batch}
    model = replace(model, host="api.example.org")
    idle = Elsewhere()
    rows(idle)
    assert idle.items == []
