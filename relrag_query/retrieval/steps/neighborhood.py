"""Step 5, asset neighbourhood: what a hit is attached to, what is attached to it, its thread, and what refers to it or
is referred to; for some questions also what these lead to.

It is followed only where the question asks for it. What it adds ranks behind every hit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from relrag_pipelines.links import neighbors
from relrag_pipelines.records import Chunk
from relrag_query.retrieval import catalog_reader
from relrag_query.retrieval.context import QueryContext
from relrag_query.retrieval.fusion import hybrid_search
from relrag_query.retrieval.hit import ASSET_NEIGHBORHOOD, Hit
from relrag_query.retrieval.steps.contents import load_extra, load_messages
from relrag_query.retrieval.steps.document_chunks import expand_document_chunks
from relrag_query.understanding.intent import QueryIntent

PARENT, ATTACHMENT, THREAD, REFERENCE = 0.40, 0.38, 0.35, 0.33
"""display scores of what is added"""

_THREAD_MEMBERS = 8
"""so many of a thread, the newest"""
_THREAD_FOUND = 4
"""so many of a thread besides, those that fit the question best"""
_REFERENCES = 8
"""so many that are related, the surest"""
_MAX_CANDIDATES = 200
"""of so many, where the question's limits allow only some"""
_SEEDS = 5
_NEAR_BEST = 0.75
"""so many of the best hits are followed; behind them the neighbourhood is that of noise"""
_SHOWN = {
    PARENT: {QueryIntent.ASSET_ATTACHMENT, QueryIntent.ASSET_THREAD},
    ATTACHMENT: {QueryIntent.ASSET_ATTACHMENT},
    THREAD: {QueryIntent.ASSET_THREAD},
    REFERENCE: {QueryIntent.CROSS_CHANNEL},
}
"""intents that ask to see these neighbours; else they are there for the answer only"""


@dataclass(frozen=True)
class _Relations:
    """Which relations are followed; that to the record which contains a hit always is."""

    threads: bool
    attachments: bool
    references: bool


def expand_step(hits: list[Hit], context: QueryContext) -> list[Hit]:
    """The step of the query: nothing where no intent asks for it, or the setting is off."""
    asked = context.expansion
    if not (asked.threads or asked.attachments or asked.references):
        return hits
    if not context.settings.asset_neighborhood_expansion_enabled:
        context.note("neighborhood", "asked for, but asset_neighborhood_expansion_enabled is false")
        return hits
    return expand_asset_neighborhood(
        hits,
        context,
        max_total=max(30, len(hits) + 10),
        expand_threads=asked.threads,
        expand_attachments=asked.attachments,
        expand_chunks=False,
        expand_references=asked.references,
        depth=asked.depth,
    )


def expand_asset_neighborhood(
    results: list[Hit],
    context: QueryContext,
    max_total: int = 30,
    expand_threads: bool = True,
    expand_attachments: bool = True,
    expand_chunks: bool = True,
    expand_references: bool = True,
    depth: int = 1,
) -> list[Hit]:
    """The results and their neighbourhood, each passage once, at most `max_total` in all.

    The record that contains a result always comes along. What is related by `references` says why and how surely.
    With a depth of 2 what was added is followed too, and what that adds is shown only where an answer cites it.
    """
    if expand_chunks:
        results = expand_document_chunks(results, context, max_total)
    relations = _Relations(expand_threads, expand_attachments, expand_references)
    lowest = min((hit.score for hit in results), default=0.0)
    seeds = _seeds(results, context)
    added: list[Hit] = []
    counts: list[str] = []
    present = {hit.chunk.asset_id for hit in results}
    for hop in range(1, depth + 1):
        new: list[Hit] = []
        for hit in _neighbors(seeds, context, relations):
            if hit.chunk.asset_id not in present and len(results) + len(added) + len(new) < max_total:
                present.add(hit.chunk.asset_id)
                shown = hit.promoted and hop == 1
                new.append(replace(hit, score=lowest * hit.display_score / hop, promoted=shown))
        counts.append(f"{len(new)} neighbours of {len(seeds)} hits added")
        added += new
        seeds = new
    context.note("neighborhood", ", then ".join(counts))
    return [*results, *added]


def _seeds(results: list[Hit], context: QueryContext) -> list[Hit]:
    """The hits that are followed: named in the question, or close to the best, of the time asked about.

    Attachments where one is asked for.
    """
    seeds = [hit for hit in results if hit.role is None and hit.hit_of is None]
    if context.time and context.time.relative:
        seeds = [hit for hit in seeds if hit.in_time]
    if QueryIntent.ASSET_ATTACHMENT in context.intents:
        seeds = [hit for hit in seeds if hit.chunk.index_in_parent is not None] or seeds
    best = max((hit.display_score for hit in seeds), default=0.0)
    near = [hit for hit in seeds if hit.display_score >= _NEAR_BEST * best]
    return sorted(near, key=lambda hit: hit.chunk.asset_id not in context.assets)[:_SEEDS]


