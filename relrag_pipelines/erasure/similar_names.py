"""Finds other names of a person to be forgotten: other spellings, and addresses that appear with the name.

Only values that the sources pin to the same `person_id` count as that person. The rest is shown to the owner, who
decides: a brother may have the same name and the same phone. Names are shown, never stored or logged.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import pyarrow as pa
import pyarrow.compute as pc
from anyascii import anyascii

from relrag_pipelines.erasure import record_selection, rule_matching
from relrag_pipelines.erasure.record_selection import ErasureSelection
from relrag_pipelines.erasure.rule_matching import RuleMatcher
from relrag_pipelines.identity.participants import ParsedIdentifier, parse_identifiers
from relrag_pipelines.workspace import Workspace

_PERSON_COLUMNS = ("from", "to", "participants", "people")
"""columns of private records that identify people"""
_SEARCHED_COLUMNS = (*_PERSON_COLUMNS, "subject", "text")
_WORD = re.compile(r"[^\W\d_](?:[^\W\d_]|[\u0300-\u036f\u0591-\u05c7'’])*")
_MAX_ENDING = 3
"""letters of a case ending or of another form of a name: Novák, Novákovi"""
_MIN_STEM = 3
_SOUNDS = (("ph", "f"), ("ck", "k"), ("c", "k"), ("q", "k"), ("w", "v"), ("j", "y"))
_FIRST_OTHER_SCRIPT = 0x370
"""code point; all letters before it are Latin"""


@dataclass(frozen=True)
class SimilarName:
    """A name, address or number that may belong to the person to be forgotten."""

    value: str
    """as the archive writes it"""
    records: int
    """number of remaining records that hold it"""
    same_entry: bool
    """it appears with a name of the person, in one string or on one card; otherwise its spelling is similar"""


def same_person_values(workspace: Workspace, who: str) -> list[str]:
    """Other names and addresses that the sources pin to the person called `who`, and to nobody else.

    Empty if several people have that name. Single words are too common and are left out. Person ids are compared within
    a source: another source may give the same id to somebody else.
    """
    target = {
        (identifier.kind, identifier.normalised) for identifier in parse_identifiers(who, regions=workspace.regions)
    }
    values = _pinned_values(workspace)
    same_people = {person for person, identifiers in values.items() if not target.isdisjoint(identifiers)}
    if len({number for _, number in same_people}) != 1:
        return []
    other_keys = {key for person in values.keys() - same_people for key in values[person]}
    own = {key: value for person in sorted(same_people) for key, value in values[person].items()}
    others = {key: value for key, value in own.items() if key not in target and key not in other_keys}
    return sorted(value for key, value in others.items() if key[0] != "name" or len(_words(value)) > 1)


def _pinned_values(workspace: Workspace) -> dict[tuple[str, int], dict[tuple[str, str], str]]:
    """Source and pinned id of each person -> kind and normalised value of each identifier -> its value as written."""
    values: dict[tuple[str, int], dict[tuple[str, str], str]] = defaultdict(dict)
    for source, _, table in record_selection.private_months(workspace):
        people = pc.list_flatten(table["people"]).combine_chunks()
        names, ids = (people.field(name) for name in ("name", "person_id"))
        for name, person in {*zip(names.to_pylist(), ids.to_pylist(), strict=True)}:
            if person is not None:
                identifiers = parse_identifiers(name, regions=workspace.regions)
                values[source, person] |= {(part.kind, part.normalised): part.value for part in identifiers}
    return values


def _name_patterns(identifiers: Iterable[ParsedIdentifier]) -> list[_NamePattern]:
    """Patterns of the names among identifiers."""
    names = {tuple(_words(identifier.value)) for identifier in identifiers if identifier.kind == "name"}
    return [_NamePattern(name) for name in sorted(names) if name]


def find_candidates(
    workspace: Workspace, names_given: Iterable[str], chosen: ErasureSelection, matcher: RuleMatcher
) -> list[SimilarName]:
    """Similar names in the remaining records, those with the most records first."""
    regions = workspace.regions
    targets = [identifier for who in names_given for identifier in parse_identifiers(who, regions=regions)]
    neighbours = _same_entry_values(workspace, targets, chosen)
    patterns = _name_patterns(targets)
    forms: dict[str, str] = {}
    holding: dict[tuple[str, bool], set[str]] = defaultdict(set)
    for source, _, table in record_selection.private_months(workspace):
        staying = table.filter(pc.invert(chosen.rows(source, table)))
        ids = staying["asset_id"].to_pylist()
        for column, texts, rows in rule_matching.external_strings(staying.select(_SEARCHED_COLUMNS)):
            coded = texts.dictionary_encode()
            namesakes = [
                _namesakes_in_text(text, column, neighbours, patterns, matcher, regions)
                for text in coded.dictionary.to_pylist()
            ]
            for row, code in zip(rows.tolist(), coded.indices.to_pylist(), strict=True):
                for value, same_entry in namesakes[code]:
                    key = forms.setdefault(_plain(value), value)
                    holding[key, same_entry].add(ids[row])
    candidates = [SimilarName(value, len(records), same_entry) for (value, same_entry), records in holding.items()]
    return sorted(candidates, key=lambda identifier: (-identifier.records, identifier.value))


def _namesakes_in_text(
    text: str,
    column: str,
    neighbours: set[tuple[str, str]],
    patterns: list[_NamePattern],
    matcher: RuleMatcher,
    regions: tuple[str, ...],
) -> list[tuple[str, bool]]:
    """The namesakes in a string, each with whether it appears with a name of the person."""
    pinned = []
    if column in _PERSON_COLUMNS:
        identifiers = parse_identifiers(text, regions=regions)
        pinned = [
            (identifier.value, True)
            for identifier in identifiers
            if (identifier.kind, identifier.normalised) in neighbours
        ]
    near = {value for name in patterns for value in name.find(text) if not matcher.names(value)}
    return pinned + [(value, False) for value in near if (value, True) not in pinned]


def _same_entry_values(
    workspace: Workspace, targets: list[ParsedIdentifier], chosen: ErasureSelection
) -> set[tuple[str, str]]:
    """Identifiers that share a string or a card with a name to be forgotten."""
    keys, regions = {(identifier.kind, identifier.normalised) for identifier in targets}, workspace.regions
    values: set[tuple[str, str]] = set()
    for table in record_selection.selected_rows(workspace, chosen):
        for identifiers in _identifiers_together(table, regions):
            entry_keys = {(identifier.kind, identifier.normalised) for identifier in identifiers}
            if not entry_keys.isdisjoint(keys):
                values |= entry_keys
    return values - keys


def _identifiers_together(table: pa.Table, regions: tuple[str, ...]) -> Iterator[list[ParsedIdentifier]]:
    """The identifiers of each distinct string that names people, and of each record's cards."""
    for column, texts, _ in rule_matching.external_strings(table):
        if column in _PERSON_COLUMNS[:3]:
            for text in pc.unique(texts).to_pylist():
                yield parse_identifiers(text, regions=regions)
    for people in table["people"].to_pylist():
        names = [person["name"] for person in people if person["role"] == "owner"]
        yield [identifier for name in names for identifier in parse_identifiers(name, regions=regions)]


