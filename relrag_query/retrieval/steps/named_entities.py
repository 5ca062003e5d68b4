"""Step 1, named entities: in a collection of facts, passages about what the best ones name.

"Where was the mother of Lothair II born?" finds the passage about Lothair, which names Ermengarde; the passage about
her holds no word of the question. So the names in the best passages are looked up too: one hop over the graph of
entities and passages, whose edges are read from the sparse index and the texts, since one hop needs no more. Names of
the question itself are left out, for they were searched for. What both lists hold rises (reciprocal rank fusion,
Cormack, Clarke and Buettcher 2009, https://doi.org/10.1145/1571941.1572114); the first passages stay where they are.
It gains nothing in chats: only records under a title, of a kind that says that its records are facts, have it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from ahocorasick_rs import AhoCorasick, Implementation

from relrag_pipelines.records import Chunk
from relrag_pipelines.sources import KINDS
from relrag_pipelines.stores.vectors.protocol import ChunkFilter
from relrag_pipelines.text.analyzer import is_whole, query_tokens
from relrag_pipelines.text.marked_spans import find_marked_spans
from relrag_query.retrieval import catalog_reader
from relrag_query.retrieval.context import QueryContext
from relrag_query.retrieval.fusion import similarities
from relrag_query.retrieval.hit import Hit
from relrag_query.retrieval.term_coverage import Frequencies, idf

_MAX_SEEDS = 3
"""passages whose names are looked up; with four, evidence of several passages was found less often"""
_FIXED_HITS = 2
"""passages whose rank is fixed"""
_TITLE_FACTOR = 8.0
"""factor of a name that is the title of a passage, applied again in the passage with that title"""
_RANK_CONSTANT = 2
"""rank that is added to each in the fusion"""
_MAX_CANDIDATES = 100
"""largest number of passages in which the names are searched"""
_PARENTHESIS = re.compile(r"\s*\([^)]*\)\s*$")
"""behind a title, to tell it from others: (1987 film)"""
_WORD = re.compile(r"\w")
_WHY = "about what the best passages name"


def expand_named_entities(hits: list[Hit], context: QueryContext) -> list[Hit]:
    """Mixes passages about names in the best three hits into the hits; other collections than facts stay unchanged.

    Searches within the question's time and the kinds of these three hits.
    """
    seeds = hits[:_MAX_SEEDS]
    if not (context.settings.entity_expansion_enabled and seeds and all(_is_fact(hit.chunk) for hit in seeds)):
        return hits
    names = _names(seeds, context)
    if not names:
        return hits
    hits_by_id = {hit.chunk.chunk_id: hit for hit in hits}
    where = replace(context.limits_in_time, kinds=tuple(sorted({hit.chunk.kind for hit in seeds})))
    chunks = {key: hit.chunk for key, hit in hits_by_id.items()} | _candidates(names, hits_by_id, where, context)
    ids_by_names = _by_names({key: chunk for key, chunk in chunks.items() if _is_fact(chunk)}, names)
    ordered = _fuse(list(hits_by_id), ids_by_names)[: max(len(hits), context.limit)]
    added = [key for key in ordered if key not in hits_by_id]
    near = _similarities(added, where, context)
    hits_by_id |= {key: Hit(chunks[key], 0.0, 0.0, similarity=near.get(key), why=_WHY) for key in added}
    scores = [hit.score for hit in hits]
    scores += [scores[-1]] * (len(ordered) - len(hits))
    context.note("entities", f"{len(names)} names looked up, {len(added)} passages added")
    by_name = frozenset(ids_by_names)
    return [
        replace(hits_by_id[key], score=score, by_name=key in by_name)
        for key, score in zip(ordered, scores, strict=True)
    ]


def _candidates(
    names: Collection[str], hit_ids: Collection[str], where: ChunkFilter, context: QueryContext
) -> dict[str, Chunk]:
    """Passages that words of the names lead to, by id, those of the hits left out."""
    points = context.vectors.search("\n".join(names), _MAX_CANDIDATES, where)
    new_ids = [point.chunk_id for point in points if point.chunk_id not in hit_ids]
    return catalog_reader.chunks(context.connection, new_ids)


def _is_fact(chunk: Chunk) -> bool:
    kind = KINDS.get(chunk.kind)
    return (
        kind is not None and kind.facts and chunk.rag_source_type == kind.record_types[0].name and bool(chunk.subject)
    )


def _names(seeds: Sequence[Hit], context: QueryContext) -> dict[str, float]:
    """Names in the passages that the question lacks -> inverse document frequency."""
    texts: list[str] = []
    for chunk in (hit.chunk for hit in seeds):
        spans = find_marked_spans(chunk.text)
        texts += [_title(chunk), *(span.text for span in (*spans.quotations, *spans.names))]
    names = list(dict.fromkeys(filter(None, map(_comparable, texts))))
    question_names = _names_in(_comparable(context.search_text), _automaton(names), names)
    return {name: _rarity(name, context.frequencies) for name in names if name not in question_names}


def _by_names(chunks: Mapping[str, Chunk], names: Mapping[str, float]) -> list[str]:
    """The passages that contain a name, by falling total weight of their names."""
    titles = {key: _title(chunk) for key, chunk in chunks.items()}
    all_titles, listed = set(titles.values()), list(names)
    automaton = _automaton(listed)
    weights: dict[str, float] = {}
    for key, chunk in chunks.items():
        names_in_text = _names_in(f"{titles[key]}\n{_comparable(chunk.text)}", automaton, listed)
        weights[key] = sum(
            names[name] ** 2
            * (_TITLE_FACTOR if name in all_titles else 1.0)
            * (_TITLE_FACTOR if name == titles[key] else 1.0)
            for name in sorted(names_in_text)
        )
    return sorted((key for key, weight in weights.items() if weight), key=lambda key: (-weights[key], key))


def _automaton(names: Sequence[str]) -> AhoCorasick:
    return AhoCorasick(names, implementation=Implementation.ContiguousNFA)


def _names_in(text: str, automaton: AhoCorasick, names: Sequence[str]) -> set[str]:
    """The names that a text contains as whole words."""
    return {
        names[number]
        for number, start, end in automaton.find_matches_as_indexes(text, overlapping=True)
        if not _WORD.match(text[start - 1 : start]) and not _WORD.match(text[end : end + 1])
    }


def _fuse(searched: Sequence[str], named: Sequence[str]) -> list[str]:
    """Merges both lists by reciprocal rank; the first hits of the search keep their rank."""
    scores: defaultdict[str, float] = defaultdict(float)
    for ranked in (searched, named):
        for rank, key in enumerate(ranked, 1):
            scores[key] += 1 / (_RANK_CONSTANT + rank)
    first = searched[:_FIXED_HITS]
    return [*first, *(key for key in sorted(scores, key=lambda key: -scores[key]) if key not in first)]


def _similarities(chunk_ids: Sequence[str], where: ChunkFilter, context: QueryContext) -> dict[str, float]:
    if context.meaning is None or not chunk_ids:
        return {}
    where = replace(where, chunk_ids=tuple(chunk_ids))
    points = context.vectors.nearest(context.meaning, len(chunk_ids), where)
    return {point.chunk_id: point.score for point in similarities(context.vectors, context.meaning, points)}


def _rarity(name: str, frequencies: Frequencies) -> float:
    """Inverse document frequency of the rarest word of a name."""
    words = [word for word in query_tokens(name).split() if is_whole(word)]
    return idf(min((frequencies.get(word, 1) for word in words), default=frequencies.get("", 1)), frequencies)


def _title(chunk: Chunk) -> str:
    return _comparable(_PARENTHESIS.sub("", chunk.subject or ""))


def _comparable(text: str) -> str:
    """The text in small letters, with one blank between words."""
    return " ".join(text.lower().split())
