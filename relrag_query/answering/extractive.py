"""The extractive answer: sentences of the archive that answer a question, each with its source.

Nothing is written here that no record says. A passage counts as an answer when it covers enough of the question; words
that stand side by side in the question should do so in the passage too, else they are probably about something else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from relrag_pipelines.sources import record_type
from relrag_query.answering.relevance import chunk_relevance, is_about, named_people
from relrag_query.answering.sentences import (
    QuotableSpan,
    asks_for_something,
    contains_value,
    quotable_spans,
    split,
)
from relrag_query.retrieval.hit import Hit
from relrag_query.retrieval.term_coverage import Term, metadata_tokens, term_coverage, terms_of, tokens
from relrag_query.understanding.intent import QueryIntent
from relrag_query.understanding.phrases import load_phrases

Confidence = Literal["sure", "unsure", "none"]

MOST_SENTENCES = 6
_OF_ONE_RECORD = 2
_SECOND = 0.6
"""a second sentence of a record covers at least this share of what the first covers"""
_NEAR_BEST = 0.8
"""a passage that covers less than this share of what the best covers is about something else"""
_OF_OTHERS = 0.8
"""what a passage counts where the question asks what somebody said, and that one neither wrote it nor is named in it"""
_KNOWN = 0.85
"""what a word in the subject or sender is worth beside one in the sentence"""
_SAME = 0.6
"""share of words by which two sentences are one"""
_FULL = 25
"""characters from which a sentence says something by itself"""
_DATED = re.compile(r"(?<!\d)(?:19|20)\d\d[-_.]?(?:0[1-9]|1[0-2])[-_.]?(?:[0-2]\d|3[01])(?!\d)")
"""a date in a file name"""
_STOPS = (".", "!", "?", "…", ":")
_SIGNED = 4
"""words of a signature or a heading"""
_WITHOUT = 0.9
"""what a sentence without a date or a number counts where the question asks for one"""
_ECHO = 0.5
"""share of a question's words that repeats those of another; then its reply stands by itself"""


@dataclass
class Sentence:
    """One sentence of the answer."""

    unit: QuotableSpan
    credit: float
    """share of the question that it covers together with what is known of its passage"""
    also: list[QuotableSpan] = field(default_factory=list)
    """the same said elsewhere"""
    asks: bool = False
    """asks for something, and nobody replies"""
    replies: bool = False
    """replies to what asks the same"""
    superseded: QuotableSpan | None = None
    """what first replaced it; None where it holds"""

    @property
    def hits(self) -> list[Hit]:
        """The passages that say it."""
        return [one.hit for one in (self.unit, *self.also)]

    @property
    def records(self) -> set[str]:
        """The records, or chat windows, that say it."""
        return {hit.chunk.asset_id for hit in self.hits}


@dataclass
class ExtractiveAnswer:
    """What the passages found say to the question."""

    sentences: list[Sentence]
    best: float
    """the largest share of the question that a passage covers"""
    least: float
    """passages that cover less than this are about something else"""
    confidence: Confidence = "sure"
    """whether the sentences answer; `unsure` where they are the closest that there is"""
    display_scores: Mapping[str, float] = field(default_factory=dict)
    """chunk_ids -> display scores of the hits as far as answering tells them"""

    @property
    def text(self) -> str:
        """What is quoted, each with who says it."""
        return "\n".join(f"{one.unit.sender or ''}: {one.unit.text}" for one in self.sentences)


