"""Reads facts that a text states: birthdays, homes, work, numbers, introductions, relatives without a record.

It uses the precise patterns of `text/fact_phrases/`, around names of known people or in the first person. Quoted
speech, questions and doubts are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from relrag_pipelines.identity.inverse_types import INVERSE
from relrag_pipelines.identity.kin_phrases import End
from relrag_pipelines.identity.kinship import StatedRelation, is_quoted, sentence_begin, stated_relations
from relrag_pipelines.identity.mentions import Mention
from relrag_pipelines.identity.strangers import base_name, with_strangers
from relrag_pipelines.text import fact_phrases, kinship
from relrag_pipelines.text.analyzer import PREFIXED
from relrag_pipelines.text.fact_phrases import STATED_ROLES, Template

_REST = re.compile(r"[^.!?\n]*[.!?\n]?")
_MAX_AGE = 120
_KIN = kinship.relationship_types() - kinship.ROLES


class TextualFact(NamedTuple):
    """A fact of a person."""

    owner: End
    predicate: str
    value: str
    """a date in ISO 8601, without the year if the text has none; of `born` two dates; else as written"""
    start: int
    end: int
    """span of the words that state it, in code points"""


def stated_facts(text: str, mentions: Sequence[Mention], day: date | None) -> list[TextualFact]:
    """The facts that a text of that day states for certain, in order, given the names in it."""
    facts: dict[tuple[End, str], TextualFact] = {}
    for template, names, matches in _matching(fact_phrases.fact_templates(), text, mentions):
        value = _value(template.predicate, matches, day)
        if value is not None:
            start, end = _span(names, matches)
            predicate = "birthday" if template.predicate == "turns" else template.predicate
            owner: End = names.get("name", "writer")
            facts[owner, predicate] = TextualFact(owner, predicate, value, start, end)
    for owner, predicate in [*facts]:
        if predicate == "birthday":  # more precise than the year
            facts.pop((owner, "born"), None)
    every = {*facts.values(), *_relatives(text, mentions)}
    return sorted(every, key=lambda fact: (fact.start, fact.end, fact.predicate))


def stated_roles(text: str, mentions: Sequence[Mention]) -> list[StatedRelation]:
    """The introductions and reporting lines that a text states, in order."""
    roles = [
        StatedRelation(
            names.get("name", "reader" if template.of_reader else "writer"),
            template.predicate,
            names.get("other", "writer"),
            *_span(names, matches),
        )
        for template, names, matches in _matching(fact_phrases.role_templates(), text, mentions)
    ]
    return sorted((role for role in roles if role.owner != role.other), key=lambda role: (role.start, role.end))


def _matching(
    templates: Sequence[Template], text: str, mentions: Sequence[Mention]
) -> Iterator[tuple[Template, dict[str, Mention], list[re.Match[str]]]]:
    """Yields (template, names by slot, matches of its parts) for each match of a template."""
    for template in templates if fact_phrases.may_state(text) else ():
        if len(template.names) > len(mentions):
            continue
        for names, matches in _fitting(template, text, mentions):
            start, end = _span(names, matches)
            begin = sentence_begin(text, start)
            match = _REST.match(text, end)
            rest = match[0] if match else ""
            sentence = f"{text[begin:start]} {rest}"
            if not (is_quoted(text, begin, start) or rest.endswith("?") or template.doubt.search(sentence)):
                yield template, names, matches


def _fitting(
    template: Template, text: str, mentions: Sequence[Mention]
) -> Iterator[tuple[dict[str, Mention], list[re.Match[str]]]]:
    if not template.names:
        yield from (({}, [match]) for match in _nameless_matches(template, text))
        return
    for first in range(len(mentions) - len(template.names) + 1):
        names = mentions[first : first + len(template.names)]
        matches = _matches_around(template, text, names)
        if matches:
            yield dict(zip(template.names, names, strict=True)), matches


def _nameless_matches(template: Template, text: str) -> Iterator[re.Match[str]]:
    """The matches of a template without names."""
    for begin, end in fact_phrases.stretches(text):
        for match in template.parts[0].finditer(text, begin, end):
            if end == len(text) or text[match.end() : end].strip():  # else the cut looks like the end of the text
                yield match


def _matches_around(template: Template, text: str, names: Sequence[Mention]) -> list[re.Match[str]]:
    """The matches of a template's parts before, between and behind these names; empty if one does not match."""
    first, *others = template.parts
    begin = sentence_begin(text, names[0].start)
    before = first.search(text[begin : names[0].start])
    if before is None or (template.predicate not in STATED_ROLES and not names[0].is_subject and not before[0]):
        return []
    matches = [before]
    for name, part, following in zip(names, others, [*names[1:], None], strict=True):
        match = part.match(text, name.end) if following is None else part.fullmatch(text, name.end, following.start)
        if match is None:
            return []
        matches.append(match)
    return matches


