"""Redacts a record's `numbers`: values replaced in the text are replaced here too, and accounts still relate records.

One channel may show an account that another masks or hides. So the numbers contain its pseudonym, which relates
records of all channels.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pyarrow as pa

from relrag_pipelines.pii import PIIRedactor, Replacement
from relrag_pipelines.pii.redactor import ACCOUNTS
from relrag_pipelines.privacy import pseudonyms

_MIN_PART_LENGTH = 6
"""shortest number, in letters and digits, that identifies a longer number containing it"""


def listed_form(change: Replacement, redactor: PIIRedactor) -> str:
    """The form of a replacement among the numbers: for an account its pseudonym, unless the policy removes it."""
    if not change.new or change.entity not in ACCOUNTS or pseudonyms.is_pseudonym(change.new):
        return change.new
    return redactor.account_pseudonym(change.value) or redactor.vault_name(change)


def stand_alone(numbers: Iterable[str], text: str, subject: str | None) -> set[str]:
    """The numbers that occur in neither text nor subject, so that no context words apply to them."""
    present = compact(f"{text}\n{subject or ''}")
    return {number for number in numbers if compact(number) not in present}


def redact(numbers: pa.Array, replaced: Sequence[Mapping[str, str] | None], redactor: PIIRedactor) -> pa.Array:
    """The numbers, with values that were replaced in the text of their row replaced in the same way.

    `replaced` maps replaced values, in compact form, to their replacements. An account that is shown is followed by
    its pseudonym.
    """
    rows = numbers.to_pylist()
    touched = False
    for row, (row_numbers, replacements) in enumerate(zip(rows, replaced, strict=True)):
        if not row_numbers:
            continue
        remaining = [_replacement_for(number, replacements) for number in row_numbers] if replacements else row_numbers
        names = [name for number in remaining if (name := redactor.account_pseudonym(number))]
        if replacements or names:
            rows[row], touched = [*remaining, *(name for name in dict.fromkeys(names) if name not in remaining)], True
    return pa.array(rows, numbers.type) if touched else numbers


def compact(text: str) -> str:
    """Letters and digits, in upper case."""
    return "".join(filter(str.isalnum, text)).upper()


def _replacement_for(number: str, replacements: Mapping[str, str]) -> str:
    plain = compact(number)
    if plain in replacements:
        return replacements[plain]
    if len(plain) < _MIN_PART_LENGTH:
        return number
    return next(
        (
            replacement
            for value, replacement in replacements.items()
            if plain in value or (len(value) >= _MIN_PART_LENGTH and value in plain)
        ),
        number,
    )
