"""The words of a text as sparse search sees them: one analysis for what is indexed and for what is asked.

English words are stemmed (Snowball). Words of other languages are written in many forms, so they are also indexed by
their beginnings: the first three, four and five letters of a Latin word without its accents, the first three and four
of a Hebrew word with and without the letters that can be prefixed to it. Beginnings stand behind a `~`, apart from
whole words, and weigh more than these in a question of such a language: which form a word has in the question says
little of which it has in the answer. Numbers, dates, codes, addresses and file names are
found however they are punctuated.

Which language a word belongs to is decided without a model. An accent or a Hebrew letter tells of itself. A plain Latin
word is English where its line, or else the whole text, holds more function words of English than signs of another
language; so English text gets no beginnings, and Czech typed without accents does.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import NamedTuple, TypeVar

import Stemmer

from relrag_pipelines.text.number_tokens import join_numbers, number_tokens
from relrag_pipelines.text.stopwords import CZECH, ENGLISH, FINAL_LETTERS, HEBREW, NAMES, SIGNS, SIGNS_OF_OTHERS

VERSION = 2
"""Raised when equal texts give other tokens: vectors of different versions must not meet in one index."""

_LATIN_LETTERS, _HEBREW_LETTERS = (3, 4, 5), (3, 4)
"""letters of the beginnings that words are indexed by: stems of three letters are common, and weigh little"""


PREFIXED = "הבלמשכו"
"""letters that Hebrew writes before a word, as part of it"""
_WITHOUT_DECOMPOSITION = str.maketrans(
    {"ł": "l", "đ": "d", "ð": "d", "ø": "o", "ß": "ss", "æ": "ae", "œ": "oe", "ı": "i", "þ": "th"}
)

_ACCENT = re.compile("[a-z][\u0300-\u036f]|[łđðøßæœıþ]")
_PSEUDONYM = re.compile(r"<[A-Z][A-Z_]*(?::k\d+:[0-9a-f]+)?>")
_COMPOUND = re.compile(r"[^\W_]+(?:[-‐‑–_./\\@:+,'’\"״׳]+[^\W_]+)*")
_RUN = re.compile(r"[א-ת]+|[^\W_א-ת]+")
_HEBREW_QUOTE = re.compile(r"(?<=[א-ת])[\"״'׳’](?=[א-ת])")
_ENGLISH_ENDING = re.compile(r"['’](?:s|t|d|m|re|ve|ll)\b")
_LETTERS_AND_NUMBER = re.compile(r"([^\W\d_]{2,})(\d{2,})|(\d{2,})([^\W\d_]{2,})")
_HEX = re.compile(r"(?=.*\d)[0-9a-f]{8,64}")

_FILLER = re.compile(
    r"\b(how)\s+(?:much|many|long|often|far)\b|\b(what|which)\s+(?:kind|sort|type)s?(?=\s+of\b)"
    r"|\b(jak)\s+(?:moc|mnoho|dlouho|[cč]asto|daleko)\b|\b(jak\w{1,3})\s+(?:druh|typ)\w*"
    r"|(?<!\w)(כמה)\s+(?:זמן|פעמים)(?!\w)|(?<!\w)(איזה)\s+(?:סוג|מין)(?!\w)",
    re.IGNORECASE,
)
"""What asks; the first word stays, since it tells the language."""

_AROUND = ".,;:!?()[]\"'…"
"""marks that stand around a word"""
_REMEMBERED = 2**17
Kept = TypeVar("Kept")
_stem = Stemmer.Stemmer("english", 0).stemWord  # without its own cache: each word comes here once


class _Word(NamedTuple):
    """What stands between two spaces."""

    plain: str
    """its tokens in English text"""
    inflected: str
    """its tokens in other text: those of `plain`, and beginnings"""
    empty: int
    """1: a function word of English or Hebrew; 2: one of Czech, which may mean something in English; else 0"""


class _Memory(dict[str, Kept]):
    """What was made of words before; emptied when it holds too many."""

    def __init__(self, make: Callable[[str], Kept]) -> None:
        self._make = make

    def __missing__(self, piece: str) -> Kept:
        if len(self) >= _REMEMBERED:
            self.clear()
        made = self[piece] = self._make(piece)
        return made


def document_tokens(text: str) -> str:
    """The tokens of a text that is indexed, joined by spaces; without function words if others are left."""
    lines, whole = _lines(text)
    tokens = _content_tokens(lines, whole)
    if not tokens:
        words = [(_word(piece), balance) for pieces, balance in lines for piece in pieces]
        tokens = [word.plain if (balance or whole) < 0 else word.inflected for word, balance in words]
    return " ".join(tokens)


def whole_tokens(word: str) -> list[str]:
    """The tokens of a word of letters that `fold` has gone over, without those of its beginnings."""
    if "א" <= word[0] <= "ת":
        return [token for token in _hebrew(word) if token[0] != "~"]
    return [_stem(word)]


def only_function_words(text: str) -> bool:
    """Whether a text holds nothing that can be looked for, such as `what did I do`."""
    return not _content_tokens(*_lines(text))


def _lines(text: str) -> tuple[list[tuple[list[str], int]], int]:
    """The words of each line with its balance, and that of the whole text."""
    lines = [(pieces, _balance(pieces)) for line in join_numbers(text).split("\n") if (pieces := line.split())]
    return lines, sum([balance for _, balance in lines])


def _content_tokens(lines: list[tuple[list[str], int]], whole: int) -> list[str]:
    """The tokens of all but function words."""
    tokens: list[str] = []
    for pieces, balance in lines:
        memory = _PLAIN if (balance or whole) < 0 else _INFLECTED
        tokens += filter(None, map(memory.__getitem__, pieces))
    return tokens


def query_tokens(text: str) -> str:
    """The tokens of a question: those that a text of the same words is indexed under.

    What only asks for an amount or a kind (`how much`) is left out, if other words are left.
    """
    tokens = document_tokens(text)
    if (asked := _FILLER.sub(lambda found: found[found.lastindex or 0], text)) != text:
        fewer = document_tokens(asked)
        if fewer and set(fewer.split()) < set(tokens.split()):
            return fewer
    return tokens


def foreign_signs(text: str) -> int:
    """How many more signs of other languages than function words of English a text holds, line by line."""
    return sum([_balance(line.split()) for line in text.split("\n")])


def fold(text: str) -> str:
    """The text in lower case without accents, Hebrew points and invisible marks."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.lower().translate(_WITHOUT_DECOMPOSITION))
    return "".join([mark for mark in decomposed if unicodedata.category(mark) not in ("Mn", "Cf")])


