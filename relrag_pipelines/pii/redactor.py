"""Finding and replacing personal data by the policy of a channel."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import regex

from relrag_pipelines.errors import SafeError
from relrag_pipelines.pii import pseudonyms, spelled_addresses
from relrag_pipelines.pii.entities import ENTITIES, FURTHER, EntityType
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.settings import Policy, SettingsError

_WORD = regex.compile("[0-9A-Za-z]")
_NO_DIGITS = re.compile(r"\D+")

DEFAULT_CHANNEL = "default"
PHONE = "PHONE_NUMBER"
FEWEST_KNOWN = 3
"""digits or letters of a number that is known to be a phone; with less it would stand for half of all numbers"""
MAX_PASSES = 20


class RedactionError(SafeError):
    """Personal data could not be looked for or replaced; the message names the kind and holds no text."""


class PolicyError(RedactionError, SettingsError):
    """A policy names an entity or an action that does not exist."""


@dataclass(frozen=True)
class PIIEntity:
    """Personal data found in a text."""

    type: str
    start: int
    """offset of its first character, code points"""
    end: int
    """offset behind its last character, code points"""
    score: float
    """how sure the finding is, 0 to 1"""


@dataclass(frozen=True)
class Replacement:
    """One replacement: what stands from `start` to `end` becomes `new`."""

    start: int
    end: int
    new: str


Action = Callable[[EntityType, str], str]
"""what stands for a value of an entity"""


@dataclass(frozen=True)
class _CompiledPolicy:
    """A policy, ready to be carried out."""

    entities: tuple[EntityType, ...]
    action: Action
    hint: regex.Pattern[str]
    """matches every text in which any of the entities can be, but for those with one of the words"""
    words: tuple[str, ...]
    by_hint: tuple[tuple[regex.Pattern[str], tuple[EntityType, ...]], ...]
    """the entities with one hint, and what matches the texts in which they can be"""


class PIIRedactor:
    """Redacts texts by the policy of their channel; a channel without one uses the policy `default`.

    Raises PolicyError where a policy cannot be carried out. The methods raise RedactionError where a text cannot be
    looked at or the channel has no policy; they never return it as it was instead.
    """

    def __init__(self, policies: Mapping[str, Policy], keys: Keys, enabled: bool = True) -> None:
        self.enabled = enabled
        self._keys = keys
        self._rules = {channel: self._rule(channel, policy) for channel, policy in policies.items()}
        named = (entity for rule in self._rules.values() for entity in rule.entities)
        every = {entity.name: entity for entity in (*ENTITIES.values(), *named)}
        self._any = _rule_for(tuple(every.values()), self._pseudonym)

    def detect(self, text: str, channel: str) -> list[PIIEntity]:
        """What the channel's policy looks for and the text holds, by position.

        A finding within another is left out; of two at one place the surer stands. Pseudonyms are not looked into.
        """
        return _detect(text, self._rule_of(channel))

    def redact(self, text: str, channel: str, phones: Collection[str] = ()) -> str:
        """The text after the channel's policy. A second time changes nothing, and nothing is detected in it.

        `phones` are known to be phone numbers, however they look, and are found wherever the text holds them.
        """
        for changes in self.passes(text, channel, phones):
            text = apply(text, changes)
        return text

    def redact_many(self, texts: Sequence[str], channel: str) -> list[str]:
        """`redact` of each text; equal texts are looked at once."""
        redacted = {text: self.redact(text, channel) for text in dict.fromkeys(texts)}
        return [redacted[text] for text in texts]

    def redact_for_embedding(self, text: str, channel: str) -> str:
        """The redacted text as it is embedded, so that a new pseudonym key changes nothing in it."""
        return self.to_embedding(self.redact(text, channel))

    def to_embedding(self, text: str) -> str:
        """Redacted text with each pseudonym reduced to its `<TYPE>`."""
        return pseudonyms.to_entity_type(text)

    def redact_query(self, text: str) -> str:
        """A question with all personal data of any kind as pseudonyms, as they stand in the index."""
        for changes in self._passes(text, self._any):
            text = apply(text, changes)
        return text

    def safe_id(self, native_id: str) -> str:
        """The id, or its keyed hash where it shows personal data of any kind, whatever the policies.

        What looks like a number within a longer word, such as a hash, is none.
        """
        shown = any(
            not _WORD.match(native_id[one.start - 1 : one.start]) and not _WORD.match(native_id[one.end : one.end + 1])
            for one in _detect(native_id, self._any)
        )
        return f"h{self._keys.id_hash(native_id)}" if shown else native_id

    def hint(self, channel: str) -> str:
        """A pattern, for RE2 as well, that matches every text which the channel's policy could change."""
        rule = self._rule_of(channel)
        return "|".join([rule.hint.pattern, *map(re.escape, rule.words)]) if rule.hint.pattern else ""

    def looks_for_phones(self, channel: str) -> bool:
        """Whether phone numbers are replaced in the channel."""
        return self.enabled and PHONE in [entity.name for entity in self._rule_of(channel).entities]

    def passes(self, text: str, channel: str, phones: Collection[str] = ()) -> Iterator[list[Replacement]]:
        """The replacements that redact the text, pass by pass; each pass applies to the text that the last one left.

        Replacing one finding can bare another that it hid, so passes go on until nothing is found.
        """
        rule = self._rule_of(channel)
        yield from self._passes(text, rule, tuple(phones) if self.looks_for_phones(channel) else ())

    def _passes(self, text: str, rule: _CompiledPolicy, phones: tuple[str, ...] = ()) -> Iterator[list[Replacement]]:
        if not self.enabled:
            return
        for _ in range(MAX_PASSES):
            found = _detect(text, rule, phones)
            if not found:
                return
            changes = _changes(text, found, rule)
            yield changes
            text = apply(text, changes)
        raise RedactionError(f"what stands in for personal data is found again ({found[0].type})")

    def _rule_of(self, channel: str) -> _CompiledPolicy:
        rule = self._rules.get(channel) or self._rules.get(DEFAULT_CHANNEL)
        if rule is None:
            raise RedactionError(f'channel "{channel}" has no policy, and there is no policy "{DEFAULT_CHANNEL}"')
        return rule

    def _rule(self, channel: str, policy: Policy) -> _CompiledPolicy:
        actions: dict[str, Action] = {
            "pseudonymize": self._pseudonym,
            "hash": self._pseudonym,
            "replace": lambda entity, value: f"<{entity.name}>",
            "redact": lambda entity, value: "",
        }
        if policy.action not in actions:
            raise PolicyError(f'pii_policies.{channel}.action is "{policy.action}"; known: {", ".join(actions)}')
        entities = tuple(_entity(channel, name) for name in dict.fromkeys(policy.entities))
        return _rule_for(entities, actions[policy.action])

    def _pseudonym(self, entity: EntityType, value: str) -> str:
        return pseudonyms.pseudonym(entity.name, entity.keyed_as, entity.normalise(value), self._keys)


