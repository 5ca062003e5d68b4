"""Redacts the strings of records one by one, and records the replacements in each."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import orjson

from relrag_pipelines.pii import (
    PIIRedactor,
    Replacement,
    apply,
    json_values,
    known_values,
    redacted_numbers,
)
from relrag_pipelines.pii.known_values import KnownValues
from relrag_pipelines.privacy import pseudonyms
from relrag_pipelines.sources import COMMIT_REF

OUR_REF = re.compile(r"[a-z_]+:h[0-9a-f]{16}(?::\d+)*|(?=\d*[a-f])[0-9a-f]{16}")
COMMIT = re.compile(r"(?<![0-9A-Za-z])(?=\d*[a-f])[0-9a-f]{40}(?:[0-9a-f]{24})?(?![0-9A-Za-z])")
"""a commit hash; its digits are not searched for ids"""
ANCHOR = re.compile(r"[A-Z]\d{1,5}(?:-?[A-Z]\d{1,5})*")
"""a line or row as readers write it, `L120-L140` or `C3M17`: a letter with too few digits for an id of anybody"""
TextKey = tuple[str, int]
"""a text, and the index of its record's set of declared phones"""


class RecordStrings:
    """Redacts strings of one channel, and records the replaced values.

    Each string comes with the index in `phones` of its record's declared phones. Raises RedactionError for a string
    that cannot be redacted.
    """

    def __init__(
        self,
        redactor: PIIRedactor,
        channel: str,
        phones: Sequence[tuple[str, ...]],
        originals: dict[str, str],
        values: KnownValues | None = None,
    ) -> None:
        """Adds each replaced value to `originals`, by its pseudonym; `values` are found whatever their format."""
        self._redactor, self._channel, self._phones, self._originals = redactor, channel, phones, originals
        self._values = values
        self.passes: dict[TextKey, list[list[Replacement]]] = {}
        """replacements in each text, pass by pass"""
        self.numbers: dict[TextKey, dict[str, str]] = {}
        """for each text, the replaced values in compact form, with their replacements among a record's numbers"""
        self._paths: dict[TextKey, str] = {}
        """redacted parts of locations, which repeat: many records come from one file"""

    def change(self, column: str) -> Callable[[str, int], str]:
        """The function that redacts the strings of a column."""
        of_column = {"text": self.text, "subject": self.text, "extra": self.json, "locations": self.location}
        return of_column.get(column, self.string)

    def string(self, text: str, phones: int) -> str:
        """Redacts any string."""
        armless = pseudonyms.escape_lookalikes(text)
        for changes in self._passes(armless, phones):
            self._keep_originals(changes)
            armless = apply(armless, changes)
        return armless

    def text(self, text: str, phones: int) -> str:
        """Redacts a text or subject, and records its replacements."""
        key, armless = (text, phones), pseudonyms.escape_lookalikes(text)
        self.passes[key] = list(self._passes(armless, phones))
        if repeated := _repeated_guesses(armless, self.passes[key]):
            self.passes[key] = list(self._passes(armless, phones, repeated))
        for changes in self.passes[key]:
            self._keep_originals(changes)
            changes_by_number = {
                redacted_numbers.compact(armless[change.start : change.end]): change for change in changes
            }
            listed = {
                number: redacted_numbers.listed_form(change, self._redactor)
                for number, change in changes_by_number.items()
            }
            self.numbers.setdefault(key, {}).update(listed)
            armless = apply(armless, changes)
        return armless

    def location(self, text: str, phones: int) -> str:
        """Redacts path and anchor separately: `mail.jsonl#someone@example.org` is no address."""
        searched = self._values or self._phones[phones]  # values that are found whatever their form
        return "#".join(
            part if COMMIT.fullmatch(part) or (not searched and ANCHOR.fullmatch(part)) else self._path(part, phones)
            for part in text.split("#")
        )

    def _path(self, text: str, phones: int) -> str:
        if (text, phones) not in self._paths:
            self._paths[text, phones] = self.string(text, phones)
        return self._paths[text, phones]

    def json(self, text: str, phones: int) -> str:
        """Redacts JSON, long numbers too; all numbers if the record declares phones."""
        min_number = 0 if self._phones[phones] or self._values else json_values.LONG_NUMBER
        redacted = redact_json(json_values.parse(text), lambda string: self.string(string, phones), min_number)
        return orjson.dumps(redacted, option=orjson.OPT_SORT_KEYS).decode()

    def _passes(self, text: str, phones: int, further: tuple[str, ...] = ()) -> Iterator[list[Replacement]]:
        return self._redactor.passes(text, self._channel, (*self._phones[phones], *further), self._values)

    def _keep_originals(self, changes: list[Replacement]) -> None:
        for change in changes:
            name = self._redactor.vault_name(change)
            if name not in self._originals or not known_values.is_guess(change.entity, change.value):
                self._originals[name] = change.value


def _repeated_guesses(text: str, passes: list[list[Replacement]]) -> tuple[str, ...]:
    """Bare digits that words in the text call a phone, and that the text repeats where no words do."""
    guesses = {
        change.value for changes in passes for change in changes if known_values.is_guess(change.entity, change.value)
    }
    return tuple(sorted(value for value in guesses if text.count(value) > 1))


def redact_json(value: Any, redact: Callable[[str], str], min_number: int) -> Any:
    """The JSON redacted, including whole numbers from `min_number`."""
    if isinstance(value, str):
        ours = OUR_REF.fullmatch(value) or COMMIT.fullmatch(value.removeprefix(COMMIT_REF))
        return value if ours else redact(value)
    if isinstance(value, list):
        return [redact_json(element, redact, min_number) for element in value]
    if isinstance(value, dict):
        redacted_items: dict[str, Any] = {}
        for key, element in value.items():
            redacted_items[_unique_key(redact(key), redacted_items)] = redact_json(element, redact, min_number)
        return redacted_items
    return _redact_number(value, redact, min_number)


def _redact_number(value: Any, redact: Callable[[str], str], min_number: int) -> Any:
    """A whole number from `min_number` redacted; every other value unchanged."""
    number = json_values.as_integer(value)
    if number is None or abs(number) < min_number:
        return value
    redacted = redact(str(number))
    return value if redacted == str(number) else redacted


def _unique_key(key: str, taken: Iterable[str]) -> str:
    """The key, with a number if redaction made two keys equal."""
    numbered = (f"{key} ({count})" for count in itertools.count(2))
    return next(candidate for candidate in itertools.chain([key], numbered) if candidate not in taken)
