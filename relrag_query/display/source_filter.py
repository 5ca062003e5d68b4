"""Decides which sources an answer shows; the answer itself is built from all of them.

Five layers, each of which can be tuned or switched off: system entries, passages added for context only, a minimum
score, whether the answer mentions the source, and a cap.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Protocol, TypeVar

from relrag_pipelines.sources import record_type
from relrag_pipelines.text.analyzer import PREFIXED
from relrag_query.retrieval.hit import ASSET_NEIGHBORHOOD, CONTEXT_EXPANSION, RECENCY_SUPPLEMENT
from relrag_query.retrieval.query_settings import DisplaySettings

CONTEXT_ROLES = frozenset({CONTEXT_EXPANSION, RECENCY_SUPPLEMENT, ASSET_NEIGHBORHOOD})
"""roles of passages that serve the answer and are not shown"""

_DISTINCTIVE_RUN = 4
"""number of consecutive words shared with the answer that make a passage its source"""

_WORD = re.compile(r"[^\W_]+")
_FIGURE = re.compile(r"\w*\d[\w./,:-]*\w")
_YEAR = re.compile(r"(19|20)\d\d")


class DisplayableSource(Protocol):
    """The fields of a source that the filter reads; a Hit has them."""

    @property
    def source(self) -> str:
        """`system`, `entity_store`, or the name of a source."""

    @property
    def source_role(self) -> str | None:
        """Why it was added, where it was not searched for."""

    @property
    def display_score(self) -> float:
        """0 to 1."""

    @property
    def promoted(self) -> bool:
        """The question asked for it, or the answer cites it."""

    @property
    def sender(self) -> str | None:
        """Who wrote it."""

    @property
    def writer_ids(self) -> tuple[int, ...]:
        """person_ids of its writers; empty if unknown."""

    @property
    def chat_name(self) -> str | None:
        """Name of the chat."""

    @property
    def rag_source_type(self) -> str:
        """email, whatsapp, call_recording, ..."""

    @property
    def text(self) -> str:
        """The passage."""


S = TypeVar("S", bound=DisplayableSource)


def filter_sources_for_display(
    source_nodes: Sequence[S],
    answer: str,
    min_score: float = 0.5,
    max_count: int = 8,
    exclude_roles: frozenset[str] | set[str] | None = None,
    answer_filter: bool = True,
    people: Collection[int] = (),
) -> list[S]:
    """The sources to show for an answer, in their order.

    `people` are the people in question and answer: if the writers of a source are known people, their ids are compared
    instead of their names.

    `exclude_roles` None means all context roles, an empty set none. A promoted source passes all layers but the first
    and the cap.
    """
    roles = CONTEXT_ROLES if exclude_roles is None else exclude_roles
    shown = [
        node
        for node in source_nodes
        if node.source != "system"
        and (
            node.promoted
            or (
                node.source_role not in roles
                and node.display_score >= min_score
                and (not answer_filter or mentions_source(answer, node, people))
            )
        )
    ]
    return shown[:max_count]


def apply_source_filter(
    source_nodes: Sequence[S],
    answer: str,
    settings: DisplaySettings,
    people: Collection[int] = (),
    max_count: int | None = None,
) -> list[S]:
    """Applies `filter_sources_for_display` with the settings; returns all sources if the filter is off.

    `max_count` replaces that of the settings.
    """
    if not settings.source_display_filter_enabled:
        return list(source_nodes)
    return filter_sources_for_display(
        source_nodes,
        answer,
        min_score=settings.source_display_min_score,
        max_count=settings.source_display_max_count if max_count is None else max_count,
        answer_filter=settings.source_display_answer_filter,
        people=people,
    )


def mentions_source(answer: str, node: DisplayableSource, people: Collection[int] = ()) -> bool:
    """Whether the answer names the sender or the chat, or repeats something distinctive of a document or call."""
    if node.source == "entity_store" or not {*people}.isdisjoint(node.writer_ids):
        return True
    has_known_writer = bool(people and node.writer_ids)
    senders = [] if has_known_writer else [name.strip() for name in (node.sender or "").split(",")]
    if any(_names(answer, name) for name in (*senders, node.chat_name or "")):
        return True
    return not record_type(node.rag_source_type).told_by_sender and _repeats(answer, node.text)


def _names(answer: str, name: str) -> bool:
    """Whether the answer contains the whole name; prefixed letters may precede it."""
    bare = re.sub(r"\s*<[^>]*>", "", name).strip() or name.strip("<> ")
    if not bare:
        return False
    return re.search(rf"(?<!\w)[{PREFIXED}]{{0,2}}{re.escape(bare)}(?!\w)", answer, re.IGNORECASE) is not None


def _repeats(answer: str, text: str) -> bool:
    answer_words, text_words = _words(answer), _words(text)
    if _runs(answer_words) & _runs(text_words):
        return True
    return bool(_figures(answer) & _figures(text))


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _runs(words: list[str]) -> set[tuple[str, ...]]:
    return set(zip(*(words[start:] for start in range(_DISTINCTIVE_RUN)), strict=False))


def _figures(text: str) -> set[str]:
    """Amounts, invoice numbers and the like: at least four digits, and not a year."""
    numbers = {re.sub(r"\D", "", figure) for figure in _FIGURE.findall(text)}
    return {digits for digits in numbers if len(digits) >= 4 and not _YEAR.fullmatch(digits)}
