"""Which passages get a vector, that none is computed twice, and what a sync with an embedder does and says."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import dagster as dg
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relrag_pipelines import embedders
from relrag_pipelines import model_service as remote
from relrag_pipelines.embedders import EMBEDDERS, EmbeddingError, ModelInfo, Vectors, embed_chunks
from relrag_pipelines.embedders.embed_chunks import EmbeddingCounts
from relrag_pipelines.maintenance.repair import repair
from relrag_pipelines.maintenance.verify import verify_home
from relrag_pipelines.orchestration import runner
from relrag_pipelines.publishing import publish
from relrag_pipelines.records import Chunk, Embedding
from relrag_pipelines.settings import Settings
from relrag_pipelines.stages.embedding_cost import CostEstimate
from relrag_pipelines.stores import generations, lake, vector_cache
from relrag_pipelines.stores.generations import GenerationError
from relrag_pipelines.stores.table_schema import arrow_schema, to_table
from relrag_query.cli.commands import plan
from relrag_query.cli.commands import sync as commands
from relrag_query.cli.commands.forget import forget
from relrag_query.forgetting import ForgetRequest
from tests import archive
from tests.cases import cases
from tests.embedders.service import Fault, Service, serve, vector

MODEL = ModelInfo("test:4", 4, 100, languages=("en",), usd_per_million=1000.0, batch_texts=2)


class Counting:
    """Embeds a text as four numbers of its hash; notes what it was given, and fails after so many batches."""

    def __init__(self, fails_after: int = 99) -> None:
        self.batches: list[list[str]] = []
        self._left = fails_after

    def documents(self, texts: Sequence[str]) -> tuple[Vectors, int]:
        if not self._left:
            raise EmbeddingError("gone")
        self._left -= 1
        self.batches.append(list(texts))
        return np.array([self.query(text) for text in texts]), sum(len(text.split()) for text in texts)

    def query(self, text: str) -> Vectors:
        return np.frombuffer(hashlib.sha256(text.encode()).digest()[:4], np.uint8).astype(np.float32)


def keyed(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]


def chunks(*texts: str, language: str | None = None, **fields: str) -> pa.Table:
    rows = [
        Chunk(f"c{number}", "a", "a", number, 1, text, "0", "s", "document", "documentation", language=language)
        for number, text in enumerate(texts)
    ]
    for row in rows:
        for name, value in fields.items():
            setattr(row, name, value)
    return to_table(rows, Chunk)


def embed(
    table: pa.Table, home: Path, embedder: Counting, model: ModelInfo = MODEL
) -> tuple[pa.Table, EmbeddingCounts]:
    return embed_chunks.embed(table, model, lambda: embedder, keyed, home)


def test_a_text_is_embedded_once_however_often_it_stands_there(tmp_path: Path) -> None:
    first, second = Counting(), Counting()
    table, tally = embed(chunks("the same", "the same", "another one", "a third text here"), tmp_path, first)
    assert table.schema == arrow_schema(Embedding)
    assert [len(batch) for batch in first.batches] == [2, 1]
    assert sorted(text for batch in first.batches for text in batch) == ["a third text here", "another one", "the same"]
    assert tally == EmbeddingCounts(passages=4, sparse_only=0, texts=3, tokens=8, usd=0.008)
    rows = table.to_pylist()
    assert rows[0]["vector"] == rows[1]["vector"] == first.query("the same").tolist()
    again, tally = embed(chunks("another one", "new"), tmp_path, second)
    assert (second.batches, tally.texts) == ([["new"]], 1)
    assert again["vector"][0] == table["vector"][2]


def test_spans_have_vectors_of_their_own_and_each_text_one(tmp_path: Path) -> None:
    """Two passages share their first span; the short passage has none."""
    shared, own, other = (f"{word} " * 50 + "ends." for word in ("Roof", "Pipe", "Song"))
    embedder, model = Counting(), replace(MODEL, spans=True)
    texts = [f"{shared} {own}", f"{shared} {other}", "short"]
    table, tally = embed(chunks(*texts), tmp_path, embedder, model)
    given_ = sorted(text for batch in embedder.batches for text in batch)
    assert given_ == sorted([*texts, shared, own, other])
    assert tally.texts == 6
    rows = table.to_pylist()
    assert [row["span_hashes"] for row in rows] == [
        [keyed(shared.encode()), keyed(own.encode())],
        [keyed(shared.encode()), keyed(other.encode())],
        [],
    ]
    of = [embedder.query(text).tolist() for text in (shared, own, other)]
    assert [row["span_vectors"] for row in rows] == [of[0] + of[1], of[0] + of[2], []]
    assert [row["vector"] for row in rows] == [embedder.query(text).tolist() for text in texts]


def test_what_was_embedded_before_a_fault_is_kept(tmp_path: Path) -> None:
    with pytest.raises(EmbeddingError):
        embed(chunks(*"bcdfg"), tmp_path, Counting(fails_after=2))
    later = Counting()
    table, _ = embed(chunks(*"bcdfg"), tmp_path, later)
    assert [len(batch) for batch in later.batches] == [1]
    assert [row["vector"] for row in table.to_pylist()] == [Counting().query(text).tolist() for text in "bcdfg"]


def test_another_model_has_vectors_of_its_own(tmp_path: Path) -> None:
    embed(chunks("a"), tmp_path, Counting())
    other = Counting()
    embed(chunks("a"), tmp_path, other, ModelInfo("other:4", 4, 100))
    assert other.batches == [["a"]]


@pytest.mark.parametrize(*cases(__file__, "only_languages_that_the_model_knows_are_embedded"))
def test_only_languages_that_the_model_knows_are_embedded(
    text: str, language: str | None, models: tuple[str, ...], vector_there: bool, tmp_path: Path
) -> None:
    model = ModelInfo("test:4", 4, 100, languages=models)
    table, tally = embed(chunks(text, language=language), tmp_path, Counting(), model)
    assert (table.num_rows, tally.passages, tally.sparse_only) == ((1, 1, 0) if vector_there else (0, 0, 1))


def test_the_language_is_that_of_the_text_whatever_its_subject(tmp_path: Path) -> None:
    subject = "Re: Notes from the meeting with the bank about the house"
    table, _ = embed(chunks("Díky, platí to a je to tak", subject=subject), tmp_path, Counting(), MODEL)
    assert table.num_rows == 0


def test_what_stands_beside_a_mails_own_text_is_found_by_its_words_only(tmp_path: Path) -> None:
    beside = Counting()
    table, tally = embed(chunks("Dana Levi, Acme", section="signature"), tmp_path, beside)
    assert (table.num_rows, tally.passages, tally.sparse_only, beside.batches) == (0, 0, 1, [])


@pytest.mark.requirement("S0-75")
def test_a_pseudonym_is_embedded_as_its_type_and_what_is_known_of_a_passage_with_it(tmp_path: Path) -> None:
    one, other = Counting(), Counting()
    embed(chunks("call <PHONE_NUMBER:k1:ab12cd34ef56>", subject="Pump <EMAIL_ADDRESS:k1:000000000000>"), tmp_path, one)
    assert one.batches == [["Pump <EMAIL_ADDRESS>\ncall <PHONE_NUMBER>"]]
    embed(chunks("call <PHONE_NUMBER:k2:ffffffffffff>", subject="Pump <EMAIL_ADDRESS:k2:1>"), tmp_path, other)
    assert len(other.batches) == 1  # what only looks like a pseudonym is text
    embed(
        chunks("call <PHONE_NUMBER:k2:ffffffffffff>", subject="Pump <EMAIL_ADDRESS:k2:111111111111>"), tmp_path, other
    )
    assert len(other.batches) == 1


@given(st.lists(st.text(min_size=1, max_size=40), max_size=30), st.integers(1, 7), st.integers(10, 60))
def test_batches_hold_every_text_once_within_their_limits(texts: list[str], most: int, size: int) -> None:
    known = {str(number): text for number, text in enumerate(texts)}
    model = ModelInfo("m", 1, 1, batch_texts=most, batch_bytes=size)
    batches = list(embed_chunks.batches(list(known), known, model))
    assert [key for batch in batches for key in batch] == list(known)
    for batch in batches:
        assert len(batch) <= most
        assert len(batch) == 1 or sum(len(known[key].encode("utf-8", "replace")) for key in batch) <= size


def test_the_setting_names_every_embedder() -> None:
    declared = Settings.model_fields["embedder"].annotation
    assert {"none", *EMBEDDERS} == set(declared.__args__)  # type: ignore[union-attr]


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    monkeypatch.delenv("RELRAG_CONFIG", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-never-shown")
    monkeypatch.setattr(remote, "RETRIES", 0)
    with serve() as running:
        yield running


@pytest.fixture
def config(tmp_path: Path, service: Service) -> Path:
    return archive.make(tmp_path, f'embedder = "openai"\nembedding_url = "{service.url}/v1"\n')


def sent(service: Service) -> list[str]:
    return [text for one in service.asked for text in one["input"]]


def test_a_sync_pays_once_for_a_text(
    config: Path, service: Service, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    service.faults = [Fault(), Fault(), Fault(429)]
    assert commands.sync(config) == 2
    said = capsys.readouterr().out
    host = service.url.removeprefix("http://")
    assert "the redacted text of passages, and later of questions, is sent to " + host in said
    assert "still refuses for too many requests" in said
    assert commands.sync(config) == 0
    refused, *answered = [one["input"] for one in service.asked[2:]]
    assert refused in answered
    assert len(sent(service)) == len(set(sent(service))) + len(refused)
    assert "052-123-4567" not in json.dumps(service.asked)
    assert any("<PHONE_NUMBER>" in text for text in sent(service))

    home = archive.workspace(config).home
    (month,) = lake.manifest(home, "embeddings", "papers")
    (row,) = lake.read(home, "embeddings", "papers", month).to_pylist()
    assert row["model"] == f"text-embedding-3-small:1536:{host}"
    (lease,) = (text for text in sent(service) if "orangery" in text)
    np.testing.assert_allclose(row["vector"], vector(lease, 1536), atol=1e-6)

    asked = len(service.asked)
    capsys.readouterr()
    archive.configure(config.parent, "chunk_tokens = 300\n" + extra(service))
    assert plan.plan(config) == 0
    assert "embed about" not in capsys.readouterr().out
    assert commands.sync(config) == 0
    assert len(service.asked) == asked
    monkeypatch.delenv("OPENAI_API_KEY")
    archive.configure(config.parent, 'embedder = "openai"\n')
    with pytest.raises(EmbeddingError, match="set OPENAI_API_KEY"):
        commands.sync(config)


@pytest.mark.parametrize(
    ("usd", "redacted", "said"),
    [
        (2.34, True, "for about $2.34: the redacted text of passages, and later of questions, is sent to api.x.com"),
        (0.0004, True, "for less than $0.01: the redacted text of passages"),
        (None, False, "with m: the text as it stands (pii_redaction_enabled is false) of passages"),
    ],
)
def test_the_plan_says_what_it_costs_and_what_leaves_the_machine(usd: float | None, redacted: bool, said: str) -> None:
    found = CostEstimate("m", 3, 1200, usd, "api.x.com", redacted)
    assert found.words.startswith("embed about 1,200 tokens with m")
    assert said in found.words


def test_what_embedding_took_is_metadata(config: Path, service: Service) -> None:
    assert commands.sync(config) == 0
    with runner.instance(archive.workspace(config).home) as shared:
        event = shared.get_latest_materialization_event(dg.AssetKey(["papers", "embeddings"]))
    assert event and event.asset_materialization
    told = {name: value.value for name, value in event.asset_materialization.metadata.items()}
    (lease,) = (text for text in sent(service) if "orangery" in text)
    assert (told["texts"], told["tokens"], told["usd"]) == (1, len(lease.split()), 0.0)


@pytest.mark.usefixtures("without_dagster")
def test_the_vectors_of_what_is_deleted_go(config: Path, service: Service) -> None:
    assert commands.sync(config) == 0
    home = archive.workspace(config).home
    assert verify_home(home) == []
    (month,) = lake.manifest(home, "embeddings", "papers")
    gone = lake.read(home, "embeddings", "papers", month)["text_hash"][0].as_py()
    assert vector_cache.hashes_with_vector(home, f"text-embedding-3-small:1536:{service.url[7:]}", [gone]) == {gone}
    content = np.array(lake.read(home, "embeddings", "papers", month)["vector"][0].as_py(), "<f4").tobytes()[-1000:]
    assert content in (home / "private" / "vectors.db").read_bytes()
    (config.parent / "papers" / "lease 2024-01-05.md").unlink()
    assert commands.sync(config, accept_deletions=True) == 0
    assert vector_cache.hashes_with_vector(home, f"text-embedding-3-small:1536:{service.url[7:]}", [gone]) == set()
    assert content not in (home / "private" / "vectors.db").read_bytes()
    assert generations.current_number(home) == 2


def test_the_vectors_of_what_is_forgotten_go_even_if_it_was_never_published(
    config: Path, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = archive.workspace(config)
    with monkeypatch.context() as patch:
        patch.setattr(publish, "build", Mock(side_effect=GenerationError("not now")))
        assert commands.sync(config) == 2
    (month,) = lake.manifest(workspace.home, "embeddings", "papers")
    rows = lake.read(workspace.home, "embeddings", "papers", month)
    gone, content = rows["text_hash"].to_pylist(), np.array(rows["vector"][0].as_py(), "<f4").tobytes()[-1000:]
    kept = lake.read(workspace.home, "embeddings", "chat", "2024-01")["text_hash"].to_pylist()
    model = embedders.model(workspace.settings)
    assert model
    assert vector_cache.hashes_with_vector(workspace.home, model.name, gone + kept) == {*gone, *kept}
    asked = len(service.asked)
    assert forget(ForgetRequest(source="papers"), config, yes=True) == 0
    assert vector_cache.hashes_with_vector(workspace.home, model.name, gone + kept) == set(kept)
    assert content not in vector_cache.path(workspace.home).read_bytes()
    assert len(service.asked) == asked


@pytest.mark.usefixtures("without_dagster")
def test_a_damaged_cache_is_found_and_removed(config: Path, service: Service) -> None:
    assert commands.sync(config) == 0
    workspace = archive.workspace(config)
    vector_cache.path(workspace.home).write_bytes(b"not a database at all")
    found = verify_home(workspace.home)
    assert [one.path for one in found] == ["private/vectors.db"]
    assert list(repair(workspace, found)) == [
        "private/vectors.db: removed; what it held is computed again where it is needed"
    ]
    assert verify_home(workspace.home) == []
    asked = len(service.asked)
    assert commands.sync(config) == 0
    assert len(service.asked) == asked


def test_a_write_of_the_cache_that_was_killed_is_taken_back(tmp_path: Path) -> None:
    script = """
import os, sqlite3, sys
from pathlib import Path
import dagster as dg
import numpy as np
from relrag_pipelines.stores import vector_cache
with vector_cache.open(Path(sys.argv[1])) as cache:
    vector_cache.keep(cache, "m", ["a"], np.ones((1, 4), np.float32))
    cache.execute("PRAGMA cache_size = 1")
    rows = [("m", str(n), bytes(4000)) for n in range(200)]
    cache.executemany("INSERT INTO vectors VALUES (?, ?, ?)", rows)
    os._exit(9)
"""
    assert subprocess.run([sys.executable, "-c", script, tmp_path], check=False).returncode == 9
    assert (tmp_path / "private" / "vectors.db-journal").exists()
    assert verify_home(tmp_path) == []
    assert vector_cache.hashes_with_vector(tmp_path, "m", ["a", "1"]) == {"a"}
    assert not (tmp_path / "private" / "vectors.db-journal").exists()


def extra(service: Service) -> str:
    return f'embedder = "openai"\nembedding_url = "{service.url}/v1"\n'
