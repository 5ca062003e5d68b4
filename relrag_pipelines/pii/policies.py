"""Compiled policies: entities, actions, and a prefilter for texts that contain none."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import regex

from relrag_pipelines.errors import SafeError
from relrag_pipelines.pii import entities as entity_table
from relrag_pipelines.pii import normalized_text, spelled_addresses
from relrag_pipelines.pii.entities import EntityType, SpelledForm
from relrag_pipelines.settings import ACTIONS, Policy, SettingsError

if TYPE_CHECKING:
    from relrag_pipelines.pii.engine import Engine

KEEP = "keep"
_DIGIT = regex.compile(rf"[\p{{Nd}}{normalized_text.RAISED}]")


class RedactionError(SafeError):
    """Personal data could not be found or replaced; the message names the entity and contains no text."""


class PolicyError(RedactionError, SettingsError):
    """A policy names an entity or an action that does not exist."""


@dataclass(frozen=True)
class CompiledPolicy:
    """A policy with its entities and prefilter."""

    entities: tuple[EntityType, ...]
    actions: Mapping[str, str]
    """action by the name of the entity"""
    hint: regex.Pattern[str]
    """matches every text that may contain one of the entities, except by `words` or `spelled`"""
    words: tuple[str, ...]
    """in lower case; a text with one of them may contain an entity"""
    spelled: tuple[SpelledForm, ...]
    """forms in words of the entities"""
    by_hint: tuple[tuple[regex.Pattern[str], tuple[EntityType, ...]], ...]
    """patterns of texts that may contain entities, with these entities"""

    def may_change(self, text: str) -> bool:
        """Whether the text could contain any of the entities, by its characters."""
        if self.hint.search(text) is not None or spelled_addresses.has_spelled_address(text, self.words):
            return True
        return any(form.may_hold(text) for form in self.spelled)

    def candidates(self, text: str) -> Iterator[EntityType]:
        """The entities that the text may contain, by its characters."""
        digits = sum(1 for _ in itertools.islice(_DIGIT.finditer(text), self.most_digits))
        for hint, entities in self.by_hint:
            hinted = hint.search(text) is not None
            yield from (
                entity
                for entity in entities
                if (hinted and digits >= entity.min_digits) or _may_be_spelled(entity, text)
            )

    @functools.cached_property
    def most_digits(self) -> int:
        """The largest `min_digits` of the entities; further digits need not be counted."""
        return max((entity.min_digits for entity in self.entities), default=0)


@dataclass(frozen=True)
class EntityCatalog:
    """The entities that an archive's policies may name."""

    recognizers: Path | None = None
    """file with the owner's recognisers"""
    language_model: Path | None = None
    regions: tuple[str, ...] = ()
    """countries whose national numbers are found by their form alone, the likeliest first"""

    @property
    def ours(self) -> Mapping[str, EntityType]:
        """The entities of relrag and of the owner's file, by name."""
        return entity_table.table(self.recognizers, self.regions)

    @property
    def engine(self) -> Engine:
        """Presidio with the recognisers of all these. Raises SettingsError if the language model cannot be read."""
        # imported late, since it takes a second
        from relrag_pipelines.pii import engine

        return engine.engine(tuple(self.ours.values()), self.language_model)

    def entity(self, location: str, name: str) -> EntityType:
        """The entity with this name. Raises PolicyError if there is none; `location` is the setting."""
        if own := self.ours.get(name):
            return own
        names = self.engine.known_entities | self.ours.keys()
        if name not in names:
            raise PolicyError(f'{location} names "{name}", which is not known; known: {", ".join(sorted(names))}')
        return EntityType(name, None, entity_table.squeeze, name, "")

    def compile(self, channel: str, policy: Policy) -> CompiledPolicy:
        """Compiles the policy of a channel. Raises PolicyError for an unknown action or entity."""
        location = f"pii_policies.{channel}"
        for name, action in {"action": policy.action, **{f"actions.{k}": v for k, v in policy.actions.items()}}.items():
            if action not in ACTIONS:
                raise PolicyError(f'{location}.{name} is "{action}"; known: {", ".join(ACTIONS)}')
        entities = {name: self.entity(f"{location}.entities", name) for name in policy.entities}
        entities |= {name: self.entity(f"{location}.actions", name) for name in policy.actions if name not in entities}
        actions = {name: policy.actions.get(name, policy.action) for name in entities}
        return compile_policy((entity for name, entity in entities.items() if actions[name] != KEEP), actions)


def compile_policy(entities: Iterable[EntityType], actions: Mapping[str, str]) -> CompiledPolicy:
    """Compiles a policy for these entities."""
    selected = tuple(entities)
    words = dict.fromkeys(word for entity in selected for word in entity.words)
    hints = dict.fromkeys(entity.hint for entity in selected)
    by_hint = ((_character_class(hint), tuple(entity for entity in selected if entity.hint == hint)) for hint in hints)
    spelled = tuple(dict.fromkeys(entity.spelled for entity in selected if entity.spelled))
    return CompiledPolicy(selected, actions, _prefilter_pattern(selected), tuple(words), spelled, tuple(by_hint))


def _may_be_spelled(entity: EntityType, text: str) -> bool:
    """Whether the text may contain a value of the entity without a character of its hint."""
    if spelled_addresses.has_spelled_address(text, entity.words):
        return True
    return entity.spelled is not None and entity.spelled.may_hold(text)


def _prefilter_pattern(entities: Iterable[EntityType]) -> regex.Pattern[str]:
    hints = {entity.hint for entity in entities}
    return _character_class("" if "" in hints else "".join(sorted(hints))) if hints else regex.compile("[^\\s\\S]")


def _character_class(characters: str) -> regex.Pattern[str]:
    """A pattern of texts with one of the characters; without characters, of all texts."""
    return regex.compile(f"[{characters}]" if characters else "")
