"""The words of a text as sparse search sees them: one analysis for what is indexed and for what is asked.

Words of the default language are stemmed. Words of others are written in many forms, so they are also indexed by their
beginnings, without accents: the first three, four and five letters; in a script whose words have prefixed letters, the
first three and four of the word with and without these. Beginnings stand behind a `~`, apart from whole words, and
weigh more than these in a question of such a language: which form a word has in the question says little of which it
has in the answer. Where the language of a line is known and has a stemmer, stems are added behind a `=`. Numbers,
dates, codes, addresses and file names are found however they are punctuated.

Which language a word belongs to is decided without a model. An accent or a letter of another script tells of itself. A
plain word is of the default language where its line, or else the whole text, holds more function words of it than signs
of another language; so English text gets no beginnings, and Czech typed without accents does.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Callable
from typing import NamedTuple, TypeVar

import Stemmer

from relrag_pipelines import languages
from relrag_pipelines.text import stopwords
from relrag_pipelines.text.letter_case import fold as fold
from relrag_pipelines.text.number_tokens import join_numbers, number_tokens

VERSION = 3
"""Raised when equal texts give other tokens: vectors of different versions must not meet in one index."""

_LETTERS, _PREFIXED_LETTERS = (3, 4, 5), (3, 4)
"""letters of the beginnings that words are indexed by: stems of three letters are common, and weigh little"""
_MAX_PREFIXES = 3
_MAX_LANGUAGES = 3
"""equally likely languages of a line; with more, no word is stemmed"""
_MIN_STEMMED_LETTERS = 3

_PREFIXING = tuple(language for language in languages.languages() if language.prefixes)
PREFIXED = "".join(language.prefixes for language in _PREFIXING)
"""letters that some languages write before a word, as part of it"""
PREFIXED_SCRIPT = "".join(language.script for language in _PREFIXING) or "\0"
"""a class of a regular expression: the letters of these languages"""
_UNSPACED = "".join(language.script for language in languages.languages() if not language.spaced) or "\0"

_ACCENT = re.compile("[a-z][\u0300-\u036f]|[łđðøßæœıþ]")
_OTHER_SCRIPT = re.compile("[\u0370-\u1cff\u2c00-\ud7ff\uf900-\ufdff\ufe70-\ufeff]")
_PSEUDONYM = re.compile(r"<[A-Z][A-Z_]*(?::k\d+:[0-9a-f]+)?>")
_COMPOUND = re.compile(r"[^\W_]+(?:[-‐‑–_./\\@:+,'’\"״׳]+[^\W_]+)*")
_RUN = re.compile(rf"[{PREFIXED_SCRIPT}]+|[{_UNSPACED}]+|[^\W_{PREFIXED_SCRIPT}{_UNSPACED}]+")
PREFIXED_LETTER = re.compile(f"[{PREFIXED_SCRIPT}]")
_IN_UNSPACED_SCRIPT = re.compile(f"[{_UNSPACED}]")
_QUOTE_IN_WORD = re.compile(rf"(?<=[{PREFIXED_SCRIPT}])[\"״'׳’](?=[{PREFIXED_SCRIPT}])")
_DEFAULT_ENDING = re.compile(r"['’](?:s|t|d|m|re|ve|ll)\b")
_ELISION = re.compile(r"([^\W\d_]+)['’](?=[^\W\d_]{2})")
_WORD_OF_LETTERS = re.compile(r"[^\W\d_]+")
_LETTERS_AND_NUMBER = re.compile(r"([^\W\d_]{2,})(\d{2,})|(\d{2,})([^\W\d_]{2,})")
_HEX = re.compile(r"(?=.*\d)[0-9a-f]{8,64}")

_FILLER = re.compile(
    "|".join(rf"(?<!\w){pattern}(?!\w)" for language in languages.languages() for pattern in language.asking) or "(?!)",
    re.IGNORECASE,
)
"""Question words; the first one stays in the question, since it tells the language."""

AROUND = ".,;:!?()[]\"'…¿¡«»„“”"
"""marks around a word"""
_MAX_CACHED_WORDS = 2**17
_DEFAULT_SIGNS, _CLEAR_SIGNS = stopwords.default_signs(), stopwords.clear_signs()
_OWN_SIGNS = stopwords.own_signs()
_SIGNS = _DEFAULT_SIGNS | stopwords.foreign_signs()
_ALWAYS_EMPTY, _NAMES, _FINAL_LETTERS = stopwords.always_empty(), stopwords.names(), languages.final_letters()
Value = TypeVar("Value")


@functools.cache
def _stemmer(code: str) -> Callable[[str], str] | None:
    name = languages.language(code).stemmer
    return Stemmer.Stemmer(name, 0).stemWord if name else None  # without a cache: each word comes here once


_stem: Callable[[str], str] = _stemmer(languages.DEFAULT) or str


class _Word(NamedTuple):
    """A piece of text between two spaces."""

    plain: str
    """its tokens in text of the default language"""
    inflected: str
    """its tokens in other text: those of `plain`, beginnings and stems"""
    empty: int
    """1: a function word in any line; 2: one of the line's language, which may have a meaning in other lines"""


