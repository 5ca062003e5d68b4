"""How many of the given names in the lists are found in another script, by how they sound: שירן and Shiran."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from relrag_pipelines import languages
from relrag_pipelines.text.names import tables
from relrag_pipelines.text.names.spelling import same, script, skeletons


class Found(NamedTuple):
    """Of the names of one list, how many are found in another script."""

    what: str
    names: int
    found: int

    @property
    def share(self) -> float:
        """0 to 1."""
        return self.found / self.names


def counts() -> list[Found]:
    """Names of each list as it is written, against the names of all lists in the other script."""
    of_scripts: dict[str, set[str]] = {"hebrew": set(), "latin": set()}
    for language in ("en", "he", "cs", "ru"):
        for word in listed(language):
            if (written := script(word)) in of_scripts:
                of_scripts[written].add(word)
    return [
        _found("Hebrew given names, in Latin letters", _of(listed("he"), "hebrew"), of_scripts["latin"]),
        _found("English given names, in Hebrew letters", _of(listed("en"), "latin"), of_scripts["hebrew"]),
        _found("Czech given names, in Hebrew letters", _of(listed("cs"), "latin"), of_scripts["hebrew"]),
    ]


def listed(language: str) -> set[str]:
    """The given names of a list with their short forms, as names are compared."""
    table = languages.table(language, "names")
    words = [form for name, forms in table["given"].items() for form in (name, *forms.split())]
    return {tables.plain(word) for word in (*words, *table.get("further", "").split())}


def own_pairs(language: str) -> tuple[int, list[str]]:
    """How many names a list gives in two scripts, and which of them no form in the other sounds like."""
    apart, count = [], 0
    for name, forms in languages.table(language, "names")["given"].items():
        head = tables.plain(name)
        others = [word for form in forms.split() if script(word := tables.plain(form)) != script(head)]
        count += bool(others)
        if others and not any(same(head, other) for other in others):
            apart.append(head)
    return count, apart


def _of(words: set[str], written: str) -> set[str]:
    return {word for word in words if script(word) == written}


def _found(what: str, words: set[str], others: set[str]) -> Found:
    by_key: defaultdict[str, set[str]] = defaultdict(set)
    for other in others:
        for key in skeletons(other):
            by_key[key].add(other)
    found = sum(any(same(word, other) for key in skeletons(word) for other in by_key[key]) for word in words)
    return Found(what, len(words), found)
