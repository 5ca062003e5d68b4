"""Decides by the words beside a number whether it is a phone, or another kind of number.

`phone_in_front` and `other_in_front` get the text before a number, `phone_behind` the text after it.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass

from relrag_pipelines.pii import number_words
from relrag_pipelines.pii.number_words.matching import UNSPACED, Phrases, Token, fold, tokens

_MAX_WORDS_BETWEEN = 4
"""largest number of words between a label and its number"""
_MAX_CALLED_WORDS = 2
"""largest number of words between a verb such as `call` and the `on` before the number"""
_MAX_CALLED_LETTERS = 12
"""largest number of letters of one of these words"""

_PHONE_GAP = re.compile(r"[^\w\n+]{0,5}(?:\n[> \t]*)?")
"""text between the label of a phone and the number"""
_OTHER_GAP = re.compile(r"[ \t\xa0]{0,2}[:.#№º°/=(\"'–—-]{0,3}[ \t\xa0]{0,2}")
_BETWEEN_GAP = re.compile(r"[ \t\xa0]{1,2}|[ \t\xa0]?['’.:(/№-]{1,2}[ \t\xa0]{0,2}")
"""text between words that belong together"""
_NOTE = re.compile(r"[ \t\xa0]{0,2}\([^()\n]{1,14}\)[^\w\n+]{0,4}(?:\n[> \t]*)?$")
"""`Tel (Praha): `"""
_BEHIND = re.compile(r"[ \t\xa0]{0,2}[(\[,:;–—-]{0,2}[ \t\xa0]{0,2}")
_CLOSED = re.compile(r"[ \t\xa0]{0,2}(?:$|[)\].,;:!?\n]|[^\w\s])")
"""text that may follow a label after a number; other words would be what the number counts"""


@dataclass(frozen=True)
class _Label:
    """Words that announce a number, and the text allowed between them and the number."""

    words: Phrases
    between: Phrases
    gap: re.Pattern[str]
    letters: re.Pattern[str]
    """for languages without spaces, a pattern of the whole text before the number"""

    def announces(self, front: str) -> bool:
        """Whether the text ends in one of the words."""
        return self.start(front) >= 0

    def start(self, front: str) -> int:
        """The offset in the folded text of the first word that announces the number after it; -1 if there is none."""
        folded = fold(front)
        if UNSPACED.search(folded) and (listed := self.letters.search(folded)):
            return listed.start()
        words = tokens(folded)
        sizes = ((position, self.words.ends_at(words, position)) for position in self.places(folded, words))
        return min((words[position - size + 1].start for position, size in sizes if size), default=-1)

    def places(self, folded: str, words: Sequence[Token]) -> list[int]:
        """Indices of the tokens at which a label may end: the last one, and those before allowed words between."""
        positions: list[int] = []
        position = len(words) - 1
        if position < 0 or not self.gap.fullmatch(folded, words[position].end):
            return positions
        for _ in range(_MAX_WORDS_BETWEEN + 1):
            positions.append(position)
            size = self.between.ends_at(words, position)
            if not size or position - size < 0:
                return positions
            if not _BETWEEN_GAP.fullmatch(folded, words[position - size].end, words[position - size + 1].start):
                return positions
            position -= size
        return positions


def _label(words: Phrases, between: Phrases, gap: re.Pattern[str]) -> _Label:
    joined = "|".join(map(re.escape, between.unspaced)) or "(?!)"
    listed = "|".join(map(re.escape, words.unspaced)) or "(?!)"
    return _Label(words, between, gap, re.compile(rf"(?:{listed})[ \t]?(?:(?:{joined})[ \t]?){{0,3}}{gap.pattern}$"))


@dataclass(frozen=True)
class _Labels:
    """All labels of all languages."""

    phone: _Label
    call: Phrases
    at: Phrases
    other: _Label
    after: Phrases
    card: Phrases
    amount: Phrases
    account: Phrases
    noun: _Label
    postcode: _Label
    local: _Label


@functools.cache
def _labels() -> _Labels:
    glued = _all("glued")
    between, other, number, call, at, after, card, amount, account, noun, postcode, local = (
        Phrases(_all(name), glued)
        for name in (
            *("between", "other", "number", "call", "at", "after", "card", "amount", "account"),
            *("phone", "postcode", "local"),
        )
    )
    announcing = Phrases([*_all("phone"), *_all("call")], glued)
    return _Labels(
        _label(announcing, between, _PHONE_GAP),
        call,
        at,
        _label(other, number, _OTHER_GAP),
        after,
        card,
        amount,
        account,
        _label(noun, between, _PHONE_GAP),
        _label(postcode, number, _OTHER_GAP),
        _label(local, between, _PHONE_GAP),
    )


def _all(key: str) -> list[str]:
    return list(
        dict.fromkeys(
            itertools.chain.from_iterable(getattr(language_words, key) for language_words in number_words.load())
        )
    )


def phone_in_front(front: str) -> bool:
    """Whether the text ends in words that announce a phone number.

    Of `order number` and `number` the longer counts, so the number is an order.
    """
    labels = _labels()
    note = _NOTE.search(front)
    if note and labels.phone.announces(front[: note.start()]):
        return True
    start = labels.phone.start(front)
    if start >= 0:
        return not 0 <= labels.other.start(front) < start
    return _has_call_phrase(front, labels)


def phone_words(front: str) -> str:
    """The words at the end of the text that announce a phone number, folded; empty if there are none."""
    start = _labels().phone.start(front) if phone_in_front(front) else -1
    return " ".join(fold(front)[start:].split()).rstrip(" :.#") if start >= 0 else ""


def other_words(front: str) -> str:
    """The words at the end of the text that announce a number of another kind, folded; empty if there are none."""
    start = _labels().other.start(front)
    return " ".join(fold(front)[start:].split()).rstrip(" :.#") if start >= 0 else ""


def phone_noun_in_front(front: str) -> bool:
    """Whether the text ends in a noun for a phone; a verb such as `call` also stands before other numbers."""
    return _labels().noun.announces(front)


def postcode_in_front(front: str) -> bool:
    """Whether the text ends in a word for a postcode."""
    return _labels().postcode.announces(front)


def local_number_in_front(front: str) -> bool:
    """Whether the text ends in a word for a number, without a word that announces another kind."""
    labels = _labels()
    return labels.local.announces(front) and not labels.other.announces(front)


def _has_call_phrase(front: str, labels: _Labels) -> bool:
    """Whether the text ends in a phrase such as `call Petr on`: verb, name, preposition."""
    folded = fold(front)
    words = tokens(folded)
    for position in labels.phone.places(folded, words):
        size = labels.at.ends_at(words, position)
        for distance in range(size, size + _MAX_CALLED_WORDS + 1) if size else ():
            first = position - distance
            between = words[first + 1 : position - size + 1]
            if first < 0 or any(len(token.word) > _MAX_CALLED_LETTERS or token.word.isdigit() for token in between):
                break
            if labels.call.ends_at(words, first) and not re.search(
                r"[.!?\n]", folded[words[first].end : words[position].start]
            ):
                return True
    return False


def other_in_front(front: str) -> bool:
    """Whether the text ends in words that announce a number of another kind."""
    return _labels().other.announces(front)


def amount_behind(behind: str) -> bool:
    """Whether the text begins with a currency, or with a noun that is counted."""
    amount = _labels().amount
    folded = fold(behind)
    if any(folded.startswith(word) for word in amount.unspaced):
        return True
    words = tokens(folded)[:1]
    return bool(words) and words[0].start == 0 and amount.ends_at(words, 0) == 1


def mentions_card(front: str) -> bool:
    """Whether the text contains a word for a payment card."""
    return _mentions(_labels().card, front)


def mentions_account(front: str) -> bool:
    """Whether the text contains a word for an account or a payment."""
    return _mentions(_labels().account, front)


def _mentions(phrases: Phrases, text: str) -> bool:
    folded = fold(text)
    if any(word in folded for word in phrases.unspaced):
        return True
    words = tokens(folded)
    return any(phrases.ends_at(words, position) for position in range(len(words)))


def phone_behind(behind: str) -> bool:
    """Whether the text begins with a word that marks the number before it as a phone: `(office)`."""
    labels = _labels()
    folded = fold(behind)
    gap = _BEHIND.match(folded)
    start = gap.end() if gap else 0
    if any(folded.startswith(word, start) for word in labels.after.unspaced):
        return True
    words = [token for token in tokens(folded) if token.start >= start]
    if not words or words[0].start != start:
        return False
    return any(
        labels.after.ends_at(words[: size + 1], size) == size + 1 and _CLOSED.match(folded, words[size].end)
        for size in range(min(3, len(words)))
    )
