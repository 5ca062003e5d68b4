"""How texts may put a word of a question otherwise.

A name: in another script, or as the other names of whoever alone bears it. A word for what somebody is to another: in
another language.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from relrag_pipelines.text import kinship
from relrag_pipelines.text.analyzer import PREFIXED, fold
from relrag_pipelines.text.names import tables
from relrag_pipelines.text.names.forms import WORD, words
from relrag_pipelines.text.names.transliteration import other_scripts
from relrag_query.people.indexed_person import IndexedPerson

_FEWEST = 3
"""letters of a name behind a prefixed letter, and of a word for a relative: בן and בת stand in other words"""


def wordings(named: Iterable[IndexedPerson] = ()) -> Callable[[str], frozenset[str]]:
    """What gives the other ways to put a word of a question, as `fold` makes them; of most words none.

    `named` are the people whom the question names.
    """
    return functools.partial(_of_word, called=[_given(one) for one in named])


def _of_word(written: str, called: Sequence[Collection[str]]) -> frozenset[str]:
    word = next(iter(WORD.findall(written)), "")
    forms = [word, word[1:]] if word[:1] in PREFIXED and len(word) > _FEWEST else [word]
    found = frozenset[str]().union(*(_of_name(one, called) for one in forms), _of_relative(word))
    return found - {tables.plain(one) for one in forms}


def _of_name(name: str, called: Sequence[Collection[str]]) -> frozenset[str]:
    """`called` has the given names of each person whom the question names."""
    plain = tables.plain(name)
    bearers = [some for some in called if plain in some]
    if not plain or (not bearers and (plain not in tables.given_names() or name.title() in tables.common())):
        return frozenset()
    own = bearers[0] if len(bearers) == 1 else ()
    return frozenset({*other_scripts(name), *own})


def _given(person: IndexedPerson) -> set[str]:
    """The given names of a person, in all their spellings."""
    names = (words(row["alias"]) for row in person.aliases if row["kind"] == "name")
    return {tables.plain(said[0]) for said in names if said}


@functools.lru_cache(1 << 10)
def _of_relative(word: str) -> frozenset[str]:
    """The words of other languages for the same relationship, for a man or for a woman as the word is."""
    types = kinship.types_of_word(word)
    if len(types) != 1 or len(word) < _FEWEST:
        return frozenset()
    (type_,), sex, own = types, kinship.gender(word), fold(word)
    every = [{fold(one) for one, kind in table.items() if kind == type_} for table in _tables()]
    other = [said for said in every if own not in said and own.removesuffix("s") not in said]
    return frozenset(one for said in other for one in said if " " not in one and kinship.gender(one) == sex)


def _tables() -> Iterable[Mapping[str, str]]:
    """Of each language the words for what somebody is to another, in all cases -> relationship type."""
    for language in kinship.LANGUAGES:
        yield {**kinship.types_of(language), **kinship.types_of(language, "mine"), **kinship.inflected_forms(language)}
