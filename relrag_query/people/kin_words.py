"""Finds the kin terms and roles in a question: `mentors`, `sestra`, `אשתו`."""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

from relrag_pipelines import languages
from relrag_pipelines.text import kinship
from relrag_query.understanding.phrases import bare
from relrag_query.understanding.question_language import question_language


class KinWord(NamedTuple):
    """A word of a question for a relationship."""

    start: int
    end: int
    type: str
    """relationship type"""
    word: str
    """as the language's file has it, without accents"""
    says_my: bool = False
    """the word has a suffix for `my`: אשתי"""


def kin_words(question: str) -> list[KinWord]:
    """The words, in order: of languages that texts state relatives in, and of the question's own."""
    plain, codes = bare(question), kinship.STATING
    if _pattern(kinship.LANGUAGES).search(plain):
        codes += tuple({question_language(question)}.intersection(kinship.LANGUAGES).difference(codes))
    words = []
    for match in _pattern(codes).finditer(plain):
        group = match.lastgroup or ""
        word = match[group].casefold()
        if group == "plain" and not _may_be_meant(word, question[match.start() : match.end()].casefold()):
            continue
        type_, base = _words(codes)[group][word]
        words.append(KinWord(match.start(), match.end(), type_, base, group == "mine"))
    return words


def _may_be_meant(word: str, written: str) -> bool:
    """Whether a word, given without accents and as written, may be a kin term: `může` (can) is no form of `muž`.

    Writers who leave accents out leave out all of them.
    """
    if word in _lookalikes():
        return written != word and written in _spellings()
    return written == word or written in _spellings()


@functools.cache
def _lookalikes() -> frozenset[str]:
    return frozenset(bare(word) for language in kinship.LANGUAGES for word in kinship.lookalikes(language))


@functools.cache
def _spellings() -> frozenset[str]:
    """The forms of all kin terms, with their accents."""
    forms = {*kinship.inflected_forms()}
    for language in kinship.LANGUAGES:
        forms |= {
            *(word for part in ("", "transliterated", "said_of") for word in kinship.types_of(language, part)),
            *kinship.question_forms(language),
            *kinship.question_forms(language, "asked_only"),
            *(form for word in kinship.types_of(language) for form in kinship.plurals(language, word)),
        }
    return frozenset(form.casefold() for form in forms)


def type_words(type_: str) -> str:
    """The words for a relationship type in all languages, for lexical search."""
    tables = map(kinship.types_of, kinship.LANGUAGES)
    return " ".join(word for table in tables for word, kind in table.items() if kind == type_)


@functools.cache
def _words(codes: tuple[str, ...]) -> dict[str, dict[str, tuple[str, str]]]:
    """Group of the pattern -> form -> type and base form, in these languages."""
    prefixed = [code for code in codes if languages.language(code).prefixes]
    plain: dict[str, tuple[str, str]] = {}
    for code in codes:
        plain |= _plain_words(code) if code not in prefixed else {}
        plain |= {bare(word): (kind, bare(word)) for word, kind in kinship.types_of(code, "said_of").items()}
        plain |= {word: (kind, word) for word, kind in kinship.types_of(code, "transliterated").items()}
    for word, kind in kinship.inflected_forms().items():
        plain.setdefault(bare(word).casefold(), (kind, bare(word)))
    groups: dict[str, dict[str, tuple[str, str]]] = {"plain": plain, "prefixed": {}, "mine": {}, "of": {}}
    for code in codes:
        groups["mine"] |= _own_words(code, "mine") | _question_words(code, "asked_mine")
    for code in prefixed:
        groups["prefixed"] |= _prefixed_words(code)
        groups["of"] |= _own_words(code, "his") | _own_words(code, "hers")
    return groups


def _plain_words(code: str) -> dict[str, tuple[str, str]]:
    """The words of a language without prefixed letters: singulars and plurals, without accents."""
    forms: dict[str, tuple[str, str]] = {}
    for word, kind in kinship.types_of(code).items():
        forms |= dict.fromkeys((word, *kinship.plurals(code, word)), (kind, bare(word)))
    forms |= {form: (kind, bare(word)) for form, (kind, word) in _question_words(code, "asked").items()}
    plain: dict[str, tuple[str, str]] = {}
    for form, meaning in forms.items():
        plain[bare(form).casefold()] = meaning
        plain[bare(form.replace("-", " ")).casefold()] = meaning
    return plain


def _prefixed_words(code: str) -> dict[str, tuple[str, str]]:
    """The words of a language that writes letters before them; their second part may have an article."""
    article = languages.language(code).article
    words = {
        form: (kind, word)
        for word, kind in kinship.types_of(code).items()
        for form in (word, word.replace(" ", f" {article}"))
    }
    return words | _question_words(code, "asked_only")


def _own_words(code: str, part: str) -> dict[str, tuple[str, str]]:
    return {word: (kind, word) for word, kind in kinship.types_of(code, part).items()}


def _question_words(code: str, part: str) -> dict[str, tuple[str, str]]:
    types = kinship.types_of(code)
    return {form: (types.get(word, word), word) for form, word in kinship.question_forms(code, part).items()}


@functools.cache
def _pattern(codes: tuple[str, ...]) -> re.Pattern[str]:
    def any_of(group: str) -> str:
        return "|".join(re.escape(word) for word in sorted(_words(codes)[group], key=len, reverse=True)) or "(?!)"

    prefixed = rf"(?P<prefixed>{any_of('prefixed')})"
    return re.compile(
        rf"(?<![\w-])(?P<plain>{any_of('plain')})(?![\w-])|(?<!\w){languages.prefix_pattern(2)}"
        rf"(?:{languages.article_pattern()}?{prefixed}|(?P<mine>{any_of('mine')})|(?P<of>{any_of('of')}))(?!\w)",
        re.IGNORECASE,
    )
