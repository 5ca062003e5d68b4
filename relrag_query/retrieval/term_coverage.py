"""How much of a question a passage covers: the share of the weight of its words, 0 to 1.

Sparse scores have no bounds and tell nothing across questions; a share does. Rare words weigh more (inverse document
frequency), words that only ask (`discuss`, `říkal`) weigh little, and what a passage is, a mail or a call, counts as if
it said so.
"""

from __future__ import annotations

import functools
import math
import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from relrag_pipelines import languages
from relrag_pipelines.records import Chunk
from relrag_pipelines.sources import RECORD_TYPES, record_type
from relrag_pipelines.text.analyzer import (
    PREFIXED,
    PREFIXED_LETTER,
    PREFIXED_SCRIPT,
    document_tokens,
    index_text,
    is_whole,
    query_tokens,
)
from relrag_pipelines.text.number_tokens import join_numbers
from relrag_pipelines.text.values import names_amount
from relrag_query.understanding.phrases import load_phrases
from relrag_query.understanding.phrases.tables import Phrases

Frequencies = Mapping[str, int]
"""passages that hold a token, of those counted; under the empty token all that were counted"""

_BEGINNING = {3: 0.0, 4: 0.5, 5: 0.9}
_PREFIXED_BEGINNING = {3: 0.5, 4: 0.9}
"""how surely two words are one when they share a beginning of so many letters"""
_SHORTEST_STEM = 3
"""letters that a stem has at least in a script with prefixed letters"""

PART = 0.25
"""what a part of a code, or a beginning that many words share, is worth without the rest"""
_ENDINGS = tuple(ending for one in languages.languages() for ending in one.endings)
_ABBREVIATED = 0.9
"""what the first seven digits of a long hexadecimal id are worth"""
_LONGEST_CODE = 4
"""parts of a code that a text may write as words of their own"""

LIGHT = 0.3
"""weight of a word that only asks; others weigh 1 and more"""
_NAME = 1.2
"""a question that names somebody is about them, however often the name stands in the archive"""
PRICE = "+price"
"""token of a text that names an amount of money, and of a question for one"""
_PSEUDONYM = re.compile(r"<[A-Z_]+:k\d+:[0-9a-f]+>")
_AROUND = ",;:.?!()\"'"
_CODE = re.compile(r"[\d_@]")
_PREFIX = re.compile(rf"^\W*[{PREFIXED_SCRIPT}]{{1,2}}-?(?=[\da-zA-Z])")
"""prefixed letters before a number or a foreign word"""


@dataclass(frozen=True)
class Term:
    """One word of a question."""

    word: str
    tokens: Mapping[str, float]
    """what a passage may hold of it -> how sure that is, 0 to 1"""
    weight: float
    adjacent: bool = False
    """stands right behind the word before it in the question"""
    light: bool = False
    """only asks, or names what a record is"""
    is_time: bool = False
    """belongs to the phrase that says the time"""
    translations: Mapping[str, float] = field(default_factory=dict)
    """what a passage in another language may hold of it -> how sure that is, 0 to 1"""

    def match(self, held: frozenset[str]) -> float:
        """How surely these tokens hold the word, 0 to 1."""
        return next((sure for token, sure in self._surest if token in held), 0.0)

    @functools.cached_property
    def _surest(self) -> list[tuple[str, float]]:
        """The tokens, the surest first: `match` is asked for each sentence that could be quoted."""
        return sorted({**self.translations, **self.tokens}.items(), key=lambda one: -one[1])

    def occurs_in(self, frequencies: Frequencies) -> bool:
        """Whether the archive holds the word, not just a part of a code."""
        return any(frequencies.get(token) for token, sure in self._surest if sure > PART)


@dataclass
class _QueryWord:
    """A word as it stands in the question."""

    word: str
    sure: dict[str, float]
    light: bool = False
    adjacent: bool = False
    is_time: bool = False