def answer(
    hits: Sequence[Hit],
    terms: Sequence[Term],
    intents: Iterable[QueryIntent],
    least: float,
    channels: frozenset[str] = frozenset(),
    most: int = MOST_SENTENCES,
    figures: bool = False,
) -> ExtractiveAnswer:
    """The sentences that answer, best first, or in order of time where the question goes across channels.

    Sets the display score of each hit that was searched for, to the share of the question that it covers. `least` is
    the share below which nothing is an answer; then there are no sentences. `channels` are types of records: where some
    of these answer, the others are not quoted. What only asks for something is quoted only where nothing else answers.
    `most` sentences are quoted; with `figures` of a passage of which only the subject fits rather one with a number.
    """
    people = named_people(terms, hits) if QueryIntent.PERSON_HISTORY in intents else []
    judged = [(hit, chunk_relevance(hit, terms) * (1.0 if is_about(hit, people) else _OF_OTHERS)) for hit in hits]
    display_scores = {hit.chunk.chunk_id: hit.weight * credit for hit, credit in judged if hit.role is None}
    judged = _in_channel(judged, channels, least)
    best = max((hit.weight * credit for hit, credit in judged), default=0.0)
    bar = max(least, _NEAR_BEST * best)
    telling = [hit for hit, credit in judged if credit >= least and hit.weight * credit >= _NEAR_BEST * best]
    found = _sentences(telling, terms, figures)
    facts = QueryIntent.PERSON_FACTS in intents

    def rank(one: Sentence) -> tuple[bool, float]:
        """A card that covers all that any passage does tells the facts of a person best."""
        hit = one.unit.hit
        covers = display_scores.get(hit.chunk.chunk_id, hit.display_score)
        return not (facts and record_type(hit.chunk.rag_source_type).card and covers >= best), -one.credit

    candidates = sorted([one for one in found if not one.asks] or found, key=rank)
    across = QueryIntent.CROSS_CHANNEL in intents
    chosen = _choose(_diversify_by_channel(candidates) if across else candidates)[:most]
    if across:
        chosen.sort(key=lambda one: one.unit.ts or 0)
        return ExtractiveAnswer(chosen, best, bar, display_scores=display_scores)
    newest = _newest_of_series(chosen)
    quoted = {hit.chunk.chunk_id for one in newest for hit in one.hits}
    hidden = {hit.chunk.chunk_id: 0.0 for one in chosen for hit in one.hits if hit.chunk.chunk_id not in quoted}
    return ExtractiveAnswer(newest, best, bar, display_scores={**display_scores, **hidden})


def _in_channel(judged: list[tuple[Hit, float]], channels: frozenset[str], least: float) -> list[tuple[Hit, float]]:
    """Only the hits of the types that the question names, where one of them answers."""
    there = [(hit, credit) for hit, credit in judged if hit.chunk.rag_source_type in channels]
    return there if any(credit >= least for _, credit in there) else judged


def _newest_of_series(sentences: Sequence[Sentence]) -> list[Sentence]:
    """The sentences without those of an older file of a series, such as the minutes of each meeting.

    What they are of is not shown either. The time of a file tells nothing.
    """
    newest: dict[tuple[str, str], int] = {}
    for one in sentences:
        if (series := _series(one.unit.hit)) and not one.unit.hit.dated_by_file:
            newest[series] = max(one.unit.ts or 0, newest.get(series, 0))
    return [
        one
        for one in sentences
        if one.unit.hit.dated_by_file or (one.unit.ts or 0) >= newest.get(_series(one.unit.hit) or ("", ""), 0)
    ]


def _series(hit: Hit) -> tuple[str, str] | None:
    """What files that are named alike but for a date have in common."""
    name, dates = _DATED.subn("", hit.chunk.file_name or "")
    return (hit.chunk.rag_source_type, name) if dates else None


def _sentences(hits: Sequence[Hit], terms: Sequence[Term], figures: bool) -> list[Sentence]:
    """What can be quoted of each passage: what holds words of the question, else its first full sentence."""
    found = []
    for hit in hits:
        rated = [_score_sentence(unit, terms) for unit in quotable_spans(hit)]
        telling = [sentence for own, sentence in rated if own and not _is_signature(sentence.unit, terms)]
        found += telling or _first([sentence for _, sentence in rated], figures)
    if _asks_for_questions(terms):
        return found
    return [_attach_reply(sentence, terms) for sentence in found]


def _asks_for_questions(terms: Sequence[Term]) -> bool:
    """Whether a question asks what somebody asked; then a question is the answer."""
    said = load_phrases().text.asks_for_questions
    return any(re.fullmatch(said, term.word, re.IGNORECASE) for term in terms)


def _first(sentences: Sequence[Sentence], figures: bool) -> list[Sentence]:
    """The first full sentence, with `figures` the first that holds a date or a number; else that one counts less."""
    full = [one for one in sentences if len(one.unit.text) >= _FULL]
    if not figures:
        return full[:1]
    telling = [one for one in full if contains_value(one.unit.text)]
    return telling[:1] or [replace(one, credit=_WITHOUT * one.credit) for one in full[:1]]


def _is_signature(unit: QuotableSpan, terms: Sequence[Term]) -> bool:
    """Whether a line only repeats who wrote, or the subject: a few words, and those that were asked for are of that."""
    if unit.hit.messages or unit.text[-1:] in _STOPS or len(unit.text.split()) > _SIGNED:
        return False
    known = tokens("\n".join(part for part in (unit.hit.chunk.from_, unit.hit.chunk.subject) if part))
    said = tokens(unit.text)
    return all(term.match(known) for term in terms if term.match(said))