def _balance(pieces: list[str]) -> int:
    """Below zero where a line holds more different function words of English than signs of another language.

    Names (Tom, Los Angeles, Dvořák) are no sign of a language: of other languages only words without a capital count.
    """
    signs = SIGNS.intersection(pieces)
    balance = 2 * len(signs & SIGNS_OF_OTHERS) - len(signs)
    return balance if "".join(pieces).isascii() else balance + sum(map(_ACCENTED.__getitem__, set(pieces)))


def _word(piece: str) -> _Word:
    core = piece.strip(_AROUND)
    if core.isascii() and core.isalpha():
        word = core.lower()
        return _Word(_stem(word), " ".join([_stem(word), *_beginnings(word, _LATIN_LETTERS)]), _empty(word, core))
    pseudonyms = _PSEUDONYM.findall(piece)
    folded = fold(_PSEUDONYM.sub(" ", piece) if pseudonyms else piece)
    compounds = _COMPOUND.findall(_ENGLISH_ENDING.sub("", folded))
    plain, more = list(pseudonyms), []
    for compound in compounds:
        tokens, beginnings = _compound(_HEBREW_QUOTE.sub("", compound), is_name=core[:1].isupper())
        plain += tokens
        more += beginnings
    if _is_accented(piece):
        plain, more = plain + more, []
    empties = [_empty(compound, core) for compound in compounds] + [0] * len(pseudonyms)
    return _Word(" ".join(plain), " ".join(plain + more), 0 if 0 in empties else max(empties, default=0))


