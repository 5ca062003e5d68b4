"""Names of known people in texts, of any script: whole words, with prefixed letters and the endings of cases.

An automaton finds where a name may begin, all names at once; whether a word is one of its forms is looked up. A name of
one word that several people bear is taken for the one who takes part in the conversation, else for nobody. A family
name alone counts behind a title: Dr. Beneš, paní Nováková.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from ahocorasick_rs import AhoCorasick, Implementation

from relrag_pipelines import languages
from relrag_pipelines.text.analyzer import PREFIXED_LETTER
from relrag_pipelines.text.names import tables
from relrag_pipelines.text.names.forms import WORD, as_given, inflections, of_name, without_accents, words
from relrag_pipelines.text.names.personal_name import parse

_PREFIX = re.compile("|".join(one.name_prefix for one in languages.languages() if one.name_prefix) or "(?!)")
"""what is written before a name, as part of the word"""
_LONGEST_PREFIX = 5
_FEWEST_BEHIND_PREFIX = 3
"""letters of a name that may have a prefix: of shorter ones it would be found in common words, מה in למה"""
_NEXT = re.compile(r"(?:[ \u00a0]|[-\u2010\u2011\u05be'’.]{1,2} ?)([^\W\d_]+)")
_TITLE = re.compile(r"([^\s.]+)\.?\s$")
_LONGEST_TITLE = 12
_REMEMBERED = 1 << 13
"""texts whose names are kept at hand; a month of most sources has fewer"""
MOST_WORDS = 5
"""words of a name that is looked for"""


class Mention(NamedTuple):
    """A name in a text."""

    start: int
    end: int
    """behind the last character, in code points"""
    person_ids: tuple[int, ...]
    """who bears the name"""
    is_word: bool
    """the name is also a common word: it counts only for one who takes part"""
    is_subject: bool = True
    """it stands as it is given; else it is inflected, or a possessive"""


class _First(NamedTuple):
    """What is known of a word that a name may begin with."""

    most_words: int
    """of a name that begins with it"""
    single_ids: tuple[int, ...]
    """who bears it as a name of one word"""
    family_ids: tuple[int, ...]
    """who bears it as a family name"""
    is_word: bool
    is_subject: bool


class MentionFinder:
    """Finds the names of some people in texts."""

    def __init__(self, people: Mapping[int, Iterable[str]]) -> None:
        """`people`: the names of each person by id, as written."""
        given: defaultdict[str, set[int]] = defaultdict(set)
        cases: defaultdict[str, set[int]] = defaultdict(set)
        whole: defaultdict[str, set[int]] = defaultdict(set)
        family: defaultdict[str, set[int]] = defaultdict(set)
        subjects: set[str] = set()
        for person_id, names in people.items():
            for name in names:
                said, parsed = words(name), parse(name)
                if not said or len(said) > MOST_WORDS or parsed.is_kin or parsed.is_organisation:
                    continue
                if len(said[0]) > 1:
                    for form in as_given(said[0]):
                        given[form].add(person_id)
                    for form in inflections(said[0]):
                        cases[form].add(person_id)
                subjects |= {" ".join(form) for form in (said, tuple(map(without_accents, said)))}
                for several in of_name(said) if len(said) > 1 else ():
                    whole[" ".join(several)].add(person_id)
                for form in as_given(said[-1]) | inflections(said[-1]) if len(said) > 1 and len(said[-1]) > 1 else ():
                    family[form].add(person_id)
        self._whole = {form: (tuple(sorted(ids)), form in subjects) for form, ids in whole.items()}
        single = cases | given  # Petra is Petra where there is one, else a case of Petr
        self._firsts = _firsts(single, family, whole, cases.keys() - given.keys())
        # a text is read for who is named and for what it says of them, a subject once for each message of its chat
        self._remembered: dict[str, tuple[Mention, ...]] = {}
        beginnings = _shortest(self._firsts)
        self._automaton = AhoCorasick(beginnings, implementation=Implementation.DFA) if beginnings else None

    def find(self, text: str) -> tuple[Mention, ...]:
        """Every name in a text in NFC, in order; of overlapping ones the longest."""
        found = self._remembered.get(text)
        if found is None:
            if len(self._remembered) >= _REMEMBERED:
                self._remembered.clear()  # the order that lru_cache keeps costs a tenth of the search
            found = self._remembered[text] = self._find(text)
        return found

    def _find(self, text: str) -> tuple[Mention, ...]:
        found: list[Mention] = []
        behind = 0
        hits = self._automaton.find_matches_as_indexes(text, overlapping=True) if self._automaton else ()
        for _, start, end in hits:
            if start < behind:
                continue
            if rest := WORD.match(text, end) if text[end : end + 1].isalpha() else None:
                end = rest.end()
            first = self._firsts.get(text[start:end])
            if first is None or (start and text[start - 1].isalnum() and not _has_prefix(text, start, end)):
                continue
            if mention := self._mention_at(text, start, end, first):
                found.append(mention)
                behind = mention.end
        return tuple(found)

    def people(self, text: str, present: Collection[int] = ()) -> set[int]:
        """Who is mentioned: by a name that nobody else bears, or that only one of those present bears."""
        found = self.find(text)  # mostly nobody
        return {one for mention in found if (one := certain_person(mention, present)) is not None} if found else set()

    def _mention_at(self, text: str, start: int, end: int, first: _First) -> Mention | None:
        """The longest name that begins with the word from `start` to `end`, if one does."""
        if first.most_words > 1 and (mention := self._several_words_at(text, start, end, first.most_words)):
            return mention
        if first.family_ids and _has_title(text, start):
            return Mention(start, end, first.family_ids, False, first.is_subject)
        return Mention(start, end, first.single_ids, first.is_word, first.is_subject) if first.single_ids else None

    def _several_words_at(self, text: str, start: int, end: int, most: int) -> Mention | None:
        name, longest = text[start:end], None
        for _ in range(most - 1):
            following = _NEXT.match(text, end)
            if following is None:
                break
            name, end = f"{name} {following[1]}", following.end()
            if whole := self._whole.get(name):
                longest = Mention(start, end, whole[0], False, whole[1])
        return longest


def certain_person(mention: Mention, present: Collection[int] = ()) -> int | None:
    """The person whom a name means: who alone bears it of those present, or of all; None where that is not certain."""
    here = [one for one in mention.person_ids if one in present]
    if len(here) == 1:
        return here[0]
    return mention.person_ids[0] if len(mention.person_ids) == 1 and not mention.is_word else None


def _has_title(text: str, start: int) -> bool:
    """Whether `Dr.`, `pan` or `Mrs` stands before a name, so that a family name alone is one."""
    before = _TITLE.search(text, max(0, start - _LONGEST_TITLE), start)
    return before is not None and tables.plain(before[1]) in tables.before_family_names()


def _has_prefix(text: str, start: int, end: int) -> bool:
    """Whether what stands before a name, up to the beginning of the word, is written so before names."""
    if end - start < _FEWEST_BEHIND_PREFIX or not PREFIXED_LETTER.match(text, start):
        return False
    begin = start
    while begin and start - begin <= _LONGEST_PREFIX and text[begin - 1].isalnum():
        begin -= 1
    return _PREFIX.fullmatch(text, begin, start) is not None


def _firsts(
    single: Mapping[str, set[int]], family: Mapping[str, set[int]], whole: Iterable[str], inflected: Collection[str]
) -> dict[str, _First]:
    """What is known of each word that a name may begin with, of one word or of several."""
    lengths: dict[str, int] = {}
    for form in whole:
        first, *rest = form.split(" ")
        lengths[first] = max(lengths.get(first, 1), len(rest) + 1)
    return {
        form: _First(
            lengths.get(form, 1),
            tuple(sorted(single.get(form, ()))),
            tuple(sorted(family.get(form, ()))),
            form in tables.common(),
            form not in inflected,
        )
        for form in {*single, *lengths, *family}
    }


def _shortest(forms: Iterable[str]) -> list[str]:
    """The forms without those that begin with another: the automaton has to find only where a name may begin."""
    found: list[str] = []
    for form in sorted(forms):
        if not found or not form.startswith(found[-1]):
            found.append(form)
    return found