class _Line(NamedTuple):
    pieces: list[str]
    tokens: Callable[[str], str]
    """the tokens of a piece; none of a function word"""
    all_tokens: Callable[[str], str]
    """the same, of function words too"""


class _Cache(dict[str, Value]):
    """Values computed from words; emptied when it has too many."""

    def __init__(self, make: Callable[[str], Value]) -> None:
        self._make = make

    def __missing__(self, piece: str) -> Value:
        if len(self) >= _MAX_CACHED_WORDS:
            self.clear()
        value = self[piece] = self._make(piece)
        return value


def document_tokens(text: str) -> str:
    """The tokens of a text that is indexed, joined by spaces; without function words if others are left."""
    lines = token_lines(text)
    tokens = _content_tokens(lines)
    if not tokens:
        tokens = [line.all_tokens(piece) for line in lines for piece in line.pieces]
    return " ".join(tokens)


def whole_tokens(word: str) -> list[str]:
    """The tokens of a word of letters that `fold` has gone over, without those of its beginnings."""
    if PREFIXED_LETTER.match(word):
        return [token for token in _prefixed(word) if token[0] != "~"]
    return [_stem(word)]


def is_whole(token: str) -> bool:
    """Whether a token is a word as it is written, not its beginning or its stem."""
    return token[0] not in "~="


def only_function_words(text: str) -> bool:
    """Whether a text holds nothing that can be looked for, such as `what did I do`."""
    return not _content_tokens(token_lines(text))


def token_lines(text: str) -> list[_Line]:
    """The lines of a text, each with what makes tokens of its words in its language."""
    lines = [pieces for line in join_numbers(text).split("\n") if (pieces := line.split())]
    balances = [_balance(pieces) for pieces in lines]
    whole = sum(balances)
    in_default = [(balance or whole) < 0 for balance in balances]
    if all(in_default):
        return [_DEFAULT_LINE._replace(pieces=pieces) for pieces in lines]
    votes = [{} if default else _votes(pieces) for pieces, default in zip(lines, in_default, strict=True)]
    totals = _totals(votes)
    language_lines = []
    for pieces, default, line_votes in zip(lines, in_default, votes, strict=True):
        line = _DEFAULT_LINE if default else _line_of(_likeliest(line_votes, totals))
        language_lines.append(line._replace(pieces=pieces))
    return language_lines


def _totals(votes: list[dict[str, int]]) -> dict[str, int]:
    """The votes of all lines together."""
    totals: dict[str, int] = {}
    for line_votes in votes:
        for code, count in line_votes.items():
            totals[code] = totals.get(code, 0) + count
    return totals


def _votes(pieces: list[str]) -> dict[str, int]:
    return stopwords.votes({piece.strip(AROUND).lower() for piece in pieces})


def _likeliest(line: dict[str, int], text: dict[str, int]) -> tuple[str, ...]:
    """The languages that a line is most likely in, by its words, then by those of the text."""
    ranks = {code: (line.get(code, 0), count) for code, count in text.items()}
    best = max(ranks.values(), default=(0, 0))
    return tuple(sorted(code for code, rank in ranks.items() if rank == best))


@functools.lru_cache(128)
def _line_of(codes: tuple[str, ...]) -> _Line:
    """A line without its words, in these languages."""
    words = _Cache(lambda piece: _word(piece, codes))
    return _Line([], _Cache(lambda piece: "" if (word := words[piece]).empty else word.inflected).__getitem__,
                 lambda piece: words[piece].inflected)  # fmt: skip


