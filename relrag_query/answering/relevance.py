"""How much of a question a passage says: its words where they stand together, and whether it is of who is meant."""

from __future__ import annotations

from collections.abc import Sequence

from relrag_pipelines.workers import cancellation
from relrag_query.answering.sentences import quotable_spans, split
from relrag_query.retrieval.hit import Hit
from relrag_query.retrieval.term_coverage import Term, kind_tokens, metadata_tokens, passage_tokens, tokens

_APART = 0.7
"""what a word is worth that shares no sentence with a word that it stands beside in the question"""
_AROUND = 0.25
"""what a word is worth that only another turn of the chat holds"""


def named_people(terms: Sequence[Term], hits: Sequence[Hit]) -> list[Term]:
    """The words of a question that name somebody: written like names, and that of those who wrote, received, took part.

    Where only one of the two holds it is that one; cities are written like names too.
    """
    named = tokens("\n".join(one for hit in hits for one in _participants(hit)))
    alike = [term for term in terms if term.word.istitle() and not term.light]
    known = [term for term in terms if term.match(named) and not term.light]
    return [term for term in alike if term in known] or alike or known


def is_about(hit: Hit, people: Sequence[Term]) -> bool:
    """Whether one of these wrote a passage, received it, took part or is named in it; True where nobody is meant."""
    held = passage_tokens(hit.chunk) | tokens("\n".join(_participants(hit)))
    return not people or any(term.match(held) for term in people)


def _participants(hit: Hit) -> list[str]:
    return [hit.chunk.from_ or "", *hit.chunk.to, *hit.chunk.participants]


def chunk_relevance(hit: Hit, terms: Sequence[Term]) -> float:
    """Share of the question that a passage covers, with what is known of it, 0 to 1.

    In a chat it is what one turn covers: that the same people also spoke of something else says little.
    """
    cancellation.check()
    chunk = hit.chunk
    known = [tokens(part) for part in (chunk.subject, chunk.file_name) if part]
    if not hit.messages:
        said = [tokens(text) for text in split(chunk.text)]
        return _relevance(terms, [*said, *known, tokens(chunk.from_ or "")], metadata_tokens(chunk))
    window, kind = tokens(chunk.text), kind_tokens(chunk.rag_source_type)
    return max(
        _relevance(terms, [tokens(f"{turn.sender or ''}: {turn.text}"), *known], kind, window)
        for turn in quotable_spans(hit)
    )


def _relevance(
    terms: Sequence[Term], said: list[frozenset[str]], known: frozenset[str], around: frozenset[str] = frozenset()
) -> float:
    everything = known.union(*said)
    gained = 0.0
    for term, beside in zip(terms, _neighbours(terms), strict=True):
        found = term.match(everything)
        apart = beside and not any(term.match(one) and other.match(one) for one in said for other in beside)
        gained += term.weight * max(found * (_APART if apart else 1.0), _AROUND * term.match(around))
    return gained / (sum(term.weight for term in terms) or 1.0)


def _neighbours(terms: Sequence[Term]) -> list[list[Term]]:
    """The words that stand right beside each word in the question."""
    return [
        [terms[place - 1]] * term.adjacent + [other for other in terms[place + 1 : place + 2] if other.adjacent]
        for place, term in enumerate(terms)
    ]
