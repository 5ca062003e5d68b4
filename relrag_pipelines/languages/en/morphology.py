"""The forms of English words."""

from __future__ import annotations


def plurals(word: str) -> tuple[str, ...]:
    """The plural of a word for a relative; irregular ones are in kinship.toml."""
    return (f"{word}s",)