class _NamePattern:
    """Matches other spellings of a name; a single word only without its marks or in another alphabet."""

    def __init__(self, name: tuple[str, ...]) -> None:
        self._name = name
        self._near = functools.lru_cache(200_000)(self._places)

    def find(self, text: str) -> Iterator[str]:
        """Yields adjacent words that match the words of the name, in order or reversed."""
        words = [(match.start(), match.end(), near) for match in _WORD.finditer(text) if (near := self._near(match[0]))]
        size = len(self._name)
        for start in range(len(words) - size + 1):
            window = words[start : start + size]
            if any(text[previous[1] : following[0]].strip(" ,\n\t") for previous, following in pairwise(window)):
                continue
            orders = (range(size), range(size - 1, -1, -1))
            if any(all(part in near for part, (_, _, near) in zip(order, window, strict=True)) for order in orders):
                yield " ".join(text[window[0][0] : window[-1][1]].split())

    def _places(self, word: str) -> frozenset[int]:
        if word[0].islower():
            return frozenset()
        if len(self._name) == 1:
            return frozenset({0} if _phonetic_form(_plain(word)) == _phonetic_form(_plain(self._name[0])) else ())
        return frozenset(index for index, part in enumerate(self._name) if names_match(part, word))


def _match_across_scripts(name: str, foreign: str) -> bool:
    """Whether a word of another script, with or without prefixed letters, may be a name in Latin letters."""
    forms = {foreign, *(foreign[cut:] for cut in (1, 2) if rule_matching.has_prefix(foreign, cut))}
    return any(not _skeletons(name).isdisjoint(_skeletons(form)) for form in forms)


def _share_stem(first: str, second: str) -> bool:
    """Whether two words differ in their endings alone."""
    shared = next((at for at, pair in enumerate(zip(first, second, strict=False)) if pair[0] != pair[1]), None)
    shared = min(len(first), len(second)) if shared is None else shared
    endings = sorted((len(first) - shared, len(second) - shared))
    stem = min(_MIN_STEM, max(2, min(len(first), len(second)) - 1))  # of Eva it is Ev
    return shared >= stem and endings[0] < _MAX_ENDING and endings[1] <= _MAX_ENDING


def names_match(left: str, right: str) -> bool:
    """Whether two words may be one name: without marks, in another case, one letter apart, or in another script."""
    left, right = _plain(left), _plain(right)
    if _is_roman(left) != _is_roman(right):
        return _match_across_scripts(left, right) if _is_roman(left) else _match_across_scripts(right, left)
    first, second = _phonetic_form(left), _phonetic_form(right)
    if _share_stem(first, second):
        return True
    return first == second or (min(len(first), len(second)) > _MIN_STEM and _differ_by_one_letter(first, second))


def _differ_by_one_letter(left: str, right: str) -> bool:
    """Whether inserting, deleting or replacing one letter makes the words equal."""
    while left and right and left[0] == right[0]:
        left, right = left[1:], right[1:]
    while left and right and left[-1] == right[-1]:
        left, right = left[:-1], right[:-1]
    return len(left) <= 1 and len(right) <= 1


def _words(text: str) -> list[str]:
    return _WORD.findall(text)


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _is_roman(word: str) -> bool:
    return ord(word[0]) < _FIRST_OTHER_SCRIPT


@functools.lru_cache(100_000)
def _phonetic_form(word: str) -> str:
    """A word in ASCII letters, spelled by its sound: Łukasz, Lucas."""
    form = anyascii(word).lower()
    for letters, sound in _SOUNDS:
        form = form.replace(letters, sound)
    return re.sub(r"(.)\1", r"\1", form)


def _skeletons(word: str) -> set[str]:
    """The consonants of a word, which also agree with scripts without vowels; v may be a vowel there."""
    consonants = re.sub("[aeiouyh']", "", _phonetic_form(word))
    return {form for form in (consonants, consonants.replace("v", "")) if len(form) > 1}
