"""How much of a question a passage covers: the share of the weight of its words, 0 to 1.

Sparse scores are unbounded and cannot be compared between questions; a share can. Rare words weigh more (inverse
document frequency), words that only ask (`discuss`, `říkal`) weigh little, and the words for a passage's record type (a
mail, a call) count as part of its text.
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
from relrag_query.understanding.phrases import bare, form_phrases, load_phrases
from relrag_query.understanding.phrases.tables import Phrases
from relrag_query.understanding.question_language import question_language

Frequencies = Mapping[str, int]
"""number of counted passages that contain each token; under the empty token, the number counted"""

_BEGINNING_CONFIDENCE = {3: 0.0, 4: 0.5, 5: 0.9}
_PREFIXED_CONFIDENCE = {3: 0.5, 4: 0.9}
"""number of shared first letters -> confidence that two words are forms of one word"""
_MIN_STEM = 3
"""shortest stem, in letters, in a script with prefixed letters"""

PART = 0.25
"""confidence of a part of a code, or of a beginning that many words share"""
_ENDINGS = tuple(ending for language in languages.languages() for ending in language.endings)
_ABBREVIATION_CONFIDENCE = 0.9
"""confidence of the first seven digits of a long hexadecimal id"""
_ABBREVIATED_HASH = 7
"""digits of a hexadecimal id that git shows"""
_MAX_CODE_PARTS = 4
"""largest number of parts of a code that a text may write as separate words"""

LIGHT = 0.3
"""weight of a word that only asks; others weigh 1 and more"""
_NAME_FACTOR = 1.2
"""factor of the weight of a name: a question that names somebody is about them, however frequent the name"""
PRICE = "+price"
"""token of a text that names an amount of money, and of a question for one"""
_PSEUDONYM = re.compile(r"<[A-Z_]+:k\d+:[0-9a-f]+>")
_PUNCTUATION = ",;:.?!()\"'"
_CODE = re.compile(r"[\d_@]")
_PREFIX = re.compile(rf"^\W*[{PREFIXED_SCRIPT}]{{1,2}}-?(?=[\da-zA-Z])")
"""prefixed letters before a number or a foreign word"""


@dataclass(frozen=True)
class Term:
    """One word of a question."""

    word: str
    tokens: Mapping[str, float]
    """tokens of a passage that match the word -> confidence, 0 to 1"""
    weight: float
    adjacent: bool = False
    """directly follows the previous word in the question"""
    light: bool = False
    """only asks, or names a record type"""
    is_time: bool = False
    """belongs to the time phrase"""
    is_earlier: bool = False
    """of a question that this one follows up"""
    translations: Mapping[str, float] = field(default_factory=dict)
    """tokens of its translations -> confidence, 0 to 1"""

    def match(self, text_tokens: frozenset[str]) -> float:
        """Confidence that a text with these tokens contains the word, 0 to 1."""
        return next((confidence for token, confidence in self._surest if token in text_tokens), 0.0)

    @functools.cached_property
    def _surest(self) -> list[tuple[str, float]]:
        """The tokens by falling confidence; cached, since `match` is called for each sentence that could be quoted."""
        return sorted({**self.translations, **self.tokens}.items(), key=lambda pair: -pair[1])

    def occurs_in(self, frequencies: Frequencies) -> bool:
        """Whether the archive contains the word, not just a part of a code."""
        return any(frequencies.get(token) for token, sure in self._surest if sure > PART)


@dataclass
class _QueryWord:
    """A word as written in the question."""

    word: str
    sure: dict[str, float]
    light: bool = False
    adjacent: bool = False
    is_time: bool = False


def query_terms(
    question: str, frequencies: Frequencies, redacted: str | None = None, phrase: str = "", language: str = ""
) -> list[Term]:
    """The searchable words of a question, each once; `language` is its ISO 639-1 code, where it is known.

    `redacted` is the question with pseudonyms in place of personal data: a replaced value matches both forms. Words of
    `phrase`, the time phrase, weigh nothing if others are left, since the time of a passage is compared instead.
    """
    words = _words(question, phrase, language)
    if redacted and redacted != question:
        words = _with_pseudonyms(words, question, redacted)
    timed = any(not (query_word.light or query_word.is_time) for query_word in words.values())
    return [
        Term(
            query_word.word,
            query_word.sure,
            0.0
            if query_word.is_time and timed
            else _weight(query_word.word, query_word.light, _rarity(query_word.sure, frequencies)),
            query_word.adjacent,
            query_word.light,
            query_word.is_time,
        )
        for query_word in words.values()
    ]


def terms_of(text: str) -> list[Term]:
    """The words of a text, weighed as if none were rare."""
    return query_terms(text, {})


def _with_pseudonyms(
    words: Mapping[frozenset[str], _QueryWord], question: str, redacted: str
) -> dict[frozenset[str], _QueryWord]:
    """The words with those that redaction replaces as one word, which matches the pseudonyms too."""
    pieces = sorted(set(question.split()) - set(redacted.split()))
    replaced = {token: sure for piece in pieces for token, sure in _match_confidences(piece).items()}
    others = {word: query_word for word, query_word in words.items() if not word <= replaced.keys()}
    replaced |= dict.fromkeys(_PSEUDONYM.findall(redacted), 1.0)
    return others | {frozenset(replaced): _QueryWord(" ".join(pieces), replaced)}


def _searched_confidences(piece: str, question_tokens: Collection[str]) -> dict[str, float]:
    """Tokens that match a word and that are searched for -> confidence."""
    confidences = _match_confidences(piece)
    return {token: confidences[token] for token in confidences if token in question_tokens or token[0] == "+"}


def _words(question: str, phrase: str, language: str) -> dict[frozenset[str], _QueryWord]:
    """The searchable words, by their tokens."""
    question = join_numbers(unicodedata.normalize("NFC", question))
    question_tokens = set(query_tokens(question).split())
    start = question.find(phrase) if phrase else -1
    asking = _asking_spans(question, language)
    words: dict[frozenset[str], _QueryWord] = {}
    open_end = False
    for match in re.finditer(r"\S+", question):
        piece = match[0]
        confidences = _searched_confidences(piece, question_tokens)
        light = _only_asks(piece, confidences) or _is_within(match.start(), piece, asking)
        in_phrase = start >= 0 and match.start() < start + len(phrase) and start < match.end()
        has_content = bool(confidences) and not light and not in_phrase
        if confidences:
            confidences |= _prefix_forms(confidences)
            query_word = _QueryWord(piece.strip(_PUNCTUATION), confidences, light, open_end and has_content, in_phrase)
            words.setdefault(frozenset(confidences), query_word)
        open_end = has_content and piece[-1] not in ",;:.?!"
    return words


def _only_asks(piece: str, confidences: Mapping[str, float]) -> bool:
    """Whether a word asks, names a type of records, or asks for what holds now."""
    return not confidences.keys().isdisjoint(_function_words(load_phrases())) or _means_now(piece)


def _is_within(start: int, piece: str, spans: Sequence[tuple[int, int]]) -> bool:
    end = start + len(piece.rstrip(_PUNCTUATION))
    return any(first <= start and end <= last for first, last in spans)


def _asking_spans(question: str, language: str) -> list[tuple[int, int]]:
    """Where a question says that it asks for a list or for the course of a matter."""
    plain, form = bare(question), form_phrases(language or question_language(question))
    return [match.span() for pattern in (form.list, form.summary) for match in pattern.finditer(plain)]


def _means_now(piece: str) -> bool:
    """Whether a word asks for what holds now; passages rarely say so of what they state."""
    return load_phrases().intent.latest.fullmatch(bare(piece.strip(_PUNCTUATION))) is not None


def _match_confidences(piece: str) -> dict[str, float]:
    """Tokens that match a word of the question -> confidence. Parts of a code count less than the whole."""
    piece_tokens = query_tokens(piece).split()
    words = [token for token in piece_tokens if is_whole(token)]
    confidences = {token: _confidence(token, words) for token in piece_tokens}
    if confidences and piece.strip(_PUNCTUATION).casefold() in load_phrases().term.price:
        return confidences | {PRICE: 1.0}  # a price list does not say that it is one
    plain = [token for token in query_tokens(_PREFIX.sub("", piece)).split() if is_whole(token)]
    if not plain or len(confidences) == 1 or not _CODE.search(piece) or _PSEUDONYM.search(piece):
        return confidences
    return dict.fromkeys(confidences, PART) | _code_confidences(plain)


def _code_confidences(parts: list[str]) -> dict[str, float]:
    """Tokens that match a whole code -> confidence; `parts` are the code and the tokens that it is made of."""
    whole = max(parts, key=len)
    confidences = {whole: 1.0}
    if len(parts) == 2 and len(parts[1]) == _ABBREVIATED_HASH and whole.startswith(parts[1]):
        confidences[parts[1]] = _ABBREVIATION_CONFIDENCE
    if len(parts) > 2 and "." not in whole:
        confidences["+" + re.sub(r"\W", "", whole)] = 1.0
    return confidences


def term_coverage(words: Sequence[Term], text_tokens: frozenset[str]) -> float:
    """Share of the words' weight that these tokens cover, 0 to 1; 0 without words."""
    total = covered = 0.0
    for word in words:
        total += word.weight
        covered += word.weight * word.match(text_tokens)
    return covered / total if total else 0.0


