"""Collects the personal data in a record, to find it in all strings of the record and in its passages.

A passage may lack the words that announce a value, and a file name the IBAN that identifies an account.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping, Set
from dataclasses import dataclass, field
from typing import Any

from relrag_pipelines.pii import PIIRedactor, json_values, redacted_numbers
from relrag_pipelines.pii.known_values import Finder
from relrag_pipelines.pii.phones import record_phones, value_search
from relrag_pipelines.pii.record_strings import redact_json


@dataclass(frozen=True)
class RecordValues:
    """The values found in a record, or in several."""

    by_entity: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """values as found, by entity"""

    def __bool__(self) -> bool:
        return bool(self.by_entity)

    def __or__(self, other: RecordValues) -> RecordValues:
        names = self.by_entity.keys() | other.by_entity.keys()
        empty = frozenset[str]()
        return RecordValues(
            {name: self.by_entity.get(name, empty) | other.by_entity.get(name, empty) for name in names}
        )

    def finders(self, entities: Set[str]) -> list[Finder]:
        """A finder for the values of each of these entities, in any grouping."""
        names = sorted(self.by_entity.keys() & entities)
        return [(name, functools.partial(value_search.find, values=sorted(self.by_entity[name]))) for name in names]


def find_values(
    record: Mapping[str, Any], columns: Collection[str], redactor: PIIRedactor, channel: str
) -> RecordValues:
    """The values that the channel's policy replaces in these columns of a Record row, whose `extra` is JSON.

    Raises RedactionError if a column cannot be redacted.
    """
    phones = record_phones.phones_of_record(record, redactor, channel, columns)
    values_by_entity: dict[str, set[str]] = {}

    def note(text: str) -> str:
        for changes in redactor.passes(text, channel, phones):
            for change in changes:
                values_by_entity.setdefault(change.entity, set()).add(change.value)
        return text

    alone = redacted_numbers.stand_alone(record["numbers"], record["text"], record["subject"])
    listed = {name: record[name] for name in columns if name not in ("extra", "numbers")}
    for text in [*json_values.iter_strings(list(listed.values())), *sorted(alone)]:
        note(text)
    redact_json(json_values.parse(record["extra"]), note, json_values.LONG_NUMBER)
    return RecordValues({entity: frozenset(values) for entity, values in values_by_entity.items()})
