"""The language of a question is told by few words: its function words, its letters, and how it asks."""

import pytest

from relrag_query.understanding.question_language import question_language
from tests.cases import cases


@pytest.mark.parametrize(*cases(__file__, "the_language_of_a_question"))
def test_the_language_of_a_question(question: str, language: str) -> None:
    assert question_language(question) == language


@pytest.mark.parametrize(
    ("question", "languages", "language"),
    [
        ("how much is granny's care home a month", ("en", "fr"), "en"),
        ("groupe sanguin de maman", ("en", "fr"), "fr"),
        ("What is in the green box?", ("cs", "pl"), "en"),
    ],
)
def test_a_language_of_the_archive_comes_before_another_that_is_as_likely(
    question: str, languages: tuple[str, ...], language: str
) -> None:
    assert question_language(question, languages) == language
