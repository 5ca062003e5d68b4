"""Which words of a question a candidate holds: in itself, with what is known of it, and with what stands around it."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz, process

from relrag_query.answering.candidates import Candidate
from relrag_query.retrieval.term_coverage import Term, kind_tokens, metadata_tokens, tokens
from relrag_query.understanding.phrases import bare

_ALIKE = 80
"""percent of two words' letters by which one may be the other, mistyped"""
_TYPED = 5
"""letters from which a word is compared so"""


@dataclass
class Said:
    """What a candidate says, as tokens."""

    own: frozenset[str]
    known: frozenset[str]
    near: frozenset[str]
    around: frozenset[str]
    words: list[str]


def said_by(one: Candidate) -> Said:
    """What a candidate says, with what is known of its passage and what stands around it."""
    chunk = one.unit.hit.chunk
    own = tokens(one.text)
    if one.unit.hit.messages:
        known = tokens(f"{one.unit.sender or ''}\n{chunk.subject or ''}") | kind_tokens(chunk.rag_source_type)
    else:
        known = metadata_tokens(chunk)
    near = own | known | tokens(one.near)
    return Said(own, own | known, near, near | tokens(chunk.text), re.findall(r"\w+", one.text.lower()))


def missing_weight(terms: Sequence[Term], held: frozenset[str]) -> float:
    """Weight of the heaviest word that is not held, as a share of the heaviest."""
    weights = [(term.weight, 1 - term.match(held)) for term in terms if not term.light]
    heaviest = max((weight for weight, _ in weights), default=1.0)
    return max((weight * gone for weight, gone in weights), default=0.0) / heaviest


def adjacency(terms: Sequence[Term], held: frozenset[str]) -> float:
    """Share of the words that stand side by side in the question of which a text holds both; .5 where none do."""
    pairs = [(one, other) for one, other in itertools.pairwise(terms) if other.adjacent and not one.light]
    together = [one.match(held) > 0.4 and other.match(held) > 0.4 for one, other in pairs]
    return sum(together) / len(together) if together else 0.5


def mistyped_share(terms: Sequence[Term], said: Said) -> float:
    """Share of the weight of words that are only there mistyped."""
    total = sum(term.weight for term in terms) or 1.0
    lacking = [(bare(term.word).lower(), term) for term in terms if not term.light]
    lacking = [(word, term) for word, term in lacking if len(word) >= _TYPED and term.match(said.near) <= 0.4]
    words = [bare(other) for other in said.words] if lacking else []
    return (
        sum(
            term.weight
            for word, term in lacking
            if process.extractOne(word, words, scorer=fuzz.ratio, score_cutoff=_ALIKE)
        )
        / total
    )


def unmatched_share(terms: Sequence[Term], held: frozenset[str]) -> float:
    """How many words of the question are not held, up to 4, as a share of that."""
    return min(4, sum(term.match(held) < 0.4 for term in terms if not term.light)) / 4
