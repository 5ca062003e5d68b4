"""Whether a quote and the header of its passage support each number, date and name of a statement.

Numbers and dates are compared in their normal form, or digit by digit; names in any script and form. A number in
words is no number here. Other words may differ, since a statement may be in another language than its quote; but some
must be of the quote, the header or the question, else it speaks of something else.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterator, Mapping

from relrag_pipelines import languages
from relrag_pipelines.text.language import likeliest
from relrag_pipelines.text.letter_case import fold
from relrag_pipelines.text.month_names import month_names
from relrag_pipelines.text.names import forms, spelling, tables
from relrag_pipelines.text.stopwords import folded, function_words
from relrag_pipelines.text.values import Value, values_in
from relrag_query.retrieval.term_coverage import tokens

_AMOUNTS = frozenset({"amount", "share", "number"})
_LOOSE = frozenset({"day", "time", "number"})
"""types of values whose runs of digits may stand alone in a statement: the year of a date, the figures of a code"""
_WORD = re.compile(r"[^\W\d_](?:[^\W_]|['’״׳\-](?=[^\W_]))*")
_ADDRESS = re.compile(r"[\w.+-]*\w@[\w.-]+|(?:https?://|www\.)\S+|\b[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}\b", re.IGNORECASE)
_POSSESSIVE = re.compile(r"['’]s?$")
_SENTENCE_START = re.compile(r"(?:^|[.!?…:\n])[\s\"'“”„«»‘’(\[*-]*$")
_ORDINAL = re.compile(r"\d(?:st|nd|rd|th|\.)$", re.IGNORECASE)
_DECIMAL = re.compile(r"\d[.,]\d+$")
_EXACT = frozenset({"contact", "amount", "share"})
"""types of values that stand in their normal form alone"""
_YEAR_FIGURES = 4
_STOPS = ".,;:!?)"
"""behind an address they are of the sentence"""
_MIN_SHARED = 1 / 3
"""share of the words of a statement that are of its quote, its header or the question"""
_PREFIXES = 2
"""letters of prefixes before a name at most"""
_COMMON_LETTERS = 3
"""letters of the beginning that forms of one name share at least"""
_ENDING_LETTERS = 3
"""letters by which forms of a name differ at their end at most"""


def is_supported(statement: str, quote: str, header: str, people: Collection[str] = ()) -> bool:
    """Whether a quote and its header hold each number, date, address and name of a statement.

    `people` are words of names in the headers of all passages: those of others are not this passage's.
    """
    values, evidence = values_in(statement), f"{quote}\n{header}"
    if not all(_holds_value(value, statement[value.start : value.end], quote, header) for value in values):
        return False
    rest = _without(statement, values)
    if any(address.casefold().rstrip(_STOPS) not in evidence.casefold() for address in _ADDRESS.findall(rest)):
        return False
    months, words = _months_in(evidence), _WORD.findall(evidence)
    only_names = not _capitalises_nouns(statement)
    names = names_in(_ADDRESS.sub(" ", rest), people, only_names=only_names)
    return all(_holds_name(name, words, months) for name in names)


def speaks_of(statement: str, evidence: str) -> bool:
    """Whether a statement has enough words of its quote, its header and the question."""
    evidence_tokens = tokens(evidence)
    words = [word for word in re.findall(r"[^\W_]+", statement) if folded(word) not in function_words()]
    shared = [word for word in words if not evidence_tokens.isdisjoint(tokens(word))]
    return len(shared) >= _MIN_SHARED * len(words)


def names_in(text: str, people: Collection[str] = (), *, only_names: bool = True) -> Iterator[str]:
    """The words of a text that are names: capitalised, known as given names, or among the words of `people`.

    `only_names`: whether the language capitalises nothing but names within a sentence.
    """
    listed = {fold(word) for word in people}
    for match in _WORD.finditer(text):
        word = _POSSESSIVE.sub("", match[0])
        begins = _SENTENCE_START.search(text[: match.start()]) is not None
        if len(word) > 1 and _is_name(word, listed, inside=not begins and only_names):
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
    if any(spelling.same(form, other_form) for form in _unprefixed(plain) for other_form in _unprefixed(other)):
        return True
    if forms.may_call(name, word) or forms.may_call(word, name):
        return True
    if spelling.script(plain) != spelling.script(other):
        return bool({*map(_consonants, _unprefixed(plain))} & {*map(_consonants, _unprefixed(other))} - {""})
    common = _common_beginning(plain, other)
    return common >= _COMMON_LETTERS and max(len(plain), len(other)) - common <= min(_ENDING_LETTERS, common - 1)


def _unprefixed(word: str) -> set[str]:
    """The word, and without the letters that its language writes as prefixes."""
    prefixes = "".join(
        language.prefixes for language in languages.languages() if languages.is_in_script(word[0], language)
    )
    beginning = len(word) - len(word.lstrip(prefixes)) if prefixes else 0
    return {word[start:] for start in range(min(beginning, _PREFIXES) + 1) if len(word) - start > 1} or {word}


def _consonants(word: str) -> str:
    """The consonants of a word in Latin letters: scripts without vowels share them."""
    skeleton = re.sub("[aeiouywh]", "", spelling.romanise(word))
    return skeleton if len(skeleton) > 1 else ""


def _common_beginning(word: str, other: str) -> int:
    return next(
        (at for at, pair in enumerate(zip(word, other, strict=False)) if pair[0] != pair[1]), min(len(word), len(other))
    )


def _holds_value(value: Value, text: str, quote: str, header: str) -> bool:
    """Whether quote or header hold a value, in its normal form, or as a date or code digit by digit.

    The figures of a date are no amount: 11 of 2025-01-11 doesn't make a price of 11.
    """
    evidence, figures = f"{quote}\n{header}", _plain_runs(text)
    if _holds_normal_form(value, evidence):
        years = {run for run in figures if len(run) == _YEAR_FIGURES}
        return value.type in _AMOUNTS or years <= _figures(evidence)
    if value.type in _EXACT or not figures:
        return False
    if _is_date(value, text, figures):
        return figures <= _figures(evidence) and _month_agrees(text, evidence)
    return figures <= _figures(quote)


def _holds_normal_form(value: Value, evidence: str) -> bool:
    types = _AMOUNTS if value.type in _AMOUNTS else {value.type}
    return not _normals(evidence).isdisjoint((type_, value.normal.rstrip(_STOPS)) for type_ in types)


def _is_date(value: Value, text: str, figures: frozenset[str]) -> bool:
    """Whether a value is a date, or consists of years."""
    is_date = value.type in ("day", "time") or _ORDINAL.search(text) is not None
    return is_date or all(len(run) == _YEAR_FIGURES for run in figures)


def _month_agrees(text: str, evidence: str) -> bool:
    """Whether a date's month in words is in the evidence, in words or figures."""
    own = _months_in(text) if any(word.lower() in _months() for word in _WORD.findall(text)) else frozenset()
    return own <= _months_in(evidence)


