"""How many hits are asked for: fewer are the first of more. What is counted, and what is not listed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from relrag_query.archive import Archive
from tests.cases import cases
from tests.query_hits import passages, publish, record, window

WORDS = "boiler roof garden invoice rent kiln čerpadlo střecha zahrada faktura חתונה גינה חשבון דירה".split()  # noqa: SIM905


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Archive]:
    """Passages that share words, some of them newsletters, and a chat whose windows overlap."""
    records = [
        record(
            f"gmail:{number}",
            " ".join(WORDS[(number * step) % len(WORDS)] for step in range(1, 2 + number % 5)),
            f"2025-01-{1 + number % 28:02}T08:00:00Z",
            source="mail",
            rag_source_type="email",
            extra={"bulk": "unsubscribe"} if number % 3 == 0 else {},
        )
        for number in range(60)
    ]
    chat = [
        record(f"whatsapp:{number}", f"{WORDS[number % 14]} {WORDS[number % 5]}", f"2025-01-13T07:{number:02}:00Z",
               from_="Dana", source="chat", rag_source_type="whatsapp", thread_id="c")
        for number in range(30)
    ]  # fmt: skip
    windows = [window(chat[start : start + 6]) for start in range(0, 26, 4)]
    chunks = [*(one for each in records for one in passages(each)), *windows]
    with Archive.open(publish(tmp_path_factory.mktemp("limits"), [*records, *chat], chunks)) as opened:
        yield opened


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.sampled_from([*WORDS, "in January", "last week", "in the mail", "on WhatsApp"]), min_size=1, max_size=4
    ),
    st.integers(1, 8),
)
def test_fewer_hits_are_the_first_of_more(archive: Archive, words: list[str], limit: int) -> None:
    query = " ".join(words)
    more = [hit.chunk.chunk_id for hit in archive.search(query, limit=8).hits]
    assert [hit.chunk.chunk_id for hit in archive.search(query, limit=limit).hits] == more[:limit]


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=3), st.integers(1, 16))
def test_an_answer_of_fewer_sentences_begins_as_one_of_more(archive: Archive, words: list[str], limit: int) -> None:
    most, fewer = archive.ask(" ".join(words)), archive.ask(" ".join(words), limit=limit)
    assert [quote.text for quote in fewer.quotes] == [quote.text for quote in most.quotes][:limit]
    assert len(fewer.sources) <= limit


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text("qxzwאבגčš -", max_size=12))
def test_nothing_that_holds_no_word_is_listed(archive: Archive, query: str) -> None:
    assert all(hit.display_score > 0 for hit in archive.search(f"{query} boilerplate").hits)


@pytest.mark.parametrize(*cases(__file__, "what_was_searched_is_counted_under_the_limits"))
def test_what_was_searched_is_counted_under_the_limits(
    archive: Archive, limits: dict[str, list[str]], count: str
) -> None:
    assert archive.ask("zeppelin", **limits).searched == count  # type: ignore[arg-type]


def test_every_sentence_cites_a_source_that_is_listed(archive: Archive) -> None:
    for most in (1, 2, 8):
        archive_settings = archive.settings
        try:
            archive.settings = archive_settings.model_copy(update={"source_display_max_count": most})
            for word in WORDS:
                answer = archive.ask(word)
                assert len(answer.sources) <= most
                assert all(quote.sources for quote in answer.quotes)
                uncited = [source for source in answer.sources if not source.cited]
                assert len(uncited) <= 2
                assert answer.sources[len(answer.sources) - len(uncited) :] == uncited
        finally:
            archive.settings = archive_settings


def test_a_word_that_only_begins_alike_is_not_listed(archive: Archive) -> None:
    results = archive.search("čerstvý")  # three letters of čerpadlo
    assert (results.hits, results.missing) == ([], ["čerstvý"])
