"""The language of a question, for the words around its answer: by function words and letters, then by how it asks.

py3langid, which takes most of a second to load and is often wrong on four words, decides between what is then alike.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from relrag_pipelines import languages
from relrag_pipelines.text import language
from relrag_pipelines.text.analyzer import language_votes
from relrag_query.understanding.phrases import asking_pattern, bare


def question_language(question: str, expected: Collection[str] = ()) -> str:
    """The ISO 639-1 code of the language that a question is most likely in; the default where nothing tells.

    Of languages that are as likely those `expected`, of the archive, come before the others.
    """
    votes = language_votes(question)
    likeliest = _likeliest(votes)
    likeliest = [code for code in likeliest if code in expected] or likeliest
    plain = bare(question)
    signs = {code: (_letters_asking(plain, code), votes.get(code, 0), code == languages.DEFAULT) for code in likeliest}
    most = max(signs.values())
    alike = [code for code in sorted(signs) if signs[code] == most]
    return alike[0] if len(alike) == 1 else language.likeliest(question, alike) or alike[0]


def _likeliest(votes: Mapping[str, int]) -> Sequence[str]:
    """The languages that at least as many words speak for as for the default one; all where no word tells."""
    least = votes.get(languages.DEFAULT, max(votes.values(), default=0))
    likeliest = [code for code, count in votes.items() if count >= least]
    return likeliest if any(votes.values()) else languages.codes("questions")


def _letters_asking(plain: str, code: str) -> int:
    """How many letters of a question ask in the words of a language."""
    return sum(len(match[0]) for match in asking_pattern(code).finditer(plain))