@functools.lru_cache(maxsize=256)
def _normals(evidence: str) -> frozenset[tuple[str, str]]:
    return frozenset((value.type, value.normal.rstrip(_STOPS)) for value in values_in(evidence))


@functools.lru_cache(maxsize=256)
def _figures(evidence: str) -> frozenset[str]:
    """Whole numbers of the evidence as digits without leading zeros, and the runs of digits of its dates and codes."""
    values = values_in(evidence)
    amounts = " ".join(value.normal for value in values if value.type in _AMOUNTS and value.normal.isdecimal())
    loose = (evidence[value.start : value.end] for value in values if value.type in _LOOSE)
    runs = (_plain_runs(text) for text in loose if not _DECIMAL.search(text))
    return _plain_runs(amounts).union(*runs)


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


def _plain_runs(text: str) -> frozenset[str]:
    """The runs of digits of a text, without leading zeros, in ASCII."""
    runs = ("".join(str(int(digit)) for digit in run) for run in re.findall(r"\d+", text))
    return frozenset(run.lstrip("0") or "0" for run in runs)


def _without(text: str, values: Collection[Value]) -> str:
    for value in values:
        text = f"{text[: value.start]}{' ' * (value.end - value.start)}{text[value.end :]}"
    return text


def _capitalises_nouns(text: str) -> bool:
    code = likeliest(text, languages.codes())
    return bool(code) and languages.language(code).capitalises_nouns
