"""The citations of GraphRAG answers and reports, in the forms in which models write them.

The prompts of Microsoft's GraphRAG ask for `[Data: <dataset> (<record ids>); <dataset> (<record ids>)]`. Models also
write commas between datasets, singular names, `+more`, no space before the bracket, and datasets that are no table:
`Date_Range ((2001, 05, 12), (2001, 05, 13))`, `General Knowledge (href)`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate

from relrag_pipelines.text.sentences import sentences, spans


class Dataset(StrEnum):
    """The table that a cited number counts in, named as Microsoft's prompts name it."""

    REPORTS = "Reports"
    ENTITIES = "Entities"
    RELATIONSHIPS = "Relationships"
    CLAIMS = "Claims"
    SOURCES = "Sources"


@dataclass(frozen=True, order=True)
class Reference:
    """One cited number."""

    dataset: Dataset
    number: int

    def __str__(self) -> str:
        return f"{self.dataset} ({self.number})"


@dataclass(frozen=True)
class Citation:
    """One bracket, such as `[Data: Reports (5, 3, +more); Sources (2)]`."""

    start: int
    """offset of its `[`, in code points"""
    end: int
    """offset behind it"""
    sentence: str
    """the sentence that it supports, without citations"""
    references: tuple[Reference, ...]
    """each number once, in order"""
    more: bool = False
    """the model left out numbers: `+more`"""
    unread: tuple[str, ...] = ()
    """parts that name no record, as written"""


_NAMES = {
    Dataset.REPORTS: ("report", "reports", "community report", "community reports"),
    Dataset.ENTITIES: ("entity", "entities"),
    Dataset.RELATIONSHIPS: ("relationship", "relationships", "relation", "relations"),
    Dataset.CLAIMS: ("claim", "claims", "covariate", "covariates"),
    Dataset.SOURCES: ("source", "sources", "text unit", "text units"),
}
_DATASETS = {name: dataset for dataset, names in _NAMES.items() for name in names}

_BRACKET = re.compile(r"\[\s*Data\s*:\s*(?P<body>[^\[\]\n]*)(?:\]|(?=[\[\n])|\Z)", re.IGNORECASE)
# a group's brackets may hold brackets, as those of dates do; the last one may be missing
_GROUP = re.compile(r"(?P<name>[^\W\d_][\w \t-]{0,40}?)[ \t]*:?[ \t]*\((?P<inside>(?:[^()]|\([^()]*\))*)\)?")
_BETWEEN = re.compile(r"[\s,;]+")
_MORE = re.compile(r"\+\s*more\b", re.IGNORECASE)
_DIGITS = 15
"""digits of a number at most: no table is longer"""


def parse(text: str) -> list[Citation]:
    """Every citation of an answer or report, in order."""
    brackets = list(_BRACKET.finditer(text))
    if not brackets:
        return []
    citing = _Sentences(text, brackets)
    return [_citation(bracket, citing.sentence_at(bracket)) for bracket in brackets]


def parse_citation_ids(answer: str) -> dict[str, set[int]]:
    """The cited numbers by dataset: report_ids, entity_ids, relationship_ids, claim_ids, source_ids."""
    cited = [reference for citation in parse(answer) for reference in citation.references]
    return {
        f"{_NAMES[dataset][0]}_ids": {reference.number for reference in cited if reference.dataset == dataset}
        for dataset in Dataset
    }


def _citation(bracket: re.Match[str], sentence: str) -> Citation:
    references: dict[Reference, None] = {}
    unread: list[str] = []
    body = bracket["body"]
    covered = 0
    for group in _GROUP.finditer(body):
        unread += _parts(body[covered : group.start()])
        covered = group.end()
        dataset = _DATASETS.get(" ".join(group["name"].lower().replace("_", " ").split()))
        if dataset is None:
            unread.append(group[0].strip())
            continue
        for part in _parts(group["inside"]):
            if re.fullmatch(r"#?[0-9]+", part) and len(part) <= _DIGITS:
                references[Reference(dataset, int(part.lstrip("#")))] = None
            else:
                unread.append(f"{dataset} ({part})")
    unread += _parts(body[covered:])
    more = _MORE.search(body) is not None
    return Citation(bracket.start(), bracket.end(), sentence, tuple(references), more, tuple(unread))


def _parts(text: str) -> list[str]:
    """The parts between commas, semicolons and spaces, without `+more`."""
    return [part for part in _BETWEEN.split(_MORE.sub(" ", text)) if part]


class _Sentences:
    """The sentences of a text without its citations."""

    def __init__(self, text: str, brackets: list[re.Match[str]]) -> None:
        ends = [0, *(bracket.end() for bracket in brackets)]
        starts = [*(bracket.start() for bracket in brackets), len(text)]
        parts = [text[end:start] for end, start in zip(ends, starts, strict=True)]
        self._places = dict(zip(brackets, accumulate(map(len, parts)), strict=False))
        whole = "".join(parts)
        spanned = spans(sentences(whole))
        self._texts = [re.sub(r"\s([.,;:!?])", r"\1", " ".join(whole[start:end].split())) for start, end in spanned]
        self._starts = [start for start, _ in spanned]

    def sentence_at(self, bracket: re.Match[str]) -> str:
        """The sentence that a bracket is in, or follows."""
        offset = self._places[bracket]
        index = bisect_right(self._starts, offset) - 1
        if self._starts[index] == offset and index > 0:
            index -= 1
        return self._texts[index]
