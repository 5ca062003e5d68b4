"""The steps of a query, each a function from hits to hits.

What they share is the Context: the question in its forms, what it asks for, and the generation that is read. Every step
notes in the context's trace what it did.
"""

from __future__ import annotations

import functools
import itertools
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from zoneinfo import ZoneInfo

import duckdb

from relrag_pipelines.records import Chunk
from relrag_pipelines.settings import Settings
from relrag_pipelines.sources import KINDS, RecordType, record_type
from relrag_pipelines.stores.dense_vectors import Vectors
from relrag_pipelines.stores.vectors import ChunkFilter, VectorStore
from relrag_pipelines.text.language import is_english
from relrag_query.retrieval import catalog_reader
from relrag_query.retrieval.fusion import FusedHit, hybrid_search
from relrag_query.retrieval.hit import Hit
from relrag_query.retrieval.term_coverage import (
    Frequencies,
    Term,
    bm25_like_score,
    mentions_time,
    passage_tokens,
    term_coverage,
    tokens,
)
from relrag_query.understanding.intent import Expansion, QueryIntent, expansion_for
from relrag_query.understanding.time_expressions import TimeRange

MIN_CANDIDATES = 8
"""so many hits are always weighed against each other, so that asking for fewer gives the first of these"""
_SPARE = 4
"""so many times the hits wanted are looked up, since windows of one chat overlap and are shown once"""
_REORDERED = 2
"""so many times the hits wanted are put in order by their words in any form; more change nothing"""
_OF_ONE_RECORD = 4
"""passages of one record that stand before those of others: a long document could fill a list by itself"""
_NEAR_BEST = 0.7
"""messages that cover less than this share of what the best of their window covers are not shown"""
_TO_MANY = frozenset({"list_id", "unsubscribe", "precedence", "campaign"})
"""why a mail counts as bulk: not lists that people post to, nor bills that a mass mailer sends"""
_BULK = 0.75
"""what a newsletter counts beside what was written to somebody: less than what is near the best counts"""


@dataclass
class QueryContext:
    """One query: what was asked, and of which generation."""

    question: str
    search_text: str
    """the question without its relative time phrase, with pseudonyms beside the personal data that they stand for"""
    terms: list[Term]
    intents: list[QueryIntent]
    when: TimeRange | None
    where: ChunkFilter
    said_in: frozenset[str]
    """types of records in which the question says that it was said: a mail, a call"""
    limit: int
    """hits that are weighed: at least FEWEST, whatever is shown of them"""
    settings: Settings
    connection: duckdb.DuckDBPyConnection
    vectors: VectorStore
    frequencies: Frequencies = field(default_factory=dict)
    meaning: Vectors | None = None
    """the question's dense vector; None: search by words only"""
    asked: str = ""
    """the redacted text that this is the vector of"""
    similarities: Callable[[Sequence[str]], Vectors] | None = None
    """how near texts are to the question, a row each (`QuestionVectors.similarities`); None where it is not known"""
    why_words_only: str = ""
    latest: bool = False
    """asks for what holds now"""
    excluded_labels: frozenset[str] = frozenset()
    """labels of Gmail, in small letters; what stands under one of them is not found"""
    trace: list[str] = field(default_factory=list)

    @functools.cached_property
    def expansion(self) -> Expansion:
        """How far the intents go from the hits."""
        return expansion_for(self.intents)

    @functools.cached_property
    def within(self) -> ChunkFilter:
        """The limits, with those of the time that the question speaks of."""
        return _within(self.where, self.when) if self.when else self.where

    def allows(self, chunk: Chunk) -> bool:
        """Whether a passage lies within the limits, of sources, time and people."""
        where = self.where
        return where.allows(chunk.source, chunk.kind, chunk.ts) and (
            not where.person_ids or catalog_reader.has_to_do_with(self.connection, chunk.chunk_id, where.person_ids)
        )

    def note(self, step: str, did: str) -> None:
        """Adds a line to the trace."""
        self.trace.append(f"{step}: {did}")


Step = Callable[[list[Hit], QueryContext], list[Hit]]


def run(steps: Sequence[Step], context: QueryContext) -> list[Hit]:
    """The hits after all steps, from none."""
    hits: list[Hit] = []
    for step in steps:
        started, noted = time.perf_counter(), len(context.trace)
        hits = step(hits, context)
        if len(context.trace) > noted:
            context.trace[-1] += f" ({(time.perf_counter() - started) * 1000:.1f} ms)"
    return hits


