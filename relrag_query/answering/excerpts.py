"""The excerpts of an answer: the best passages, each with the sentence that answers and what it needs around it.

What a later record says otherwise stands before what it supersedes. What several records say alike is one excerpt.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from relrag_pipelines.sources import record_type
from relrag_pipelines.text.values import ValueType, values_in
from relrag_query.answering import superseded
from relrag_query.answering.candidates import Candidate
from relrag_query.answering.features import SentenceScorer
from relrag_query.answering.ranker import RankedCandidate, Ranking
from relrag_query.answering.sentences import QuotableSpan, ends_sentence, expects_reply, is_question, is_row
from relrag_query.retrieval.excerpts import head_lines
from relrag_query.retrieval.hit import Hit
from relrag_query.retrieval.term_coverage import tokens
from relrag_query.understanding.intent import Form

Confidence = Literal["sure", "unsure", "none"]
Candidates = Sequence[Candidate]
Ranked = Sequence[RankedCandidate]
Spans = Sequence[QuotableSpan]

MAX_EXCERPTS = 3
MAX_COURSE = 6
"""excerpts of a question for the course of a matter, or that goes across channels"""
_MAX_CHARACTERS = 420
"""of an excerpt: about 60 words"""
_CHANNEL_CHARACTERS = 240
"""the same where each channel is quoted, so that all of them are read at a glance"""
_PAUSE = 3600
"""seconds without a message that end a burst of a chat"""
_REPLY_SPANS = 3
"""spans behind a question at most, up to the one that replies"""
_MAX_SCORE_GAP = 3.5
"""by which an excerpt's score is below that of the first at most (docs/adr/0050-one-ranker.md)"""
_STRONG_GAP = 2.2
"""the same behind a strong match"""
_DUPLICATE = 0.6
"""share of tokens by which two excerpts say the same"""


@dataclass
class Excerpt:
    """A part of a record that is shown as an answer."""

    unit: QuotableSpan
    """the sentence or turn that answers"""
    text: str
    """the same with what it needs around it"""
    score: float
    also: list[QuotableSpan] = field(default_factory=list)
    """the same in other records"""
    superseded: QuotableSpan | None = None
    """what a later record says otherwise; None where nothing does"""

    @property
    def hits(self) -> list[Hit]:
        """The passages that say it."""
        return [unit.hit for unit in (self.unit, *self.also)]


@dataclass
class Excerpts:
    """What the archive says to a question."""

    excerpts: list[Excerpt]
    confidence: Confidence = "unsure"
    """`sure` for a strong match, `none` where nothing comes close"""
    near: frozenset[str] = frozenset()
    """groups of the passages that come near the best one, whether they are shown or not"""

    @property
    def text(self) -> str:
        """All excerpts, each with its sender."""
        return "\n".join(f"{excerpt.unit.sender or ''}: {excerpt.text}" for excerpt in self.excerpts)


def choose(
    ranking: Ranking,
    candidates: Sequence[Candidate],
    question: SentenceScorer,
    limit: int,
    *,
    form: Form = "",
    across: bool,
    has_current_value: bool,
) -> Excerpts:
    """The excerpts of the best candidates, at most `limit`.

    `candidates` are all that could be quoted. The course of a matter is told in order of time, and so is what is asked
    `across` channels, by each channel. Else a later value comes first where the question `has_current_value`, and each
    type of value that is asked for is in some excerpt.
    """
    if not ranking.is_close:
        return Excerpts([], "none")
    in_order = across or form == "summary"
    gap = _STRONG_GAP if ranking.is_strong and not in_order else _MAX_SCORE_GAP
    ranked = ordered = _near(ranking.ranked, gap)
    if has_current_value and form != "summary":
        # what one channel says later does not stand in for what another says
        ordered = []
        for group in _by_channel(ranking.ranked) if across else [ranking.ranked]:
            ordered += _newest_first([option for option in group if option in ranked], group, candidates, question)
    if in_order:
        excerpts = _course(ordered, candidates, question, limit, across=across)
    else:
        excerpts = _distinct(_giving_values(ordered, question), candidates, question, min(limit, MAX_EXCERPTS))
    if has_current_value:
        excerpts = _mark_superseded(excerpts, ranking.ranked, question.value_types)
    near = frozenset(option.candidate.unit.hit.chunk.chunk_group_id for option in ranked)
    return Excerpts(excerpts, "sure" if ranking.is_strong else "unsure", near)


