"""What is quoted: the answer where it is sure, else the closest passages, else nothing.

`confidence` says which candidate answers best and how surely. What it chose is the answer, with what `extractive` put
together around it. Where it is not sure the passages that are most likely to answer are quoted, one of each record, and
it is said that they may not; where even the best is unlikely nothing is.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from relrag_query.answering.answer_types import holds_answer
from relrag_query.answering.candidates import Candidate
from relrag_query.answering.confidence import NEXT, Judgement
from relrag_query.answering.corrections import SORTS, corrections, sorts_asked, with_corrections
from relrag_query.answering.extractive import ExtractiveAnswer, Sentence, is_duplicate
from relrag_query.answering.sentences import QuotableSpan, expects_reply, is_question
from relrag_query.retrieval.excerpts import head_lines
from relrag_query.retrieval.term_coverage import Term, tokens

_UNLIKELY = 0.1
"""a sentence of a passage with a smaller share than this is not quoted beside what answers

It was .01: of the quotes that levi's questions were surely answered with .80 (plain) and .74 (hard) were evidence. With
.1 they are .86 and .78, and no evidence is lost.
"""
_AS_FULL = 0.9
"""neither is one that covers less of the question than this share of the fullest, unless it is likely too"""
CLOSEST = 3
"""passages that are quoted"""
_READABLE = 600
"""characters of a passage that is quoted"""
_REPLY = 3
"""places behind a question at most, up to what replies"""


def weigh(
    answer: ExtractiveAnswer,
    found: Sequence[Candidate],
    judged: Judgement,
    most: int,
    *,
    across: bool = False,
    records: bool = False,
    terms: Sequence[Term] = (),
    question: str = "",
) -> ExtractiveAnswer:
    """The answer where it is sure, else the closest passages, else nothing.

    Nothing is sure that holds no amount, day, hour or name where the `question` asks for one.
    A question that goes `across` channels is answered in order of time, by all that was found for it; one that asks for
    `records`, a thread or an attachment, has no sentence that could be wrong.
    """
    if answer.sentences and records:
        return answer
    told = [one.unit.quote for one in answer.sentences] if across or not judged.by_meaning else []
    told += [one.quote for one, _ in best(found, judged)] if judged.by_meaning and found else []
    holds = any(holds_answer(question, one) for one in told)
    if answer.sentences and not judged.by_meaning:
        sentences = with_corrections(answer.sentences, found, terms, sorts_asked(question))[:most]
        return replace(answer, sentences=sentences, confidence="sure" if holds else "unsure")
    if judged.sure and judged.by_meaning and holds:
        return _answer(answer, found, judged, most, terms, sorts_asked(question), across=across)
    if not judged.worth_showing:
        return replace(answer, sentences=[], confidence="none")
    return replace(
        answer, sentences=_closest(found, judged, terms, sorts_asked(question))[:most], confidence="unsure", least=1.0
    )


def _answer(
    answer: ExtractiveAnswer,
    found: Sequence[Candidate],
    judged: Judgement,
    most: int,
    terms: Sequence[Term],
    sorts: Collection[int],
    *,
    across: bool,
) -> ExtractiveAnswer:
    """The best candidates, then the other sentences of passages that may answer."""
    chosen = best(found, judged)
    kept = answer.sentences if across else _beside(answer.sentences, found, judged)
    first: list[Sentence] = []
    for one, share in chosen:
        same = [other for other in kept if any(_within(unit, one) for unit in (other.unit, *other.also))]
        sentence = _sentence(one, share, same[0] if same else None)
        if same:
            kept = [sentence if other is same[0] else other for other in kept if other not in same[1:]]
        else:
            first.append(sentence)
    sentences = with_corrections([*first, *kept], found, terms, sorts)[:most]
    if across:
        sentences.sort(key=lambda one: one.unit.ts or 0)
    quoted = {id(hit) for one in sentences for hit in one.hits}
    hidden = {hit.chunk.chunk_id: 0.0 for one in answer.sentences for hit in one.hits if id(hit) not in quoted}
    display_scores = {**answer.display_scores, **hidden}
    return replace(answer, sentences=sentences, confidence="sure", display_scores=display_scores)


def _beside(sentences: Sequence[Sentence], found: Sequence[Candidate], judged: Judgement) -> list[Sentence]:
    """The sentences that stand beside the best: of passages nearly as likely, or that cover as much as any."""
    likely = {id(one.unit.hit): share for one, share in zip(found, judged.shares.tolist(), strict=True) if share}
    fullest, most = max((one.credit for one in sentences), default=0.0), float(judged.shares.max())

    def fits(one: Sentence) -> bool:
        share = max(likely.get(id(hit), 0.0) for hit in one.hits)
        return share >= NEXT * most or (share >= _UNLIKELY and one.credit >= _AS_FULL * fullest)

    return [one for one in sentences if fits(one)]


def best(found: Sequence[Candidate], judged: Judgement) -> list[tuple[Candidate, float]]:
    """The candidate that answers best, and the next where it comes near and is of another record; with their shares."""
    order = np.argsort(-judged.shares, kind="stable")[:2].tolist()
    first, *others = ((found[place], float(judged.shares[place])) for place in order)
    return [
        first,
        *(
            (one, share)
            for one, share in others
            if share >= NEXT * first[1] and one.unit.asset_id != first[0].unit.asset_id
        ),
    ]


def _sentence(one: Candidate, share: float, same: Sentence | None) -> Sentence:
    """A candidate as it is quoted: an exchange whole, and in place of the same sentence what is known of that."""
    unit = replace(one.unit, text=one.quote) if one.exchange else one.unit
    if same is None:
        return Sentence(unit, share)
    return same if same.replies or not one.exchange else replace(same, unit=unit, replies=True)


def _within(unit: QuotableSpan, one: Candidate) -> bool:
    """Whether a candidate holds most of what is quoted of its passage."""
    said = tokens(unit.text)
    return one.unit.hit is unit.hit and 2 * len(said & tokens(one.text)) >= len(said)


def _closest(
    found: Sequence[Candidate], judged: Judgement, terms: Sequence[Term], sorts: Collection[int]
) -> list[Sentence]:
    """The likeliest of each record; before one that is superseded, what replaces it.

    What several records say alike is quoted once, with all of them.
    """
    best: dict[str, Sentence] = {}
    ranked = sorted(zip(found, judged.shares.tolist(), strict=True), key=lambda pair: -pair[1])
    for one, likely in ranked:
        chain = corrections(one.unit, found, terms, sorts) or _of_passage(one, found, terms, sorts)
        newest = [other for other, _ in ranked if chain and other.unit is chain[-1]]
        for other in (*newest[:1], one):
            since = chain[0] if chain and other is one else None
            quoted = replace(other.unit, text=_passage(other, found), behind=())
            sentence, record = Sentence(quoted, likely, superseded=since), other.unit.hit.chunk.asset_id
            if record not in best and not is_duplicate(sentence, [*best.values()]):
                best[record] = sentence
        if len(best) >= CLOSEST:
            break
    return list(best.values())[:CLOSEST]


def _of_passage(
    one: Candidate, found: Sequence[Candidate], terms: Sequence[Term], sorts: Collection[int]
) -> list[QuotableSpan]:
    """What corrects another sentence of the passage that is quoted, where the sort of value asked for is known."""
    if len(sorts) == len(SORTS) or one.unit.hit.messages:
        return []
    passage = _passage(one, found)
    units = [other.unit for other in found if other.unit.hit is one.unit.hit and other.unit.text in passage]
    return next(filter(None, (corrections(unit, found, terms, sorts) for unit in units)), [])


def _passage(one: Candidate, found: Sequence[Candidate]) -> str:
    """A candidate with as much of what stands around it as is still read at a glance: what follows it, then before.

    It ends with no question, unless nothing follows that.
    """
    head = head_lines(one.unit.hit.chunk.text)
    inside = [other.unit for other in found if other.unit.hit is one.unit.hit]
    units = [unit for unit in inside if unit.text not in head] or inside  # front matter is no text to read
    chat = bool(one.unit.hit.messages)
    first = last = next((place for place, unit in enumerate(units) if unit is one.unit), 0)
    size = len(units[first].text)
    while first > 0 or last < len(units) - 1:
        after = (last + 1 < len(units) and (last - first) % 3 < 2) or first == 0
        place = last + 1 if after else first - 1
        size += len(units[place].text)
        if size > _READABLE:
            break
        first, last = min(first, place), max(last, place)
    asks, end = expects_reply if chat else is_question, min(len(units), last + _REPLY)
    while last + 1 < end and asks(units[last].text):
        last += 1
    return "\n".join(f"{unit.sender or ''}: {unit.text}" if chat else unit.text for unit in units[first : last + 1])
