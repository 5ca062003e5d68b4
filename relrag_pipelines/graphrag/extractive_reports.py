"""Community reports without a model: the sentences about a community's central entities, each with its citation.

A report is drafted from its community alone, and a draft refers to records by their ids. So a draft is valid as long as
its community is unchanged, whatever is added elsewhere; only the numbers in its citations are filled in anew.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import blake2b
from itertools import chain
from typing import Any, NamedTuple

from relrag_pipelines.graphrag.entity_candidates import EntityType
from relrag_pipelines.graphrag.mention_graph import Sentence, plain_title, shorten
from relrag_pipelines.text import citation_marks
from relrag_pipelines.text.analyzer import fold

VERSION = 4
"""raised when equal communities get other drafts"""

_FINDINGS, _SENTENCES, _NAMED = 5, 3, 5
"""limits: findings of a report, sentences of a finding, entities named in a title or summary"""
_TITLED = 3
"""most things in a title; people one fewer"""
_MONTH, _BEGINNING = 7, 5
"""characters of a month in a date, and of the beginnings by which words are compared"""
_MAX_CHARS = 300
"""characters of a sentence"""
_MIN_WORDS = 4
"""words of a sentence, if there is another one: a name alone says nothing"""
_CITED = 5
"""A citation names at most this many ids of a table, as in Microsoft's prompts; `+more` replaces the rest"""
_AMOUNT = r"\d(?:[.,' \u00a0]?\d)*"
_CURRENCY = "|".join(
    (
        *("[Kk]č", "CZK", "EUR", "USD", "GBP", "ILS", "NIS"),
        *("[Ee]uros?", "dollars?", "pounds?", "shekels?", r"korun\w{0,2}"),
        *("שקל(?:ים)?", 'ש["״]ח', "אירו", "דולר(?:ים)?"),
    )
)
FIGURE = re.compile(rf"[€$£₪]\s?{_AMOUNT}|{_AMOUNT}\s?(?:[€$£₪%]|(?:{_CURRENCY})(?!\w))")
_TABLE = re.compile(r"[|;\t]|(?:\w+: \S+.*){3}|^\W*#|^- \[|https?://|\*\*")
_CITES = re.compile(r"\[(?=\s*Data\s*:)", re.IGNORECASE)


class Unit(NamedTuple):
    """A text unit of a community."""

    id: str
    day: str
    """ISO 8601; empty if undated"""
    sentences: Sequence[Sentence]
    """with entities by their rows in `Material.entities`"""


class Entity(NamedTuple):
    id: str
    title: str
    type: str


class Link(NamedTuple):
    """A relationship within a community."""

    id: str
    source: int
    """row in `Material.entities`"""
    target: int
    strength: int
    """text units that name both"""
    """number of text units that name both"""


class Material(NamedTuple):
    """The contents of a community, from which its report is drafted."""

    entities: Sequence[Entity]
    links: Sequence[Link]
    """the strongest first"""
    units: Sequence[Unit]


Draft = dict[str, Any]


def fingerprint(material: Material) -> str:
    """A hash that is equal for equal communities, hex."""
    return blake2b(json.dumps([VERSION, material]).encode(), digest_size=20).hexdigest()


def draft(material: Material) -> Draft:
    """Title, summary and findings of a community; each sentence with the ids that it cites."""
    central = _centrality(material)
    ranked = sorted(range(len(material.entities)), key=lambda row: (-central[row], material.entities[row].title))
    used: set[str] = set()
    findings = [_finding(row, ranked, material, central, used) for row in ranked[: 2 * _FINDINGS]]
    people = [material.entities[row].title for row in ranked if material.entities[row].type == EntityType.PERSON]
    things = [material.entities[row].title for row in ranked if material.entities[row].type != EntityType.PERSON]
    days = [unit.day for unit in material.units]
    figures = _figures(chain.from_iterable(unit.sentences for unit in material.units))
    # only words of the archive, whose language may be any
    parts = [span(days), ", ".join(things[:_NAMED]), ", ".join(people[:_NAMED]), ", ".join(figures[:_NAMED])]
    return {
        "title": title(things, people, days),
        "summary": " · ".join(filter(None, parts)),
        "findings": [finding for finding in findings if finding][:_FINDINGS],
    }


def render(drafted: Draft, numbers: Mapping[str, int]) -> list[dict[str, str]]:
    """The findings of a draft with citations; `numbers` has the number of each record by its id."""
    rendered = []
    for finding in drafted["findings"]:
        lines = list(map(citation_marks.disarm, finding["facts"]))
        for sentence in finding["sentences"]:
            lines.append(f"{citation_marks.disarm(sentence['text'])} {_citation(sentence, numbers)}")
        rendered.append({"summary": citation_marks.disarm(finding["summary"]), "explanation": " ".join(lines)})
    return rendered


_DATASETS = (("Entities", "entities"), ("Relationships", "relationships"), ("Sources", "text_units"))
"""names in citations, and keys of a sentence in a draft"""