def _course(
    ranked: Ranked, candidates: Candidates, question: SentenceScorer, limit: int, *, across: bool
) -> list[Excerpt]:
    """The excerpts in order of time, one a record; where a question goes `across` channels, the best of each first."""
    by_channel = [group[0] for group in _by_channel(ranked)] if across else []
    room = max(MAX_EXCERPTS, min(len(by_channel), MAX_COURSE)) if across else MAX_COURSE
    rest = [other for other in ranked if other not in by_channel]
    characters = _CHANNEL_CHARACTERS if across else _MAX_CHARACTERS
    chosen = _distinct([*by_channel, *rest], candidates, question, min(limit, room), characters)
    if across:
        chosen = [_as_agreed(excerpt, chosen, ranked, candidates, question) for excerpt in chosen]
    return sorted(chosen, key=_time)


def _as_agreed(
    excerpt: Excerpt, chosen: Sequence[Excerpt], ranked: Ranked, candidates: Candidates, question: SentenceScorer
) -> Excerpt:
    """Of a recording, the excerpt where its passage last repeats most values of what other channels say.

    People go through a matter before they settle it, so the first words that fit a question rarely are the outcome.
    """
    if not record_type(excerpt.unit.hit.chunk.rag_source_type).spoken:
        return excerpt
    stated = set[str]().union(*(_values(other.text) for other in chosen if other is not excerpt))
    own = next(option for option in ranked if option.candidate.unit.hit is excerpt.unit.hit)
    last = _last_repeating(stated, own.candidate, candidates)
    agreed = excerpt_of(replace(own, candidate=last), candidates, question, _CHANNEL_CHARACTERS)
    return replace(agreed, also=excerpt.also)


def _last_repeating(values: set[str], own: Candidate, candidates: Candidates) -> Candidate:
    """The last candidate of the passage of `own` that has most of these values; `own` if none has any."""
    passage = [candidate for candidate in candidates if candidate.unit.hit is own.unit.hit]
    counts = [len(values & _values(candidate.text)) for candidate in passage]
    most = max(counts, default=0)
    return passage[len(counts) - 1 - counts[::-1].index(most)] if most else own


def _values(text: str) -> set[str]:
    """The normal forms of the values of a text, whether a currency is said or not."""
    return {value.normal for value in values_in(text)}


def _time(excerpt: Excerpt) -> tuple[bool, int]:
    """Orders excerpts by time, those last whose day is not known."""
    hit = excerpt.unit.hit
    return hit.is_undated or hit.date_quality == "year", excerpt.unit.ts or 0


def _giving_values(ranked: Sequence[RankedCandidate], question: SentenceScorer) -> list[RankedCandidate]:
    """The candidates, those first that give a value of a type that the question asks for and none before them gives."""
    if not question.asked or not ranked:
        return list(ranked)
    first, *others = _first_giving(ranked, question)
    chosen, missing = [first], question.asked - question.given(first.candidate.text)
    for other in others:
        if given := missing & question.given(other.candidate.text):
            chosen.append(other)
            missing -= given
    return [*chosen, *(other for other in others if not _is_among(other, chosen))]


def _first_giving(ranked: Sequence[RankedCandidate], question: SentenceScorer) -> list[RankedCandidate]:
    """The candidates, the second before the first where that gives no value and the second, of its matter, does."""
    first, second = ranked[0], ranked[min(1, len(ranked) - 1)]
    is_same = superseded.same_matter(second.candidate.unit.hit, first.candidate.unit.hit)
    if is_same and question.given(second.candidate.text) and not question.given(first.candidate.text):
        return [second, first, *ranked[2:]]
    return list(ranked)


def _near(ranked: Sequence[RankedCandidate], gap: float) -> list[RankedCandidate]:
    """The candidates whose score is at most `gap` below the first; none sent to many behind a first that was not."""
    if not ranked:
        return []
    first = ranked[0]
    near = [option for option in ranked if option.score >= first.score - gap]
    if first.candidate.unit.hit.is_bulk:
        return near
    return [option for option in near if not option.candidate.unit.hit.is_bulk]


