"""Words in a question for what people are to one another: `mentors`, `sestra`, `אשתו`."""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

from relrag_pipelines import languages
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
    return frozenset(bare(word) for language in kinship.LANGUAGES for word in kinship.lookalikes(language))


@functools.cache
def _spellings() -> frozenset[str]:
    """The forms of such words as they are written with accents."""
    forms = {*kinship.inflected_forms()}
    for language in kinship.LANGUAGES:
        forms |= {
            *(word for part in ("", "latin", "said_of") for word in kinship.types_of(language, part)),
            *kinship.question_forms(language),
            *kinship.question_forms(language, "asked_only"),
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
        asked = {**kinship.question_forms(language), **kinship.question_forms(language, "asked_only")}
        found |= {form for form, word in asked.items() if word in found}
    return " ".join(sorted(found))


@functools.cache
def _words() -> dict[str, dict[str, tuple[str, str]]]:
    """Group of the pattern -> form -> type and base form."""
    prefixed = [code for code in kinship.LANGUAGES if languages.language(code).prefixes]
    plain: dict[str, tuple[str, str]] = {}
    for code in kinship.LANGUAGES:
        plain |= _plain_words(code) if code not in prefixed else {}
        plain |= {bare(word): (kind, bare(word)) for word, kind in kinship.types_of(code, "said_of").items()}
        plain |= {word: (kind, word) for word, kind in kinship.types_of(code, "latin").items()}
    for word, kind in kinship.inflected_forms().items():
        plain.setdefault(bare(word).casefold(), (kind, bare(word)))
    groups: dict[str, dict[str, tuple[str, str]]] = {"plain": plain, "prefixed": {}, "mine": {}, "of": {}}
    for code in prefixed:
        groups["prefixed"] |= _prefixed_words(code)
        groups["mine"] |= _own_words(code, "mine") | _asked_words(code, "asked_mine")
        groups["of"] |= _own_words(code, "his") | _own_words(code, "hers")
    return groups


def _plain_words(code: str) -> dict[str, tuple[str, str]]:
    """The words of a language that are written apart, with their plurals and without accents."""
    found: dict[str, tuple[str, str]] = {}
    for word, kind in kinship.types_of(code).items():
        found |= dict.fromkeys((word, *kinship.plurals(code, word)), (kind, bare(word)))
    found |= {form: (kind, bare(word)) for form, (kind, word) in _asked_words(code, "asked").items()}
    return {
        bare(written).casefold(): meant for form, meant in found.items() for written in (form, form.replace("-", " "))
    }


def _prefixed_words(code: str) -> dict[str, tuple[str, str]]:
    """The words of a language before which letters are written; the article may stand before their second part."""
    article = languages.language(code).article
    words = {
        form: (kind, word)
        for word, kind in kinship.types_of(code).items()
        for form in (word, word.replace(" ", f" {article}"))
    }
    return words | _asked_words(code, "asked_only")


def _own_words(code: str, part: str) -> dict[str, tuple[str, str]]:
    return {word: (kind, word) for word, kind in kinship.types_of(code, part).items()}


def _asked_words(code: str, part: str) -> dict[str, tuple[str, str]]:
    types = kinship.types_of(code)
    return {form: (types[word], word) for form, word in kinship.question_forms(code, part).items()}


@functools.cache
def _pattern() -> re.Pattern[str]:
    def either(group: str) -> str:
        return "|".join(re.escape(word) for word in sorted(_words()[group], key=len, reverse=True)) or "(?!)"

    behind = rf"(?P<prefixed>{either('prefixed')})"
    return re.compile(
        rf"(?<![\w-])(?P<plain>{either('plain')})(?![\w-])|(?<!\w){languages.prefix_pattern(2)}"
        rf"(?:{languages.article_pattern()}?{behind}|(?P<mine>{either('mine')})|(?P<of>{either('of')}))(?!\w)",
        re.IGNORECASE,
    )
