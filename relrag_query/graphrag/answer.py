"""Answers a question from an index without a model: its own sentences, cited in Microsoft's form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType
from typing import Literal, NamedTuple, get_args
from zoneinfo import ZoneInfo

import pandas as pd

from relrag_pipelines.text import citation_marks
from relrag_pipelines.text.analyzer import fold
from relrag_pipelines.text.sentences import sentences, spans
from relrag_query.graphrag.citations import Dataset, Reference
from relrag_query.graphrag.corpus import Claim, Corpus
from relrag_query.graphrag.scope import Relatives, Scope, scope_of
from relrag_query.graphrag.support import Support
from relrag_query.graphrag.themes import Statement, Theme, themes
from relrag_query.understanding.time_expressions import time_range

Method = Literal["local", "global", "basic"]
METHODS: tuple[Method, ...] = get_args(Method)
NOTHING = "The index says nothing about that."
_STATEMENTS = 5
"""sentences of an answer at most"""
_MEANT = 2
"""text units that are quoted though they hold no word of the question, where others hold one"""
_UNITS, _ENTITIES, _REPORTS, _RELATIONSHIPS, _CLAIMS = 20, 10, 5, 10, 10
"""records of each table that a question is answered from, at most"""
_RECIPROCAL = 60
"""of reciprocal rank fusion"""


class SemanticMatches(NamedTuple):
    """The rows that a search by meaning returns, best first."""

    units: Sequence[int] = ()
    entities: Sequence[int] = ()
    relationships: Sequence[int] = ()
    is_hybrid: bool = False
    """whether the text units are ranked by words too"""


_NO_MATCHES = SemanticMatches()


@dataclass(frozen=True)
class ContextRecords:
    """The records that a question is answered from, by rows, best first."""

    units: tuple[int, ...]
    entities: tuple[int, ...] = ()
    relationships: tuple[int, ...] = ()
    reports: tuple[int, ...] = ()
    """rows of community_reports"""
    claims: tuple[Claim, ...] = ()


@dataclass(frozen=True)
class GraphAnswer:
    """An answer from an index."""

    method: Method
    question: str
    text: str
    """with citations in Microsoft's form"""
    themes: tuple[Theme, ...] = ()
    records: ContextRecords = ContextRecords(())
    scope: Scope | None = None
    model: str = ""
    """who wrote it; empty: it is quoted"""
    host: str = ""
    """where that was"""
    invented_citations: int = 0
    """citations of records that the model was not given; they are taken out"""
    note: str = ""
    """why nothing was written, where a model is configured"""


def ask(
    question: str,
    corpus: Corpus,
    method: Method,
    now: datetime,
    zone: ZoneInfo,
    matches: SemanticMatches = _NO_MATCHES,
    relatives: Relatives = MappingProxyType({}),
) -> GraphAnswer:
    """An answer in sentences of the index.

    `relatives` are those whom the owner of the archive is related to.
    """
    if method == "global":
        scope = scope_of(question, corpus, now, zone, matches.units, relatives)
        theme_list = themes(scope.units, corpus, scope.words)
        text = "\n\n".join(map(_theme_text, theme_list)) or NOTHING
        return GraphAnswer(method, question, text, tuple(theme_list), ContextRecords(scope.units), scope)
    records = retrieve(question, corpus, method, now, zone, matches)
    statements = _quote_sentences(question, records, corpus, by_rank=matches.is_hybrid)
    return GraphAnswer(method, question, "\n".join(map(cite, statements)) or NOTHING, records=records)


def retrieve(
    question: str, corpus: Corpus, method: Method, now: datetime, zone: ZoneInfo, matches: SemanticMatches = _NO_MATCHES
) -> ContextRecords:
    """The records for a question: text units by words and meaning; for local search also what these name."""
    support = Support(question)
    within = _units_in_time(question, corpus, now, zone)
    scores = support.scores([corpus.texts[unit] for unit in within])
    ranked = sorted(zip(scores, within, strict=True), key=lambda pair: (-pair[0], pair[1]))
    by_words, units_in_time = [unit for score, unit in ranked if score], set(within)
    matched = [unit for unit in matches.units if unit in units_in_time]
    units = list(dict.fromkeys([*matched, *by_words])) if matches.is_hybrid else _fuse([by_words, matched])
    if method == "basic":
        return ContextRecords(tuple(units[:_UNITS]))
    entities = entities_of(support, units, corpus, matches.entities)
    units_of_entities = {unit for row in entities for unit in corpus.units_of_entity[row]}
    if not matches.is_hybrid:
        units = _fuse([units, [unit for unit in units if unit in units_of_entities]])
    relationships = relationships_of(entities, corpus, nearest=matches.relationships)
    claims = [claim for claim in _claims(support, entities, units, corpus) if claim.unit in units_in_time]
    reports = _reports(entities, corpus)
    return ContextRecords(
        tuple(units[:_UNITS]), tuple(entities), tuple(relationships), tuple(reports), tuple(claims[:_CLAIMS])
    )


