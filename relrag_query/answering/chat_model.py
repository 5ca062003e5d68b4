"""A language model that writes, as an answer uses it, and what it wrote; `llm.py` makes one from the settings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from relrag_pipelines.errors import RelragError
from relrag_query.answering.sentences import QuotableSpan
from relrag_query.retrieval.hit import Hit


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


@dataclass(frozen=True)
class Statement:
    """A statement that stands."""

    text: str
    source: int
    """number of the record that says it, from 1"""
    quote: QuotableSpan
    """the words of the passage"""


@dataclass
class WrittenAnswer:
    """What of a model's reply stands."""

    model: str
    host: str
    statements: list[Statement] = field(default_factory=list)
    removed: int = 0
    """statements that no quote supports"""
    is_refusal: bool = False
    """the model says that the passages do not answer"""
    broke_off: str = ""
    """why the reply is not whole; empty where it is"""
    cited: list[Hit] = field(default_factory=list)
    """a passage of each record that is quoted, in the order of their numbers"""
    usage: Usage = field(default_factory=Usage)

    @property
    def text(self) -> str:
        """The statements, a line each, with the numbers of their sources."""
        return "\n".join(map(cited_text, self.statements))


def cited_text(statement: Statement) -> str:
    """A statement with the number of its source in brackets."""
    return f"{statement.text} [{statement.source}]"
