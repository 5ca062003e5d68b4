"""What was said around a hit of a chat, and the newest of its chat, come along for whoever reads the context."""

from collections.abc import Iterator

import pytest

from relrag_query.archive import Archive
from relrag_query.retrieval.context import QueryContext, run
from relrag_query.retrieval.hit import Hit
from relrag_query.retrieval.question_reader import Filters
from relrag_query.retrieval.steps.chat_context import expand_context, supplement_recent
from relrag_query.steps import SEARCH
from tests.query_hits import passages, publish, record, window

SAID = [
    ("2025-01-13T08:00:00Z", "Are you at home?"),
    ("2025-01-13T08:50:00Z", "The kiln is hot"),
    ("2025-01-13T09:10:00Z", "Put the bowls in"),
    ("2025-01-13T11:00:00Z", "Lunch?"),
    ("2025-01-18T18:00:00Z", "See you on Monday"),
]


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Archive]:
    chat = [
        record(f"whatsapp:{place}", text, when, from_="Eva", thread_id="pots", source="chat")
        for place, (when, text) in enumerate(SAID)
    ]
    other = record("whatsapp:other", "Somebody else", SAID[1][0], from_="Ota", thread_id="other", source="chat")
    mail = record("gmail:1", "The kiln was paid.", SAID[1][0], thread_id="m")
    windows = [window(chat[:1]), window(chat[1:2]), window(chat[2:4]), window(chat[4:]), window([other])]
    chunks = [*passages(mail), *windows]
    with Archive.open(publish(tmp_path_factory.mktemp("chat"), [*chat, other, mail], chunks)) as opened:
        yield opened


def asked(archive: Archive, question: str, **limits: str) -> tuple[list[Hit], QueryContext]:
    context = archive._context(archive._catalog, question, Filters(since=limits.get("since")), 8)
    return run(SEARCH, context), context


def messages(hits: list[Hit]) -> list[list[str]]:
    return [[one.text for one in hit.messages] for hit in hits]


@pytest.mark.requirement("S4-4")
def test_what_was_said_within_half_an_hour_comes_behind_the_hits(archive: Archive) -> None:
    hits, context = asked(archive, "kiln")
    added = expand_context(hits, context)[len(hits) :]
    assert messages(added) == [["Put the bowls in"]], "neither what came 50 minutes before nor 2 hours later"
    assert [(hit.role, hit.display_score) for hit in added] == [("context_expansion", 0.5)]
    assert max(hit.score for hit in added) < min(hit.score for hit in hits)


def test_no_message_comes_twice_and_mail_brings_none(archive: Archive) -> None:
    hits, context = asked(archive, "kiln bowls")
    assert expand_context(hits, context)[len(hits) :] == []
    mail = [hit for hit in hits if not hit.messages]
    assert expand_context(mail, context) == mail
    assert supplement_recent(mail, context) == mail


@pytest.mark.requirement("S4-5")
def test_the_newest_of_each_chat_comes_behind_the_hits(archive: Archive) -> None:
    hits, context = asked(archive, "kiln")
    added = supplement_recent(hits, context)[len(hits) :]
    assert messages(added) == [["See you on Monday"]]
    assert [(hit.role, hit.display_score) for hit in added] == [("recency_supplement", 0.35)]
    newest, context = asked(archive, "see you on Monday")
    assert supplement_recent(newest, context) == newest, "it is a hit itself"


def test_the_limits_of_the_question_hold_for_both(archive: Archive) -> None:
    hits, _ = asked(archive, "kiln")
    _, limited = asked(archive, "kiln", since="2025-02")
    assert expand_context(hits, limited) == hits
    assert supplement_recent(hits, limited) == hits


@pytest.mark.requirement("S4-3")
def test_neither_is_quoted_or_shown(archive: Archive) -> None:
    answer = archive.ask("Is the kiln hot?")
    assert [quote.text for quote in answer.quotes] == ["Eva: The kiln is hot"]
    assert {source.hit.role for source in answer.sources} == {None}
    trace = "\n".join(answer.trace)
    assert "context_expansion, said around a hit" in trace
    assert "recency_supplement, the newest of its chat" in trace