def cite(statement: Statement) -> str:
    """A sentence with its citation."""
    return f"{citation_marks.disarm(statement.text)} {citation(statement.references)}"


def citation(references: Sequence[Reference]) -> str:
    """`[Data: Entities (3, 5); Sources (2)]`."""
    numbers_by_dataset: dict[Dataset, list[str]] = {}
    for reference in references:
        numbers_by_dataset.setdefault(reference.dataset, []).append(str(reference.number))
    parts = [f"{name} ({', '.join(numbers)})" for name, numbers in numbers_by_dataset.items()]
    return f"[Data: {'; '.join(parts)}]"


def _theme_text(theme: Theme) -> str:
    days = " – ".join(dict.fromkeys(filter(None, (theme.first, theme.last))))
    facts = filter(None, (days, ", ".join(theme.people), ", ".join(theme.figures)))
    report = [f"[Data: Reports ({theme.community})]"] if theme.community >= 0 else []
    about = citation_marks.disarm(" · ".join(facts))
    lines = [f"## {citation_marks.disarm(theme.title)}", " ".join([about, *report])]
    return "\n".join(
        [
            *lines,
            *(f"- {statement.day + ' ' if statement.day else ''}{cite(statement)}" for statement in theme.statements),
        ]
    )


def _units_in_time(question: str, corpus: Corpus, now: datetime, zone: ZoneInfo) -> list[int]:
    time = time_range(question, now, zone)
    matching = [unit for unit in range(len(corpus.texts)) if time is None or time.holds(*corpus.times[unit])]
    return matching or list(range(len(corpus.texts)))


def _fuse(rankings: Sequence[Sequence[int]]) -> list[int]:
    """Reciprocal rank fusion."""
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, unit in enumerate(ranking):
            scores[unit] = scores.get(unit, 0.0) + 1 / (_RECIPROCAL + rank)
    return sorted(scores, key=lambda unit: (-scores[unit], unit))


def entities_of(
    support: Support, units: Sequence[int], corpus: Corpus, nearest: Sequence[int] = (), *, within: bool = False
) -> list[int]:
    """Entities that the question names, or that the best text units share, fused with those nearest by meaning.

    `within` the text units: of entities that the question names those that they name.
    """
    candidates = (
        {row for unit in units for row in corpus.entities_of_unit[unit]} if within else range(len(corpus.titles))
    )
    named_rows = [row for row in sorted(candidates) if support.matches(fold(corpus.titles[row]))]
    weights: dict[int, float] = dict.fromkeys(named_rows, 10.0)
    for rank, unit in enumerate(units[:_UNITS]):
        for row in corpus.entities_of_unit[unit]:
            weights[row] = weights.get(row, 0.0) + 1 / (1 + rank) / len(corpus.units_of_entity[row]) ** 0.5
    return _fuse([sorted(weights, key=lambda row: (-weights[row], row)), nearest])[:_ENTITIES]


def relationships_of(
    entities: Sequence[int],
    corpus: Corpus,
    *,
    both: bool = True,
    nearest: Sequence[int] = (),
    units: frozenset[str] | None = None,
) -> list[int]:
    """Relationships between the entities, or, without `both`, of any of them.

    The heaviest first, fused with those nearest by meaning; those alone that one of the text units states, where
    `units` names some.
    """
    table = corpus.index.tables["relationships"]
    titles = {corpus.titles[row] for row in entities}
    rows = enumerate(zip(table["source"], table["target"], table["weight"], strict=True))
    weights = {
        row: 0.0 if pd.isna(weight) else float(weight)
        for row, (source, target, weight) in rows
        if (source in titles and target in titles if both else source in titles or target in titles)
        and (units is None or not units.isdisjoint(table["text_unit_ids"].iat[row]))
    }
    heaviest = sorted(weights, key=lambda row: (-weights[row], row))
    return _fuse([heaviest, [row for row in nearest if row in weights]])[:_RELATIONSHIPS]


def _claims(support: Support, entities: Sequence[int], units: Sequence[int], corpus: Corpus) -> list[Claim]:
    """Claims about the entities: those with most of the question's words first, then by rank of their text unit."""
    titles, ranks = {corpus.titles[row] for row in entities}, {unit: rank for rank, unit in enumerate(units)}
    ranked = {
        claim: (-len(support.matches(fold(claim.text))), ranks.get(claim.unit, len(ranks)), claim.row)
        for claim in corpus.claims
        if claim.subject in titles
    }
    return sorted(ranked, key=ranked.__getitem__)


