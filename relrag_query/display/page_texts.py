"""The words around answers and hits, in the language of the question: `page.toml` of its folder.

Each entry is a text with braces for what is filled in; `[nouns]` names one record of each type, by
`RecordType.wording`. What a language lacks is shown in English. Days are written as in ISO 8601.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from relrag_pipelines import languages
from relrag_pipelines.languages import LanguageError
from relrag_pipelines.sources import record_type


@dataclass(frozen=True)
class PageTexts:
    """The content of `page.toml`."""

    language: str
    """its ISO 639-1 code"""
    strong: str
    """above an answer that is a strong match"""
    none: str
    """in place of an answer"""
    superseded_on: str
    """behind an excerpt: a later record gives another value"""
    superseded_in: str
    """the same of a record whose day is not known"""
    superseded: str
    see_also: str
    closest: str
    sources: str
    nothing: str
    advice: str
    """below a search without hits"""
    searched: str
    passage: str
    """one passage that was searched"""
    passages: str
    of_kind: str
    about_person: str
    in_sources: str
    day: str
    until: str
    since: str
    from_to: str
    missing: str
    """the words of a question that no passage holds"""
    near_only: str
    time: str
    """the days that a question means"""
    time_reached: str
    """the same, where they are not those of this year"""
    record: str
    """one record that a list holds"""
    records: str
    records_listed: str
    """the same, where not all are shown"""
    elsewhere: str
    """no record of the type that a question names answers it"""
    said_by: str
    unread: str
    unread_more: str
    page: str
    pages: str
    file_of: str
    undated: str
    more_people: str
    of_title: str
    """of an attachment, the title of its mail"""
    in_title: str
    """of a message, the name of its chat"""
    continued: str
    """above an answer that goes on from an earlier question"""
    ask_on: str
    ask_on_example: str
    trace: str
    nouns: Mapping[str, str] = field(default_factory=dict)

    def noun(self, rag_source_type: str) -> str:
        """What one record of a type is called."""
        kind = record_type(rag_source_type)
        return self.nouns.get(kind.wording) or kind.noun or kind.name.replace("_", " ")

    def count(self, rag_source_type: str, count: int) -> str:
        """Number and type of some records: `3 mails`; in a language without English plurals `Mail: 3`."""
        noun = self.nouns.get(record_type(rag_source_type).wording)
        return f"{noun}: {count:,}" if noun else record_type(rag_source_type).count_text(count)


def page_texts(code: str) -> PageTexts:
    """The texts in a language, those that it lacks in English. Raises LanguageError where its file cannot be used."""
    return _page_texts(languages.path(languages.DEFAULT, "page"), languages.path(code, "page"), code)


@functools.cache
def _page_texts(default: Path, own: Path, code: str) -> PageTexts:
    texts = _around_answers(languages.DEFAULT)
    if own == default or not own.is_file():
        return PageTexts(languages.DEFAULT, **texts)
    given = _around_answers(code)
    names = {attribute.name for attribute in fields(PageTexts)[1:]}
    if unknown := sorted(given.keys() - names):
        raise LanguageError(f"{code}/page.toml: {unknown[0]} is unknown; known are {', '.join(sorted(names))}")
    return PageTexts(code, **{**texts, **given})


def _around_answers(code: str) -> dict[str, Any]:
    """The entries of the file but those of the pages, which relrag_query/web/wording.py reads."""
    return {name: entry for name, entry in languages.table(code, "page").items() if name != "web"}


DEFAULT_TEXTS = page_texts(languages.DEFAULT)