def _content_tokens(lines: list[_Line]) -> list[str]:
    """The tokens of all but function words."""
    tokens: list[str] = []
    for line in lines:
        tokens += filter(None, map(line.tokens, line.pieces))
    return tokens


def query_tokens(text: str) -> str:
    """The tokens of a question: those that a text of the same words is indexed under.

    What only asks for an amount or a kind (`how much`) is left out, if other words are left.
    """
    tokens = document_tokens(text)
    without_fillers = _FILLER.sub(lambda match: match[match.lastindex or 0], text)
    if without_fillers != text:
        fewer = document_tokens(without_fillers)
        if fewer and set(fewer.split()) < set(tokens.split()):
            return fewer
    return tokens


def foreign_signs(text: str) -> int:
    """How many more signs of other languages than function words of the default one a text holds, line by line."""
    return sum([_balance(line.split()) for line in text.split("\n")])


def language_votes(text: str) -> dict[str, int]:
    """Languages, ISO 639-1 -> how many words of a text speak for them; of the default one by how many more it has.

    The default language is left out where the signs of others outweigh its function words.
    """
    signs = foreign_signs(text)
    return ({} if signs > 0 else {languages.DEFAULT: -signs}) | _votes(text.split())


def _balance(pieces: list[str]) -> int:
    """Below zero where a line holds more function words of the default language than signs of another language.

    Names (Tom, Los Angeles, Dvořák) are no sign of a language: of other languages only words without a capital count,
    and the first word.
    """
    signs = _SIGNS.intersection(pieces)
    accents = 0 if "".join(pieces).isascii() else sum(map(_ACCENTED.__getitem__, set(pieces)))
    opening = 1 if pieces and pieces[0] not in signs and pieces[0].lower() in _OWN_SIGNS else 0
    clear = len(signs & _CLEAR_SIGNS)
    if clear and not accents and not opening and signs.isdisjoint(_OWN_SIGNS):
        return -clear
    return accents + opening + stopwords.foreign_weight(signs) - len(signs & _DEFAULT_SIGNS)


def _word(piece: str, codes: tuple[str, ...] = ()) -> _Word:
    core = piece.strip(AROUND)
    stems = _stems(core, codes)
    if core.isascii() and core.isalpha():
        word = core.lower()
        inflected = [_stem(word), *_beginnings(word, _LETTERS), *stems]
        return _Word(_stem(word), " ".join(inflected), _empty(word, core, codes))
    if codes and (elision := _ELISION.match(core)) and _empty(fold(elision[1]), elision[1].lower(), codes):
        return _word(core[elision.end() :], codes)
    pseudonyms = _PSEUDONYM.findall(piece)
    folded = fold(_PSEUDONYM.sub(" ", piece) if pseudonyms else piece)
    compounds = _COMPOUND.findall(_DEFAULT_ENDING.sub("", folded))
    plain, more = list(pseudonyms), []
    for compound in compounds:
        tokens, beginnings = _compound(_QUOTE_IN_WORD.sub("", compound), is_name=core[:1].isupper())
        plain += tokens
        more += beginnings
    if _tells_of_itself(piece):
        plain, more = plain + more, []
    empties = [_empty(compound, core, codes) for compound in compounds] + [0] * len(pseudonyms)
    return _Word(" ".join(plain), " ".join(plain + more + stems), 0 if 0 in empties else max(empties, default=0))


def _stems(core: str, codes: tuple[str, ...]) -> list[str]:
    """The stems of the words of a piece in the languages of its line, of accented words with and without accents."""
    stemmers = [stem for code in codes if (stem := _stemmer(code))] if len(codes) <= _MAX_LANGUAGES else []
    if not stemmers or any(map(str.isdigit, core)):
        return []
    words = _WORD_OF_LETTERS.findall(unicodedata.normalize("NFC", core.lower()))
    forms = [form for word in words if len(word) >= _MIN_STEMMED_LETTERS for form in (word, fold(word))]
    return list(dict.fromkeys(f"={fold(stem(form))}" for stem in stemmers for form in forms))


