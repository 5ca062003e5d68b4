"""Step 5, asset neighbourhood: a hit's parent, its attachments, its thread, and the records that it refers to or that
refer to it; for some questions also the neighbours of these.

The step runs only if an intent of the question asks for it. What it adds ranks below every hit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from relrag_pipelines.records import Chunk
from relrag_pipelines.sources import record_type
from relrag_pipelines.stores import neighbors
from relrag_query.retrieval import catalog_reader
from relrag_query.retrieval.context import QueryContext
from relrag_query.retrieval.fusion import hybrid_search
from relrag_query.retrieval.hit import ASSET_NEIGHBORHOOD, Hit
from relrag_query.retrieval.steps.contents import load_extra, load_messages
from relrag_query.retrieval.steps.document_chunks import expand_document_chunks
from relrag_query.understanding.intent import QueryIntent

PARENT, ATTACHMENT, THREAD, REFERENCE = 0.40, 0.38, 0.35, 0.33
"""display scores of what is added"""

_MAX_NEWEST_OF_THREAD = 8
"""newest records of a thread that are added"""
_MAX_FITTING_OF_THREAD = 4
"""further passages of a thread that are added, those that fit the question best"""
_MAX_REFERENCES = 8
"""related records that are added, by falling confidence"""
_MAX_CANDIDATES = 200
"""related records that are checked against the question's limits"""
_MAX_SEEDS = 5
_MIN_SHARE_OF_BEST = 0.75
"""only hits this close to the best, and this many, are followed: the neighbours of others are noise"""
_SHOWN_BY_INTENT = {
    PARENT: {QueryIntent.ASSET_ATTACHMENT, QueryIntent.ASSET_THREAD},
    ATTACHMENT: {QueryIntent.ASSET_ATTACHMENT},
    THREAD: {QueryIntent.ASSET_THREAD},
    REFERENCE: {QueryIntent.CROSS_CHANNEL},
}
"""intents that show these neighbours; otherwise they only serve as context for the answer"""


@dataclass(frozen=True)
class _Relations:
    """The relations that are followed; the relation to a hit's parent always is."""

    threads: bool
    attachments: bool
    references: bool


