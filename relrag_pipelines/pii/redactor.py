"""Finds and replaces personal data by the policy of a channel.

Presidio finds and replaces it (engine.py). This module only saves calls, without changing a finding: it skips texts in
which no recogniser can find anything, and analyses equal texts once.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import regex

from relrag_pipelines.pii import bank_accounts, domestic_accounts, policies
from relrag_pipelines.pii.entities import ENTITIES, EntityType, SpelledForm
from relrag_pipelines.pii.phones import value_search
from relrag_pipelines.pii.policies import CompiledPolicy, EntityCatalog, RedactionError
from relrag_pipelines.privacy import keyed_pseudonyms, pseudonyms
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.settings import Policy, Settings
from relrag_pipelines.workers import cancellation

if TYPE_CHECKING:
    from presidio_analyzer import RecognizerResult

    from relrag_pipelines.pii.engine import Engine
    from relrag_pipelines.pii.known_values import Finder, Values

_WORD = regex.compile("[0-9A-Za-z]")

Result = TypeVar("Result")

DEFAULT_CHANNEL = "default"
PHONE = "PHONE_NUMBER"
ACCOUNTS = frozenset({"IBAN_CODE", "BANK_ACCOUNT"})
"""entities of bank accounts"""
MAX_PASSES = 20
_SEARCHED = "looked for"
_MAX_CACHED_TEXTS, _MAX_CACHED_CHARS = 1 << 12, 512
"""largest number of cached texts, and of characters of one"""


@dataclass(frozen=True)
class PIIEntity:
    """Personal data found in a text."""

    type: str
    start: int
    """offset of its first character, code points"""
    end: int
    """offset after its last character, code points"""
    score: float
    """how sure the finding is, 0 to 1"""


@dataclass(frozen=True)
class Replacement:
    """One replacement: the text from `start` to `end` becomes `new`."""

    start: int
    end: int
    new: str
    value: str = field(default="", repr=False, compare=False)
    """the value; it may extend beyond `end`, where another finding begins"""
    entity: str = field(default="", compare=False)
    """the entity of the value"""


class PIIRedactor:
    """Redacts texts by the policy of their channel; a channel without one uses the policy `default`.

    Raises PolicyError for an invalid policy. The methods raise RedactionError if a text cannot be analysed or the
    channel has no policy; they never return the unredacted text instead.
    """

    def __init__(
        self,
        policies: Mapping[str, Policy],
        keys: Keys,
        enabled: bool = True,
        allowed: Sequence[str] = (),
        catalog: EntityCatalog | None = None,
    ) -> None:
        self.enabled = enabled
        self._keys = keys
        self.allowed = tuple(allowed)
        self._catalog = catalog or EntityCatalog()
        self._rules = {channel: self._catalog.compile(channel, policy) for channel, policy in policies.items()}
        self._ids, self._any = self._rules_of_all()
        self._cache: dict[tuple[int, str], list[PIIEntity]] = {}

    @classmethod
    def from_settings(cls, settings: Settings, keys: Keys, regions: Sequence[str] = ()) -> PIIRedactor:
        """The redactor of an archive's settings; `regions` are the archive's home countries."""
        catalog = EntityCatalog(settings.pii_recognizers_path, settings.pii_language_model_path, tuple(regions))
        return cls(settings.pii_policies, keys, settings.pii_redaction_enabled, settings.pii_allow_list, catalog)

    def switched_on(self) -> PIIRedactor:
        """The same redactor, but enabled, to show what it would replace."""
        enabled = copy.copy(self)
        enabled.enabled = True
        return enabled

    @property
    def regions(self) -> tuple[str, ...]:
        """Countries whose national numbers are found by their form alone, the likeliest first."""
        return self._catalog.regions

    def detect(self, text: str, channel: str) -> list[PIIEntity]:
        """The personal data in the text by the channel's policy, in order of position.

        A finding within another is left out; of two with the same span the higher score wins. Pseudonyms are skipped.
        """
        return self._detect(text, self._rule_of(channel))

    def redact(self, text: str, channel: str, phones: Collection[str] = (), values: Values | None = None) -> str:
        """The text redacted by the channel's policy. Redacting it again changes nothing, and nothing is detected in it.

        `phones` are redacted as phone numbers, whatever their format; so are those of the `values` whose entities the
        channel hides.
        """
        if not phones and not values and not self._rule_of(channel).may_change(text):
            return text  # the fast path for most texts
        for changes in self.passes(text, channel, phones, values):
            text = apply(text, changes)
        return text

    def redact_many(self, texts: Sequence[str], channel: str) -> list[str]:
        """`redact` of each text; equal texts are redacted once."""
        redacted = {text: self.redact(text, channel) for text in dict.fromkeys(texts)}
        return [redacted[text] for text in texts]

    def redact_for_embedding(self, text: str, channel: str) -> str:
        """The redacted text for embedding, which does not depend on the pseudonym key."""
        return self.to_embedding(self.redact(text, channel))

    def to_embedding(self, text: str) -> str:
        """Redacted text with each pseudonym reduced to its `<TYPE>`."""
        return pseudonyms.to_entity_type(text)

    def redact_query(self, text: str) -> str:
        """A question with personal data of any entity replaced by pseudonyms, as in the index."""
        for changes in self._passes(text, self._any):
            text = apply(text, changes)
        return text

    def safe_id(self, native_id: str) -> str:
        """The id, or its keyed hash if it contains personal data of a usual entity, whatever the policies.

        A finding within a longer word, such as a hash, does not count.
        """
        shown = any(
            not _WORD.match(native_id[entity.start - 1 : entity.start])
            and not _WORD.match(native_id[entity.end : entity.end + 1])
            for entity in self._detect(native_id, self._ids)
        )
        return f"h{self._keys.id_hash(native_id)}" if shown else native_id

    def hint(self, channel: str) -> str:
        """A pattern, valid for RE2 too, of each text that the channel's policy could change, but in `spelled_forms`."""
        rule = self._rule_of(channel)
        if not rule.hint.pattern:
            return ""
        words = "|".join(map(regex.escape, rule.words))
        return "|".join([rule.hint.pattern, *([f"(?i:{words})"] if words else [])])

    def spelled_forms(self, channel: str) -> tuple[SpelledForm, ...]:
        """Prefilters of values in words that the channel's policy replaces."""
        return self._rule_of(channel).spelled

    def looks_for_phones(self, channel: str) -> bool:
        """Whether phone numbers are replaced in the channel."""
        return self.enabled and PHONE in [entity.name for entity in self._rule_of(channel).entities]

    def explain(self, text: str, channel: str) -> list[RecognizerResult]:
        """Presidio's findings in the text under the channel's policy, with reasons, without a prefilter."""
        rule = self._rule_of(channel)
        names = [entity.name for entity in rule.entities]
        masked = pseudonyms.mask_pseudonyms(text)
        return self._engine.analyze(masked, names, self.allowed, explain=True) if names else []

    def hidden_entities(self, channel: str) -> frozenset[str]:
        """The entities that the channel's policy replaces."""
        return frozenset(entity.name for entity in self._rule_of(channel).entities) if self.enabled else frozenset()

    def action(self, entity: str, channel: str) -> str:
        """The action for an entity under the channel's policy."""
        return self._rule_of(channel).actions[entity]

    def vault_name(self, change: Replacement) -> str:
        """The pseudonym under which the vault stores a replaced value, even if the policy shows none."""
        if pseudonyms.is_pseudonym(change.new):
            return change.new
        entity = self._catalog.entity("vault", change.entity)
        return keyed_pseudonyms.pseudonym(entity.name, entity.keyed_as, entity.normalise(change.value), self._keys)

    def account_pseudonym(self, number: str) -> str | None:
        """The pseudonym of the IBAN of an account in domestic form; None if the text is no account."""
        iban = domestic_accounts.iban_of(number) if bank_accounts.is_whole(number) else None
        return iban and keyed_pseudonyms.pseudonym("IBAN_CODE", "iban", iban, self._keys)

    def passes(
        self, text: str, channel: str, phones: Collection[str] = (), values: Values | None = None
    ) -> Iterator[list[Replacement]]:
        """The replacements that redact the text, pass by pass; each applies to the result of the previous pass.

        A replacement can uncover another finding, so passes repeat until nothing is found. `phones` and those of the
        `values` whose entities the channel hides are found whatever their format.
        """
        rule = self._rule_of(channel)
        further = values.finders(self.hidden_entities(channel)) if values else []
        if phones and self.looks_for_phones(channel):
            further.append((PHONE, functools.partial(value_search.find, values=tuple(phones))))
        yield from self._passes(text, rule, further)

    def _passes(self, text: str, rule: CompiledPolicy, further: Sequence[Finder] = ()) -> Iterator[list[Replacement]]:
        if not self.enabled:
            return
        for _ in range(MAX_PASSES):
            findings = self._detect(text, rule, further)
            if not findings:
                return
            changes = self._changes(text, findings, rule)
            yield changes
            text = apply(text, changes)
        raise RedactionError(f"what stands in for personal data is found again ({findings[0].type})")

    def _rule_of(self, channel: str) -> CompiledPolicy:
        rule = self._rules.get(channel) or self._rules.get(DEFAULT_CHANNEL)
        if rule is None:
            raise RedactionError(f'channel "{channel}" has no policy, and there is no policy "{DEFAULT_CHANNEL}"')
        return rule

    def _rules_of_all(self) -> tuple[CompiledPolicy, CompiledPolicy]:
        """Policies of the usual entities, for ids, and of these and all that any policy names, for questions."""
        usual_entities = {name: entity for name, entity in self._catalog.ours.items() if name in ENTITIES}
        all_entities = usual_entities | {
            entity.name: entity for rule in self._rules.values() for entity in rule.entities
        }
        ids, any_ = (
            policies.compile_policy(table.values(), dict.fromkeys(table, "pseudonymize"))
            for table in (usual_entities, all_entities)
        )
        return ids, any_

    @functools.cached_property
    def _engine(self) -> Engine:
        return self._catalog.engine

    def _detect(self, text: str, rule: CompiledPolicy, further: Sequence[Finder] = ()) -> list[PIIEntity]:
        if not further and not rule.may_change(text):
            return []
        masked = pseudonyms.mask_pseudonyms(text)
        key = (id(rule), masked)
        if not further and (cached := self._cache.get(key)) is not None:
            return cached
        findings = self._analyze(masked, rule, further)
        if not further and len(masked) <= _MAX_CACHED_CHARS:
            if len(self._cache) >= _MAX_CACHED_TEXTS:
                self._cache.clear()
            self._cache[key] = findings
        return findings

    def _analyze(self, text: str, rule: CompiledPolicy, further: Sequence[Finder]) -> list[PIIEntity]:
        """Presidio's findings of the entities that the text may contain, without those within another finding."""
        cancellation.check()
        names = [entity.name for entity in rule.candidates(text) if _may_hold(entity, text)]
        further = [(name, find) for name, find in further if find(text)]
        kinds = dict.fromkeys([*names, *(name for name, _ in further)])
        if not kinds:
            return []
        results = _guard(", ".join(kinds), _SEARCHED, self._engine.analyze, text, names, self.allowed, further)
        outermost: list[PIIEntity] = []
        for result in sorted(
            results, key=lambda result: (result.start, -result.end, -result.score, result.entity_type)
        ):
            if not outermost or result.end > outermost[-1].end:
                outermost.append(PIIEntity(result.entity_type, result.start, result.end, result.score))
        return outermost

    def _changes(self, text: str, findings: list[PIIEntity], rule: CompiledPolicy) -> list[Replacement]:
        """One replacement per finding; of two that overlap the first ends where the second begins."""
        from relrag_pipelines.pii import operators

        entities = {entity.name: entity for entity in rule.entities}
        configs = {
            name: operators.config(rule.actions[name], entities[name], self._keys)
            for name in {finding.type for finding in findings}
        }
        values = [(finding.type, text[finding.start : finding.end]) for finding in findings]
        new = _guard(", ".join(sorted(configs)), "replaced", self._engine.replace, values, configs)
        ends = [*(finding.start for finding in findings[1:]), len(text)]
        return [
            Replacement(
                finding.start, min(finding.end, end), replacement, text[finding.start : finding.end], finding.type
            )
            for finding, end, replacement in zip(findings, ends, new, strict=True)
        ]


def apply(text: str, changes: Iterable[Replacement]) -> str:
    """The text with the changes made; they are in order and do not overlap."""
    parts, position = [], 0
    for change in changes:
        parts += [text[position : change.start], change.new]
        position = change.end
    return "".join([*parts, text[position:]])


def _may_hold(entity: EntityType, text: str) -> bool:
    return _guard(entity.name, _SEARCHED, entity.may_hold, text)


def _guard(kind: str, action: str, function: Callable[..., Result], *arguments: Any) -> Result:
    """The function's result. If it fails, raises RedactionError, which names the kind and contains no text."""
    try:
        return function(*arguments)
    except Exception as error:  # noqa: BLE001  whatever went wrong, its message may quote the text
        fault = type(error).__name__
    # raised outside the except block, so that the error with the text is not kept as context
    raise RedactionError(f"{kind} could not be {action} ({fault})")
