"""The numbers of a record as redaction leaves them: what went from the text goes from them, and accounts still join.

A text may show of an account only that there is one, or show it where another channel hides it. So the numbers hold
its pseudonym, by which records of all channels are related.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pyarrow as pa

from relrag_pipelines.pii import PIIRedactor, Replacement, pseudonyms
from relrag_pipelines.pii.redactor import ACCOUNTS

_MIN_PART_LENGTH = 6
"""letters and digits of a number from which on it tells of another that holds it"""


def listed_form(change: Replacement, redactor: PIIRedactor) -> str:
    """What stands among the numbers for what was replaced: for an account its pseudonym, unless a policy removes it."""
    if not change.new or change.entity not in ACCOUNTS or pseudonyms.is_pseudonym(change.new):
        return change.new
    return redactor.account_pseudonym(change.value) or redactor.vault_name(change)


def stand_alone(numbers: Iterable[str], text: str, subject: str | None) -> set[str]:
    """The numbers that stand neither in the text nor in the subject, where the words around decide what they are."""
    present = compact(f"{text}\n{subject or ''}")
    return {number for number in numbers if compact(number) not in present}


def redact(numbers: pa.Array, replaced: Sequence[Mapping[str, str] | None], redactor: PIIRedactor) -> pa.Array:
    """The numbers, with what was replaced in the text of each row replaced as it was there: words around decide there.

    `replaced` is what was found, in its letters and digits, and what stands for it. Behind an account that is shown
    comes its pseudonym.
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
    """Its letters and digits, in upper case."""
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