def hybrid_search_step(hits: list[Hit], context: QueryContext) -> list[Hit]:
    """Passages by the words and the meaning of the question; those of the time that it speaks of stand first.

    What the catalog does not know is dropped, and so are windows of a chat that mostly repeat a better one.
    """
    wanted = context.limit * _SPARE
    anywhere = hybrid_search(context.vectors, context.search_text, context.meaning, wanted, context.where)
    narrower = [
        (hybrid_search(context.vectors, context.search_text, context.meaning, wanted, where), types)
        for where, types in _scoped_searches(context)
    ]
    found = list({one.chunk_id: one for some, _ in [*narrower, (anywhere, None)] for one in some}.values())
    known = _deduplicate(_known(some, types, context) for some, types in [*narrower, (anywhere, frozenset())])
    apart = _spread(_drop_overlapping_windows(_rerank_inflected(known, context)), context.limit)
    kept = list(itertools.islice(apart, context.limit))
    context.note("search", f"{len(found)} passages found, {len(kept)} kept{_ranks(kept, found, context)}")
    return [*hits, *kept]


def _scoped_searches(context: QueryContext) -> Iterator[tuple[ChunkFilter, frozenset[str]]]:
    """Where the question says that its answer lies, the narrowest first, and the types of records that count there."""
    kinds = {
        kind.name
        for kind in KINDS.values()
        if kind.any_type or any(one.name in context.said_in for one in kind.record_types)
    }
    allowed = tuple(sorted(kinds.intersection(context.where.kinds or kinds)))
    if context.said_in and allowed:
        yield replace(context.within, kinds=allowed), context.said_in
    if context.when:
        yield context.within, frozenset()


def _deduplicate(lists: Iterable[Iterator[Hit]]) -> Iterator[Hit]:
    seen: set[str] = set()
    for hit in itertools.chain.from_iterable(lists):
        if hit.chunk.chunk_id not in seen:
            seen.add(hit.chunk.chunk_id)
            yield hit


def _ranks(kept: list[Hit], found: list[FusedHit], context: QueryContext) -> str:
    """What each hit's ranks were, for the trace."""
    if context.meaning is None:
        return f"; by words only: {context.why_words_only}" if context.why_words_only else ""
    ranks = {one.chunk_id: (one.by_words or "-", one.by_meaning or "-") for one in found}
    said = " ".join("{}/{}".format(*ranks[hit.chunk.chunk_id]) for hit in kept)
    return f"; ranks by words/meaning: {said}" if said else ""


def _known(found: list[FusedHit], types: frozenset[str], context: QueryContext) -> Iterator[Hit]:
    """The hits that the catalog knows, of these types if there are any, read only as far as they are wanted."""
    for start in range(0, len(found), context.limit):
        part = found[start : start + context.limit]
        known = catalog_reader.chunks(context.connection, [hit.chunk_id for hit in part])
        hits = [
            Hit(known[hit.chunk_id], hit.score, 0.0, similarity=hit.similarity) for hit in part if hit.chunk_id in known
        ]
        hidden = {id(hit) for hit in _labelled(hits, context)} if context.excluded_labels else ()
        yield from (hit for hit in hits if id(hit) not in hidden and (not types or hit.chunk.rag_source_type in types))


def _rerank_inflected(hits: Iterator[Hit], context: QueryContext) -> Iterator[Hit]:
    """The hits in the order of what they say of the question's words, where these have many forms.

    Sparse search adds up all that a text shares with a word, its forms, beginnings, and what is left without prefixes,
    so that the same form counts several times.
    """
    if context.meaning is not None or is_english(context.search_text):
        return hits

    def said(hit: Hit) -> tuple[bool, bool, float]:
        length, when = len(hit.chunk.text.split()), context.when
        inside = when is not None and when.holds(hit.chunk.ts, hit.chunk.last_ts)
        there = hit.chunk.rag_source_type in context.said_in
        return inside, there, bm25_like_score(context.terms, passage_tokens(hit.chunk), context.frequencies, length)

    nearest = list(itertools.islice(hits, _REORDERED * context.limit))
    scores = sorted((hit.score for hit in nearest), reverse=True)
    ordered = sorted(nearest, key=said, reverse=True)
    for hit, score in zip(ordered, scores, strict=True):
        hit.score = score
    return itertools.chain(ordered, hits)


