"""Community reports without a model: the sentences that carry a community's central entities, each with its citation.

A report is drafted from its community alone, and in a draft records stand by their ids. So a draft holds as long as
its community is the same, whatever is added elsewhere; only the numbers in its citations are put in anew.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any, NamedTuple

from relrag_pipelines.graphrag.entity_candidates import EntityType
from relrag_pipelines.graphrag.mention_graph import Sentence, plain_title, shorten
from relrag_pipelines.text import citation_marks
from relrag_pipelines.text.analyzer import fold

VERSION = 4
"""raised when equal communities get other drafts"""

_FINDINGS, _SENTENCES, _NAMED = 5, 3, 5
"""findings of a report, sentences of a finding, entities that a title or summary names, at most"""
_TITLED = 3
"""things that a title names at most; people one fewer"""
_MONTH, _BEGINNING = 7, 5
"""characters of a month, and of a word by which it is told from others"""
_LONGEST = 300
"""characters of a sentence"""
_WORDS = 4
"""words of a sentence at least, where there is another: a name alone says nothing"""
_CITED = 5
"""numbers of one table in a citation at most, as Microsoft's prompts ask for; `+more` stands for the rest"""
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
    """ISO 8601; empty where it is undated"""
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


class Material(NamedTuple):
    """What a report is drafted from."""

    entities: Sequence[Entity]
    links: Sequence[Link]
    """the strongest first"""
    units: Sequence[Unit]


Draft = dict[str, Any]


def fingerprint(material: Material) -> str:
    """The same for equal communities, hex."""
    return blake2b(json.dumps([VERSION, material]).encode(), digest_size=20).hexdigest()


def draft(material: Material) -> Draft:
    """Title, summary and findings of a community; each sentence with the ids of what it cites."""
    central = _centrality(material)
    ranked = sorted(range(len(material.entities)), key=lambda row: (-central[row], material.entities[row].title))
    used: set[str] = set()
    findings = [found for row in ranked[: 2 * _FINDINGS] if (found := _finding(row, ranked, material, central, used))][
        :_FINDINGS
    ]
    people = [material.entities[row].title for row in ranked if material.entities[row].type == EntityType.PERSON]
    things = [material.entities[row].title for row in ranked if material.entities[row].type != EntityType.PERSON]
    days = span([unit.day for unit in material.units])
    figures = list(
        dict.fromkeys(one for unit in material.units for said in unit.sentences for one in figures_of(said.text))
    )
    # no words but those of the archive, whose language may be any
    said = [days, ", ".join(things[:_NAMED]), ", ".join(people[:_NAMED]), ", ".join(figures[:_NAMED])]
    return {
        "title": title(things, people, [unit.day for unit in material.units]),
        "summary": " · ".join(filter(None, said)),
        "findings": findings,
    }


def render(drafted: Draft, numbers: Mapping[str, int]) -> list[dict[str, str]]:
    """The findings of a draft with citations, from the number of each record by its id."""
    return [
        {
            "summary": citation_marks.disarm(finding["summary"]),
            "explanation": " ".join(
                [
                    *map(citation_marks.disarm, finding["facts"]),
                    *(
                        f"{citation_marks.disarm(one['text'])} {_citation(one, numbers)}"
                        for one in finding["sentences"]
                    ),
                ]
            ),
        }
        for finding in drafted["findings"]
    ]


def _citation(sentence: dict[str, Any], numbers: Mapping[str, int]) -> str:
    parts = [
        f"{dataset} ({', '.join([str(numbers[one]) for one in sentence[column][:_CITED]] + ['+more'] * more)})"
        for dataset, column in (
            ("Entities", "entities"),
            ("Relationships", "relationships"),
            ("Sources", "text_units"),
        )
        if sentence[column]
        for more in [len(sentence[column]) > _CITED]
    ]
    return f"[Data: {'; '.join(parts)}]"