def query_terms(question: str, frequencies: Frequencies, redacted: str | None = None, phrase: str = "") -> list[Term]:
    """The words of a question that can be looked for, each once.

    `redacted` is the question with pseudonyms in place of personal data: what it replaced is found under either. Words
    of `phrase`, which says the time, weigh nothing if others are left: the time of a passage tells whether it fits.
    """
    words = _words(question, phrase)
    if redacted and redacted != question:
        gone = sorted(set(question.split()) - set(redacted.split()))
        replaced = {token: sure for piece in gone for token, sure in _match_confidences(piece).items()}
        words = {word: found for word, found in words.items() if not word <= replaced.keys()}
        replaced |= dict.fromkeys(_PSEUDONYM.findall(redacted), 1.0)
        words[frozenset(replaced)] = _QueryWord(" ".join(gone), replaced)
    timed = any(not (one.light or one.is_time) for one in words.values())
    return [
        Term(
            one.word,
            one.sure,
            0.0 if one.is_time and timed else _weight(one.word, one.light, _rarity(one.sure, frequencies)),
            one.adjacent,
            one.light,
            one.is_time,
        )
        for one in words.values()
    ]


def terms_of(text: str) -> list[Term]:
    """The words of a text, weighed as if none were rare."""
    return query_terms(text, {})


def _words(question: str, phrase: str) -> dict[frozenset[str], _QueryWord]:
    """The words that can be looked for, by their tokens."""
    question = join_numbers(unicodedata.normalize("NFC", question))
    said = set(query_tokens(question).split())
    start = question.find(phrase) if phrase else -1
    words: dict[frozenset[str], _QueryWord] = {}
    open_end = False
    for place in re.finditer(r"\S+", question):
        piece = place[0]
        sure = {token: sure for token, sure in _match_confidences(piece).items() if token in said or token[0] == "+"}
        light = bool(sure.keys() & _function_words(load_phrases()))
        timed = start >= 0 and place.start() < start + len(phrase) and start < place.end()
        tells = bool(sure) and not light and not timed
        if sure:
            sure |= _prefix_forms(sure)
            found = _QueryWord(piece.strip(_AROUND), sure, light, open_end and tells, timed)
            words.setdefault(frozenset(sure), found)
        open_end = tells and piece[-1] not in ",;:.?!"
    return words


def _match_confidences(piece: str) -> dict[str, float]:
    """What a passage may hold of a word of the question -> how sure that is. Of a code, the whole is what counts."""
    asked = query_tokens(piece).split()
    words = [token for token in asked if is_whole(token)]
    found = {token: _sure(token, words) for token in asked}
    if found and piece.strip(_AROUND).casefold() in load_phrases().term.price:
        return found | {PRICE: 1.0}  # a price list does not say that it is one
    plain = [token for token in query_tokens(_PREFIX.sub("", piece)).split() if is_whole(token)]
    if not plain or len(found) == 1 or not _CODE.search(piece) or _PSEUDONYM.search(piece):
        return found
    whole = max(plain, key=len)
    sure = dict.fromkeys(found, PART) | {whole: 1.0}
    if len(plain) == 2 and len(plain[1]) == 7 and whole.startswith(plain[1]):
        sure[plain[1]] = _ABBREVIATED
    if len(plain) > 2 and "." not in whole:
        sure["+" + re.sub(r"\W", "", whole)] = 1.0
    return sure


def term_coverage(words: Sequence[Term], held: frozenset[str]) -> float:
    """Share of the words' weight that these tokens hold, 0 to 1; 0 for no words."""
    total = said = 0.0
    for word in words:
        total += word.weight
        said += word.weight * word.match(held)
    return said / total if total else 0.0


@functools.lru_cache(maxsize=4096)
def tokens(text: str) -> frozenset[str]:
    """The tokens of a text; behind a `+` also what its neighbours make with a number, so INV 1187 is INV-1187."""
    found = document_tokens(text).split()
    plain = [token for token in found if is_whole(token)]
    joined = {
        "+" + "".join(plain[start:end])
        for place, token in enumerate(plain)
        if token[0].isdigit() or token[-1].isdigit()
        for start in range(max(0, place - _LONGEST_CODE + 1), place + 1)
        for end in range(max(start + 2, place + 1), start + _LONGEST_CODE + 1)
    }
    return frozenset(joined.union(found, [PRICE] if names_amount(text) else ()))


