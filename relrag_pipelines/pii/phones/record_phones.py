"""The phones that a record itself knows of: its sender is a number, a card or a call names it as a phone.

Such a number is a phone in all of that record, however it looks. What is found by its form anyway costs nothing here.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import regex

from relrag_pipelines.pii import PIIRedactor, RedactionError, false_positives, flexible_pattern, present_candidates
from relrag_pipelines.pii.json_values import as_integer, iter_strings, parse, visible_strings
from relrag_pipelines.pii.phones.chains import MAX_CHAIN_CHARS
from relrag_pipelines.pii.phones.value_search import MIN_SEARCHED_DIGITS

_PHONE_KEYS = frozenset(
    {"phone", "phones", "phone_number", "phone_numbers", "tel", "telephone", "mobile", "cell", "fax", "msisdn"}
)
_PHONE_KEY = f'(?i)"(?:{"|".join(sorted(_PHONE_KEYS))})":'
_NAMING = ("from", "to", "participants", "people")
"""columns that name people: a number alone there is a phone, and so is one of nine digits next to a name"""
_DIGITS = "\\+?[(\\p{Nd}](?:[\\s().\\-_/\u2010-\u2015]{0,3}\\p{Nd})"
_NUMBER = f"^\\s*{_DIGITS}{{6,14}}\\s*$|(?:^|[^\\w@.+]){_DIGITS}{{8,14}}(?:$|[^\\w@.])"
_NUMBERS = regex.compile(_NUMBER)


def declared_phones_by_row(
    rows: pa.Table, redactor: PIIRedactor, channel: str, columns: Collection[str]
) -> dict[int, tuple[str, ...]]:
    """By the place of a row, the phones that it knows of and that would not be found wherever it holds them."""
    if not redactor.looks_for_phones(channel):
        return {}

    @functools.cache
    def is_unfound(phone: str) -> bool:
        return bool(_still_undetected([phone], phone, redactor, channel))

    naming = np.flatnonzero(_naming_phones(rows, redactor, channel)).tolist()
    named = rows.take(pa.array(naming, pa.int64())).to_pylist()
    phones = (_undetected(row, redactor, channel, columns, is_unfound) for row in named)
    return {row: numbers for row, numbers in zip(naming, phones, strict=True) if numbers}


def phones_of_record(
    record: Mapping[str, Any], redactor: PIIRedactor, channel: str, columns: Collection[str]
) -> tuple[str, ...]:
    """The same of one record, a row whose `extra` is JSON."""
    if not redactor.looks_for_phones(channel):
        return ()
    return _undetected(
        record, redactor, channel, columns, lambda phone: bool(_still_undetected([phone], phone, redactor, channel))
    )


def _naming_phones(rows: pa.Table, redactor: PIIRedactor, channel: str) -> npt.NDArray[np.bool_]:
    """Which rows name a phone under a key of `extra`, or a person by a number that would not be found."""
    has_phone: npt.NDArray[np.bool_] = pc.match_substring_regex(rows["extra"], _PHONE_KEY).to_numpy().copy()
    for name in _NAMING:
        column = rows[name].combine_chunks()
        owners = np.arange(rows.num_rows)
        if pa.types.is_list(column.type):
            owners = np.repeat(owners, pc.fill_null(pc.list_value_length(column), 0).to_numpy())
            column = column.flatten()
        if pa.types.is_struct(column.type):
            column = column.field("name")
        words = column.dictionary_encode()
        numbers = pc.indices_nonzero(pc.match_substring_regex(words.dictionary, _NUMBER)).to_pylist()
        unfound = [index for index in numbers if _contains_number(words.dictionary[index].as_py(), redactor, channel)]
        has_phone[owners[np.isin(pc.fill_null(words.indices, -1).to_numpy(), unfound)]] = True
    return has_phone


def _contains_number(name: str, redactor: PIIRedactor, channel: str) -> bool:
    try:
        return bool(_numbers(redactor.redact(name, channel)))
    except RedactionError:
        return False  # its rows will be reported


def _numbers(name: str) -> list[str]:
    return [match[0] for match in _NUMBERS.finditer(false_positives.mask_false_positives(name))]


def _undetected(
    row: Mapping[str, Any],
    redactor: PIIRedactor,
    channel: str,
    columns: Collection[str],
    is_unfound: Callable[[str], bool],
) -> tuple[str, ...]:
    """The phones that a record names and that one of its strings would still show."""
    named = [row["from"] or "", *row["to"], *row["participants"], *(person["name"] for person in row["people"])]
    try:
        phones = list(
            dict.fromkeys([*(number for name in named for number in _numbers(name)), *_phones_in(parse(row["extra"]))])
        )
        unfound = set(filter(is_unfound, phones))
        if len(unfound) < len(phones):  # in other words around it, or in other groups, it may not be found either
            texts = [*iter_strings([row[name] for name in columns if name != "extra"]), *visible_strings(row["extra"])]
            unfound.update(phone for text in texts for phone in _still_undetected(phones, text, redactor, channel))
        return tuple(phone for phone in phones if phone in unfound)
    except RedactionError:
        return ()


def _still_undetected(phones: Collection[str], text: str, redactor: PIIRedactor, channel: str) -> list[str]:
    """The phones that are in the text both before and after redaction."""
    present = [phone for phone in present_candidates(text, phones) if flexible_pattern(phone).search(text)]
    redacted = redactor.redact(text, channel) if present else ""
    return [phone for phone in present if flexible_pattern(phone).search(redacted)]


def _phones_in(value: Any, is_phone: bool = False) -> Iterator[str]:
    """The numbers under a phone's key in JSON; `unknown` and `yes` are no numbers."""
    if isinstance(value, dict):
        for key, element in value.items():
            yield from _phones_in(element, key.lower() in _PHONE_KEYS)
    elif isinstance(value, list):
        for element in value:
            yield from _phones_in(element, is_phone)
    elif is_phone:
        number = as_integer(value)
        text = value if isinstance(value, str) else "" if number is None else str(number)
        if len(text) <= MAX_CHAIN_CHARS and sum(map(str.isdecimal, text)) >= MIN_SEARCHED_DIGITS:
            yield text