def _empty(word: str, written: str) -> int:
    if word in NAMES and not written.islower():
        return 0
    if word in ENGLISH or word.translate(FINAL_LETTERS) in HEBREW:
        return 1
    return 2 if word in CZECH else 0


def _is_accented(piece: str) -> bool:
    """Whether a Latin letter carries an accent."""
    return not piece.isascii() and _ACCENT.search(unicodedata.normalize("NFD", piece.lower())) is not None


def _plain(piece: str) -> str:
    core = piece.strip(_AROUND)
    if core.isascii() and core.isalpha():  # as in _word, without the beginnings, which cost more than all else
        word = core.lower()
        return "" if _empty(word, core) == 1 else _stem(word)
    found = _word(piece)
    return "" if found.empty == 1 else found.plain


_PLAIN = _Memory(_plain)
_INFLECTED = _Memory(lambda piece: "" if (word := _word(piece)).empty else word.inflected)
_ACCENTED = _Memory(lambda piece: piece[0].islower() and _is_accented(piece))


def _compound(compound: str, *, is_name: bool) -> tuple[list[str], list[str]]:
    """The tokens of a word, number, code, address or file name, and the beginnings of its words."""
    if not any(map(str.isalpha, compound)):
        return number_tokens(compound), []
    runs = _RUN.findall(compound)
    plain: list[str] = []
    more: list[str] = []
    for run in runs:
        if "א" <= run[0] <= "ת":
            plain += _hebrew(run) if len(run) > 1 or len(runs) == 1 else []
        elif run.isalpha():
            plain.append(_stem(run))
            # three letters of a name, or of a part of a code or file name, tell nothing
            more += _beginnings(run, _LATIN_LETTERS if len(runs) == 1 and not is_name else _LATIN_LETTERS[1:])
        else:
            plain += _code(run)
    if len(runs) > 1 and (re.search(r"[\d_@]", compound) or (len(runs) == 2 and "-" in compound)):
        plain.append(_stem("".join(runs)))
    return plain, more


def _beginnings(word: str, lengths: tuple[int, ...]) -> list[str]:
    if len(word) < 2:
        return []
    return list(dict.fromkeys(f"~{word[:length]}" for length in lengths if length == lengths[0] or len(word) >= length))


def _hebrew(word: str) -> list[str]:
    """The word and what is left of it behind one, two or three prefixed letters: whole, and their beginnings."""
    word = word.translate(FINAL_LETTERS)
    tokens = [word]
    for start in range(4):
        rest = word[start:]
        tokens += [rest, *_beginnings(rest, _HEBREW_LETTERS)] if len(rest) > 4 else _beginnings(rest, _HEBREW_LETTERS)
        if len(rest) < 3 or rest[0] not in PREFIXED:
            break
    return list(dict.fromkeys(tokens))


def _code(run: str) -> list[str]:
    """Letters and digits: inv1187 also by its two parts, a long hexadecimal id also by its first seven digits."""
    if parts := _LETTERS_AND_NUMBER.fullmatch(run):
        return [run, *(_stem(part) for part in parts.groups() if part)]
    return [run, run[:7]] if _HEX.fullmatch(run) else [run]


def index_text(text: str, subject: str | None, sender: str | None, file_name: str | None, timestamp: str | None) -> str:
    """What a passage is indexed under: itself, and what is known of it (`timestamp` in ISO 8601)."""
    day = timestamp[:10] if timestamp else None
    return "\n".join([part for part in (subject, sender, file_name, day, text) if part])
