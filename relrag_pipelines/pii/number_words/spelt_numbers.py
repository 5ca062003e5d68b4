"""The words for numbers from 10 to 999, made of a language's words for digits, teens, tens and hundreds.

People say a phone number in pairs or in threes: `quarante-huit, vingt-sept`. The words are data: `teens`, `tens`,
`hundreds`, `joiner`, `unit_first` of number_words/.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from relrag_pipelines.pii.number_words import NumberWords
from relrag_pipelines.pii.number_words.matching import fold


def spellings(words: NumberWords) -> dict[str, str]:
    """Digits by the folded words of a number, with blanks for hyphens; those of one word are included."""
    if not words.tens:
        return {}
    digits = [_split(forms) for forms in words.digits]
    tens = dict(_below_hundred(words, digits))
    table = {word: value for value, forms in tens.items() for word in forms}
    for value, forms in _hundreds(words, digits, tens):
        table.update(dict.fromkeys(forms, value))
    return table


def _split(forms: str) -> list[str]:
    return [fold(form).replace("'", "").replace("-", " ") for form in forms.split("/")]


def _below_hundred(words: NumberWords, digits: Sequence[list[str]]) -> Iterator[tuple[str, list[str]]]:
    """The numbers from 10 to 99, each with its words."""
    teens = [_split(forms) for forms in words.teens]
    yield from ((str(10 + unit), forms) for unit, forms in enumerate(teens))
    for ten, stems in enumerate(map(_split, words.tens), 2):
        yield f"{ten}0", stems
        yield from _of_ten(words, ten, stems, digits)
    for item in words.vigesimal:
        ten_digit, _, stems_text = item.partition(":")
        for unit, teen in enumerate(teens):
            yield f"{ten_digit}{unit}", _vigesimal(_split(stems_text), teen)


def _of_ten(
    words: NumberWords, ten: int, stems: Sequence[str], digits: Sequence[list[str]]
) -> Iterator[tuple[str, list[str]]]:
    """The nine numbers behind a ten, each with its words."""
    for unit in range(1, 10):
        pairs = itertools.product(stems, digits[unit])
        yield f"{ten}{unit}", [form for stem, digit in pairs for form in _joined(words, stem, digit)]


def _vigesimal(stems: Sequence[str], teen: Sequence[str]) -> list[str]:
    """`soixante-douze`, `soixante et onze`: a ten with the words for 10 to 19 behind it."""
    return [f"{stem}{gap}{form}" for stem, form, gap in itertools.product(stems, teen, (" ", " et "))]


def _joined(words: NumberWords, ten: str, unit: str) -> list[str]:
    """`forty two`, `zweiundvierzig`, `treinta y dos`, `quarantadue`, `quarantotto`."""
    if words.unit_first:
        return [f"{unit}{joiner}{ten}" for joiner in words.unit_first] + [f"{unit} {words.unit_first[0]} {ten}"]
    elided = f"{ten[:-1]}{unit}" if ten[-1] in "ai" and unit[0] in "uo" else f"{ten}{unit}"
    return [f"{ten} {unit}", f"{ten}{unit}", elided, *(f"{ten} {joiner} {unit}" for joiner in words.joiner)]


def _hundreds(
    words: NumberWords, digits: Sequence[list[str]], tens: dict[str, list[str]]
) -> Iterator[tuple[str, list[str]]]:
    """The numbers from 100 to 999, each with its words."""
    rest = {**{f"0{unit}": digits[unit] for unit in range(1, 10)}, **tens}
    for hundred, forms in enumerate(map(_split, words.hundreds), 1):
        yield f"{hundred}00", forms
        for value, endings in rest.items():
            gaps = (" ", "", *(f" {joiner} " for joiner in words.joiner))
            yield f"{hundred}{value}", [f"{stem}{gap}{ending}" for stem in forms for ending in endings for gap in gaps]
