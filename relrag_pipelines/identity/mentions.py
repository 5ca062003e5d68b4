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

_PREFIX = re.compile(
    "|".join(language.name_prefix for language in languages.languages() if language.name_prefix) or "(?!)"
)
"""letters that are written before a name, as part of the word"""
_MAX_PREFIX_LETTERS = 5
_MIN_PREFIXED_LETTERS = 3
"""letters of a name that may have a prefix; shorter names would match parts of common words, מה in למה"""
_NEXT = re.compile(r"(?:[ \u00a0]|[-\u2010\u2011\u05be'’.]{1,2} ?)([^\W\d_]+)")
_TITLE = re.compile(r"([^\s.]+)\.?\s$")
_MAX_TITLE_CHARS = 12
_MAX_CACHED_TEXTS = 1 << 13
"""texts whose names are cached; a month of most sources has fewer"""
MAX_NAME_WORDS = 5
"""words of a name; longer ones are not searched for"""


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
    """it is in the nominative; else it is inflected, or a possessive"""


class _First(NamedTuple):
    """A word that names begin with."""

    most_words: int
    """of a name that begins with it"""
    single_ids: tuple[int, ...]
    """who bears it as a name of one word"""
    family_ids: tuple[int, ...]
    """who bears it as a family name"""
    is_word: bool
    is_subject: bool


class _NameForms:
    """The forms of names, each with the ids of its bearers."""

    def __init__(self) -> None:
        self.given: defaultdict[str, set[int]] = defaultdict(set)
        self.cases: defaultdict[str, set[int]] = defaultdict(set)
        self.whole: defaultdict[str, set[int]] = defaultdict(set)
        self.family: defaultdict[str, set[int]] = defaultdict(set)
        self.subjects: set[str] = set()

    def add(self, name: str, person_id: int) -> None:
        """Adds the forms of a name, unless it is a kin term, an organisation, or too long."""
        name_words, parsed = words(name), parse(name)
        if not name_words or len(name_words) > MAX_NAME_WORDS or parsed.is_kin or parsed.is_organisation:
            return
        first, last = name_words[0], name_words[-1]
        if len(first) > 1:
            self._add_forms(self.given, as_given(first), person_id)
            self._add_forms(self.cases, inflections(first), person_id)
        self.subjects |= {" ".join(form) for form in (name_words, tuple(map(without_accents, name_words)))}
        if len(name_words) > 1:
            self._add_forms(self.whole, map(" ".join, of_name(name_words)), person_id)
            if len(last) > 1:
                self._add_forms(self.family, as_given(last) | inflections(last), person_id)

    def _add_forms(self, bearers: defaultdict[str, set[int]], forms: Iterable[str], person_id: int) -> None:
        for form in forms:
            bearers[form].add(person_id)


def _end_of_word(text: str, position: int) -> int:
    """Where the word ends that goes on at a position; the position itself if none does."""
    rest = WORD.match(text, position) if text[position : position + 1].isalpha() else None
    return rest.end() if rest else position


def _begins_within_word(text: str, start: int, end: int) -> bool:
    """Whether a word begins before the span, by letters that are no prefix of its language."""
    return start > 0 and text[start - 1].isalnum() and not _has_prefix(text, start, end)


class MentionFinder:
    """Finds the names of some people in texts."""

    def __init__(self, people: Mapping[int, Iterable[str]]) -> None:
        """`people`: the names of each person by id, as written."""
        forms = _NameForms()
        for person_id, names in people.items():
            for name in names:
                forms.add(name, person_id)
        self._whole = {form: (tuple(sorted(ids)), form in forms.subjects) for form, ids in forms.whole.items()}
        single = forms.cases | forms.given  # Petra is Petra if there is one, else a case of Petr
        self._firsts = _firsts(single, forms.family, forms.whole, forms.cases.keys() - forms.given.keys())
        # texts are searched more than once: for mentions and for statements, and subjects with each message of a chat
        self._cache: dict[str, tuple[Mention, ...]] = {}
        beginnings = _shortest(self._firsts)
        self._automaton = AhoCorasick(beginnings, implementation=Implementation.DFA) if beginnings else None

    def find(self, text: str) -> tuple[Mention, ...]:
        """Every name in a text in NFC, in order; of overlapping ones the longest."""
        mentions = self._cache.get(text)
        if mentions is None:
            if len(self._cache) >= _MAX_CACHED_TEXTS:
                self._cache.clear()  # the order that lru_cache maintains costs a tenth of the search
            mentions = self._cache[text] = self._find(text)
        return mentions

    def _find(self, text: str) -> tuple[Mention, ...]:
        mentions: list[Mention] = []
        last_end = 0
        hits = self._automaton.find_matches_as_indexes(text, overlapping=True) if self._automaton else ()
        for _, start, end in hits:
            if start < last_end:
                continue
            end = _end_of_word(text, end)
            first = self._firsts.get(text[start:end])
            if first is None or _begins_within_word(text, start, end):
                continue
            if mention := self._mention_at(text, start, end, first):
                mentions.append(mention)
                last_end = mention.end
        return tuple(mentions)

    def people(self, text: str, present: Collection[int] = ()) -> set[int]:
        """The people whom a text certainly mentions: by a name that nobody else has, or nobody else present."""
        mentions = self.find(text)
        if not mentions:  # most texts
            return set()
        people = (certain_person(mention, present) for mention in mentions)
        return {person_id for person_id in people if person_id is not None}

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
    """The person whom a name means: the only bearer among those present, or of all; None if that is not certain."""
    present_ids = [person_id for person_id in mention.person_ids if person_id in present]
    if len(present_ids) == 1:
        return present_ids[0]
    return mention.person_ids[0] if len(mention.person_ids) == 1 and not mention.is_word else None


def _has_title(text: str, start: int) -> bool:
    """Whether `Dr.`, `pan` or `Mrs` is before a name, so that a family name alone counts."""
    title = _TITLE.search(text, max(0, start - _MAX_TITLE_CHARS), start)
    return title is not None and tables.plain(title[1]) in tables.before_family_names()


def _has_prefix(text: str, start: int, end: int) -> bool:
    """Whether the letters before a name, from the beginning of the word, are a prefix."""
    if end - start < _MIN_PREFIXED_LETTERS or not PREFIXED_LETTER.match(text, start):
        return False
    begin = start
    while begin and start - begin <= _MAX_PREFIX_LETTERS and text[begin - 1].isalnum():
        begin -= 1
    return _PREFIX.fullmatch(text, begin, start) is not None


def _firsts(
    single: Mapping[str, set[int]], family: Mapping[str, set[int]], whole: Iterable[str], inflected: Collection[str]
) -> dict[str, _First]:
    """Each first word of names of one or more words."""
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
    shortest: list[str] = []
    for form in sorted(forms):
        if not shortest or not form.startswith(shortest[-1]):
            shortest.append(form)
    return shortest
