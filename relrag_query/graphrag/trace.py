"""Traces the citations of an answer to documents and pages.

A report leads to the records that its own text cites within its community, else to the text units of the community,
else to those of the community's entities. An entity or relationship leads to its text units, a claim and a source to
one. A text unit leads to its document, and to a page where something tells it (page_lookup.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from relrag_query.graphrag.citations import Citation, Dataset, Reference, parse
from relrag_query.graphrag.index import Index, ids
from relrag_query.graphrag.page_lookup import BatchLookup, Page, pages_of
from relrag_query.graphrag.support import Support

PER_REFERENCE = 5
"""text units that one cited record leads to at most: those that support the citing sentence best"""
_COMPARED = 10
"""text units of a cited record that are compared with the question by meaning, those that support the sentence best"""
Likeness = Callable[[Sequence[str]], list[float] | None]
"""how alike in meaning texts are to a question, up to 1; None where no model tells"""


class State(StrEnum):
    """The result of looking up a cited number."""

    RESOLVED = "resolved"
    OUTSIDE = "outside"
    """the record exists, but not in the community of the report that cites it"""
    UNRESOLVED = "unresolved"
    """the index has no such record"""


@dataclass(frozen=True)
class Resolution:
    """A cited number and what it led to."""

    reference: Reference
    state: State
    title: str = ""
    """of a report or entity; of a relationship `source -> target`"""
    text_units: tuple[int, ...] = ()
    """rows of text_units, in the index's order"""
    nested: tuple[Resolution, ...] = ()
    """of a report: what its text cites"""


@dataclass(frozen=True)
class Source:
    """One page of a document that an answer rests on."""

    document: str
    page_number: int | None
    last_page_number: int | None
    """where its passages end on a later page"""
    quote: str
    chunk_count: int
    """text units that lie on it"""
    score: float
    """likeness to the question, else summed support for the sentences that led here; orders the sources of an answer"""
    document_id: str = ""
    chunk_ids: tuple[str, ...] = ()
    """those of this project, else the ids of the text units"""
    cited_by: tuple[Reference, ...] = ()


@dataclass(frozen=True)
class Trace:
    """All that an answer cites."""

    citations: tuple[Citation, ...]
    references: tuple[Resolution, ...]
    """each cited number once, in the order of the answer"""
    sources: tuple[Source, ...]
    """the best supported first"""

    def count(self, dataset: Dataset) -> int:
        """Number of distinct records of a table that are cited, resolved or not."""
        return sum(resolution.reference.dataset == dataset for resolution in self.references)


def trace(
    answer: str,
    index: Index,
    question: str = "",
    chunks: BatchLookup | None = None,
    likeness: Likeness | None = None,
) -> Trace:
    """The documents and pages behind an answer's citations.

    The question, where it is known, helps to choose pages and quotes; so does its `likeness`.
    `chunks` gives names and pages of documents that are chunks of another store, at most 50 ids a call.
    """
    citations = parse(answer)
    resolutions: dict[Reference, Resolution] = {}
    for citation in citations:
        for reference in citation.references:
            resolutions.setdefault(reference, resolve(reference, index))
    cited = _Tally()
    for citation in citations:
        _weigh(citation, Support(citation.sentence, question), resolutions, index, cited, likeness)
    if cited.likeness:
        cited.scores = {unit: cited.likeness[unit] for unit in cited.scores}
    return Trace(tuple(citations), tuple(resolutions.values()), tuple(_sources(index, cited, chunks)))


def resolve(reference: Reference, index: Index) -> Resolution:
    """Looks up a number that an answer cites."""
    if reference.dataset == Dataset.REPORTS:
        return _report(reference, index)
    row = index.row(reference.dataset, reference.number)
    return Resolution(reference, State.UNRESOLVED) if row is None else _record(reference, row, index)


def resolve_nested(content: str, community: int, index: Index) -> tuple[Resolution, ...]:
    """The citations of a report's text; records of other communities are outside."""
    members = _members(community, index)
    references = dict.fromkeys(reference for citation in parse(content) for reference in citation.references)
    return tuple(_nested(reference, members, index) for reference in references)


