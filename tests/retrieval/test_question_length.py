"""What is read of a long question."""

from pathlib import Path

import pytest

from relrag_query.archive import Archive
from relrag_query.retrieval.connection_sharing import WrongQuestion
from relrag_query.retrieval.question_length import LONGEST, NOTICE, READ, heaviest, shorten, shorten_all
from relrag_query.retrieval.term_coverage import Term
from tests import archive


def test_a_question_of_usual_length_is_read_whole() -> None:
    assert shorten("When does the train leave?") == "When does the train leave?"
    assert shorten_all("and then?", ["When does it leave?", "Who asks?"]) == (
        "and then?",
        ["When does it leave?", "Who asks?"],
    )


@pytest.mark.parametrize(
    ("question", "characters", "end"),
    [
        ("invoice " * 400, 999, "invoice"),
        ("x" * 4_000, READ, "x"),
        ("short " + "y" * 4_000, READ, "y"),
        ("א" * LONGEST, READ, "א"),
        ("5 " * 2_000, 999, "5"),
    ],
)
def test_the_beginning_of_a_long_one_is_read_to_the_end_of_a_word(question: str, characters: int, end: str) -> None:
    read = shorten(question)
    assert (len(read), read[-len(end) :]) == (characters, end)
    assert question.startswith(read)


def test_a_question_that_is_too_long_is_refused_with_its_length() -> None:
    with pytest.raises(WrongQuestion, match="the question has 20,001 characters; ask with at most 20,000"):
        shorten("x" * (LONGEST + 1))


def test_those_it_follows_share_the_room_that_it_leaves() -> None:
    first, earlier = shorten_all("a" * 600, ["b" * 300, "c" * 300, "d" * 300])
    assert [len(one) for one in (first, *earlier)] == [600, 300, 100]
    assert shorten_all("word " * 1000, ["When?"])[1] in ([], ["W"])


def test_the_heaviest_words_are_looked_for_in_their_order() -> None:
    terms = [Term(f"w{place}", {}, 1.0 + (place % 3 == 0), adjacent=True) for place in range(150)]
    kept = heaviest(terms)
    assert len(kept) == 64
    # fifty weigh more, and of the others the first fourteen are kept
    assert [one.word for one in kept][18:24] == ["w18", "w19", "w20", "w21", "w24", "w27"]
    # what stood between them is gone
    assert [one.adjacent for one in kept][18:24] == [True, True, True, True, False, False]
    assert heaviest(terms[:64]) == terms[:64]


def test_an_answer_says_that_not_all_was_read(tmp_path: Path) -> None:
    config = archive.make(tmp_path)
    archive.first_sync(config)
    question = "What did the plumber quote for the boiler? " + "And so on. " * 200
    with Archive.open(config) as opened:
        answer = opened.ask(question)
        assert answer.notice == NOTICE
        assert answer.question == question
        assert "7,980" in answer.text
        results = opened.search(question)
        assert (results.head[0], results.query) == (NOTICE, question)
        assert NOTICE not in opened.ask("What did the plumber quote for the boiler?").notice