def _newest_first(
    shown: Ranked, ranked: Ranked, candidates: Candidates, question: SentenceScorer
) -> list[RankedCandidate]:
    """Those `shown`, each behind the one of `ranked` that supersedes it, or of all candidates the one that replies."""
    chosen: list[RankedCandidate] = []
    for option in shown:
        later = superseded.superseding(option, ranked, question.value_types)
        later = later or superseded.replying(option, candidates, question)
        pair = (later, option)
        chosen += [each for each in pair if each is not None and not _is_among(each, chosen)]
    return chosen


def _is_among(option: RankedCandidate, others: Sequence[RankedCandidate]) -> bool:
    return any(option.candidate is other.candidate for other in others)


def _mark_superseded(
    excerpts: Sequence[Excerpt], ranked: Sequence[RankedCandidate], value_types: frozenset[ValueType]
) -> list[Excerpt]:
    """The excerpts, each that a shown one supersedes and contradicts with that one."""
    shown = {id(excerpt.unit.hit): excerpt.unit for excerpt in excerpts}
    marked = []
    for excerpt in excerpts:
        own = next((option for option in ranked if option.candidate.unit.hit is excerpt.unit.hit), None)
        later = superseded.superseding(own, ranked, value_types) if own else None
        if own and later and superseded.replaces(later, own, value_types):
            excerpt = replace(excerpt, superseded=shown.get(id(later.candidate.unit.hit)))
        marked.append(excerpt)
    return marked


def _by_channel(ranked: Sequence[RankedCandidate]) -> list[list[RankedCandidate]]:
    """The candidates of each channel in their order, the channel of the best first."""
    groups: dict[str, list[RankedCandidate]] = {}
    for option in ranked:
        kind = record_type(option.candidate.unit.hit.chunk.rag_source_type)
        groups.setdefault(kind.part_of or kind.name, []).append(option)
    return list(groups.values())


def _distinct(
    ranked: Ranked, candidates: Candidates, question: SentenceScorer, limit: int, characters: int = _MAX_CHARACTERS
) -> list[Excerpt]:
    """One excerpt a record; what says the same as an earlier one becomes a further source of it."""
    excerpts: list[Excerpt] = []
    for option in ranked:
        if any(_same_record(option.candidate.unit, other.unit) for other in excerpts):
            continue
        excerpt = excerpt_of(option, candidates, question, characters)
        same = next((other for other in excerpts if says_same(excerpt.unit, other.unit)), None)
        if same:
            same.also.append(excerpt.unit)
        elif len(excerpts) < limit:
            excerpts.append(excerpt)
    return excerpts


def _same_record(span: QuotableSpan, other: QuotableSpan) -> bool:
    """Whether two spans stand in one record, or in windows of one chat that overlap."""
    if span.hit.chunk.asset_id == other.hit.chunk.asset_id:
        return True
    return bool(set(span.hit.chunk.members).intersection(other.hit.chunk.members))


def says_same(span: QuotableSpan, other: QuotableSpan) -> bool:
    """Whether two spans say the same: most of their words, and every figure."""
    first, second = (plain_tokens(text) for text in (span.text, other.text))
    if any(any(map(str.isdigit, token)) for token in first ^ second):
        return False
    return len(first & second) >= _DUPLICATE * len(first | second)


def plain_tokens(text: str) -> set[str]:
    """The tokens of a text without those that join an identifier, or stand for a price."""
    return {token for token in tokens(text) if not token.startswith("+")}


