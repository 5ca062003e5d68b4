"""Policies, ready to be carried out: which entities are looked for, what becomes of each, and where none can be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import regex

from relrag_pipelines.errors import SafeError
from relrag_pipelines.pii import entities as entity_table
from relrag_pipelines.pii import spelled_addresses
from relrag_pipelines.pii.entities import EntityType, SpelledForm
from relrag_pipelines.settings import ACTIONS, Policy, SettingsError

if TYPE_CHECKING:
    from relrag_pipelines.pii.engine import Engine

KEEP = "keep"


class RedactionError(SafeError):
    """Personal data could not be looked for or replaced; the message names the kind and holds no text."""


class PolicyError(RedactionError, SettingsError):
    """A policy names an entity or an action that does not exist."""


@dataclass(frozen=True)
class CompiledPolicy:
    """A policy, ready to be carried out."""

    entities: tuple[EntityType, ...]
    actions: Mapping[str, str]
    """what becomes of each of the entities, by its name"""
    hint: regex.Pattern[str]
    """matches every text in which any of the entities can be, but for those with one of the words"""
    words: tuple[str, ...]
    spelled: tuple[SpelledForm, ...]
    """or that are written in words"""
    by_hint: tuple[tuple[regex.Pattern[str], tuple[EntityType, ...]], ...]
    """the entities with one hint, and what matches the texts in which they can be"""

    def may_change(self, text: str) -> bool:
        """Whether any of the entities could be in the text, by its characters alone."""
        if self.hint.search(text) is not None or spelled_addresses.has_spelled_address(text, self.words):
            return True
        return any(form.may_hold(text) for form in self.spelled)

    def candidates(self, text: str) -> Iterator[EntityType]:
        """The entities that the text may hold, by its characters."""
        for hint, entities in self.by_hint:
            if hint.search(text):
                yield from entities
            else:
                yield from (entity for entity in entities if _may_be_spelled(entity, text))


@dataclass(frozen=True)
class EntityCatalog:
    """The entities that policies of an archive may name."""

    recognizers: Path | None = None
    """the owner's own recognisers"""
    language_model: Path | None = None
    regions: tuple[str, ...] = ()
    """countries whose national numbers count by their form alone, the likeliest first"""

    @property
    def ours(self) -> Mapping[str, EntityType]:
        """Those that need nothing but relrag and the owner's file."""
        return entity_table.table(self.recognizers, self.regions)

    @property
    def engine(self) -> Engine:
        """Presidio with the recognisers of all these. Raises SettingsError where the language model cannot be read."""
        # takes a second to import, so only where something is to be found
        from relrag_pipelines.pii import engine

        return engine.engine(tuple(self.ours.values()), self.language_model)

    def entity(self, location: str, name: str) -> EntityType:
        """The entity; PolicyError names the known ones where there is none, `place` says where it is named."""
        if own := self.ours.get(name):
            return own
        names = self.engine.known_entities | self.ours.keys()
        if name not in names:
            raise PolicyError(f'{location} names "{name}", which is not known; known: {", ".join(sorted(names))}')
        return EntityType(name, None, entity_table.squeeze, name, "")

    def compile(self, channel: str, policy: Policy) -> CompiledPolicy:
        """The policy of a channel. Raises PolicyError where it names what does not exist."""
        location = f"pii_policies.{channel}"
        for name, action in {"action": policy.action, **{f"actions.{k}": v for k, v in policy.actions.items()}}.items():
            if action not in ACTIONS:
                raise PolicyError(f'{location}.{name} is "{action}"; known: {", ".join(ACTIONS)}')
        entities = {name: self.entity(f"{location}.entities", name) for name in policy.entities}
        entities |= {name: self.entity(f"{location}.actions", name) for name in policy.actions if name not in entities}
        actions = {name: policy.actions.get(name, policy.action) for name in entities}
        return compile_policy((entity for name, entity in entities.items() if actions[name] != KEEP), actions)


def compile_policy(entities: Iterable[EntityType], actions: Mapping[str, str]) -> CompiledPolicy:
    """A policy for these entities."""
    selected = tuple(entities)
    words = dict.fromkeys(word for entity in selected for word in entity.words)
    hints = dict.fromkeys(entity.hint for entity in selected)
    by_hint = ((_character_class(hint), tuple(entity for entity in selected if entity.hint == hint)) for hint in hints)
    spelled = tuple(dict.fromkeys(entity.spelled for entity in selected if entity.spelled))
    return CompiledPolicy(selected, actions, _prefilter_pattern(selected), tuple(words), spelled, tuple(by_hint))


def _may_be_spelled(entity: EntityType, text: str) -> bool:
    """Whether a value of the entity may stand in the text without any of the characters of its hint."""
    if spelled_addresses.has_spelled_address(text, entity.words):
        return True
    return entity.spelled is not None and entity.spelled.may_hold(text)


def _prefilter_pattern(entities: Iterable[EntityType]) -> regex.Pattern[str]:
    hints = {entity.hint for entity in entities}
    return _character_class("" if "" in hints else "".join(sorted(hints))) if hints else regex.compile("[^\\s\\S]")


def _character_class(characters: str) -> regex.Pattern[str]:
    """Matches texts that have one of the characters; all texts where there are none."""
    return regex.compile(f"[{characters}]" if characters else "")