@functools.lru_cache(maxsize=4096)
def tokens(text: str) -> frozenset[str]:
    """The tokens of a text; a number is also joined with its neighbours, after a `+`, so INV 1187 matches INV-1187."""
    all_tokens = document_tokens(text).split()
    plain = [token for token in all_tokens if is_whole(token)]
    joined = {
        "+" + "".join(plain[start:end])
        for position, token in enumerate(plain)
        if token[0].isdigit() or token[-1].isdigit()
        for start in range(max(0, position - _MAX_CODE_PARTS + 1), position + 1)
        for end in range(max(start + 2, position + 1), start + _MAX_CODE_PARTS + 1)
    }
    return frozenset(joined.union(all_tokens, [PRICE] if names_amount(text) else ()))


def passage_tokens(chunk: Chunk) -> frozenset[str]:
    """The tokens of a passage and of its metadata."""
    return tokens(chunk.text) | metadata_tokens(chunk)


def metadata_tokens(chunk: Chunk) -> frozenset[str]:
    """The tokens of a passage's metadata: sender, subject, file, day and record type."""
    metadata = index_text("", chunk.subject, chunk.from_, chunk.file_name, chunk.timestamp)
    return tokens(metadata) | kind_tokens(chunk.rag_source_type)


@functools.cache
def kind_tokens(rag_source_type: str) -> frozenset[str]:
    """The tokens of the words that a question may use for a record type."""
    kind = record_type(rag_source_type)
    return tokens(f"{kind.words or rag_source_type.replace('_', ' ')} {kind.content_words}")


