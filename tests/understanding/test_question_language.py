"""The language of a question is told by few words: its function words, its letters, and how it asks."""

import pytest

from relrag_query.understanding.question_language import question_language
from tests.cases import cases


@pytest.mark.parametrize(*cases(__file__, "the_language_of_a_question"))
def test_the_language_of_a_question(question: str, language: str) -> None:
    assert question_language(question) == language