def excerpt_of(
    ranked: RankedCandidate, candidates: Candidates, question: SentenceScorer, characters: int = _MAX_CHARACTERS
) -> Excerpt:
    """A candidate with as much of its passage as is read at a glance: what follows it, then what precedes it.

    Of a chat it stays within the same hours, names each sender, and ends with the reply to a question.
    """
    candidate = ranked.candidate
    chat = bool(candidate.unit.hit.messages)
    passage = [other.unit for other in candidates if other.unit.hit is candidate.unit.hit]
    core = spans_of(candidate, passage)
    if not chat and is_row(core[0].text):
        return Excerpt(core[0], core[0].text, ranked.share)  # its neighbours are about something else
    ids = {id(span) for span in core}
    units = _burst(passage, ids) if chat else _without_cut_end(_without_head(passage, candidate.unit.hit), ids)
    positions = [position for position, unit in enumerate(units) if id(unit) in ids] or [0]
    asks = expects_reply if chat else is_question
    first, last = _extent(units, positions[0], positions[-1], asks, characters)
    shown = list(units[first : last + 1])
    if chat and shown[-1].reply and all(shown[-1].reply.asset_id != unit.asset_id for unit in shown):
        shown.append(shown[-1].reply)
    text = "\n".join(f"{unit.sender or ''}: {unit.text}" if chat else unit.text for unit in shown)
    return Excerpt(answering_span(core, question), text, ranked.share)


def spans_of(candidate: Candidate, passage: Sequence[QuotableSpan]) -> list[QuotableSpan]:
    """The spans of a passage that a candidate consists of."""
    if candidate.exchange:
        turns = {turn.asset_id for turn in (candidate.unit, *candidate.exchange)}
        return [unit for unit in passage if unit.asset_id in turns]
    start = next((position for position, unit in enumerate(passage) if unit is candidate.unit), 0)
    following = itertools.takewhile(lambda unit: unit.text in candidate.text, passage[start + 1 :])
    return [candidate.unit, *following]


def answering_span(core: Sequence[QuotableSpan], question: SentenceScorer) -> QuotableSpan:
    """The span that answers best; of a chat none that asks where another does not."""
    return max(telling_spans(core), key=lambda span: question.score(span.text))


def telling_spans(core: Sequence[QuotableSpan]) -> Sequence[QuotableSpan]:
    """The spans but for headings and the turns of a chat that ask; all where there is no other."""
    telling = [span for span in core if not (span.hit.messages and is_question(span.text, chat=True))]
    return [span for span in telling if not span.text.startswith(("# ", "## ", "### "))] or telling or core


def _burst(units: Sequence[QuotableSpan], ids: set[int]) -> list[QuotableSpan]:
    """The turns of a chat that follow each other without a long pause, around some of them."""
    bursts: list[list[QuotableSpan]] = []
    for unit in units:
        if bursts and (unit.ts or 0) - (bursts[-1][-1].ts or 0) <= _PAUSE:
            bursts[-1].append(unit)
        else:
            bursts.append([unit])
    return [unit for burst in bursts if any(id(turn) in ids for turn in burst) for unit in burst]


def _without_head(units: Sequence[QuotableSpan], hit: Hit) -> Sequence[QuotableSpan]:
    """The spans of a passage without its front matter."""
    head = head_lines(hit.chunk.text)
    return [unit for unit in units if unit.text not in head] or units


def _without_cut_end(units: Spans, ids: set[int]) -> Spans:
    """The spans of a passage without a last sentence that goes on in the next passage, unless it is one of `ids`."""
    last, chunk = units[-1], units[-1].hit.chunk
    goes_on = chunk.chunk_index + 1 < chunk.chunk_count and not ends_sentence(last.text)
    return units[:-1] if goes_on and len(units) > 1 and id(last) not in ids else units


def _extent(units: Spans, start: int, end: int, asks: Callable[[str], bool], characters: int) -> tuple[int, int]:
    """First and last span of the excerpt around those from `start` to `end`; it does not end with a question."""
    first, last = start, end
    size = sum(len(unit.text) for unit in units[start : end + 1])
    while first > 0 or last < len(units) - 1:
        forward = first == 0 or (last + 1 < len(units) and (last - first) % 3 < 2)
        size += len(units[last + 1 if forward else first - 1].text)
        if size > characters:
            break
        first, last = (first, last + 1) if forward else (first - 1, last)
    return first, _end_with_reply(units, last, asks)


def _end_with_reply(units: Sequence[QuotableSpan], last: int, asks: Callable[[str], bool]) -> int:
    """The last span of an excerpt that ends with `last`, or where that asks, with what follows."""
    limit = min(len(units), last + _REPLY_SPANS)
    while last + 1 < limit and asks(units[last].text):
        last += 1
    return last
