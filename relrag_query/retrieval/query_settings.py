"""The settings that a query reads: its steps need not know relrag.toml, nor where its values come from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class SearchedSource(Protocol):
    """A source of the archive."""

    @property
    def name(self) -> str:
        """Its name in relrag.toml."""

    @property
    def kind(self) -> str:
        """The kind of source that it is."""


class DisplaySettings(Protocol):
    """Which sources an answer shows: see the settings of these names."""

    @property
    def source_display_filter_enabled(self) -> bool: ...
    @property
    def source_display_min_score(self) -> float: ...
    @property
    def source_display_max_count(self) -> int: ...
    @property
    def source_display_answer_filter(self) -> bool: ...


class QuerySettings(DisplaySettings, Protocol):
    """What a query reads: see the settings of these names."""

    @property
    def sources(self) -> Sequence[SearchedSource]: ...
    @property
    def owner(self) -> str: ...
    @property
    def timezone(self) -> str: ...
    @property
    def search_limit(self) -> int: ...
    @property
    def answerer(self) -> str: ...
    @property
    def answer_context_tokens(self) -> int: ...
    @property
    def asset_neighborhood_expansion_enabled(self) -> bool: ...
    @property
    def entity_expansion_enabled(self) -> bool: ...