def _neighbors(seeds: Sequence[Hit], context: QueryContext, relations: _Relations) -> Iterator[Hit]:
    """What the seeds lead to, one group behind the other; ranked by display scores alone."""
    connection = context.connection
    parents = _distinct(hit.chunk.parent_asset_id for hit in seeds)
    yield from _hits(_first_chunks(parents, context), PARENT, "contains a hit", context)
    if relations.attachments:
        attached = neighbors.attachments(connection, _distinct([*(hit.chunk.asset_id for hit in seeds), *parents]))
        yield from _hits(_first_chunks(attached, context), ATTACHMENT, "attached to a hit or beside it", context)
    if relations.threads:
        threads = _distinct(hit.chunk.thread_id for hit in seeds if not hit.chunk.members)
        yield from _hits(_newest(threads, context), THREAD, "among the newest of its thread", context)
        yield from _hits(_fitting(threads, context), THREAD, "fits best of its thread", context)
    if relations.references:
        yield from _references(seeds, context)


def _hits(chunks: Iterable[Chunk], score: float, why: str, context: QueryContext) -> Iterator[Hit]:
    shown = bool(_SHOWN[score].intersection(context.intents))
    return (Hit(chunk, score, score, ASSET_NEIGHBORHOOD, promoted=shown, why=why) for chunk in chunks)


def _newest(threads: Sequence[str], context: QueryContext) -> list[Chunk]:
    refs = [
        member.asset_ref
        for thread in threads
        for member in neighbors.thread_members(context.connection, thread, _THREAD_MEMBERS)
    ]
    return sorted(_first_chunks(refs, context), key=lambda one: -(one.ts or 0))


def _fitting(threads: Sequence[str], context: QueryContext) -> list[Chunk]:
    """Passages of the threads that fit the question best, by a search of their own."""
    if not threads:
        return []
    where = replace(context.limits, thread_ids=tuple(threads))
    found = hybrid_search(
        context.vectors, context.search_text, context.meaning, _THREAD_FOUND, where, context.translated
    )
    known = catalog_reader.chunks(context.connection, [one.chunk_id for one in found])
    return [known[one.chunk_id] for one in found if one.chunk_id in known]


def _references(seeds: Sequence[Hit], context: QueryContext) -> list[Hit]:
    """What refers to the seeds and what they refer to, the surest first; a chat message comes in its window."""
    why = _reasons(seeds, context)
    refs = list(why)[:_MAX_CANDIDATES]
    hits: dict[str, Hit] = {}
    while refs and len(hits) < _REFERENCES:
        some, refs = refs[:_REFERENCES], refs[_REFERENCES:]
        windows = {ref: _window(ref, context) for ref in some}
        firsts = {one.asset_id: one for one in _first_chunks(list(windows.values()), context)}
        for ref, place in windows.items():
            if place in hits:
                hits[place] = replace(hits[place], members=(*hits[place].members, ref))
            elif place in firsts and context.allows(firsts[place]):
                (hit,) = _hits([firsts[place]], REFERENCE, "", context)
                hits[place] = replace(hit, related=why[ref], members=(ref,) if place != ref else ())
    return load_extra(load_messages(list(hits.values())[:_REFERENCES], context), context)


def _reasons(seeds: Sequence[Hit], context: QueryContext) -> dict[str, str]:
    """Refs of what is related to the seeds -> to which, why and how surely; the surest first."""
    said = {ref: None for hit in seeds for ref in _records(hit)}
    found = [
        (-one.confidence, one.asset_ref, f"{ref}: {one.provenance} ({one.confidence:g})")
        for ref in said
        for one in neighbors.neighbors(context.connection, ref, ["references"], limit=_MAX_CANDIDATES)
        if one.asset_ref not in said
    ]
    why: dict[str, str] = {}
    for _, ref, told in sorted(found):
        why.setdefault(ref, told)
    return why


def _records(hit: Hit) -> Sequence[str]:
    """The records that a hit is of; of a chat window the messages that hold words of the question."""
    if not hit.chunk.members:
        return [hit.chunk.asset_id]
    return [hit.messages[place].asset_id for place in hit.matching] or hit.chunk.members


def _window(ref: str, context: QueryContext) -> str:
    """The chat window that holds a message; another record itself."""
    held = neighbors.neighbors(context.connection, ref, ["chunk_of"], "in", 1)
    return held[0].asset_ref if held and not held[0].asset_ref.startswith("chunk:") else ref


def _first_chunks(refs: Sequence[str], context: QueryContext) -> list[Chunk]:
    """The first passage of each record."""
    found = catalog_reader.asset_chunks(context.connection, refs) if refs else []
    return [chunk for chunk in found if chunk.chunk_index == 0]


def _distinct(values: Iterable[str | None]) -> list[str]:
    return list(dict.fromkeys(value for value in values if value))