def _attach_reply(sentence: Sentence, terms: Sequence[Term]) -> Sentence:
    """The reply in place of what asks: by itself where it was asked the same, else behind what asks."""
    unit, reply = sentence.unit, sentence.unit.reply
    telling = [part for part in split(unit.text) if term_coverage(terms, tokens(part))] or [unit.text]
    chat = bool(unit.hit.messages)
    asking = all(asks_for_something(part, chat) for part in telling)
    if reply is None:
        beyond = unit.hit.reply if asking and _repeats_question("\n".join(telling), terms) else None
        told = quotable_spans(beyond) if beyond else []
        full = next((one for one in told if len(one.text) >= _FULL), told[0] if told else None)
        return replace(sentence, unit=full, replies=True) if full else replace(sentence, asks=asking)
    said = f"{reply.sender or ''}: {reply.text}".removeprefix(": ")
    if asking and _repeats_question("\n".join(telling), terms):
        return replace(sentence, unit=replace(reply, text=said), replies=True)
    asked = f"{unit.sender or ''}: {unit.text}".removeprefix(": ")
    return replace(sentence, unit=replace(unit, text=f"{asked}\n{said}"), replies=True)


def _repeats_question(text: str, terms: Sequence[Term]) -> bool:
    """Whether a text says mostly what the question says."""
    asked = frozenset(token for term in terms for token in term.tokens)
    return term_coverage(terms_of(text), asked) >= _ECHO


def _score_sentence(unit: QuotableSpan, terms: Sequence[Term]) -> tuple[float, Sentence]:
    """How much of the question the sentence itself covers, and the sentence with its credit."""
    said = tokens(unit.text)
    known = metadata_tokens(unit.hit.chunk) if not unit.hit.messages else tokens(unit.sender or "")
    total = sum(term.weight for term in terms) or 1.0
    gained = sum(term.weight * max(term.match(said), _KNOWN * term.match(known)) for term in terms) / total
    credit = unit.hit.weight * gained * (1.0 if len(unit.text) >= _FULL else _KNOWN)
    return term_coverage(terms, said), Sentence(unit, credit)


def _diversify_by_channel(candidates: list[Sentence]) -> list[Sentence]:
    """The best of each channel first, then the others."""
    first: dict[str, Sentence] = {}
    for candidate in candidates:
        kind = record_type(candidate.unit.hit.chunk.rag_source_type)
        first.setdefault(kind.part_of or kind.name, candidate)
    chosen = list(first.values())
    return [*chosen, *(candidate for candidate in candidates if not any(candidate is one for one in chosen))]


def _choose(candidates: list[Sentence]) -> list[Sentence]:
    """The first few: one of each record first, then a second; what says the same again is a further source."""
    chosen: list[Sentence] = []
    spare: list[Sentence] = []
    for candidate in candidates:
        if is_duplicate(candidate, chosen):
            continue
        if any(candidate.unit.hit.chunk.asset_id in one.records for one in chosen):
            spare.append(candidate)
        elif len(chosen) < MOST_SENTENCES:
            chosen.append(candidate)
    for candidate in spare:
        if is_duplicate(candidate, chosen):
            continue
        beside = [one for one in chosen if candidate.unit.hit.chunk.asset_id in one.records]
        repeats = any(candidate.unit.text in one.unit.quote or one.unit.text in candidate.unit.quote for one in beside)
        telling = candidate.replies or candidate.credit >= _SECOND * max(one.credit for one in beside)
        if len(chosen) < MOST_SENTENCES and len(beside) < _OF_ONE_RECORD and telling and not repeats:
            chosen.append(candidate)
    return sorted(chosen, key=candidates.index)


def is_duplicate(candidate: Sentence, chosen: Sequence[Sentence]) -> bool:
    """Whether one of the chosen says the same; then the candidate is a further source of it, unless it is no other."""
    same = next((one for one in chosen if _near_duplicate(one.unit, candidate.unit)), None)
    if same and not any(_same_record(candidate.unit, other) for other in (same.unit, *same.also)):
        same.also.append(candidate.unit)
    return same is not None


def _same_record(one: QuotableSpan, other: QuotableSpan) -> bool:
    """Whether two units stand in one record, or in windows of one chat that overlap."""
    return one.asset_id == other.asset_id or bool(set(one.hit.chunk.members).intersection(other.hit.chunk.members))


def _near_duplicate(one: QuotableSpan, other: QuotableSpan) -> bool:
    """Whether two units say the same: most of their words, and every figure."""
    first, second = ({token for token in tokens(unit.text) if token[0] != "+"} for unit in (one, other))
    if any(any(map(str.isdigit, token)) for token in first ^ second):
        return False
    return len(first & second) >= _SAME * len(first | second)