def _citation(sentence: dict[str, Any], numbers: Mapping[str, int]) -> str:
    parts = []
    for dataset, key in _DATASETS:
        if ids := sentence[key]:
            cited = [str(numbers[record_id]) for record_id in ids[:_CITED]]
            if len(ids) > _CITED:
                cited.append("+more")
            parts.append(f"{dataset} ({', '.join(cited)})")
    return f"[Data: {'; '.join(parts)}]"


def _centrality(material: Material) -> list[int]:
    """How often each entity is named together with others of the community."""
    central = [0] * len(material.entities)
    for link in material.links:
        central[link.source] += link.strength
        central[link.target] += link.strength
    return central


def _best_sentences(row: int, material: Material, central: list[int], used: set[str]) -> list[tuple[Unit, Sentence]]:
    """The best sentences about an entity that aren't in `used`, each with its text unit."""
    sentences: dict[str, tuple[Unit, Sentence]] = {}
    for unit in material.units:
        for sentence in unit.sentences:
            if row in sentence.entities and sentence.text not in used:
                sentences.setdefault(sentence.text, (unit, sentence))

    def rank(pair: tuple[Unit, Sentence]) -> tuple[bool, int, int, str]:
        text, entities = pair[1].text, pair[1].entities
        is_poor = len(text.split()) < _MIN_WORDS or is_tabular(text)
        return is_poor, -sum(1 + central[entity] for entity in entities), len(text), text

    return sorted(sentences.values(), key=rank)[:_SENTENCES]


def _figures(sentences: Iterable[Sentence]) -> list[str]:
    """The figures of sentences, each once."""
    return list(dict.fromkeys(chain.from_iterable(figures_of(sentence.text) for sentence in sentences)))


def _facts(best: Sequence[tuple[Unit, Sentence]]) -> list[str]:
    """A line with the days and the figures of sentences; no line if they have none."""
    figures = _figures(sentence for _, sentence in best)
    facts = " · ".join(filter(None, (span([unit.day for unit, _ in best]), ", ".join(figures[:_NAMED]))))
    return [f"{facts}."] if facts else []


def _finding(
    row: int, ranked: list[int], material: Material, central: list[int], used: set[str]
) -> dict[str, Any] | None:
    """The finding about an entity: its best sentences that aren't in `used`, which they are added to.

    None if there are none.
    """
    best = _best_sentences(row, material, central, used)
    if not best:
        return None
    used.update(sentence.text for _, sentence in best)
    named = set(chain.from_iterable(sentence.entities for _, sentence in best)) - {row}
    others = [material.entities[entity].title for entity in ranked if entity in named][:3]
    title = material.entities[row].title
    return {
        "summary": f"{title}: {', '.join(others)}" if others else title,
        "facts": _facts(best),
        "sentences": [_cite(unit, sentence, material, central) for unit, sentence in best],
    }


def cite_sentence(unit: Unit, sentence: Sentence, material: Material) -> dict[str, Any]:
    """A sentence of a community with the ids that it cites."""
    return _cite(unit, sentence, material, _centrality(material))


def _cite(unit: Unit, sentence: Sentence, material: Material, central: list[int]) -> dict[str, Any]:
    entities = set(sentence.entities)
    return {
        # a citation within the sentence would refer to other records that have its numbers here
        "text": shorten(_CITES.sub("(", sentence.text), _MAX_CHARS),
        "entities": [material.entities[row].id for row in sorted(entities, key=lambda row: (-central[row], row))],
        "relationships": [link.id for link in material.links if {link.source, link.target} <= entities],
        "text_units": [unit.id],
    }


def title(things: Sequence[str], people: Sequence[str], days: Sequence[str]) -> str:
    """The title of a community: things, people and months, the best of each first."""
    what = ", ".join(distinct(map(plain_title, things))[:_TITLED])
    who = ", ".join(distinct(map(plain_title, people))[: _TITLED - 1])
    return " · ".join(filter(None, (what, who, span([day[:_MONTH] for day in days]))))


def distinct(titles: Iterable[str]) -> list[str]:
    """The titles without those whose words, by their beginnings, are all in an earlier one."""
    selected: list[str] = []
    seen: list[set[str]] = []
    for title in titles:
        words = {fold(word)[:_BEGINNING] for word in title.split()}
        if not any(words <= other for other in seen):
            selected.append(title)
            seen.append(words)
    return selected


def is_tabular(text: str) -> bool:
    """Whether a sentence is a row of a table, a heading or part of a list, which says little by itself."""
    return bool(_TABLE.search(text))


def figures_of(text: str) -> list[str]:
    """Amounts of money and percentages, as written."""
    return [" ".join(figure.split()) for figure in FIGURE.findall(text)]


def span(days: Sequence[str]) -> str:
    """First and last day; empty without any."""
    dated = sorted(day for day in days if day)
    return " – ".join(dict.fromkeys([dated[0], dated[-1]])) if dated else ""


def day(ts: int | None) -> str:
    """The day of a time in UTC, ISO 8601."""
    return "" if ts is None else datetime.fromtimestamp(ts, UTC).date().isoformat()
