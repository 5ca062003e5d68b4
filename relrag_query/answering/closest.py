"""The closest passages, where no sentence surely answers.

What the words of a question lead to is the answer only where `confidence` does not doubt it. Else the passages that are
most likely to answer are quoted, one of each record, and it is said that they may not; where even the best is unlikely
nothing is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from relrag_query.answering.candidates import Candidate
from relrag_query.answering.confidence import Judgement
from relrag_query.answering.extractive import ExtractiveAnswer, Sentence
from relrag_query.answering.sentence_split import QuotableSpan
from relrag_query.retrieval.term_coverage import tokens

_UNLIKELY = 0.02
"""a sentence less likely than this is not quoted beside one that answers"""
CLOSEST = 3
"""passages that are quoted"""
_READABLE = 500
"""characters of a passage that is quoted"""
DOUBT = 0.2
"""An answer is doubted where none of its sentences answers with this probability. On an archive that nothing was tuned
to (tuning/archives/mazal, 201 questions with an answer and 100 without) 21 % of those that have one are then answered
as if sure, right in 64 % of them, and 18 % of those that have none; undoubted these are 29, 57 and 41 %."""


def weigh(
    answer: ExtractiveAnswer, found: Sequence[Candidate], judged: Judgement, most: int, *, across: bool = False
) -> ExtractiveAnswer:
    """The answer where it is not doubted, else the closest passages, else nothing.

    Sentences that hardly answer are left out, unless the question goes `across` channels.
    """
    if answer.sentences and not judged.by_meaning:
        return answer
    likely = [_probability(one.unit, found, judged) for one in answer.sentences]
    if max(likely, default=0.0) >= DOUBT:
        return answer if across else _without_unlikely(answer, likely)
    if not judged.worth_showing:
        return replace(answer, sentences=[], confidence="none")
    return replace(answer, sentences=_closest(found, judged)[:most], confidence="unsure", least=1.0)


def _without_unlikely(answer: ExtractiveAnswer, likely: Sequence[float]) -> ExtractiveAnswer:
    kept = [one for one, share in zip(answer.sentences, likely, strict=True) if share >= _UNLIKELY]
    quoted = {id(hit) for one in kept for hit in one.hits}
    for hit in (hit for one in answer.sentences for hit in one.hits if id(hit) not in quoted):
        hit.display_score = 0.0
    return replace(answer, sentences=kept)


def _probability(unit: QuotableSpan, found: Sequence[Candidate], judged: Judgement) -> float:
    """That of the likeliest candidate of the same passage which holds half of what is quoted."""
    said = tokens(unit.text)
    return max(
        (
            float(likely)
            for one, likely in zip(found, judged.probabilities, strict=True)
            if one.unit.hit is unit.hit and 2 * len(said & tokens(one.text)) >= len(said)
        ),
        default=0.0,
    )


def _closest(found: Sequence[Candidate], judged: Judgement) -> list[Sentence]:
    """The likeliest of each record; before one that is superseded, what replaces it."""
    best: dict[str, Sentence] = {}
    ranked = sorted(zip(found, judged.probabilities, strict=True), key=lambda pair: -pair[1])
    for one, likely in ranked:
        newer = one.unit.hit.superseded_by
        first = next((pair for pair in ranked if pair[0].unit.hit is newer), (one, likely))
        for other, share in (first, (one, likely)):
            quoted = replace(other.unit, text=_passage(other, found), behind=())
            best.setdefault(other.unit.hit.chunk.asset_id, Sentence(quoted, float(share)))
        if len(best) >= CLOSEST:
            break
    return list(best.values())[:CLOSEST]


def _passage(one: Candidate, found: Sequence[Candidate]) -> str:
    """A candidate with as much of what stands around it as is still read at a glance: what follows it, then before."""
    units = [other.unit for other in found if other.unit.hit is one.unit.hit]
    first = last = next(place for place, unit in enumerate(units) if unit is one.unit)
    size = len(units[first].text)
    while first > 0 or last < len(units) - 1:
        after = (last + 1 < len(units) and (last - first) % 3 < 2) or first == 0
        place = last + 1 if after else first - 1
        size += len(units[place].text)
        if size > _READABLE:
            break
        first, last = min(first, place), max(last, place)
    chat = bool(one.unit.hit.messages)
    return "\n".join(f"{unit.sender or ''}: {unit.text}" if chat else unit.text for unit in units[first : last + 1])