def _span(names: dict[str, Mention], matches: list[re.Match[str]]) -> tuple[int, int]:
    """The span from the first to the last match or name."""
    if not names:
        return matches[0].span()
    start = min(name.start for name in names.values())
    return start - len(matches[0][0]), max(*(name.end for name in names.values()), matches[-1].end())


def _value(predicate: str, matches: Iterable[re.Match[str]], day: date | None) -> str | None:
    groups = {name: value for match in matches for name, value in match.groupdict().items() if value}
    if "age" in groups:
        years = fact_phrases.years(groups["age"])
        if day is None or not 0 < years < min(_MAX_AGE, day.year - 1):
            return None
        return _born_between(day, years) if predicate == "born" else _birthday(day, years)
    if "date" in groups:
        return _iso(groups["date"])
    return " ".join(next(iter(groups.values())).split()) if groups else None


def _birthday(day: date, years: int) -> str | None:
    try:
        return day.replace(year=day.year - years).isoformat()
    except ValueError:  # the 29th of February of a year that has none
        return None


def _born_between(day: date, years: int) -> str:
    """The first and the last possible birthday of a person who is `years` old on a day."""
    day = day.replace(day=28) if (day.month, day.day) == (2, 29) else day
    return f"{day.replace(year=day.year - years - 1) + timedelta(days=1)}/{day.replace(year=day.year - years)}"


def _iso(written: str) -> str | None:
    """`3 March 1990` as 1990-03-03, `3 March` as 03-03, `1990` unchanged; None if it is no date."""
    numbers = [int(digits) for digits in re.findall(r"\d+", written)]
    months = [month for month in map(_month, re.findall(r"[^\W\d_]+", written.lower())) if month]
    if not months and len(numbers) == 1:
        return written.strip() if 1900 <= numbers[0] < 2100 else None
    day, month, *year = [numbers[0], *months[:1], *numbers[1:]] if months else numbers
    try:
        parsed = date(year[0] if year else 2000, month, day)
    except ValueError:
        return None
    return parsed.isoformat() if year else parsed.strftime("%m-%d")


def _month(word: str) -> int | None:
    months = fact_phrases.months()
    return months.get(word) or months.get(word[1:] if word[0] in PREFIXED else "")


def _relatives(text: str, mentions: Sequence[Mention]) -> Iterator[TextualFact]:
    """Relatives by a name that no known person bears: `my brother Gilad`, `jsem maminka Filipa`."""
    every_name = with_strangers(text, mentions)
    if len(every_name) <= len(mentions):
        return
    for relation in stated_relations(text, every_name):
        owner, other, type_ = relation.owner, relation.other, relation.relationship_type
        inverse = INVERSE.get(type_, type_)
        if is_stranger(owner) == is_stranger(other):
            continue
        if isinstance(other, Mention) and is_stranger(other):
            yield TextualFact(owner, type_, base_name(text, other), relation.start, relation.end)
        elif isinstance(owner, Mention) and inverse in _KIN:
            yield TextualFact(other, inverse, base_name(text, owner), relation.start, relation.end)


def is_stranger(end: End) -> bool:
    """Whether the end of a relationship is a name that no known person bears."""
    return isinstance(end, Mention) and not end.person_ids