def apply(text: str, changes: Iterable[Replacement]) -> str:
    """The text with the changes made; they are in order and do not overlap."""
    parts, done = [], 0
    for change in changes:
        parts += [text[done : change.start], change.new]
        done = change.end
    return "".join([*parts, text[done:]])


def _entity(channel: str, name: str) -> EntityType:
    if own := ENTITIES.get(name) or FURTHER.get(name):
        return own
    from relrag_pipelines.pii import presidio  # takes seconds, so only for what we do not find ourselves

    if name not in presidio.known_entities():
        known = ", ".join(sorted({*ENTITIES, *FURTHER, *presidio.known_entities()}))
        raise PolicyError(f'pii_policies.{channel}.entities names "{name}", which is not known; known: {known}')
    return presidio.entity(name)


def _rule_for(entities: tuple[EntityType, ...], action: Action) -> _CompiledPolicy:
    words = dict.fromkeys(word for entity in entities for word in entity.words)
    hints = dict.fromkeys(entity.hint for entity in entities)
    by_hint = ((_class(hint), tuple(one for one in entities if one.hint == hint)) for hint in hints)
    return _CompiledPolicy(entities, action, _prefilter_pattern(entities), tuple(words), tuple(by_hint))


def _prefilter_pattern(entities: Iterable[EntityType]) -> regex.Pattern[str]:
    hints = {entity.hint for entity in entities}
    return _class("" if "" in hints else "".join(sorted(hints))) if hints else regex.compile("[^\\s\\S]")