def _drop_overlapping_windows(hits: Iterator[Hit]) -> Iterator[Hit]:
    """The hits without windows that mostly repeat a better one; that one takes over their other messages."""
    owners: dict[str, Hit] = {}
    for hit in hits:
        members = hit.chunk.members
        repeated = [owners[ref] for ref in members if ref in owners]
        if 2 * len(repeated) > len(members):
            repeated[0].members += [ref for ref in members if ref not in owners]
            owners |= dict.fromkeys(members, repeated[0]) | owners
        else:
            owners |= dict.fromkeys(members, hit) | owners
            hit.members = list(members)
            yield hit


def _spread(hits: Iterator[Hit], wanted: int) -> Iterator[Hit]:
    """The hits, of one record a few before what others say; the rest of it stands behind what is wanted of these."""
    counted: Counter[str] = Counter()
    spare: list[Hit] = []
    passed = 0
    for hit in hits:
        counted[hit.chunk.asset_id] += 1
        if counted[hit.chunk.asset_id] > _OF_ONE_RECORD and passed < wanted:
            spare.append(hit)
            continue
        passed += 1
        yield hit
    yield from spare


def demote_bulk(hits: list[Hit], context: QueryContext) -> list[Hit]:
    """Mail that was sent to many, and what is attached to it, ranks and counts below what fits as well."""
    bulk = bulk_hits(hits, context)
    if not bulk:
        return hits
    for hit in bulk:
        hit.weight = _BULK
        hit.score *= _BULK
    context.note("bulk", f"{len(bulk)} of {len(hits)} hits were sent to many and count less")
    return sorted(hits, key=lambda hit: -hit.score)


def bulk_hits(hits: Sequence[Hit], context: QueryContext) -> list[Hit]:
    """Those of the hits that are mail which was sent to many, or attached to it."""
    return [hit for hit, extra in _mail_extras(hits, context) if extra.get("bulk") in _TO_MANY]


def _labelled(hits: Sequence[Hit], context: QueryContext) -> list[Hit]:
    """Those of the hits that are mail under an excluded label, or attached to it.

    Gmail calls what is in its tab of promotions `Category Promotions`.
    """

    def excluded(extra: dict[str, Any]) -> bool:
        names = {str(label).casefold().removeprefix("category ") for label in extra.get("labels", ())}
        return not names.isdisjoint(context.excluded_labels)

    return [hit for hit, extra in _mail_extras(hits, context) if excluded(extra)]


def _mail_extras(hits: Sequence[Hit], context: QueryContext) -> list[tuple[Hit, dict[str, Any]]]:
    """The hits that are mail or attached to it, with what only mail has."""
    mails = [
        (hit, hit.chunk.parent_asset_id if record_type(hit.chunk.rag_source_type).part_of else hit.chunk.asset_id)
        for hit in hits
        if _is_mail(record_type(hit.chunk.rag_source_type))
    ]
    refs = list(dict.fromkeys(ref for _, ref in mails if ref))
    known = catalog_reader.extras(context.connection, refs) if refs else {}
    return [(hit, known.get(ref or "", {})) for hit, ref in mails]


def _is_mail(kind: RecordType) -> bool:
    return kind.mail or record_type(kind.part_of).mail


def boost_time(hits: list[Hit], context: QueryContext) -> list[Hit]:
    """Hits of the time that the question speaks of, or that speak of it too, stand first; the others behind them."""
    when = context.when
    if when is None:
        return hits
    zone = ZoneInfo(context.settings.timezone)
    for hit in hits:
        hit.in_time = when.holds(hit.chunk.ts, hit.chunk.last_ts) or mentions_time(hit.chunk, when, zone)
    inside = [hit for hit in hits if hit.in_time]
    context.note("time", f'"{when.phrase}": {len(inside)} of {len(hits)} hits lie within it')
    return [*inside, *(hit for hit in hits if not hit.in_time)]


def boost_channel(hits: list[Hit], context: QueryContext) -> list[Hit]:
    """Hits of the channel that the question names stand first among those of the time that it speaks of."""
    if not context.said_in:
        return hits
    there = sum(hit.chunk.rag_source_type in context.said_in for hit in hits)
    context.note("channel", f"{there} of {len(hits)} hits are of the channel that is named")
    return sorted(hits, key=lambda hit: (not hit.in_time, hit.chunk.rag_source_type not in context.said_in))