@dataclass
class _Tally:
    """The results so far for each row of text_units."""

    likeness: dict[int, float] = field(default_factory=dict)
    """to the question, of those that were compared with it by meaning"""
    scores: dict[int, float] = field(default_factory=dict)
    best: dict[int, tuple[float, Support]] = field(default_factory=dict)
    references: dict[int, dict[Reference, None]] = field(default_factory=dict)


def _report_text(index: Index, report: int | None, column: str) -> str:
    """A text of a report; empty if there is no such report."""
    return "" if report is None else _text(index.cell("community_reports", column, report))


def _cited_units(nested: Sequence[Resolution], own_units: Sequence[int]) -> list[int]:
    """The text units behind the citations in a report: those of its community, if its units are known."""
    cited = _union(resolution.text_units for resolution in nested if resolution.state == State.RESOLVED)
    own_set = set(own_units)
    return [unit for unit in cited if not own_set or unit in own_set]


def _report(reference: Reference, index: Index) -> Resolution:
    report = index.row(Dataset.REPORTS, reference.number)
    community = index.row_of("communities", "community", reference.number)
    if report is None and community is None:
        return Resolution(reference, State.UNRESOLVED)
    title, content = (_report_text(index, report, column) for column in ("title", "full_content"))
    nested = resolve_nested(content, reference.number, index)
    own_units = _rows(index, "communities", "text_unit_ids", [] if community is None else [community])
    units = _cited_units(nested, own_units)
    if not units:
        units = own_units or _units_of_entities(community, index)
    return Resolution(reference, State.RESOLVED, title, tuple(units), nested)


def _record(reference: Reference, row: int, index: Index, state: State = State.RESOLVED) -> Resolution:
    match reference.dataset:
        case Dataset.SOURCES:
            return Resolution(reference, state, "", (row,))
        case Dataset.ENTITIES:
            title = _text(index.cell("entities", "title", row))
            return Resolution(reference, state, title, tuple(_rows(index, "entities", "text_unit_ids", [row])))
        case Dataset.RELATIONSHIPS:
            ends = (_text(index.cell("relationships", end, row)) for end in ("source", "target"))
            units = _rows(index, "relationships", "text_unit_ids", [row])
            return Resolution(reference, state, " -> ".join(ends), tuple(units))
        case _:
            return Resolution(reference, state, "", tuple(_rows(index, "covariates", "text_unit_id", [row])))


def _nested(reference: Reference, members: dict[Dataset, set[str]], index: Index) -> Resolution:
    row = index.row(reference.dataset, reference.number)
    if row is None:
        return Resolution(reference, State.UNRESOLVED)
    if reference.dataset == Dataset.REPORTS:  # of a community below; its own citations are not followed again
        return Resolution(reference, State.RESOLVED, _text(index.cell("community_reports", "title", row)))
    table = {Dataset.ENTITIES: "entities", Dataset.RELATIONSHIPS: "relationships", Dataset.SOURCES: "text_units"}
    of = members.get(reference.dataset)
    inside = not of or index.cell(table[reference.dataset], "id", row) in of
    return _record(reference, row, index, State.RESOLVED if inside else State.OUTSIDE)


def _members(community: int, index: Index) -> dict[Dataset, set[str]]:
    """The ids of a community's records; empty for what the index does not say."""
    row = index.row_of("communities", "community", community)
    if row is None:
        return {}
    columns = {
        Dataset.ENTITIES: "entity_ids",
        Dataset.RELATIONSHIPS: "relationship_ids",
        Dataset.SOURCES: "text_unit_ids",
    }
    return {dataset: set(ids(index.cell("communities", column, row))) for dataset, column in columns.items()}


def _units_of_entities(community: int | None, index: Index) -> list[int]:
    if community is None:
        return []
    entities = index.rows_of("entities", "id", ids(index.cell("communities", "entity_ids", community)))
    return _rows(index, "entities", "text_unit_ids", entities)


def _rows(index: Index, table: str, column: str, rows: Sequence[int]) -> list[int]:
    """The rows of text_units that records name, in the index's order."""
    unit_ids = [unit_id for row in rows for unit_id in ids(index.cell(table, column, row))]
    return sorted(set(index.rows_of("text_units", "id", unit_ids)))


