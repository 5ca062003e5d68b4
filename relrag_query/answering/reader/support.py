"""Whether a quote and the header of its passage support each number, date and name of a statement.

Numbers and dates are compared in their normal form, or digit by digit; names in any script and form. A number in
words is no number here. What is neither number, date, address nor name is not compared: a statement may be in another
language than its quote.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterator, Mapping

from relrag_pipelines import languages
from relrag_pipelines.text.language import identify
from relrag_pipelines.text.letter_case import fold
from relrag_pipelines.text.month_names import month_names
from relrag_pipelines.text.names import forms, spelling, tables
from relrag_pipelines.text.stopwords import folded, function_words
from relrag_pipelines.text.values import Value, values_in

_AMOUNTS = frozenset({"amount", "share", "number"})
_LOOSE = frozenset({"day", "time", "number"})
"""types of values whose runs of digits may stand alone in a statement: the year of a date, the figures of a code"""
_WORD = re.compile(r"[^\W\d_](?:[^\W_]|['’״׳\-](?=[^\W_]))*")
_ADDRESS = re.compile(r"[\w.+-]*\w@[\w.-]+|(?:https?://|www\.)\S+|\b[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}\b", re.IGNORECASE)
_POSSESSIVE = re.compile(r"['’]s?$")
_SENTENCE_START = re.compile(r"(?:^|[.!?…:\n])[\s\"'“”„«»‘’(\[*-]*$")
_COMMON_LETTERS = 3
"""letters of the beginning that forms of one name share at least"""
_ENDING_LETTERS = 3
"""letters by which forms of a name differ at their end at most"""


def is_supported(statement: str, evidence: str, people: Collection[str] = ()) -> bool:
    """Whether `evidence` holds each number, date, address and name of a statement.

    `people` are words of names in the headers of all passages: those of others are not this passage's.
    """
    values = values_in(statement)
    if not all(_holds_value(value, statement[value.start : value.end], evidence) for value in values):
        return False
    rest = _without(statement, values)
    if any(address.casefold() not in evidence.casefold() for address in _ADDRESS.findall(rest)):
        return False
    months, words = _months_in(evidence), _WORD.findall(evidence)
    return all(_holds_name(name, words, months) for name in names_in(_ADDRESS.sub(" ", rest), people))


def names_in(text: str, people: Collection[str] = ()) -> Iterator[str]:
    """The words of a text that are names: capitalised, known as given names, or among the words of `people`."""
    nouns_too = _capitalises_nouns(text)
    listed = {fold(word) for word in people}
    for match in _WORD.finditer(text):
        word = _POSSESSIVE.sub("", match[0])
        begins = _SENTENCE_START.search(text[: match.start()]) is not None
        if len(word) > 1 and _is_name(word, listed, inside=not begins and not nouns_too):
            yield word


def _is_name(word: str, listed: Collection[str], *, inside: bool) -> bool:
    """Whether a word is a name. `inside`: within a sentence, in a language that capitalises nothing but names."""
    plain = folded(word)
    if plain in function_words():
        return False
    has_case = word.lower() != word.upper()
    if has_case and word[0].islower():
        return any(map(str.isupper, word[1:])) and not plain.isascii()
    if any(map(str.isupper, word[1:])):  # an abbreviation, or a word shouted
        return True
    return (has_case and inside) or fold(word) in listed or _is_given(word)


def _is_given(word: str) -> bool:
    plain = tables.plain(word)
    return word not in tables.common() and (plain in tables.given_names() or plain in forms.nominatives())


def _holds_name(name: str, words: Collection[str], months: Collection[int]) -> bool:
    if month := _months().get(name.lower()):
        return month in months
    return any(_same_name(name, word) for word in words)


@functools.lru_cache(maxsize=8192)
def _same_name(name: str, word: str) -> bool:
    """Whether a word of the evidence is the name: in another case, form or script."""
    plain, other = fold(name), fold(_POSSESSIVE.sub("", word))
    if plain == other or spelling.same(plain, other):
        return True
    if forms.may_call(name, word) or forms.may_call(word, name):
        return True
    if spelling.script(plain) != spelling.script(other):
        return _consonants(plain) == _consonants(other) != ""
    common = _common_beginning(plain, other)
    return common >= _COMMON_LETTERS and max(len(plain), len(other)) - common <= min(_ENDING_LETTERS, common - 1)


def _consonants(word: str) -> str:
    """The consonants of a word in Latin letters: scripts without vowels share them."""
    skeleton = re.sub("[aeiouywh]", "", spelling.to_latin(word))
    return skeleton if len(skeleton) > 1 else ""


def _common_beginning(word: str, other: str) -> int:
    return next(
        (at for at, pair in enumerate(zip(word, other, strict=False)) if pair[0] != pair[1]), min(len(word), len(other))
    )


def _holds_value(value: Value, text: str, evidence: str) -> bool:
    """Whether the evidence holds a value, in its normal form or digit by digit."""
    normals, figures = _normals(evidence), _figures(evidence)
    own = [run.lstrip("0") or "0" for run in _runs(text)]
    if value.type == "contact":
        return (value.type, value.normal) in normals
    types = _AMOUNTS if value.type in _AMOUNTS else {value.type}
    if any((type_, value.normal) in normals for type_ in types):
        return all(run in figures for run in own if len(run) == 4) or value.type in _AMOUNTS
    return bool(own) and all(run in figures for run in own) and _month_agrees(text, evidence)


def _month_agrees(text: str, evidence: str) -> bool:
    """Whether a date's month in words is in the evidence, in words or figures."""
    own = _months_in(text) if any(word.lower() in _months() for word in _WORD.findall(text)) else frozenset()
    return own <= _months_in(evidence)


@functools.lru_cache(maxsize=256)
def _normals(evidence: str) -> frozenset[tuple[str, str]]:
    return frozenset((value.type, value.normal) for value in values_in(evidence))


@functools.lru_cache(maxsize=256)
def _figures(evidence: str) -> frozenset[str]:
    """Whole numbers of the evidence as digits without leading zeros, and the runs of digits of its dates and codes."""
    whole = {value.normal for value in values_in(evidence) if value.type in _AMOUNTS and value.normal.isdecimal()}
    loose = [evidence[value.start : value.end] for value in values_in(evidence) if value.type in _LOOSE]
    runs = {run for text in loose if not re.search(r"\d[.,]\d+$", text) for run in _runs(text)}
    return frozenset(run.lstrip("0") or "0" for run in whole | runs)


@functools.lru_cache(maxsize=256)
def _months_in(text: str) -> frozenset[int]:
    """The months that a text names, in words or in dates of figures."""
    named = {_months()[word.lower()] for word in _WORD.findall(text) if word.lower() in _months()}
    dates = [value.normal.partition("-")[0] for value in values_in(text) if value.type == "day" and "-" in value.normal]
    return frozenset(named | {int(month) for month in dates if month})


@functools.cache
def _months() -> Mapping[str, int]:
    """Names of months in all languages, as capitalised words of a statement may be."""
    names = {name: number for code in reversed(languages.codes()) for name, number in month_names(code).items()}
    return {name: number for name, number in names.items() if len(name) > 2}


def _runs(text: str) -> list[str]:
    return ["".join(str(int(digit)) for digit in run) for run in re.findall(r"\d+", text)]


def _without(text: str, values: Collection[Value]) -> str:
    for value in values:
        text = f"{text[: value.start]}{' ' * (value.end - value.start)}{text[value.end :]}"
    return text


def _capitalises_nouns(text: str) -> bool:
    code = identify(text)
    return code in languages.codes() and languages.language(code).capitalises_nouns
