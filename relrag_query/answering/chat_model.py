"""A language model that writes, as an answer uses it; `llm.py` makes one from the settings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from relrag_pipelines.errors import RelragError


class AnswerError(RelragError):
    """No answer could be written; the message says why and holds neither text nor key."""


@dataclass
class Usage:
    """What an answer took, as the service counts it; 0 tokens where it does not say."""

    tokens_read: int = 0
    tokens_written: int = 0
    price: tuple[float, float] | None = None
    """of a million tokens read, and of a million written, in USD by the list; None where it is not known"""

    @property
    def usd(self) -> float | None:
        """What it cost by the list price; None where that is not known."""
        if self.price is None:
            return None
        read, written = self.price
        return (self.tokens_read * read + self.tokens_written * written) / 1e6

    def __str__(self) -> str:
        cost = "" if self.usd is None else f", ${self.usd:.4f}"
        return f"{self.tokens_read:,} tokens read and {self.tokens_written:,} written{cost}"


class Write(Protocol):
    """Asks a model."""

    def __call__(self, instructions: str, request: str, schema: dict[str, Any] | None = None) -> Iterator[str]:
        """The pieces of the answer, of a JSON object where a schema is given; AnswerError where it breaks off."""


@dataclass(frozen=True)
class ChatModel:
    """The model that writes."""

    model: str
    host: str
    write: Write
    usage: Usage = field(default_factory=Usage)
    """grows as answers end"""