def _reports(entities: Sequence[int], corpus: Corpus) -> list[int]:
    """Reports of the communities that hold most of the entities; of as many the smaller."""
    entity_rows = set(entities)
    shared = {
        community: len(entity_rows.intersection(rows)) for community, rows in enumerate(corpus.entities_of_community)
    }
    ranked = sorted(
        (community for community, count in shared.items() if count),
        key=lambda community: (-shared[community] / len(corpus.entities_of_community[community]) ** 0.5, community),
    )
    numbers = [corpus.communities[community] for community in ranked[:_REPORTS]]
    return corpus.index.rows_of("community_reports", "community", numbers)


def _claims_of(statements: Iterable[Statement]) -> set[Reference]:
    """The claims that statements cite."""
    references = (reference for statement in statements for reference in statement.references)
    return {reference for reference in references if reference.dataset == Dataset.CLAIMS}


def _quote_sentences(
    question: str, records: ContextRecords, corpus: Corpus, *, by_rank: bool = False
) -> list[Statement]:
    """The sentences of the best text units that hold most of the question's words, and the claims that do.

    `by_rank`: the sentences are in the order of their text units, which were ranked by words and meaning.
    """
    support = Support(question)
    scored = [*_scored_sentences(support, records, corpus)]
    cited_claims = _claims_of(statement for _, _, statement in scored)
    scored += _scored_claims(support, records, corpus, cited_claims)
    if any(score > 1 for score, _, _ in scored):
        best_units = {*records.units[:_MEANT]}
        scored = [row for row in scored if row[0] > 1 or row[1] in best_units]
    ranks = {unit: rank for rank, unit in enumerate(records.units)} if by_rank else {}
    chosen = sorted(scored, key=lambda row: (ranks.get(row[1], 0), -row[0], row[1]))[:_STATEMENTS]
    return [statement for _, _, statement in chosen]


def _scored_sentences(
    support: Support, records: ContextRecords, corpus: Corpus
) -> Iterator[tuple[float, int, Statement]]:
    """Yields (score, text unit, statement) of the sentence with most of the question's words in each text unit."""
    for rank, unit in enumerate(records.units[: 2 * _STATEMENTS]):
        text = corpus.texts[unit]
        pieces = [" ".join(text[start:end].split()) for start, end in spans(sentences(text))]
        counts = [(len(support.matches(fold(piece))), piece) for piece in pieces if piece]
        if not counts:
            continue
        count, best = max(counts, key=lambda pair: (pair[0], -abs(len(pair[1]) - 120)))
        statement = Statement(best, unit, corpus.day(unit), _references_of(unit, best, records, corpus))
        yield count + 1 / (1 + rank), unit, statement


def _scored_claims(
    support: Support, records: ContextRecords, corpus: Corpus, cited: set[Reference]
) -> Iterator[tuple[float, int, Statement]]:
    """Yields (score, text unit, statement) of each claim with words of the question that is not `cited` already."""
    for rank, claim in enumerate(records.claims):
        count = len(support.matches(fold(claim.text)))
        reference = Reference(Dataset.CLAIMS, claim.number)
        if count and reference not in cited:
            references = (reference, *_references_of(claim.unit, claim.text, replace(records, claims=()), corpus))
            statement = Statement(claim.text, claim.unit, corpus.day(claim.unit), references)
            yield count + 0.5 / (1 + rank), claim.unit, statement


def _references_of(unit: int, text: str, records: ContextRecords, corpus: Corpus) -> tuple[Reference, ...]:
    """The claims, entities and text unit that a sentence rests on, and the best report about these."""
    folded = fold(text)
    claims = [
        Reference(Dataset.CLAIMS, claim.number)
        for claim in records.claims
        if claim.unit == unit and claim.words and claim.words in text
    ]
    entities = [
        Reference(Dataset.ENTITIES, corpus.entity_numbers[row])
        for row in records.entities
        if unit in corpus.units_of_entity[row] and fold(corpus.titles[row]) in folded
    ]
    return (*claims[:3], *entities[:3], Reference(Dataset.SOURCES, unit), *_report_about(unit, records, corpus))


def _report_about(unit: int, records: ContextRecords, corpus: Corpus) -> Iterator[Reference]:
    """Yields the best report of the records whose community holds the text unit, if there is one."""
    for row in records.reports:
        number = int(corpus.index.cell("community_reports", "community", row))
        if unit in corpus.units_of_community[corpus.communities.index(number)]:
            yield Reference(Dataset.REPORTS, number)
            return
