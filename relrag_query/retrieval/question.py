"""A question as it was read, once: every step of a query uses these fields, and none reads the text again."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field

from relrag_pipelines.languages import DEFAULT
from relrag_query.retrieval.term_coverage import Term
from relrag_query.understanding.intent import Form, QueryIntent
from relrag_query.understanding.people_question import PeopleInQuestion
from relrag_query.understanding.phrases import bare
from relrag_query.understanding.time_expressions import TimeRange


@dataclass(frozen=True)
class Question:
    """A question, and what its words say."""

    text: str
    redacted: str
    """as it would be in the index"""
    terms: list[Term]
    """the words to search for, with their corrections and translations"""
    time: TimeRange | None
    latest: bool
    """it asks for the current state"""
    channels: frozenset[str]
    """record types that it names as the source of the answer: a mail, a call"""
    listed: frozenset[str]
    """record types of which it asks for a list"""
    values: frozenset[str]
    """what it asks for, as the pattern table `asked` names it: when, price, who"""
    intents: list[QueryIntent]
    form: Form = ""
    """whether it asks for a list or for the course of a matter"""
    language: str = DEFAULT
    """ISO 639-1, of the words around its answer"""
    assets: tuple[str, ...] = ()
    """refs of records that it names by file name, reference number or subject"""
    people: PeopleInQuestion = field(default_factory=PeopleInQuestion)

    @functools.cached_property
    def plain(self) -> str:
        """The text without accents."""
        return bare(self.text)
