"""Step 2, named entities: in a collection of facts, passages about what the best ones name.

"Where was the mother of Lothair II born?" finds the passage about Lothair, which names Ermengarde; the passage about
her holds no word of the question. So the names in the best passages are looked up too: one hop over the graph of
entities and passages, whose edges are read from the sparse index and the texts, since one hop needs no more. Names of
the question itself are left out, for they were searched for. What both lists hold rises (reciprocal rank fusion,
Cormack, Clarke and Buettcher 2009, https://doi.org/10.1145/1571941.1572114); the first passages stay where they are.
It lives on titles and capitals and gains nothing in chats, so only kinds whose records are facts have it.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from relrag_pipelines.graphrag.entity_candidates import EntityType, candidates
from relrag_pipelines.records import Chunk
from relrag_pipelines.sources import KINDS
from relrag_pipelines.text.analyzer import fold, query_tokens
from relrag_query.retrieval import catalog_reader
from relrag_query.retrieval.context import QueryContext
from relrag_query.retrieval.hit import Hit
from relrag_query.retrieval.term_coverage import Frequencies

_SEEDS = 3
"""passages whose names are looked up; with four, evidence of several passages was found less often"""
_FIRST = 2
"""passages that keep their place"""
_TITLE = 8.0
"""what a name counts that is the title of a passage, and again in the passage that bears it"""
_FUSED = 2
"""rank that is added to each in the fusion"""
_LOOKED_UP = 160
"""passages in which the names are looked for"""
_PARENTHESIS = re.compile(r"\s*\([^)]*\)\s*$")
"""behind a title, to tell it from others: (1987 film)"""
_WORD = re.compile(r"[^\W_]+")
_NAMING = (EntityType.NAME, EntityType.QUOTATION)


def expand_named_entities(hits: list[Hit], context: QueryContext) -> list[Hit]:
    """The hits with those about what the best three name; as they came where one of these is no collected fact."""
    seeds = hits[:_SEEDS]
    if not (context.settings.entity_expansion_enabled and seeds and all(map(_is_fact, seeds))):
        return hits
    names = _names(seeds, context)
    if not names:
        return hits
    found = context.vectors.search("\n".join(names), _LOOKED_UP, context.limits)
    known = {hit.chunk.chunk_id: hit for hit in hits}
    new = [one.chunk_id for one in found if one.chunk_id not in known]
    chunks = catalog_reader.chunks(context.connection, new) | {key: hit.chunk for key, hit in known.items()}
    named = _by_names(chunks, names)
    ordered = _fuse(list(known), named)[: max(len(hits), context.limit)]
    similarities = _similarities([key for key in ordered if key not in known], context)
    scores = [hit.score for hit in hits]
    scores += [scores[-1]] * (len(ordered) - len(hits))
    context.note("entities", f"{len(names)} names looked up, {sum(key not in known for key in ordered)} passages added")
    return [
        replace(known.get(key) or _named_hit(chunks[key], similarities), score=score)
        for key, score in zip(ordered, scores, strict=True)
    ]


def _is_fact(hit: Hit) -> bool:
    kind = KINDS.get(hit.chunk.kind)
    return kind is not None and kind.facts and hit.chunk.rag_source_type == kind.record_types[0].name


def _names(seeds: Sequence[Hit], context: QueryContext) -> dict[str, float]:
    """What the passages name and the question does not -> how rare it is."""
    asked = _comparable(context.search_text)
    said = [
        name
        for hit in seeds
        for name in (
            _title(hit.chunk),
            *(_comparable(one.text) for one in candidates(hit.chunk.text) if one.type in _NAMING),
        )
    ]
    return {
        name: _rarity(name, context.frequencies) for name in dict.fromkeys(said) if name.strip() and name not in asked
    }


def _by_names(chunks: Mapping[str, Chunk], names: Mapping[str, float]) -> list[str]:
    """The passages that hold a name, by the weight of all that they hold, the heaviest first."""
    titles = {key: _title(chunk) for key, chunk in chunks.items()}
    borne = set(titles.values())
    weights: dict[str, float] = {}
    for key, chunk in chunks.items():
        text = f"{titles[key]}{_comparable(chunk.text)}"
        weights[key] = sum(
            rarity**2 * (_TITLE if name in borne else 1.0) * (_TITLE if name == titles[key] else 1.0)
            for name, rarity in names.items()
            if name in text
        )
    return sorted((key for key, weight in weights.items() if weight), key=lambda key: (-weights[key], key))


def _fuse(found: Sequence[str], named: Sequence[str]) -> list[str]:
    """Both lists as one, behind the first of the one found."""
    scores: defaultdict[str, float] = defaultdict(float)
    for ranked in (found, named):
        for rank, key in enumerate(ranked, 1):
            scores[key] += 1 / (_FUSED + rank)
    first = found[:_FIRST]
    return [*first, *(key for key in sorted(scores, key=lambda key: -scores[key]) if key not in first)]


def _similarities(chunk_ids: Sequence[str], context: QueryContext) -> dict[str, float]:
    if context.meaning is None or not chunk_ids:
        return {}
    where = replace(context.limits, chunk_ids=tuple(chunk_ids))
    return {one.chunk_id: one.score for one in context.vectors.nearest(context.meaning, len(chunk_ids), where)}


def _named_hit(chunk: Chunk, similarities: Mapping[str, float]) -> Hit:
    why = "about what the best passages name"
    return Hit(chunk, 0.0, 0.0, similarity=similarities.get(chunk.chunk_id), why=why)


def _rarity(name: str, held: Frequencies) -> float:
    """Inverse document frequency of the rarest word of a name."""
    words = [word for word in query_tokens(name).split() if word[0] != "~"]
    documents = min((held.get(word, 1) for word in words), default=held.get("", 1))
    return math.log1p((held.get("", 1) - documents + 0.5) / (documents + 0.5))


def _title(chunk: Chunk) -> str:
    return _comparable(_PARENTHESIS.sub("", chunk.subject or ""))


def _comparable(text: str) -> str:
    """The words of a text, folded, between blanks."""
    return f" {' '.join(_WORD.findall(fold(text)))} "
