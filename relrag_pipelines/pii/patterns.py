"""Reads recognisers written as data: patterns, scores and context words, in Presidio's format.

recognizers.yaml contains relrag's; the setting `pii_recognizers` names a file of the owner's. They run in Presidio's
engine. This module also decides, without Presidio, whether a recogniser can find anything in a text.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import regex
import yaml

from relrag_pipelines.pii.context_words import lower_letters
from relrag_pipelines.settings import SettingsError

BUILT_IN = Path(__file__).parent / "recognizers.yaml"
FLAGS = regex.DOTALL | regex.MULTILINE | regex.IGNORECASE
"""as Presidio compiles patterns"""
BOOST, BOOSTED = 0.35, 0.4
"""increase of a score by a context word, and the smallest score with one"""

_KEYS = {
    "name", "supported_entity", "patterns", "deny_list", "deny_list_score", "context", "score_thresholds", "version",
    "global_regex_flags", "country_code",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class PatternEntry:
    """One recogniser of a file."""

    name: str
    entity: str
    config: Mapping[str, Any]
    """Presidio's configuration of the recogniser, with its context as one list"""

    @functools.cached_property
    def _compiled_patterns(self) -> list[tuple[regex.Pattern[str], bool]]:
        """Each pattern, and whether it needs a context word to reach the threshold."""
        flags, threshold = self.config.get("global_regex_flags", FLAGS), self.config["score_thresholds"]
        threshold = threshold.get(self.entity, threshold.get("default", 0.0))
        scored = [(pattern["regex"], pattern["score"]) for pattern in self.config.get("patterns", ())]
        if words := self.config.get("deny_list"):
            scored.append((f"(?:{'|'.join(map(regex.escape, words))})", self.config.get("deny_list_score", 1.0)))
        judged = ((pattern, score >= threshold, max(score + BOOST, BOOSTED) >= threshold) for pattern, score in scored)
        return [
            (regex.compile(pattern, flags), not counts_alone)
            for pattern, counts_alone, counts_with_context in judged
            if counts_alone or counts_with_context
        ]

    def may_match(self, text: str) -> bool:
        """Whether the recogniser could find anything in the text; false only if it certainly finds nothing."""
        return any(
            (not needs_context or self._has_context(text)) and pattern.search(text, timeout=60) is not None
            for pattern, needs_context in self._compiled_patterns
        )

    def _has_context(self, text: str) -> bool:
        plain = lower_letters(text)
        return any(word in plain for word in self.config["context"])


def load(path: Path) -> tuple[PatternEntry, ...]:
    """The recognisers of a file. Raises SettingsError, which names the invalid entry and the fault."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} cannot be read ({type(error).__name__})") from None
    return _parse(path, text)


@functools.lru_cache(4)  # keyed by the text, so that a long-running program notices a change
def _parse(path: Path, text: str) -> tuple[PatternEntry, ...]:
    try:
        content = yaml.load(text, yaml.CSafeLoader)
        entries = content["recognizers"]
    except (yaml.YAMLError, TypeError, KeyError) as error:
        raise SettingsError(
            f"{path} holds no recognisers ({type(error).__name__}); docs/privacy.md shows its form"
        ) from None
    return tuple(_entry(path, number, entry) for number, entry in enumerate(entries))


def _checked_entity(location: str, entry: dict[str, Any]) -> str:
    """The entity of an entry. Raises SettingsError for unknown keys, a wrong entity, or an entry without patterns."""
    if unknown := sorted(set(entry) - _KEYS):
        raise SettingsError(f"{location}.{unknown[0]} is not known; known: {', '.join(sorted(_KEYS))}")
    entity = entry.get("supported_entity")
    if not isinstance(entity, str) or not regex.fullmatch("[A-Z][A-Z0-9_]*", entity):
        raise SettingsError(f'{location}.supported_entity is "{entity}"; write it as EMPLOYEE_NUMBER')
    if not entry.get("patterns") and not entry.get("deny_list"):
        raise SettingsError(f"{location} has neither patterns nor deny_list")
    return entity


def _entry(path: Path, number: int, entry: Any) -> PatternEntry:
    location = f"{path}: recognizers[{number}]"
    if not isinstance(entry, dict):
        raise SettingsError(f"{location} is not a table; docs/privacy.md shows its form")
    entity = _checked_entity(location, entry)
    context = entry.get("context") or []
    if isinstance(context, dict):
        context = [word for words in context.values() for word in words]
    config = {**entry, "context": list(dict.fromkeys(lower_letters(str(word)) for word in context))}
    config["score_thresholds"] = entry.get("score_thresholds") or {}
    name = config["name"] = str(entry.get("name") or entity.lower())
    pattern_entry = PatternEntry(name, entity, config)
    try:
        pattern_entry.may_match("")
    except (regex.error, TypeError, KeyError, AttributeError) as error:
        raise SettingsError(f"{location} ({name}) cannot be read: {error}") from None
    return pattern_entry
