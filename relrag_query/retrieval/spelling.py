"""Words of a question that stand nowhere in the archive, and words of the archive that differ from them in a letter.

A mistyped word finds nothing by itself: neither it nor a form of it is in the index. All words that one edit makes of
it are looked up there at once (Norvig, https://norvig.com/spell-correct.html): a letter left out, put in or replaced,
or two letters in the other order. The first letter stays, since few slips change it (Pollock and Zamora 1984,
https://doi.org/10.1145/358027.358048) and many words differ in nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import islice

import duckdb

from relrag_pipelines import languages
from relrag_pipelines.stores.vectors import VectorStore
from relrag_pipelines.text.analyzer import fold, index_text, whole_tokens
from relrag_query.retrieval import catalog_reader
from relrag_query.retrieval.term_coverage import Frequencies, Term, terms_of

Spellings = Mapping[str, Sequence[str]]
"""a word of the question that no passage holds -> words of the archive that it may be"""

_LENGTH = 5
"""letters of a word that is looked up: shorter ones differ from too many others; with four fewer answers are found"""
_LONGEST = 24
"""letters of the longest word that is looked up: what one edit makes of a word grows with the square of its length"""
_MOST_WORDS = 8
"""words of a question that are looked up: one with more is in a language, or about things, that the archive lacks"""
_HELD = 0.9
"""a passage with a token as sure as this holds the word"""
_PASSAGES = 4
"""passages that are read for each word; with eight one more of a hundred words is found"""
_CERTAIN = 6
"""letters of a word whose only correction is taken for what was meant, so that its vector is asked for: with the
rarest word of 520 questions mistyped, e5 found 367 answers instead of 360, and without slips 381 instead of 382"""
_SHARE = 0.8
"""how surely a passage with a word that may be meant holds the one asked for"""
_SCRIPTS = tuple(
    "".join(filter(str.isalpha, map(chr, range(ord(first), ord(last) + 1)))).translate(languages.final_letters())
    for first, last in ("az", "αω", "аџ", "את", "ءي")
)
"""letters of Latin, Greek, Cyrillic, Hebrew and Arabic"""
_WORD = re.compile(r"[^\W\d_]+")


def spellings(
    terms: Sequence[Term], frequencies: Frequencies, store: VectorStore, connection: duckdb.DuckDBPyConnection
) -> Spellings:
    """What the words of a question may mean of which no passage holds any form."""
    unknown = (term for term in terms if _is_unknown(term, frequencies, store))
    return spellings_in_use(list(islice(unknown, _MOST_WORDS)), lambda word: _edits(fold(word)), store, connection)


def spellings_in_use(
    terms: Sequence[Term],
    spell: Callable[[str], Collection[str]],
    store: VectorStore,
    connection: duckdb.DuckDBPyConnection,
) -> Spellings:
    """What `spell` makes of each term, as far as passages hold it, as they write it; `fold` has gone over the words."""
    made = {
        term.word: {token for one in spell(term.word) for token in whole_tokens(one)} - term.tokens.keys()
        for term in terms
    }
    tokens = frozenset[str]().union(*made.values())
    found = store.search(tokens, _PASSAGES * len(made)) if tokens else []
    chunks = catalog_reader.chunks(connection, [one.chunk_id for one in found]) if found else {}
    texts = (index_text(one.text, one.subject, one.from_, one.file_name, None) for one in chunks.values())
    words = {word: whole_tokens(fold(word)) for text in texts for word in _WORD.findall(text.lower())}
    near = {term: [word for word, has in words.items() if not some.isdisjoint(has)] for term, some in made.items()}
    return {term: some for term, some in near.items() if some}


def respell(terms: Sequence[Term], near: Spellings) -> list[Term]:
    """The terms, those that may be mistyped found by what may be meant as well."""
    return [
        replace(term, tokens={**_tokens(near[term.word]), **term.tokens}) if term.word in near else term
        for term in terms
    ]


def correct(text: str, near: Spellings) -> str:
    """The text, words of some length that can mean but one other replaced by this."""
    for word, some in near.items():
        meant = [one for one in some if fold(one) in _edits(fold(word))]
        if len(word) >= _CERTAIN and len(meant) == 1:
            text = text.replace(word, meant[0])
    return text


def _tokens(words: Sequence[str]) -> dict[str, float]:
    return {token: _SHARE * sure for term in terms_of(" ".join(words)) for token, sure in term.tokens.items()}


def _is_unknown(term: Term, frequencies: Frequencies, store: VectorStore) -> bool:
    """Whether a word is long enough to be told by its letters, and no passage holds it."""
    if term.light or term.is_time or not _LENGTH <= len(term.word) <= _LONGEST or not term.word.isalpha():
        return False
    held = [token for token, sure in term.tokens.items() if sure >= _HELD]
    # how often words stand is known of a sample only
    return frequencies.keys().isdisjoint(held) and not store.search(held, 1)


def _edits(word: str) -> Collection[str]:
    """What one slip makes of a word, its first letter kept."""
    letters = next((script for script in _SCRIPTS if word[:1] in script), "")
    made = set()
    for place in range(1, len(word) + 1):
        before, after = word[:place], word[place:]
        made |= {before + after[1:], before + after[1:2] + after[:1] + after[2:]}
        made.update(before + letter + rest for letter in letters for rest in (after, after[1:]))
    return made - {word}
