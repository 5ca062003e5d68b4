"""What a text states of people: birthdays, homes, work, numbers, who introduced whom, relatives whom nobody else names.

Patterns of `text/fact_phrases/`, each sure of itself, around names of known people or in the words of who writes.
Nothing is taken from quoted speech, questions and doubts.
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
from relrag_pipelines.text.fact_phrases import STATED_ROLES, Template

_REST = re.compile(r"[^.!?\n]*[.!?\n]?")
_OLDEST = 120
_KIN = kinship.relationship_types() - kinship.ROLES


class TextualFact(NamedTuple):
    """A fact of a person."""

    owner: End
    predicate: str
    value: str
    """a date in ISO 8601, without the year where it is not named; of `born` between which two; else as written"""
    start: int
    end: int
    """where the words are that say so, in code points"""


def stated_facts(text: str, mentions: Sequence[Mention], day: date | None) -> list[TextualFact]:
    """What a text of that day states for certain, given the names in it, in order."""
    found: dict[tuple[End, str], TextualFact] = {}
    for template, names, matches in _matching(fact_phrases.fact_templates(), text, mentions):
        value = _value(template.predicate, matches, day)
        if value is not None:
            start, end = _span(names, matches)
            predicate = "birthday" if template.predicate == "turns" else template.predicate
            owner: End = names.get("name", "writer")
            found[owner, predicate] = TextualFact(owner, predicate, value, start, end)
    for owner, predicate in [*found]:
        if predicate == "birthday":  # a day tells more than a year
            found.pop((owner, "born"), None)
    return sorted({*found.values(), *_relatives(text, mentions)}, key=lambda one: (one.start, one.end, one.predicate))


def stated_roles(text: str, mentions: Sequence[Mention]) -> list[StatedRelation]:
    """Who introduced whom and who reports to whom, in order."""
    found = [
        StatedRelation(
            names.get("name", "reader" if template.of_reader else "writer"),
            template.predicate,
            names.get("other", "writer"),
            *_span(names, matches),
        )
        for template, names, matches in _matching(fact_phrases.role_templates(), text, mentions)
    ]
    return sorted((one for one in found if one.owner != one.other), key=lambda one: (one.start, one.end))


def _matching(
    templates: Sequence[Template], text: str, mentions: Sequence[Mention]
) -> Iterator[tuple[Template, dict[str, Mention], list[re.Match[str]]]]:
    """Each template that fits somewhere, with whom it names, and what of it matched."""
    for template in templates if fact_phrases.may_state(text) else ():
        if len(template.names) > len(mentions):
            continue
        for names, matches in _fitting(template, text, mentions):
            start, end = _span(names, matches)
            begin = sentence_begin(text, start)
            rest = _REST.match(text, end)
            behind = rest[0] if rest else ""
            sentence = f"{text[begin:start]} {behind}"
            if not (is_quoted(text, begin, start) or behind.endswith("?") or template.doubt.search(sentence)):
                yield template, names, matches


def _fitting(
    template: Template, text: str, mentions: Sequence[Mention]
) -> Iterator[tuple[dict[str, Mention], list[re.Match[str]]]]:
    first, *others = template.parts
    if not template.names:
        for begin, end in fact_phrases.stretches(text):
            for found in first.finditer(text, begin, end):
                if end == len(text) or text[found.end() : end].strip():  # else the cut looks like the end of the text
                    yield {}, [found]
        return
    for place in range(len(mentions) - len(template.names) + 1):
        named = mentions[place : place + len(template.names)]
        begin = sentence_begin(text, named[0].start)
        before = first.search(text[begin : named[0].start])
        if before is None or (template.predicate not in STATED_ROLES and not named[0].is_subject and not before[0]):
            continue
        matches = [before]
        for one, part, following in zip(named, others, [*named[1:], None], strict=True):
            match = part.match(text, one.end) if following is None else part.fullmatch(text, one.end, following.start)
            if match is None:
                break
            matches.append(match)
        else:
            yield dict(zip(template.names, named, strict=True)), matches


def _span(names: dict[str, Mention], matches: list[re.Match[str]]) -> tuple[int, int]:
    """Where the whole of it stands."""
    if not names:
        return matches[0].span()
    starts, ends = [one.start for one in names.values()], [one.end for one in names.values()]
    return min(starts) - len(matches[0][0]), max(*ends, matches[-1].end())


def _value(predicate: str, matches: Iterable[re.Match[str]], day: date | None) -> str | None:
    said = {name: value for match in matches for name, value in match.groupdict().items() if value}
    if "age" in said:
        years = fact_phrases.years(said["age"])
        if day is None or not 0 < years < min(_OLDEST, day.year - 1):
            return None
        return _born_between(day, years) if predicate == "born" else _birthday(day, years)
    if "date" in said:
        return _iso(said["date"])
    return " ".join(next(iter(said.values())).split()) if said else None


def _birthday(day: date, years: int) -> str | None:
    try:
        return day.replace(year=day.year - years).isoformat()
    except ValueError:  # the 29th of February of a year that has none
        return None


def _born_between(day: date, years: int) -> str:
    """The first and the last day on which somebody was born who is so many years old on a day."""
    day = day.replace(day=28) if (day.month, day.day) == (2, 29) else day
    return f"{day.replace(year=day.year - years - 1) + timedelta(days=1)}/{day.replace(year=day.year - years)}"


def _iso(said: str) -> str | None:
    """`3 March 1990` as 1990-03-03, `3 March` as 03-03, `1990` as it is; None for what is no date."""
    numbers = [int(one) for one in re.findall(r"\d+", said)]
    words = re.findall(r"[^\W\d_]+", said.lower())
    named = [number for word in words if (number := _month(word))]
    if not named and len(numbers) == 1:
        return said.strip() if 1900 <= numbers[0] < 2100 else None
    day, month, *year = [numbers[0], *named[:1], *numbers[1:]] if named else numbers
    try:
        made = date(year[0] if year else 2000, month, day)
    except ValueError:
        return None
    return made.isoformat() if year else made.strftime("%m-%d")


def _month(word: str) -> int | None:
    months = fact_phrases.months()
    return months.get(word) or months.get(word.removeprefix("ב"))


def _relatives(text: str, mentions: Sequence[Mention]) -> Iterator[TextualFact]:
    """Relatives by a name that no known person bears: `my brother Gilad`, `jsem maminka Filipa`."""
    every = with_strangers(text, mentions)
    for one in stated_relations(text, every) if len(every) > len(mentions) else ():
        type_ = one.relationship_type
        back = INVERSE.get(type_, type_)
        if isinstance(one.other, Mention) and is_stranger(one.other) and not is_stranger(one.owner):
            yield TextualFact(one.owner, type_, base_name(text, one.other), one.start, one.end)
        elif isinstance(one.owner, Mention) and is_stranger(one.owner) and back in _KIN and not is_stranger(one.other):
            yield TextualFact(one.other, back, base_name(text, one.owner), one.start, one.end)


def is_stranger(end: End) -> bool:
    """Whether it is somebody who is named and whom nobody knows."""
    return isinstance(end, Mention) and not end.person_ids