def _union(unit_lists: Iterable[Sequence[int]]) -> list[int]:
    return sorted({unit for units in unit_lists for unit in units})


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _weigh(
    citation: Citation,
    support: Support,
    resolutions: dict[Reference, Resolution],
    index: Index,
    cited: _Tally,
    likeness: Likeness | None,
) -> None:
    """Adds the text units of a citation to the tally.

    For each record those that best support the sentence; of these, with `likeness`, those nearest to the question.
    """
    units = _union(resolutions[reference].text_units for reference in citation.references)
    texts = [_text(index.cell("text_units", "text", unit)) for unit in units]
    scores = dict(zip(units, support.scores(texts), strict=True))
    ranked = {
        reference: sorted(resolutions[reference].text_units, key=lambda unit: (-scores[unit], unit))
        for reference in citation.references
    }
    if likeness:
        _compare(_union(units[:_COMPARED] for units in ranked.values()), index, cited, likeness)
    selected: set[int] = set()
    for reference, units in ranked.items():
        best = _nearest(units, cited)[:PER_REFERENCE]
        selected.update(best)
        for unit in best:
            cited.references.setdefault(unit, {})[reference] = None
    for unit in selected:
        _add_score(unit, scores[unit], support, cited)


def _add_score(unit: int, score: float, support: Support, cited: _Tally) -> None:
    """Adds the support of one sentence for a text unit; the sentence that it supports best chooses its quote."""
    cited.scores[unit] = cited.scores.get(unit, 0.0) + score
    if unit not in cited.best or score > cited.best[unit][0]:
        cited.best[unit] = score, support


def _compare(units: Sequence[int], index: Index, cited: _Tally, likeness: Likeness) -> None:
    """Adds the likeness of text units that were not compared yet."""
    new = [unit for unit in units if unit not in cited.likeness]
    values = likeness([_text(index.cell("text_units", "text", unit)) for unit in new])
    cited.likeness |= dict(zip(new, values or [], strict=False))


def _nearest(units: Sequence[int], cited: _Tally) -> Sequence[int]:
    """The first of the text units by their likeness to the question, if they were compared; else as they are."""
    compared = [unit for unit in units[:_COMPARED] if unit in cited.likeness]
    return sorted(compared, key=lambda unit: -cited.likeness[unit]) or units


def _sources(index: Index, cited: _Tally, chunks: BatchLookup | None) -> list[Source]:
    """A row for each document and page."""
    units = sorted(cited.scores)
    rows: dict[tuple[str, str, int | None], list[tuple[int, Page]]] = {}
    for unit, page in zip(units, pages_of(units, index, chunks), strict=True):
        rows.setdefault((page.document_id, page.document, page.number), []).append((unit, page))
    sources = [_source(members, index, cited) for members in rows.values()]
    return sorted(sources, key=lambda source: (-source.score, source.document, source.page_number or 0))


def roll_up(sources: Sequence[Source]) -> list[tuple[Source, list[int]]]:
    """The best source of each document, with the number of all its chunks, and its cited pages."""
    documents: dict[tuple[str, str], list[Source]] = {}
    for source in sources:
        documents.setdefault((source.document_id, source.document), []).append(source)
    return [
        (
            replace(sources_[0], chunk_count=sum(source.chunk_count for source in sources_)),
            sorted({source.page_number for source in sources_ if source.page_number is not None}),
        )
        for sources_ in documents.values()
    ]


def _source(members: list[tuple[int, Page]], index: Index, cited: _Tally) -> Source:
    best, page = max(members, key=lambda member: (cited.scores[member[0]], -member[0]))
    text = _text(index.cell("text_units", "text", best))
    return Source(
        document=page.document,
        page_number=page.number,
        last_page_number=max((page_.last for _, page_ in members if page_.last is not None), default=None),
        quote=cited.best[best][1].quote(text),
        chunk_count=len(members),
        score=cited.scores[best],
        document_id=page.document_id,
        chunk_ids=tuple(page_.chunk_id for _, page_ in members),
        cited_by=tuple(dict.fromkeys(reference for unit, _ in members for reference in cited.references[unit])),
    )
