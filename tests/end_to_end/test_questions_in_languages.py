"""Questions in languages that have no rules of their own in Python: what they ask for, and of when."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from relrag_query.understanding.intent import asked_values
from relrag_query.understanding.phrases import bare, load_phrases
from relrag_query.understanding.time_expressions import time_range

NOW = datetime(2025, 1, 22, 12, tzinfo=UTC)
SORTS = ("when", "price", "who", "where", "why")


@pytest.mark.parametrize(
    ("question", "sort", "since"),
    [
        ("Wann kam die Rechnung letzte Woche?", "when", "2025-01-13"),
        ("Wie viel kostete die Reparatur im März 2024?", "price", "2024-03-01"),
        ("¿Cuánto costó la reparación en marzo de 2024?", "price", "2024-03-01"),
        ("¿Quién llamó ayer?", "who", "2025-01-21"),
        ("Où habite Paul ?", "where", ""),
        ("Qui a appelé le 3 mai 2024 ?", "who", "2024-05-03"),
        ("Сколько стоил ремонт в марте 2024?", "price", "2024-03-01"),
        ("Почему мастер не пришел вчера?", "why", "2025-01-21"),
        ("Kto dzwonił wczoraj?", "who", "2025-01-21"),
        ("Ile kosztował remont w marcu 2024?", "price", "2024-03-01"),
        ("متى وصل الخطاب؟", "when", ""),
        ("لماذا لم يأت السباك أمس؟", "why", "2025-01-21"),
        ("Perché è venuto il tecnico l'anno scorso?", "why", "2024-01-01"),
        ("Quem ligou ontem?", "who", "2025-01-21"),
        ("Waarom kwam de loodgieter vorige week?", "why", "2025-01-13"),
        ("Missä avaimet ovat?", "where", ""),
        ("谁打电话了", "who", ""),
    ],
)
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