def score_coverage(hits: list[Hit], context: QueryContext) -> list[Hit]:
    """Gives each hit its display score: the share of the question that it covers, by what the hit counts.

    Searched by words alone, what holds none of them is dropped: sparse search also finds words that begin alike.
    """
    for hit in hits:
        hit.display_score = hit.weight * term_coverage(context.terms, passage_tokens(hit.chunk))
    return hits if context.meaning is not None else [hit for hit in hits if hit.display_score > 0]


def load_messages(hits: list[Hit], context: QueryContext) -> list[Hit]:
    """Gives each chat window its messages, and says which of them hold words of the question.

    A message is shown once: a later window whose matching messages all stand in earlier ones is dropped.
    """
    members = list(dict.fromkeys(ref for hit in hits for ref in hit.members))
    known = catalog_reader.messages(context.connection, members) if members else {}
    shown: set[str] = set()
    kept: list[Hit] = []
    for hit in hits:
        hit.messages = sorted((known[ref] for ref in hit.members if ref in known), key=lambda one: one.ts or 0)
        shares = [term_coverage(context.terms, tokens(f"{one.sender or ''}\n{one.text}")) for one in hit.messages]
        least = _NEAR_BEST * max(shares, default=0.0)
        matching = [place for place, share in enumerate(shares) if share and share >= least]
        hit.matching = [place for place in matching if hit.messages[place].asset_id not in shown]
        shown.update(hit.messages[place].asset_id for place in hit.matching)
        if hit.matching or not matching:
            kept.append(hit)
    return kept


def load_extra(hits: list[Hit], context: QueryContext) -> list[Hit]:
    """Gives commits and code what only they have: hash, class, method."""
    own = [hit for hit in hits if record_type(hit.chunk.rag_source_type).details]
    if own:
        known = catalog_reader.extras(context.connection, [hit.chunk.asset_id for hit in own])
        for hit in own:
            hit.extra = known.get(hit.chunk.asset_id, {})
    return hits


def add_siblings(hits: list[Hit], context: QueryContext) -> list[Hit]:
    """The other passages of each hit's record, straight behind it, in the order of the text."""
    return expand_document_chunks(hits, context, max_total=context.limit * _SPARE)


def expand_document_chunks(hits: list[Hit], context: QueryContext, max_total: int) -> list[Hit]:
    """Adds passages of the hits' groups (chunk_group_id); each shares the decision on the hit that brought it in.

    Of a long record only those nearest to the hit, so that all hits get some.
    """
    owners: dict[str, Hit] = {}
    for hit in hits:
        if hit.chunk.chunk_count > 1:
            owners.setdefault(hit.chunk.chunk_group_id, hit)
    present = {hit.chunk.chunk_id for hit in hits}
    room = max(0, max_total - len(hits)) // max(1, len(owners))
    added: dict[str, list[Hit]] = {}
    for chunk in _nearest(
        catalog_reader.of_groups(context.connection, list(owners)) if owners else [], owners, present
    ):
        owner = owners[chunk.chunk_group_id]
        siblings = added.setdefault(owner.chunk.chunk_id, [])
        if len(siblings) < room:
            sibling = Hit(chunk, owner.score, owner.display_score, owner.role, owner.promoted, owner.chunk.chunk_id)
            sibling.in_time, sibling.weight = owner.in_time, owner.weight
            siblings.append(sibling)
    context.note("siblings", f"{sum(map(len, added.values()))} passages of the same records added")
    ordered = {owner: sorted(found, key=lambda one: one.chunk.chunk_index) for owner, found in added.items()}
    return [one for hit in hits for one in (hit, *ordered.get(hit.chunk.chunk_id, ()))]


def _nearest(chunks: list[Chunk], owners: dict[str, Hit], present: set[str]) -> list[Chunk]:
    def distance(chunk: Chunk) -> tuple[int, str]:
        return abs(chunk.chunk_index - owners[chunk.chunk_group_id].chunk.chunk_index), chunk.chunk_id

    return sorted((chunk for chunk in chunks if chunk.chunk_id not in present), key=distance)


def _within(where: ChunkFilter, when: TimeRange) -> ChunkFilter:
    since = max((bound for bound in (where.ts_from, when.since) if bound is not None), default=None)
    until = min((bound for bound in (where.ts_to, when.until) if bound is not None), default=None)
    return replace(where, ts_from=since, ts_to=until)


SEARCH: tuple[Step, ...] = (
    hybrid_search_step,
    demote_bulk,
    boost_time,
    boost_channel,
    score_coverage,
    load_messages,
    load_extra,
)
"""what `relrag search` runs"""
