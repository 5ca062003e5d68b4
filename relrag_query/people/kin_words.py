"""Words in a question for what people are to one another: `mentors`, `sestra`, `אשתו`."""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

from relrag_pipelines.text import kinship
from relrag_query.understanding.phrases import bare


class KinWord(NamedTuple):
    """One such word."""

    start: int
    end: int
    type: str
    """relationship type"""
    word: str
    """as the file of its language has it, without accents"""
    says_my: bool = False
    """the word itself says `my`: אשתי"""


def kin_words(question: str) -> list[KinWord]:
    """The words, in order."""
    found = []
    for match in _pattern().finditer(bare(question)):
        group = match.lastgroup or ""
        word = match[group].casefold()
        if group == "plain" and not _may_be_meant(word, question[match.start() : match.end()].casefold()):
            continue
        type_, base = _words()[group][word]
        found.append(KinWord(match.start(), match.end(), type_, base, group == "mine"))
    return found


def _may_be_meant(word: str, written: str) -> bool:
    """Whether a word without accents, and as it was written, is one of these: `může` (can) is no form of `muž`.

    Who leaves accents out leaves out all of them.
    """
    if word in _lookalikes():
        return written != word and written in _spellings()
    return written == word or written in _spellings()


@functools.cache
def _lookalikes() -> frozenset[str]:
    return frozenset(bare(word) for word in kinship.lookalikes("cs"))


@functools.cache
def _spellings() -> frozenset[str]:
    """The forms of such words as they are written with accents."""
    forms = {*kinship.types_of("he", "latin"), *kinship.czech_cases()}
    for language in kinship.LANGUAGES:
        forms |= {
            *kinship.types_of(language),
            *kinship.types_of(language, "said_of"),
            *kinship.question_forms(language),
        }
    return frozenset(form.casefold() for form in forms)


def type_words(type_: str) -> str:
    """All words for a relationship type, in all languages, for search by words."""
    tables = map(kinship.types_of, kinship.LANGUAGES)
    return " ".join(word for table in tables for word, kind in table.items() if kind == type_)


def type_forms(type_: str) -> str:
    """These words in all their cases and with their plurals, as texts have them."""
    found = {*kinship.words_for({type_})}
    for language in kinship.LANGUAGES:
        found |= {form for form, word in kinship.question_forms(language).items() if word in found}
    return " ".join(sorted(found))


@functools.cache
def _words() -> dict[str, dict[str, tuple[str, str]]]:
    """Group of the pattern -> form -> type and base form."""
    hebrew = kinship.types_of("he")
    english, czech = kinship.types_of("en"), kinship.types_of("cs")
    asked = {form: (english[word], word) for form, word in kinship.question_forms("en").items()}
    plain: dict[str, tuple[str, str]] = {}
    for word, kind in english.items():
        asked |= dict.fromkeys((word, f"{word}s"), (kind, word))
    for form, meant in asked.items():
        plain |= {bare(form).casefold(): meant, bare(form.replace("-", " ")).casefold(): meant}
    plain |= {bare(form).casefold(): (czech[word], bare(word)) for form, word in kinship.question_forms("cs").items()}
    plain |= {word: (kind, word) for word, kind in kinship.types_of("he", "latin").items()}
    for language in kinship.LANGUAGES:
        plain |= {bare(word): (kind, bare(word)) for word, kind in kinship.types_of(language, "said_of").items()}
    for table in (czech, kinship.czech_cases()):
        for word, kind in table.items():
            plain.setdefault(bare(word).casefold(), (kind, bare(word)))
    return {
        "plain": plain,
        "he": {
            form: (kind, word)
            for word, kind in hebrew.items()
            for form in (word, word.replace(" ", " ה"))  # רואת החשבון
        }
        | {form: (hebrew[word], word) for form, word in kinship.question_forms("he").items()},
        "mine": {word: (kind, word) for word, kind in kinship.types_of("he", "mine").items()}
        | {form: (hebrew[word], word) for form, word in kinship.question_forms("he", "asked_mine").items()},
        "of": {word: (kind, word) for word, kind in kinship.types_of("he", "of").items()},
    }


@functools.cache
def _pattern() -> re.Pattern[str]:
    def either(group: str) -> str:
        return "|".join(re.escape(word) for word in sorted(_words()[group], key=len, reverse=True))

    return re.compile(
        rf"(?<![\w-])(?P<plain>{either('plain')})(?![\w-])"
        rf"|(?<!\w)[ושבלמכ]{{0,2}}(?:ה?(?P<he>{either('he')})|(?P<mine>{either('mine')})|(?P<of>{either('of')}))(?!\w)",
        re.IGNORECASE,
    )