def _centrality(material: Material) -> list[int]:
    """How often each entity is named together with others of the community."""
    central = [0] * len(material.entities)
    for one in material.links:
        central[one.source] += one.strength
        central[one.target] += one.strength
    return central


def _finding(
    row: int, ranked: list[int], material: Material, central: list[int], used: set[str]
) -> dict[str, Any] | None:
    """What is said of one entity: its best sentences that no other finding has; None where there are none."""
    said: dict[str, tuple[Unit, Sentence]] = {}
    for unit in material.units:
        for one in unit.sentences:
            if row in one.entities and one.text not in used:
                said.setdefault(one.text, (unit, one))

    def rank(found: tuple[Unit, Sentence]) -> tuple[bool, int, int, str]:
        text, named = found[1].text, found[1].entities
        return len(text.split()) < _WORDS or is_tabular(text), -sum(1 + central[one] for one in named), len(text), text

    best = sorted(said.values(), key=rank)[:_SENTENCES]
    if not best:
        return None
    used.update(one.text for _, one in best)
    beside = {one for _, sentence in best for one in sentence.entities} - {row}
    others = [material.entities[one].title for one in ranked if one in beside][:3]
    title = material.entities[row].title
    figures = list(dict.fromkeys(found for _, one in best for found in figures_of(one.text)))
    days = span([unit.day for unit, _ in best])
    facts = " · ".join(filter(None, (days, ", ".join(figures[:_NAMED]))))
    return {
        "summary": f"{title}: {', '.join(others)}" if others else title,
        "facts": [f"{facts}."] if facts else [],
        "sentences": [_cite(unit, one, material, central) for unit, one in best],
    }


def cite_sentence(unit: Unit, sentence: Sentence, material: Material) -> dict[str, Any]:
    """A sentence of a community with the ids of what it cites."""
    return _cite(unit, sentence, material, _centrality(material))


def _cite(unit: Unit, sentence: Sentence, material: Material, central: list[int]) -> dict[str, Any]:
    named = set(sentence.entities)
    return {
        # a sentence that holds a citation itself would cite whatever has that number here
        "text": shorten(_CITES.sub("(", sentence.text), _LONGEST),
        "entities": [material.entities[row].id for row in sorted(named, key=lambda row: (-central[row], row))],
        "relationships": [one.id for one in material.links if {one.source, one.target} <= named],
        "text_units": [unit.id],
    }


def title(things: Sequence[str], people: Sequence[str], days: Sequence[str]) -> str:
    """The title of something: things, people and months, the best of each first."""
    what = ", ".join(distinct(map(plain_title, things))[:_TITLED])
    who = ", ".join(distinct(map(plain_title, people))[: _TITLED - 1])
    return " · ".join(filter(None, (what, who, span([day[:_MONTH] for day in days]))))


def distinct(titles: Iterable[str]) -> list[str]:
    """Without titles all words of which, by their beginnings, stand in another one before them."""
    kept: list[str] = []
    seen: list[set[str]] = []
    for one in titles:
        words = {fold(word)[:_BEGINNING] for word in one.split()}
        if not any(words <= other for other in seen):
            kept.append(one)
            seen.append(words)
    return kept


def is_tabular(text: str) -> bool:
    """Whether a sentence is a row of a table, a heading or of a list, which says little by itself."""
    return bool(_TABLE.search(text))


def figures_of(text: str) -> list[str]:
    """Amounts of money and shares, as they are written."""
    return [" ".join(found.split()) for found in FIGURE.findall(text)]


def span(days: Sequence[str]) -> str:
    """First and last day; empty where none is known."""
    known = sorted(day for day in days if day)
    return " – ".join(dict.fromkeys([known[0], known[-1]])) if known else ""


def day(ts: int | None) -> str:
    """The day of a time in UTC, ISO 8601."""
    return "" if ts is None else datetime.fromtimestamp(ts, UTC).date().isoformat()
