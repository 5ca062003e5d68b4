"""Other wordings of a question's words in texts.

A name in another script, or another name of its only bearer; a kin term in another language.
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

_MIN_LETTERS = 3
"""letters of a name behind a prefixed letter, and of a kin term: the shorter בן and בת are parts of other words"""


def wordings(named: Iterable[IndexedPerson] = ()) -> Callable[[str], frozenset[str]]:
    """A function that gives the other wordings of a word of a question, folded by `fold`; of most words none.

    `named` are the people whom the question names.
    """
    return functools.partial(_word_wordings, given_names=[_given_names(person) for person in named])


def _word_wordings(written: str, given_names: Sequence[Collection[str]]) -> frozenset[str]:
    word = next(iter(WORD.findall(written)), "")
    forms = [word, word[1:]] if word[:1] in PREFIXED and len(word) > _MIN_LETTERS else [word]
    wordings = frozenset[str]().union(*(_name_wordings(form, given_names) for form in forms), _kin_wordings(word))
    return wordings - {tables.plain(form) for form in forms}


def _name_wordings(name: str, given_names: Sequence[Collection[str]]) -> frozenset[str]:
    """`given_names` has the given names of each person whom the question names."""
    plain = tables.plain(name)
    bearers = [person_names for person_names in given_names if plain in person_names]
    if not plain or (not bearers and (plain not in tables.given_names() or name.title() in tables.common())):
        return frozenset()
    own = bearers[0] if len(bearers) == 1 else ()
    return frozenset({*other_scripts(name), *own})


def _given_names(person: IndexedPerson) -> set[str]:
    """The given names of a person, in all their spellings."""
    names = (words(row["alias"]) for row in person.aliases if row["kind"] == "name")
    return {tables.plain(name_words[0]) for name_words in names if name_words}


def _terms_of_type(table: Mapping[str, str], type_: str) -> set[str]:
    """The kin terms of a language that mean a type of relative."""
    return {fold(term) for term, kind in table.items() if kind == type_}


@functools.lru_cache(1 << 10)
def _kin_wordings(word: str) -> frozenset[str]:
    """The kin terms of other languages of the same type and gender."""
    types = kinship.types_of_word(word)
    if len(types) != 1 or len(word) < _MIN_LETTERS:
        return frozenset()
    (type_,), gender, own = types, kinship.gender(word), fold(word)
    by_language = [_terms_of_type(table, type_) for table in _tables()]
    other = [terms for terms in by_language if own not in terms and own.removesuffix("s") not in terms]
    return frozenset(term for terms in other for term in terms if " " not in term and kinship.gender(term) == gender)


def _tables() -> Iterable[Mapping[str, str]]:
    """For each language: kin term, in all cases -> relationship type."""
    for language in kinship.LANGUAGES:
        yield {**kinship.types_of(language), **kinship.types_of(language, "mine"), **kinship.inflected_forms(language)}
