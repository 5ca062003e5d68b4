"""The language of a question, for the words around its answer: by function words and letters, then by how it asks.

py3langid, which tells the language of longer texts, takes most of a second to load, and is often wrong on four words.
"""

from __future__ import annotations

from collections.abc import Sequence

from relrag_pipelines import languages
from relrag_pipelines.text.analyzer import language_votes
from relrag_query.understanding.phrases import asking_pattern, bare


def question_language(question: str) -> str:
    """The ISO 639-1 code of the language that a question is most likely in; the default where nothing tells."""
    votes = language_votes(question)
    least = votes.get(languages.DEFAULT, max(votes.values(), default=0))
    likeliest = [code for code, count in votes.items() if count >= least] if any(votes.values()) else _with_questions()
    if len(likeliest) == 1:
        return likeliest[0]
    plain = bare(question)
    return max(
        sorted(likeliest),
        key=lambda code: (_letters_asking(plain, code), votes.get(code, 0), code == languages.DEFAULT),
    )


def _with_questions() -> Sequence[str]:
    return languages.codes("questions")


def _letters_asking(plain: str, code: str) -> int:
    """How many letters of a question ask in the words of a language."""
    return sum(len(match[0]) for match in asking_pattern(code).finditer(plain))
