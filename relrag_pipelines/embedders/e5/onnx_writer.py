"""Writes an ONNX model: protocol buffers of a few kinds of message, so that the package onnx is not needed to embed.

Numbers of fields and types are those of onnx.proto (https://github.com/onnx/onnx/blob/main/onnx/onnx.proto).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

MICROSOFT = "com.microsoft"
"""domain of ONNX Runtime's own operators"""

_IR_VERSION, _OPERATORS, _OWN_OPERATORS = 8, 17, 1
_TYPES = {"float32": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7}
"""TensorProto.DataType"""
_FLOAT, _INT = 1, 2
"""AttributeProto.AttributeType"""


class Graph:
    """A graph as it grows: nodes in the order of computation, and the constants that they take."""

    def __init__(self) -> None:
        self._nodes: list[bytes] = []
        self._constants: list[bytes] = []

    def constant(self, name: str, values: npt.NDArray[np.generic]) -> str:
        """Adds a tensor of that name; returns the name."""
        dimensions = b"".join(_integer(1, size) for size in values.shape)
        described = dimensions + _integer(2, _TYPES[values.dtype.name]) + _text(8, name)
        self._constants.append(described + _bytes(9, np.ascontiguousarray(values).tobytes()))
        return name

    def node(self, operator: str, inputs: Sequence[str], *outputs: str, domain: str = "", **attributes: float) -> str:
        """Adds an operation with attributes of whole numbers and floats; returns the name of its first output."""
        names = b"".join(_text(1, name) for name in inputs) + b"".join(_text(2, name) for name in outputs)
        set_to = b"".join(_bytes(5, _attribute(name, value)) for name, value in attributes.items())
        self._nodes.append(names + _text(4, operator) + set_to + _text(7, domain))
        return outputs[0]

    def model(self, inputs: Mapping[str, tuple[str, Sequence[int | str]]], output: str) -> bytes:
        """The file; of each input its type and shape, in which a length that is open is a word."""
        parts = [
            *(_bytes(1, node) for node in self._nodes),
            _text(2, "encoder"),
            *(_bytes(5, constant) for constant in self._constants),
            *(_bytes(11, _value(name, kind, shape)) for name, (kind, shape) in inputs.items()),
            _bytes(12, _text(1, output)),
        ]
        versions = _bytes(8, _integer(2, _OPERATORS)), _bytes(8, _text(1, MICROSOFT) + _integer(2, _OWN_OPERATORS))
        return b"".join([_integer(1, _IR_VERSION), _bytes(7, b"".join(parts)), *versions])


def _value(name: str, kind: str, shape: Sequence[int | str]) -> bytes:
    sizes = (_integer(1, size) if isinstance(size, int) else _text(2, size) for size in shape)
    tensor = _integer(1, _TYPES[kind]) + _bytes(2, b"".join(_bytes(1, size) for size in sizes))
    return _text(1, name) + _bytes(2, _bytes(1, tensor))


def _attribute(name: str, value: float) -> bytes:
    if isinstance(value, int):
        return _text(1, name) + _integer(3, value) + _integer(20, _INT)
    return _text(1, name) + _varint(2 << 3 | 5) + struct.pack("<f", value) + _integer(20, _FLOAT)


def _integer(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _text(field: int, text: str) -> bytes:
    return _bytes(field, text.encode())


def _bytes(field: int, content: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    """Seven bits a byte, the lowest first; no field here is negative."""
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])
