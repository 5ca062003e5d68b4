"""Selects the text units that a question is about, by its time and its words.

`what did the family discuss most in 2024` leaves `family` and the year. A word stands for the documents and people that
are called so, else for the passages that hold it; one that names a role (the landlord) also for the person beside whom
it mostly stands.
"""

from __future__ import annotations

import functools
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from zoneinfo import ZoneInfo

from relrag_pipelines.languages import languages
from relrag_pipelines.text.analyzer import PREFIXED, fold
from relrag_pipelines.text.kinship import types_of_word, words_for
from relrag_query.graphrag.corpus import PERSON, Corpus
from relrag_query.graphrag.support import Support, beginnings
from relrag_query.understanding.phrases import bare, load_phrases
from relrag_query.understanding.time_expressions import TimeRange, time_range

_TOGETHER = 0.5
"""share of a person's passages that hold a word, from which on it may be said of that person"""
_ROLES = 2
"""maximum number of people whom one word means"""
_FAMILY = tuple(word for language in languages() for word in language.family)
KIN = frozenset(
    {"parent", "child", "sibling", "spouse", "partner", "grandparent", "grandchild", "aunt_or_uncle", "cousin"}
    | {"nephew_or_niece", "parent_in_law", "child_in_law", "sibling_in_law"}
)
"""relationship types of a family"""
_MIN_MATCHES, _MAX_RELATED = 3, 12
"""minimum of text units with a word; below it, up to so many results of a search by meaning are added"""


@dataclass(frozen=True)
class Scope:
    """The part of an index that a question is about."""

    units: tuple[int, ...]
    """rows of text_units, in order"""
    words: tuple[str, ...]
    """that were looked for, as they stand in the question"""
    time: TimeRange | None
    people: tuple[str, ...] = ()
    """titles of the people that the words stand for"""
    unknown: tuple[str, ...] = ()
    """words that nothing is called by"""


Relatives = Mapping[str, Collection[int]]
"""relationship type -> the people whom the archive's owner is so related to"""


def scope_of(
    question: str,
    corpus: Corpus,
    now: datetime,
    zone: ZoneInfo,
    related: Sequence[int] = (),
    relatives: Relatives = MappingProxyType({}),
) -> Scope:
    """The scope of a question; `related` are text units that a search by meaning finds, best first."""
    time = time_range(question, now, zone)
    rest = time.remove_from(question) if time else question
    within = [unit for unit in range(len(corpus.texts)) if time is None or time.holds(*corpus.times[unit])]
    words = words_of(rest)
    if not words:
        return Scope(tuple(within), (), time)
    units_of_words: set[int] = set()
    people: dict[str, None] = {}
    unknown = []
    for word in words:
        matches, names = _find_by_name(word, corpus, relatives)
        if not matches.intersection(within):
            unknown.append(word)
            matches, names = _find_by_text(word, corpus)
            if len(matches.intersection(within)) < _MIN_MATCHES:
                matches |= set(related[:_MAX_RELATED])
        people |= dict.fromkeys(names)
        units_of_words |= matches
    scope_units = tuple(unit for unit in within if unit in units_of_words)
    return Scope(scope_units, tuple(words), time, tuple(people), tuple(unknown))


def words_of(question: str) -> list[str]:
    """The words of a question that carry its topic, as written."""
    topic = load_phrases().intent.overview.sub(lambda match: " " * len(match[0]), bare(question))
    candidates = [
        word
        for match in re.finditer(r"[^\W_]+(?:['’״\"-][^\W_]+)*", question)
        if (word := match[0]) and topic[match.start() : match.end()].strip()
    ]
    return [word for word in candidates if beginnings(word)]


def _entities_of_relatives(types: Iterable[str], corpus: Corpus, relatives: Relatives) -> set[int]:
    """The entities of the owner's relatives of these types."""
    people = (person for type_ in types for person in relatives.get(type_, ()))
    return {row for person in people for row in corpus.entities_of_person(person)}


def _find_by_name(word: str, corpus: Corpus, relatives: Relatives) -> tuple[set[int], list[str]]:
    """Text units of documents and people with a name or relation to the owner, and these people."""
    is_meant, types = _matcher(word), _types(word)
    units_by_title = {unit for unit, title in enumerate(corpus.documents) if is_meant(fold(title))}
    relatives_ = _entities_of_relatives(types, corpus, relatives)
    entities = [
        row
        for row, title in enumerate(corpus.titles)
        if corpus.types[row] == PERSON and (row in relatives_ or is_meant(fold(title)))
    ]
    return units_by_title | {unit for row in entities for unit in corpus.units_of_entity[row]}, _titles(
        entities, corpus
    )


def _types(word: str) -> frozenset[str]:
    """The relationship types that a word names; for a family all of kin."""
    return KIN if load_phrases().intent.family.search(bare(word)) else types_of_word(word)


def _find_by_text(word: str, corpus: Corpus) -> tuple[set[int], list[str]]:
    """The text units that contain a word, those of the people it mostly occurs with, and these people."""
    is_meant = _matcher(word)
    holding = {unit for unit, text in enumerate(corpus.folded_texts) if is_meant(text)}
    roles = _people_in_units(holding, corpus)
    return holding | {unit for row in roles for unit in corpus.units_of_entity[row]}, _titles(roles, corpus)


def _titles(entities: Sequence[int], corpus: Corpus) -> list[str]:
    return [corpus.titles[row] for row in entities]


@functools.lru_cache(maxsize=256)
def _matcher(word: str) -> Callable[[str], object]:
    """Whether a folded text contains a word, or another word in any language for the same relationship."""
    types = _types(word)
    if not types:
        return Support(word).matches
    words = sorted({fold(word), *(_FAMILY if types == KIN else ()), *words_for(types)}, key=len, reverse=True)
    return re.compile(rf"(?<!\w)[{PREFIXED}]{{0,2}}(?:{'|'.join(map(re.escape, words))})(?!\w)").search


def _people_in_units(units: set[int], corpus: Corpus) -> list[int]:
    """The people in whose passages a word mostly occurs."""
    counts = Counter(row for unit in units for row in corpus.entities_of_unit[unit] if corpus.types[row] == PERSON)
    total = len(corpus.texts)
    scores = {
        row: count * math.log(total / len(corpus.units_of_entity[row]))
        for row, count in counts.items()
        if count > 1 and count / len(corpus.units_of_entity[row]) >= _TOGETHER
    }
    return sorted(scores, key=lambda row: (-scores[row], row))[:_ROLES]
