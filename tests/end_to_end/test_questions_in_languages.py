"""Questions in languages that have no rules of their own in Python: what they ask for, and of when."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from relrag_query.understanding.intent import asked_values
from relrag_query.understanding.phrases import bare, load_phrases
from relrag_query.understanding.time_expressions import time_range
from tests.cases import cases

NOW = datetime(2025, 1, 22, 12, tzinfo=UTC)
SORTS = ("when", "price", "who", "where", "why")


@pytest.mark.parametrize(*cases(__file__, "question_words_and_times"))
def test_question_words_and_times(question: str, sort: str, since: str) -> None:
    assert sort in asked_values(question)
    found = time_range(question, NOW, ZoneInfo("UTC"))
    assert (str(datetime.fromtimestamp(found.since or 0, UTC).date()) if found else "") == since
    assert bool(asked_values(question) & {"when", "price"}) is (sort in ("when", "price"))


@pytest.mark.parametrize(
    ("question", "sorts"),
    [
        ("Where does Kim live?", {"where"}),
        ("What did the cat eat?", set()),
        ("What did Ben say of the door?", set()),
        ("Did anybody mention the dove?", set()),
    ],
)
def test_english_questions_ask_for_nothing_in_other_languages(question: str, sorts: set[str]) -> None:
    asked = load_phrases().asked
    assert {sort for sort in SORTS if getattr(asked, sort).search(bare(question))} == sorts
