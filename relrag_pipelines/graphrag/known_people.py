"""Finds people of the archive in texts, and as senders and recipients."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

import ahocorasick_rs
import pandas as pd

from relrag_pipelines.graphrag.entity_candidates import EntityType, is_function_word, says_nothing
from relrag_pipelines.graphrag.entity_selection import Mention
from relrag_pipelines.graphrag.words import is_title, normal_form
from relrag_pipelines.text.analyzer import PREFIXED, PREFIXED_LETTER
from relrag_pipelines.text.letter_case import lower

_WORD = re.compile(r"[^\W\d_]+(?:['’״\"][^\W\d_]+)*")
_MAX_WORDS = 3
"""words of a person's name"""
_ADDRESS = re.compile(r"\s*<[^<>]*>\s*")


class KnownPeople:
    """Names of people, matched in texts in any case, also after a prefixed letter of Hebrew."""

    def __init__(self, people: pd.DataFrame | None, senders: Iterable[str]) -> None:
        """`people` has person_id and name, one row a name, the displayed one first. `senders` are further names."""
        self.titles: dict[str, str] = {}
        """key of a person -> displayed name, with the id if several people share it"""
        self.person_ids: dict[str, int] = {}
        """key of a person -> person_id, if the archive has one"""
        self._keys: dict[str, str] = {}
        if people is not None:
            self._add(people)
        for name in sorted(set(senders)):
            small = lower(name)
            if _is_name(small) and small not in self._keys:
                self._keys[small] = f"person:{small}"
                self.titles[f"person:{small}"] = name
        self.words = self._words()
        """word of a name in normal form -> key of its person; None if several people share it"""
        self._names = list(self._keys)
        leftmost_longest = ahocorasick_rs.MatchKind.LeftmostLongest
        self._automaton = ahocorasick_rs.AhoCorasick(self._names, matchkind=leftmost_longest)

    def key(self, name: str) -> str | None:
        """Returns the key of the person who bears the name, or None."""
        return self._keys.get(lower(plain_name(name)))

    def mentions(self, unit: int, text: str, headers: Iterable[str]) -> Iterator[Mention]:
        """Mentions of people in a text unit, and in its headers."""
        for name in headers:
            if key := self.key(name):
                yield Mention(unit, key, EntityType.PERSON, name, -1)
        small = lower(text)
        for index, start, end in self._automaton.find_matches_as_indexes(small):
            if _is_whole_word(small, start, end):
                yield Mention(unit, self._keys[self._names[index]], EntityType.PERSON, text[start:end], start)

    def _words(self) -> dict[str, str | None]:
        """Words of names of up to three words; longer names are of firms, or descriptions."""
        keys_by_word: dict[str, set[str]] = {}
        for name, key in self._keys.items():
            words = [normal_form(word) for word in _WORD.findall(name)]
            for word in words if len(words) <= _MAX_WORDS else ():
                if len(word) > 1 and not says_nothing(word) and not is_title(word):
                    keys_by_word.setdefault(word, set()).add(key)
        return {word: next(iter(keys)) if len(keys) == 1 else None for word, keys in sorted(keys_by_word.items())}

    def _add(self, people: pd.DataFrame) -> None:
        names = [(int(person), str(name)) for person, name in zip(people["person_id"], people["name"], strict=True)]
        first_names = Counter(lower(name) for name in dict(reversed(names)).values())
        for person, name in names:
            key, small = f"person:{person}", lower(name)
            if key not in self.titles:
                self.titles[key] = name if first_names[small] == 1 else f"{name} ({person})"
                self.person_ids[key] = person
            if _is_name(small):
                self._keys.setdefault(small, key)


def plain_name(sender: str) -> str:
    """The name in `Name <address>`; empty if there is only an address or number."""
    name = _ADDRESS.sub(" ", sender).strip().strip("\"'")
    return "" if "@" in name or not any(map(str.isalpha, name)) or name.startswith("<") else name


def _is_name(small: str) -> bool:
    return len(small) > 1 and any(map(str.isalpha, small)) and "@" not in small and not is_function_word(small)


def _is_whole_word(text: str, start: int, end: int) -> bool:
    if end < len(text) and (text[end].isalnum() or text[end] == "_"):
        return False
    if start and text[start - 1] in PREFIXED and PREFIXED_LETTER.match(text, start):
        start -= 1
    return not start or not (text[start - 1].isalnum() or text[start - 1] == "_")