def passage_tokens(chunk: Chunk) -> frozenset[str]:
    """The tokens of a passage and of what is known of it."""
    return tokens(chunk.text) | metadata_tokens(chunk)


def metadata_tokens(chunk: Chunk) -> frozenset[str]:
    """The tokens of what is known of a passage: sender, subject, file, day, and what it is."""
    known = index_text("", chunk.subject, chunk.from_, chunk.file_name, chunk.timestamp)
    return tokens(known) | kind_tokens(chunk.rag_source_type)


@functools.cache
def kind_tokens(rag_source_type: str) -> frozenset[str]:
    """The words that a question may use for what a record is."""
    kind = record_type(rag_source_type)
    return tokens(f"{kind.words or rag_source_type.replace('_', ' ')} {kind.tells}")


@functools.cache
def _function_words(phrases: Phrases) -> frozenset[str]:
    """Words that ask, and words for what a record is. Whole words only: their beginnings would catch others."""
    words = " ".join((*phrases.term.asking, *(one.words for one in RECORD_TYPES.values())))
    return frozenset(token for token in document_tokens(words).split() if is_whole(token))


def _sure(token: str, words: Sequence[str] = ()) -> float:
    """How surely a text that holds this token holds the word; `words` are the whole words among its tokens."""
    if not token.startswith("~"):
        return 1.0
    if token[0] == "~" and PREFIXED_LETTER.match(token, 1):
        return max((_sure_by_stem(token[1:], word) for word in words), default=PART)
    return _BEGINNING.get(len(token) - 1, 0.5)


def _sure_by_stem(beginning: str, word: str) -> float:
    """How surely a text with a beginning holds a word: its stem must be there, not only letters before it.

    A letter that can be prefixed counts for the stem only where the beginning is all of it but for an ending: of
    `החתונה` the beginning `החתו` is three letters of a longer stem, which it shares with `החתול`.
    """
    place = word.find(beginning)
    if not 0 <= place <= _SHORTEST_STEM:
        return 0.0
    stem = _strip_ending(word[place:])
    if len(beginning) >= len(stem):
        return _PREFIXED_BEGINNING.get(len(beginning), PART)
    letters = len(beginning.lstrip(PREFIXED)) if beginning[0] in PREFIXED else len(beginning)
    return _PREFIXED_BEGINNING[4] if letters > _SHORTEST_STEM else PART


def _prefix_forms(sure: Mapping[str, float]) -> dict[str, float]:
    """A short word with a prefixed letter, and without: sparse search has only their beginnings in common."""
    short = [word for word in sure if PREFIXED_LETTER.match(word) and len(word) in (_SHORTEST_STEM, _SHORTEST_STEM + 1)]
    with_letter = [letter + word for word in short for letter in PREFIXED if len(word) == _SHORTEST_STEM]
    without = [word[1:] for word in short if word[0] in PREFIXED and len(word) > _SHORTEST_STEM]
    return {word: _PREFIXED_BEGINNING[4] for word in (*with_letter, *without) if word not in sure}


def _strip_ending(word: str) -> str:
    ends = (end for end in _ENDINGS if word.endswith(end) and len(word) - len(end) >= _SHORTEST_STEM)
    return word.removesuffix(next(ends, ""))


def _weight(said: str, light: bool, rarity: float) -> float:
    """Half as much by rarity as by being asked at all: in a small archive every word is rare."""
    return LIGHT if light else (1.0 + rarity / 2) * (_NAME if said.istitle() else 1.0)


def _rarity(sure: Mapping[str, float], held: Frequencies) -> float:
    """Inverse document frequency of the rarest token that the archive holds; parts of a code are not the word."""
    documents = min((held[token] for token, share in sure.items() if share > PART and held.get(token)), default=0)
    return idf(documents, held)


def passages_with(some: Collection[str], held: Frequencies) -> int:
    """How many of the passages counted hold one of these tokens, at most; a token not counted stands in one."""
    return min(held.get("", len(some)), sum(held.get(token, 1) for token in some))


def idf(documents: int, held: Frequencies) -> float:
    """Inverse document frequency of a token that so many of the passages counted hold."""
    return math.log1p((held.get("", 0) - documents + 0.5) / (documents + 0.5))