def _empty(word: str, written: str, codes: tuple[str, ...]) -> int:
    if word in _NAMES and not written.islower():
        return 0
    word = word if word.isascii() else word.translate(_FINAL_LETTERS)
    if word in _ALWAYS_EMPTY:
        return 1
    if any(word in languages.language(code).lookalikes for code in codes):
        return 0
    parts = word.split("-")  # `avons-nous`
    return 2 if any(stopwords.stop_words(code).issuperset(parts) for code in codes) else 0


def _is_accented(piece: str) -> bool:
    """Whether a Latin letter carries an accent."""
    return not piece.isascii() and _ACCENT.search(unicodedata.normalize("NFD", piece.lower())) is not None


def _tells_of_itself(piece: str) -> bool:
    """Whether the letters of a word alone show that it is of another language."""
    return _is_accented(piece) or _OTHER_SCRIPT.search(piece) is not None


def _plain(piece: str) -> str:
    core = piece.strip(AROUND)
    if core.isascii() and core.isalpha():  # as in _word, without the beginnings, which cost more than all else
        word = core.lower()
        return "" if _empty(word, core, ()) else _stem(word)
    parsed = _word(piece)
    return "" if parsed.empty else parsed.plain


_DEFAULT_LINE = _Line([], _Cache(_plain).__getitem__, lambda piece: _word(piece).plain)
_ACCENTED = _Cache(lambda piece: piece[0].islower() and _is_accented(piece))


def _compound(compound: str, *, is_name: bool) -> tuple[list[str], list[str]]:
    """The tokens of a word, number, code, address or file name, and the beginnings of its words."""
    if not any(map(str.isalpha, compound)):
        return number_tokens(compound), []
    runs = _RUN.findall(compound)
    plain: list[str] = []
    more: list[str] = []
    for run in runs:
        if PREFIXED_LETTER.match(run):
            plain += _prefixed(run) if len(run) > 1 or len(runs) == 1 else []
        elif _IN_UNSPACED_SCRIPT.match(run):
            plain += _pairs(run)
        elif run.isalpha():
            plain.append(_stem(run))
            # three letters of a name, or of a part of a code or file name, tell nothing
            more += _beginnings(run, _LETTERS if len(runs) == 1 and not is_name else _LETTERS[1:])
        else:
            plain += _code(run)
    if len(runs) > 1 and (re.search(r"[\d_@]", compound) or (len(runs) == 2 and "-" in compound)):
        plain.append(_stem("".join(runs)))
    return plain, more


def _beginnings(word: str, lengths: tuple[int, ...]) -> list[str]:
    if len(word) < 2:
        return []
    return list(dict.fromkeys(f"~{word[:length]}" for length in lengths if length == lengths[0] or len(word) >= length))


def _pairs(run: str) -> list[str]:
    """Each two letters that stand together: in a script without blanks nothing tells where a word begins."""
    return [run[position : position + 2] for position in range(max(1, len(run) - 1))]


def _prefixed(word: str) -> list[str]:
    """The word and what is left of it behind one, two or three prefixed letters: whole, and their beginnings."""
    word = word.translate(_FINAL_LETTERS)
    tokens = [word]
    for start in range(_MAX_PREFIXES + 1):
        rest = word[start:]
        beginnings = _beginnings(rest, _PREFIXED_LETTERS)
        tokens += [rest, *beginnings] if len(rest) > _PREFIXED_LETTERS[-1] else beginnings
        if len(rest) < _MIN_STEMMED_LETTERS or rest[0] not in PREFIXED:
            break
    return list(dict.fromkeys(tokens))


def _code(run: str) -> list[str]:
    """Letters and digits: inv1187 also by its two parts, a long hexadecimal id also by its first seven digits."""
    if parts := _LETTERS_AND_NUMBER.fullmatch(run):
        return [run, *(_stem(part) for part in parts.groups() if part)]
    return [run, run[:7]] if _HEX.fullmatch(run) else [run]


def index_text(text: str, subject: str | None, sender: str | None, file_name: str | None, timestamp: str | None) -> str:
    """The text that a passage is indexed by: its own and its metadata (`timestamp` in ISO 8601)."""
    day = timestamp[:10] if timestamp else None
    return "\n".join([part for part in (subject, sender, file_name, day, text) if part])
