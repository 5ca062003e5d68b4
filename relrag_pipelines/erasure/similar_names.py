"""Finds who else may be the person to be forgotten: other spellings, and addresses that appear with the name.

Only what the sources pin to the same person (`person_id`) counts as that person. The rest is shown to the owner, who
names it or does not: a brother has the same name and the same phone. Names are shown, never stored or logged.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import pyarrow.compute as pc
from anyascii import anyascii

from relrag_pipelines.erasure import record_selection, rule_matching
from relrag_pipelines.erasure.record_selection import ErasureSelection
from relrag_pipelines.erasure.rule_matching import RuleMatcher
from relrag_pipelines.identity.participants import ParsedIdentifier, parse_identifiers
from relrag_pipelines.workspace import Workspace

_PEOPLE = ("from", "to", "participants", "people")
"""columns of private records that say who somebody is"""
_SPOKEN = (*_PEOPLE, "subject", "text")
_WORD = re.compile(r"[^\W\d_](?:[^\W\d_]|[\u0300-\u036f\u0591-\u05c7'’])*")
_LONGEST_ENDING = 3
"""letters, of a case or of another form of a name: Novák, Novákovi"""
_LEAST_STEM = 3
_SOUNDS = (("ph", "f"), ("ck", "k"), ("c", "k"), ("q", "k"), ("w", "v"), ("j", "y"))
_FIRST_OTHER_SCRIPT = 0x370
"""code point; before it all letters are Latin"""


@dataclass(frozen=True)
class SimilarName:
    """Somebody who may be meant as well."""

    value: str
    """as the archive writes it"""
    records: int
    """how many records that stay hold it"""
    same_entry: bool
    """it is an address, number or name that stands beside one that was named; else it is written alike"""


def same_person_values(workspace: Workspace, who: str) -> list[str]:
    """What else the sources pin to the one person whom they pin `who` to, and to nobody else.

    A single word is too common to be added. Nothing where several people have that name. The numbers of a source are
    its own: another may give the same one to somebody else.
    """
    wanted = {(one.kind, one.normalised) for one in parse_identifiers(who, regions=workspace.regions)}
    values: dict[tuple[str, int], dict[tuple[str, str], str]] = defaultdict(dict)
    regions = workspace.regions
    for source, _, table in record_selection.private_months(workspace):
        people = pc.list_flatten(table["people"]).combine_chunks()
        names, ids = (people.field(name) for name in ("name", "person_id"))
        for name, person in {*zip(names.to_pylist(), ids.to_pylist(), strict=True)}:
            if person is not None:
                values[source, person] |= {
                    (one.kind, one.normalised): one.value for one in parse_identifiers(name, regions=regions)
                }
    found = {person for person, held in values.items() if not wanted.isdisjoint(held)}
    if len({number for _, number in found}) != 1:
        return []
    held = {key: value for person in sorted(found) for key, value in values[person].items()}
    others = {key for person in values.keys() - found for key in values[person]}
    return sorted(
        value
        for key, value in held.items()
        if key not in wanted and key not in others and (key[0] != "name" or len(_words(value)) > 1)
    )


def find_candidates(
    workspace: Workspace, named: Iterable[str], chosen: ErasureSelection, matcher: RuleMatcher
) -> list[SimilarName]:
    """Who may be meant too in the records that stay, those with most records first."""
    regions = workspace.regions
    wanted = [one for who in named for one in parse_identifiers(who, regions=regions)]
    beside = _same_entry_values(workspace, wanted, chosen)
    names = {tuple(words) for one in wanted if one.kind == "name" and (words := _words(one.value))}
    written = [_NamePattern(name) for name in sorted(names)]
    forms: dict[str, str] = {}
    holding: dict[tuple[str, bool], set[str]] = defaultdict(set)
    for source, _, table in record_selection.private_months(workspace):
        staying = table.filter(pc.invert(chosen.rows(source, table)))
        ids = staying["asset_id"].to_pylist()
        for column, texts, rows in rule_matching.external_strings(staying.select(_SPOKEN)):
            coded = texts.dictionary_encode()
            told = [
                _namesakes_in_text(text, column, beside, written, matcher, regions)
                for text in coded.dictionary.to_pylist()
            ]
            for row, code in zip(rows.tolist(), coded.indices.to_pylist(), strict=True):
                for value, is_beside in told[code]:
                    key = forms.setdefault(_plain(value), value)
                    holding[key, is_beside].add(ids[row])
    found = [SimilarName(value, len(records), is_beside) for (value, is_beside), records in holding.items()]
    return sorted(found, key=lambda one: (-one.records, one.value))


def _namesakes_in_text(
    text: str,
    column: str,
    beside: set[tuple[str, str]],
    written: list[_NamePattern],
    matcher: RuleMatcher,
    regions: tuple[str, ...],
) -> list[tuple[str, bool]]:
    """What a string says of namesakes, and whether each is known from beside the name."""
    found = []
    if column in _PEOPLE:
        named = parse_identifiers(text, regions=regions)
        found = [(one.value, True) for one in named if (one.kind, one.normalised) in beside]
    near = {value for name in written for value in name.find(text) if not matcher.names(value)}
    return found + [(value, False) for value in near if (value, True) not in found]


def _same_entry_values(
    workspace: Workspace, wanted: list[ParsedIdentifier], chosen: ErasureSelection
) -> set[tuple[str, str]]:
    """What stands in one string with a name that is to be forgotten, or on the same card."""
    keys, regions = {(one.kind, one.normalised) for one in wanted}, workspace.regions
    found: set[tuple[str, str]] = set()
    for table in record_selection.selected_rows(workspace, chosen):
        alone = (
            text
            for name, texts, _ in rule_matching.external_strings(table)
            if name in _PEOPLE[:3]
            for text in pc.unique(texts).to_pylist()
        )
        together: list[list[ParsedIdentifier]] = [parse_identifiers(text, regions=regions) for text in alone]
        for people in table["people"].to_pylist():
            together.append(
                [
                    one
                    for card in people
                    if card["role"] == "owner"
                    for one in parse_identifiers(card["name"], regions=regions)
                ]
            )
        for several in together:
            held = {(one.kind, one.normalised) for one in several}
            if not held.isdisjoint(keys):
                found |= held
    return found - keys


class _NamePattern:
    """The ways in which a name may be written; one of a single word only without marks or in another alphabet."""

    def __init__(self, name: tuple[str, ...]) -> None:
        self._name = name
        self._near = functools.lru_cache(200_000)(self._places)

    def find(self, text: str) -> Iterator[str]:
        """Words that follow each other and are each like another one of the name, in order or the other way round."""
        words = [(found.start(), found.end(), near) for found in _WORD.finditer(text) if (near := self._near(found[0]))]
        size = len(self._name)
        for place in range(len(words) - size + 1):
            here = words[place : place + size]
            if any(text[one[1] : two[0]].strip(" ,\n\t") for one, two in pairwise(here)):
                continue
            orders = (range(size), range(size - 1, -1, -1))
            if any(all(part in near for part, (_, _, near) in zip(order, here, strict=True)) for order in orders):
                yield " ".join(text[here[0][0] : here[-1][1]].split())

    def _places(self, word: str) -> frozenset[int]:
        if word[0].islower():
            return frozenset()
        if len(self._name) == 1:
            return frozenset({0} if _phonetic_form(_plain(word)) == _phonetic_form(_plain(self._name[0])) else ())
        return frozenset(place for place, own in enumerate(self._name) if names_match(own, word))


def names_match(one: str, two: str) -> bool:
    """Whether two words may be one name: without marks, in another case, one letter apart, or in another script."""
    one, two = _plain(one), _plain(two)
    if _is_latin(one) != _is_latin(two):
        others = two if _is_latin(one) else one
        without = {others, *(others[cut:] for cut in (1, 2) if rule_matching.has_prefix(others, cut))}
        latin = one if _is_latin(one) else two
        return any(not _skeletons(latin).isdisjoint(_skeletons(other)) for other in without)
    first, second = _phonetic_form(one), _phonetic_form(two)
    shared = next((at for at, pair in enumerate(zip(first, second, strict=False)) if pair[0] != pair[1]), None)
    shared = min(len(first), len(second)) if shared is None else shared
    endings = sorted((len(first) - shared, len(second) - shared))
    stem = min(_LEAST_STEM, max(2, min(len(first), len(second)) - 1))  # of Eva it is Ev
    if shared >= stem and endings[0] < _LONGEST_ENDING and endings[1] <= _LONGEST_ENDING:
        return True
    return first == second or (min(len(first), len(second)) > _LEAST_STEM and _differ_by_one_letter(first, second))


def _differ_by_one_letter(one: str, two: str) -> bool:
    """Whether one letter more, less or other makes them the same."""
    while one and two and one[0] == two[0]:
        one, two = one[1:], two[1:]
    while one and two and one[-1] == two[-1]:
        one, two = one[:-1], two[:-1]
    return len(one) <= 1 and len(two) <= 1


def _words(text: str) -> list[str]:
    return _WORD.findall(text)


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _is_latin(word: str) -> bool:
    return ord(word[0]) < _FIRST_OTHER_SCRIPT


@functools.lru_cache(100_000)
def _phonetic_form(word: str) -> str:
    """A word in plain letters, as it sounds: Łukasz, Lucas."""
    said = anyascii(word).lower()
    for written, sound in _SOUNDS:
        said = said.replace(written, sound)
    return re.sub(r"(.)\1", r"\1", said)


def _skeletons(word: str) -> set[str]:
    """The consonants, in which scripts without vowels and those with them agree; v may be either."""
    consonants = re.sub("[aeiouyh']", "", _phonetic_form(word))
    return {form for form in (consonants, consonants.replace("v", "")) if len(form) > 1}
