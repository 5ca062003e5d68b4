"""Reads questions for relatives whom further words describe: `friends from college`, `which mentors meet me monthly?`.

The words must stand in what is stated of the relationship. If none says so, the relationships that come near by meaning
may answer, which is not certain.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Protocol

from relrag_pipelines.identity.statement_overlay import Key, embedded_text
from relrag_query.people.question_words import QuestionWords, has_only_fillers
from relrag_query.people.relations import LEAST_SIMILARITY
from relrag_query.people.relatives import Reference, find_relative, relative_of
from relrag_query.retrieval.term_coverage import terms_of, tokens
from relrag_query.understanding.people_question import PeopleQuestion, Relation
from relrag_query.understanding.phrases import bare, load_phrases

_LEAST_MATCH = 0.5
"""confidence with which each word must be in the text of a relationship"""
_SHARE_OF_BEST = 0.9
"""share of the best similarity, of relationships that may answer by meaning"""


class NearRelationship(Protocol):
    """A relationship that a search found (`relationship_search.RelationshipSearchResult`)."""

    @property
    def key(self) -> Key:
        """The key of the relationship."""

    @property
    def similarity(self) -> float:
        """Cosine similarity to the question."""


Search = Callable[[Collection[str] | None], Sequence[NearRelationship]]
"""gives the relationships of some types that are nearest to a question, best first"""


def read(words: QuestionWords) -> PeopleQuestion | None:
    """The question for the owner's relatives whom its words describe; None if it asks something else."""
    reference = None if _asks_for_other(words) else _own_relatives(words)
    described = _description(words, reference) if reference and reference.relations else []
    if reference is None or not described:
        return None
    fitting = [relation for relation in reference.relations if _is_described(relation, described)]
    if not fitting:
        return PeopleQuestion("who", [], reference.relations, described=True)
    return PeopleQuestion("who", list(dict.fromkeys(relation.other_id for relation in fitting)), fitting)


def _asks_for_other(words: QuestionWords) -> bool:
    """Whether a question is for what somebody said, for somebody it names, or for relatives of another."""
    if len(words.kin_words) != 1 or _is_of_another(words) or words.mentions:
        return True
    return load_phrases().people.said.search(words.plain) is not None


def _description(words: QuestionWords, reference: Reference) -> list[str]:
    """The words behind a kin term that describe whom it means; none where a question asks something else."""
    phrases, intents = load_phrases().people, load_phrases().intent
    before, after = words.plain[: reference.start], words.plain[reference.end :]
    if not has_only_fillers(phrases.who.sub(" ", before)) or intents.person_history.search(f"{before}Name{after}"):
        return []
    return [word for word in re.findall(r"\S+", after) if not has_only_fillers(bare(word))]


def _is_of_another(words: QuestionWords) -> bool:
    """Whether a possessive before the kin term is not `my`: her son is not the owner's."""
    before = words.plain[: words.kin_words[0].start]
    possessive = re.search(rf"(?:{load_phrases().intent.possessive.pattern})\s+$", before, re.IGNORECASE)
    return bool(possessive) and not re.search(rf"(?<!\w)(?:{load_phrases().people.my})$", before, re.IGNORECASE)


def _own_relatives(words: QuestionWords) -> Reference | None:
    """The owner's relatives whom the kin term of a question means, with `my` or without."""
    (word,) = words.kin_words
    reference = find_relative(words, word, [])
    return reference or relative_of(words.people.owner, word.start, word.end, word, words.people)


def _is_described(relation: Relation, described: Sequence[str]) -> bool:
    """Whether each of the words stands in what is stated of a relationship; small words do not count."""
    terms = [term for term in terms_of(" ".join(described)) if not term.light]
    text = tokens(embedded_text(relation.row).replace("_", " "))
    return bool(terms) and all(term.match(text) >= _LEAST_MATCH for term in terms)


def settle(question: PeopleQuestion, search: Search) -> PeopleQuestion | None:
    """The question with the people whom meaning decides, in the order of similarity; None if nobody is meant."""
    settled = by_meaning(question, search) if question.described else question
    return settled and in_order(settled, search)


def by_meaning(question: PeopleQuestion, search: Search) -> PeopleQuestion | None:
    """The question with the relatives who come near by meaning, which is not certain; None if nobody does."""
    near = _nearest(question.relations, search)
    close = [(relation, score) for relation, score in near if score >= LEAST_SIMILARITY]
    chosen = [relation for relation, score in close if score >= _SHARE_OF_BEST * close[0][1]]
    ids = list(dict.fromkeys(relation.other_id for relation in chosen))
    return PeopleQuestion("who", ids, chosen, ambiguous=True) if ids else None


def in_order(question: PeopleQuestion, search: Search) -> PeopleQuestion:
    """The question with its people in the order of similarity of their relationships, where these have vectors."""
    if question.asks != "who" or len(question.people) < 2 or not question.relations:
        return question
    order = [relation.other_id for relation, _ in _nearest(question.relations, search)]
    people = [person_id for person_id in dict.fromkeys([*order, *question.people]) if person_id in question.people]
    return replace(question, people=people)


def _nearest(relations: Sequence[Relation], search: Search) -> list[tuple[Relation, float]]:
    """Those of the relations that a search finds, with their similarity, best first."""
    by_key = {_key(relation): relation for relation in relations}
    results = search({relation.row.relationship_type for relation in relations})
    return [(by_key[result.key], result.similarity) for result in results if result.key in by_key]


def _key(relation: Relation) -> tuple[int, int, str]:
    row = relation.row
    return row.from_person_id, row.to_person_id, row.relationship_type