def _class(characters: str) -> regex.Pattern[str]:
    """Matches texts that have one of the characters; all texts where there are none."""
    return regex.compile(f"[{characters}]" if characters else "")


def _detect(text: str, rule: _CompiledPolicy, phones: tuple[str, ...] = ()) -> list[PIIEntity]:
    if not phones and not rule.hint.search(text) and not spelled_addresses.has_spelled_address(text, rule.words):
        return []
    masked = pseudonyms.mask_pseudonyms(text)
    found = [PIIEntity(entity.name, *span) for entity in _perhaps(rule, masked) for span in _found(entity, masked)]
    found += [
        PIIEntity(PHONE, *m.span(), 1.0)
        for one in present_candidates(masked, phones)
        for m in flexible_pattern(one).finditer(masked)
    ]
    outermost: list[PIIEntity] = []
    for one in sorted(found, key=lambda one: (one.start, -one.end, -one.score)):
        if not outermost or one.end > outermost[-1].end:
            outermost.append(one)
    return outermost


def _perhaps(rule: _CompiledPolicy, text: str) -> Iterator[EntityType]:
    """Those entities of the rule that can be in the text."""
    for hint, entities in rule.by_hint:
        if hint.search(text):
            yield from entities
        else:
            yield from (
                entity
                for entity in entities
                if entity.words and spelled_addresses.has_spelled_address(text, entity.words)
            )


def present_candidates(text: str, phones: Collection[str]) -> list[str]:
    """Those of the phones whose digits stand one after another in the text: far quicker than to look for each."""
    if not phones:
        return []
    digits = _NO_DIGITS.sub("", text)
    return [one for one in phones if _digits(one) in digits]


@functools.lru_cache(maxsize=4096)
def _digits(number: str) -> str:
    return _NO_DIGITS.sub("", number)


@functools.lru_cache(maxsize=4096)
def flexible_pattern(number: str) -> re.Pattern[str]:
    """A number known by its letters and digits, in whatever groups they stand; never within another number or word."""
    said = [re.escape(char) for char in number if char.isalnum()]
    if len(said) < FEWEST_KNOWN:
        return re.compile("(?!)")
    gap = r"[\W_]{0,3}"
    before, behind = (r"\d" if char.isdecimal() else r"[^\W_]" for char in (said[0], said[-1]))
    return re.compile(rf"(?<!{before})[+(]{{0,2}}{gap.join(said)}(?!{behind})", re.IGNORECASE)


def _found(entity: EntityType, text: str) -> Sequence[tuple[int, int, float]]:
    try:
        return entity.find(text)
    except Exception as error:  # noqa: BLE001  whatever went wrong, its message may quote the text
        fault = type(error).__name__
    # raised outside the except block, so that the error with the text is not kept as context
    raise RedactionError(f"{entity.name} could not be looked for ({fault})")


def _changes(text: str, found: list[PIIEntity], rule: _CompiledPolicy) -> list[Replacement]:
    """One change a finding; where two overlap the first ends where the second begins, but stands for all of itself."""
    entities = {entity.name: entity for entity in rule.entities}
    ends = [*(one.start for one in found[1:]), len(text)]
    return [
        Replacement(
            one.start, min(one.end, end), _replacement(entities[one.type], text[one.start : one.end], rule.action)
        )
        for one, end in zip(found, ends, strict=True)
    ]


def _replacement(entity: EntityType, value: str, action: Action) -> str:
    try:
        return action(entity, value)
    except Exception as error:  # noqa: BLE001  as above
        fault = type(error).__name__
    raise RedactionError(f"{entity.name} could not be replaced ({fault})")
