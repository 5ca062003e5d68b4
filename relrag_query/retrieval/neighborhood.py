"""The asset neighbourhood: what a hit is attached to, what is attached to it, the newest of its thread, and what refers
to it or is referred to.

It is followed only where the question asks for it. What it adds ranks behind every hit.
"""

from __future__ import annotations

from collections.abc import Iterable

from relrag_pipelines.links import neighbors
from relrag_pipelines.records import Chunk
from relrag_query.retrieval import catalog_reader
from relrag_query.retrieval.hit import ASSET_NEIGHBORHOOD, Hit
from relrag_query.retrieval.search import QueryContext, expand_document_chunks, load_extra, load_messages
from relrag_query.understanding.intent import QueryIntent

PARENT, ATTACHMENT, THREAD, REFERENCE = 0.40, 0.38, 0.35, 0.33
"""display scores of what is added"""

_THREAD_MEMBERS = 8
"""so many of a thread, the newest"""
_REFERENCES = 8
"""so many that are related, the surest"""
_RELATED = 200
"""of so many, where the question's limits allow only some"""
_SEEDS = 5
_NEAR_BEST = 0.75
"""so many of the best hits are followed; behind them the neighbourhood is that of noise"""
_SHOWN = {
    PARENT: {QueryIntent.ASSET_ATTACHMENT, QueryIntent.ASSET_THREAD},
    ATTACHMENT: {QueryIntent.ASSET_ATTACHMENT},
    THREAD: {QueryIntent.ASSET_THREAD},
}
"""intents that ask to see these neighbours; else they are there for the answer only"""


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
    )


def expand_asset_neighborhood(
    results: list[Hit],
    context: QueryContext,
    max_total: int = 30,
    expand_threads: bool = True,
    expand_attachments: bool = True,
    expand_chunks: bool = True,
    expand_references: bool = True,
) -> list[Hit]:
    """The results and their neighbourhood, each passage once, at most `max_total` in all.

    The record that contains a result always comes along. What is related by `references` says why and how surely.
    """
    if expand_chunks:
        results = expand_document_chunks(results, context, max_total)
    seeds = _seeds(results, context)
    lowest = min((hit.score for hit in results), default=0.0)
    added: list[Hit] = []
    present = {hit.chunk.asset_id for hit in results}
    for score, found in _neighbor_groups(seeds, context, expand_threads, expand_attachments):
        shown = bool(_SHOWN[score].intersection(context.intents))
        for chunk in found:
            if chunk.asset_id not in present and len(results) + len(added) < max_total:
                present.add(chunk.asset_id)
                added.append(Hit(chunk, lowest * score, score, ASSET_NEIGHBORHOOD, promoted=shown))
    for hit in _references(seeds, context) if expand_references else ():
        if hit.chunk.asset_id not in present and len(results) + len(added) < max_total:
            present.add(hit.chunk.asset_id)
            hit.score = lowest * REFERENCE
            added.append(hit)
    context.note("neighborhood", f"{len(added)} neighbours of {len(seeds)} hits added")
    return [*results, *added]


def _seeds(results: list[Hit], context: QueryContext) -> list[Hit]:
    """The hits that are followed: close to the best, of the time asked about, attachments where one is asked for."""
    seeds = [hit for hit in results if hit.role is None and hit.hit_of is None]
    if context.when and context.when.relative:
        seeds = [hit for hit in seeds if hit.in_time]
    if QueryIntent.ASSET_ATTACHMENT in context.intents:
        seeds = [hit for hit in seeds if hit.chunk.index_in_parent is not None] or seeds
    best = max((hit.display_score for hit in seeds), default=0.0)
    return [hit for hit in seeds if hit.display_score >= _NEAR_BEST * best][:_SEEDS]


def _neighbor_groups(
    seeds: list[Hit], context: QueryContext, threads: bool, attachments: bool
) -> Iterable[tuple[float, list[Chunk]]]:
    connection = context.connection
    parents = _distinct(hit.chunk.parent_asset_id for hit in seeds)
    yield PARENT, _first_chunks(catalog_reader.of_assets(connection, parents)) if parents else []
    if attachments:
        attached = neighbors.attachments(connection, _distinct([*(hit.chunk.asset_id for hit in seeds), *parents]))
        yield ATTACHMENT, _first_chunks(catalog_reader.of_assets(connection, attached)) if attached else []
    if threads:
        ids = _distinct(hit.chunk.thread_id for hit in seeds if not hit.chunk.members)
        members = [
            member.asset_ref
            for thread in ids
            for member in neighbors.thread_members(connection, thread, _THREAD_MEMBERS)
        ]
        newest = (
            sorted(_first_chunks(catalog_reader.of_assets(connection, members)), key=lambda one: -(one.ts or 0))
            if members
            else []
        )
        yield THREAD, newest


def _references(seeds: list[Hit], context: QueryContext) -> list[Hit]:
    """What refers to the seeds and what they refer to, the surest first; a chat message comes in its window."""
    said = {ref: None for hit in seeds for ref in _records(hit)}
    found = [
        (-one.confidence, one.asset_ref, f"{ref}: {one.provenance} ({one.confidence:g})")
        for ref in said
        for one in neighbors.neighbors(context.connection, ref, ["references"], limit=_RELATED)
        if one.asset_ref not in said
    ]
    why: dict[str, str] = {}
    for _, ref, told in sorted(found):
        why.setdefault(ref, told)
    refs = list(why)[:_RELATED]
    hits: dict[str, Hit] = {}
    while refs and len(hits) < _REFERENCES:
        some, refs = refs[:_REFERENCES], refs[_REFERENCES:]
        windows = {ref: _window(ref, context) for ref in some}
        firsts = {
            one.asset_id: one
            for one in _first_chunks(catalog_reader.of_assets(context.connection, list(windows.values())))
        }
        for ref, place in windows.items():
            if place in hits:
                hits[place].members.append(ref)
            elif place in firsts and context.allows(firsts[place]):
                shown = [ref] if place != ref else []
                hits[place] = Hit(firsts[place], 0.0, REFERENCE, ASSET_NEIGHBORHOOD, related=why[ref], members=shown)
                hits[place].promoted = QueryIntent.CROSS_CHANNEL in context.intents
    return load_extra(load_messages(list(hits.values())[:_REFERENCES], context), context)


def _records(hit: Hit) -> list[str]:
    """The records that a hit is of; of a chat window the messages that hold words of the question."""
    if not hit.chunk.members:
        return [hit.chunk.asset_id]
    return [hit.messages[place].asset_id for place in hit.matching] or hit.chunk.members


def _window(ref: str, context: QueryContext) -> str:
    """The chat window that holds a message; another record itself."""
    held = neighbors.neighbors(context.connection, ref, ["chunk_of"], "in", 1)
    return held[0].asset_ref if held and not held[0].asset_ref.startswith("chunk:") else ref


def _first_chunks(chunks: list[Chunk]) -> list[Chunk]:
    """The first passage of each record."""
    return [chunk for chunk in chunks if chunk.chunk_index == 0]


def _distinct(values: Iterable[str | None]) -> list[str]:
    return list(dict.fromkeys(value for value in values if value))
