"""The numbers of a record as redaction leaves them: what went from the text goes from them, and accounts still join.

A text may show of an account only that there is one, or show it where another channel hides it. So the numbers hold
its pseudonym, by which records of all channels are related.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pyarrow as pa

from relrag_pipelines.pii import PIIRedactor, Replacement, pseudonyms
from relrag_pipelines.pii.redactor import ACCOUNTS

_LEAST_PART = 6
"""letters and digits of a number from which on it tells of another that holds it"""


def listed_form(change: Replacement, redactor: PIIRedactor) -> str:
    """What stands among the numbers for what was replaced: for an account its pseudonym, unless a policy removes it."""
    if not change.new or change.entity not in ACCOUNTS or pseudonyms.is_pseudonym(change.new):
        return change.new
    return redactor.account_pseudonym(change.value) or redactor.vault_name(change)


def stand_alone(numbers: Iterable[str], text: str, subject: str | None) -> set[str]:
    """The numbers that stand neither in the text nor in the subject, where the words around decide what they are."""
    said = compact(f"{text}\n{subject or ''}")
    return {one for one in numbers if compact(one) not in said}


def redact(numbers: pa.Array, replaced: Sequence[Mapping[str, str] | None], redactor: PIIRedactor) -> pa.Array:
    """The numbers, with what was replaced in the text of each row replaced as it was there: words around decide there.

    `replaced` is what was found, in its letters and digits, and what stands for it. Behind an account that is shown
    comes its pseudonym.
    """
    rows = numbers.to_pylist()
    touched = False
    for row, (some, gone) in enumerate(zip(rows, replaced, strict=True)):
        if not some:
            continue
        left = [_replacement_for(one, gone) for one in some] if gone else some
        names = [name for one in left if (name := redactor.account_pseudonym(one))]
        if gone or names:
            rows[row], touched = [*left, *(one for one in dict.fromkeys(names) if one not in left)], True
    return pa.array(rows, numbers.type) if touched else numbers


def compact(text: str) -> str:
    """Its letters and digits, in upper case."""
    return "".join(filter(str.isalnum, text)).upper()


def _replacement_for(number: str, gone: Mapping[str, str]) -> str:
    plain = compact(number)
    if plain in gone:
        return gone[plain]
    if len(plain) < _LEAST_PART:
        return number
    return next(
        (new for one, new in gone.items() if plain in one or (len(one) >= _LEAST_PART and one in plain)), number
    )