def expand_step(hits: list[Hit], context: QueryContext) -> list[Hit]:
    """The step of the query; leaves the hits unchanged if no intent asks for it or the setting is off."""
    expansion = context.expansion
    if not (expansion.threads or expansion.attachments or expansion.references):
        return hits
    if not context.settings.asset_neighborhood_expansion_enabled:
        context.note("neighborhood", "asked for, but asset_neighborhood_expansion_enabled is false")
        return hits
    return expand_asset_neighborhood(
        hits,
        context,
        max_total=max(30, len(hits) + 10),
        expand_threads=expansion.threads,
        expand_attachments=expansion.attachments,
        expand_chunks=False,
        expand_references=expansion.references,
        depth=expansion.depth,
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
    time = context.question.time
    seeds = [hit for hit in results if hit.role is None and hit.hit_of is None]
    if time and time.relative:
        seeds = [hit for hit in seeds if hit.in_time]
    if QueryIntent.ASSET_ATTACHMENT in context.question.intents:
        seeds = [hit for hit in seeds if _is_attached(hit.chunk)] or seeds
    return sorted(_near_best(seeds), key=lambda hit: hit.chunk.asset_id not in context.question.assets)[:_MAX_SEEDS]


def _is_attached(chunk: Chunk) -> bool:
    """Whether a passage is of what another record contains, and not itself a part of a long mail or meeting."""
    return chunk.index_in_parent is not None and not record_type(chunk.rag_source_type).passages_are_parts


def _near_best(hits: list[Hit]) -> list[Hit]:
    """The hits whose display score comes near that of the best."""
    best = max((hit.display_score for hit in hits), default=0.0)
    return [hit for hit in hits if hit.display_score >= _MIN_SHARE_OF_BEST * best]


def _neighbors(seeds: Sequence[Hit], context: QueryContext, relations: _Relations) -> Iterator[Hit]:
    """The neighbours of the seeds, grouped by relation."""
    connection = context.connection
    parents = _distinct([*_parents(seeds, context)])
    yield from _hits(_first_chunks(parents, context), PARENT, "contains a hit", context)
    if relations.attachments:
        whole = _distinct([*(hit.chunk.asset_id for hit in seeds), *parents])
        attached = neighbors.attachments(connection, whole, context.later_links)
        yield from _hits(_first_chunks(attached, context), ATTACHMENT, "attached to a hit or beside it", context)
    if relations.threads:
        threads = _distinct([*_threads(seeds, context)])
        yield from _hits(_newest(threads, context), THREAD, "among the newest of its thread", context)
        yield from _hits(_fitting(threads, context), THREAD, "fits best of its thread", context)
    if relations.references:
        yield from _references(seeds, context)


def _parents(seeds: Sequence[Hit], context: QueryContext) -> Iterator[str | None]:
    """What contains each seed: as its record says, unless the owner removed it, then as the owner said since."""
    for hit in seeds:
        if not _is_removed(hit.chunk, hit.chunk.parent_asset_id, context):
            yield hit.chunk.parent_asset_id
        yield from _linked(hit.chunk.asset_id, "attachment_of", context)


def _threads(seeds: Sequence[Hit], context: QueryContext) -> Iterator[str | None]:
    """The thread of each seed, likewise."""
    for hit in seeds:
        if hit.chunk.members:
            continue
        if not _is_removed(hit.chunk, f"thread:{hit.chunk.thread_id}", context):
            yield hit.chunk.thread_id
        for ref in _linked(hit.chunk.asset_id, "thread_member", context):
            yield ref.removeprefix("thread:")


def _is_removed(chunk: Chunk, whole: str | None, context: QueryContext) -> bool:
    """Whether the owner removed the edge from a record to what holds it since the generation was published."""
    removed = {(link.src_asset_ref, link.dst_asset_ref) for link in context.later_links if link.deleted}
    return (chunk.asset_id, whole) in removed


def _linked(ref: str, relation_type: str, context: QueryContext) -> Iterator[str]:
    """What the owner linked a record to since the generation was published."""
    for link in context.later_links:
        if (link.src_asset_ref, link.relation_type) == (ref, relation_type) and not link.deleted:
            yield link.dst_asset_ref


def _hits(chunks: Iterable[Chunk], score: float, why: str, context: QueryContext) -> Iterator[Hit]:
    shown = bool(_SHOWN_BY_INTENT[score].intersection(context.question.intents))
    return (Hit(chunk, score, score, ASSET_NEIGHBORHOOD, promoted=shown, why=why) for chunk in chunks)


def _newest(threads: Sequence[str], context: QueryContext) -> list[Chunk]:
    refs = [
        member.asset_ref
        for thread in threads
        for member in neighbors.thread_members(
            context.connection, thread, _MAX_NEWEST_OF_THREAD, later=context.later_links
        )
    ]
    return sorted(_first_chunks(refs, context), key=lambda chunk: -(chunk.ts or 0))


def _fitting(threads: Sequence[str], context: QueryContext) -> list[Chunk]:
    """Passages of the threads that fit the question best, by a search of their own."""
    if not threads:
        return []
    where = replace(context.limits, thread_ids=tuple(threads))
    results = hybrid_search(
        context.vectors, context.search_text, context.meaning, _MAX_FITTING_OF_THREAD, where, context.translated
    )
    chunks = catalog_reader.chunks(context.connection, [result.chunk_id for result in results])
    present = [chunks[result.chunk_id] for result in results if result.chunk_id in chunks]
    return [chunk for chunk in present if not _is_removed(chunk, f"thread:{chunk.thread_id}", context)]


def _references(seeds: Sequence[Hit], context: QueryContext) -> list[Hit]:
    """Records that the seeds refer to or that refer to them, by falling confidence; chat messages as their windows."""
    why = _reasons(seeds, context)
    refs = list(why)[:_MAX_CANDIDATES]
    hits: dict[str, Hit] = {}
    while refs and len(hits) < _MAX_REFERENCES:
        batch, refs = refs[:_MAX_REFERENCES], refs[_MAX_REFERENCES:]
        windows = {ref: _window(ref, context) for ref in batch}
        firsts = {chunk.asset_id: chunk for chunk in _first_chunks(list(windows.values()), context)}
        for ref, window in windows.items():
            if window in hits:
                hits[window] = replace(hits[window], members=(*hits[window].members, ref))
            elif window in firsts and context.allows(firsts[window]):
                (hit,) = _hits([firsts[window]], REFERENCE, "", context)
                hits[window] = replace(hit, related=why[ref], members=(ref,) if window != ref else ())
    return load_extra(load_messages(list(hits.values())[:_MAX_REFERENCES], context), context)


def _reasons(seeds: Sequence[Hit], context: QueryContext) -> dict[str, str]:
    """Refs of related records -> seed, reason and confidence as text; by falling confidence."""
    seed_refs = {ref: None for hit in seeds for ref in _records(hit)}
    reasons = [
        (-neighbor.confidence, neighbor.asset_ref, f"{ref}: {neighbor.provenance} ({neighbor.confidence:g})")
        for ref in seed_refs
        for neighbor in neighbors.neighbors(
            context.connection, ref, ["references"], limit=_MAX_CANDIDATES, later=context.later_links
        )
        if neighbor.asset_ref not in seed_refs
    ]
    why: dict[str, str] = {}
    for _, ref, reason in sorted(reasons):
        why.setdefault(ref, reason)
    return why


def _records(hit: Hit) -> Sequence[str]:
    """The records of a hit; of a chat window, the messages that contain words of the question, or all."""
    if not hit.chunk.members:
        return [hit.chunk.asset_id]
    return [hit.messages[position].asset_id for position in hit.matching] or hit.chunk.members


def _window(ref: str, context: QueryContext) -> str:
    """The chat window that contains a message; for other records, the ref itself."""
    windows = neighbors.neighbors(context.connection, ref, ["chunk_of"], "in", 1)
    return windows[0].asset_ref if windows and not windows[0].asset_ref.startswith("chunk:") else ref


def _first_chunks(refs: Sequence[str], context: QueryContext) -> list[Chunk]:
    """The first passage of each record."""
    chunks = catalog_reader.asset_chunks(context.connection, refs) if refs else []
    return [chunk for chunk in chunks if chunk.chunk_index == 0]


def _distinct(values: Iterable[str | None]) -> list[str]:
    return list(dict.fromkeys(value for value in values if value))