def asks_for_reports(question: str) -> bool:
    """Whether a question has a word for what people do with messages: say, write, send, answer."""
    return not _whole_tokens(question).isdisjoint(_asking_words(load_phrases()))


@functools.cache
def _asking_words(phrases: Phrases) -> frozenset[str]:
    return _whole_tokens(" ".join(phrases.term.asking))


@functools.cache
def _function_words(phrases: Phrases) -> frozenset[str]:
    """Words that ask, and words for record types."""
    return _asking_words(phrases) | _whole_tokens(" ".join(kind.words for kind in RECORD_TYPES.values()))


def _whole_tokens(words: str) -> frozenset[str]:
    """The tokens of whole words only: the beginnings of words would match other words."""
    return frozenset(token for token in document_tokens(words).split() if is_whole(token))


def _confidence(token: str, words: Sequence[str] = ()) -> float:
    """Confidence that a text with this token contains the word; `words` are the whole words among its tokens."""
    if not token.startswith("~"):
        return 1.0
    if token[0] == "~" and PREFIXED_LETTER.match(token, 1):
        return max((_stem_confidence(token[1:], word) for word in words), default=PART)
    return _BEGINNING_CONFIDENCE.get(len(token) - 1, 0.5)


def _stem_confidence(beginning: str, word: str) -> float:
    """Confidence that a text with a beginning contains a word: its stem must match, not only letters before it.

    A letter that can be prefixed counts for the stem only where the beginning is all of it but for an ending: of
    `החתונה` the beginning `החתו` is three letters of a longer stem, which it shares with `החתול`.
    """
    start = word.find(beginning)
    if not 0 <= start <= _MIN_STEM:
        return 0.0
    stem = _strip_ending(word[start:])
    if len(beginning) >= len(stem):
        return _PREFIXED_CONFIDENCE.get(len(beginning), PART)
    letters = len(beginning.lstrip(PREFIXED)) if beginning[0] in PREFIXED else len(beginning)
    return _PREFIXED_CONFIDENCE[4] if letters > _MIN_STEM else PART


def _prefix_forms(sure: Mapping[str, float]) -> dict[str, float]:
    """A short word with and without a prefixed letter: sparse search matches only their beginnings."""
    short = [word for word in sure if PREFIXED_LETTER.match(word) and len(word) in (_MIN_STEM, _MIN_STEM + 1)]
    with_letter = [letter + word for word in short for letter in PREFIXED if len(word) == _MIN_STEM]
    without = [word[1:] for word in short if word[0] in PREFIXED and len(word) > _MIN_STEM]
    return {word: _PREFIXED_CONFIDENCE[4] for word in (*with_letter, *without) if word not in sure}


def _strip_ending(word: str) -> str:
    ends = (end for end in _ENDINGS if word.endswith(end) and len(word) - len(end) >= _MIN_STEM)
    return word.removesuffix(next(ends, ""))


def _weight(word: str, light: bool, rarity: float) -> float:
    """Weight of a word: rarity counts half, since in a small archive every word is rare."""
    return LIGHT if light else (1.0 + rarity / 2) * (_NAME_FACTOR if word.istitle() else 1.0)


def _rarity(confidences: Mapping[str, float], frequencies: Frequencies) -> float:
    """Inverse document frequency of the rarest token in the archive; parts of a code are ignored."""
    documents = min(
        (
            frequencies[token]
            for token, confidence in confidences.items()
            if confidence > PART and frequencies.get(token)
        ),
        default=0,
    )
    return idf(documents, frequencies)


def passages_with(alternatives: Collection[str], frequencies: Frequencies) -> int:
    """Upper bound of the counted passages that contain one of these tokens; a token not counted is in one."""
    return min(frequencies.get("", len(alternatives)), sum(frequencies.get(token, 1) for token in alternatives))


def idf(documents: int, frequencies: Frequencies) -> float:
    """Inverse document frequency of a token that `documents` of the counted passages contain."""
    return math.log1p((frequencies.get("", 0) - documents + 0.5) / (documents + 0.5))
