"""The built-in embedder against the bare runtime on the same texts, and the memory that it takes.

`python -m bench.embedding` does it once in a process of its own and prints the figures as JSON. The bare runtime is the
fastest way found: the whole texts as token ids beforehand, one at a time on each core, and nothing done with what comes
out. relrag's time includes tokens, pooling, the hash of each text and the cache on disk.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa

from bench import clock, corpus
from bench.figures import Figure
from bench.retrieval import batches
from relrag_pipelines.embedders import embed_chunks, minilm
from relrag_pipelines.embedders.minilm import MiniLM
from relrag_pipelines.settings import Settings

COUNT = 150
_MEMORY_MB = 600


def measure(count: int = COUNT) -> list[Figure]:
    """Passages a second, and megabytes of the process that embedded them."""
    command = [sys.executable, "-m", "bench.embedding", str(count)]
    done = subprocess.run(command, cwd=clock.ROOT, env=clock.environment(), capture_output=True, text=True, check=True)
    seen = json.loads(done.stdout)
    return [
        Figure(
            f"embedding of {count:,} passages of {corpus.LENGTH} characters",
            seen["relrag"],
            "passages/s",
            seen["bare"],
            "ONNX Runtime alone",
            at_most=1 / 0.95,
        ),
        Figure("memory of the process that embeds", seen["memory"], "MB", at_most=_MEMORY_MB),
    ]


def turns(count: int) -> dict[str, float]:
    """Passages a second of both sides, and megabytes at most."""
    loaded = minilm.load(Settings())
    rows = [{"chunk_id": str(number), **document} for number, document in enumerate(corpus.documents(count))]
    chunks = pa.Table.from_batches(batches(rows))
    ids = [encoding.ids for encoding in minilm.tokenizer().encode_batch(embed_chunks.embedding_texts(chunks))]
    _relrag(loaded, chunks)
    memory = clock.most_memory() / 1e6  # before the other side has its own threads
    seconds = clock.medians(3, relrag=lambda: _relrag(loaded, chunks), bare=lambda: _bare(loaded, ids))
    return {name: count / taken for name, taken in seconds.items()} | {"memory": memory}


def _relrag(loaded: MiniLM, chunks: pa.Table) -> float:
    def keyed(text: bytes) -> str:
        return hashlib.blake2b(text, digest_size=16, key=b"k").hexdigest()

    model = minilm.model(Settings())
    with tempfile.TemporaryDirectory() as home:
        begun = time.perf_counter()
        _, tally = embed_chunks.embed(chunks, model, lambda: loaded, keyed, Path(home))
        taken = time.perf_counter() - begun
    if tally.texts != chunks.num_rows:
        raise RuntimeError(f"{tally.texts} of {chunks.num_rows} passages were embedded")
    return taken


def _bare(loaded: MiniLM, ids: list[list[int]]) -> float:
    def run(one: list[int]) -> None:
        tokens = np.array([one], np.int64)
        mask, types = np.ones_like(tokens), np.zeros_like(tokens)
        loaded.session.run(None, {"input_ids": tokens, "attention_mask": mask, "token_type_ids": types})

    begun = time.perf_counter()
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(run, sorted(ids, key=len)))
    return time.perf_counter() - begun


if __name__ == "__main__":
    print(json.dumps(turns(int(sys.argv[1]))))
