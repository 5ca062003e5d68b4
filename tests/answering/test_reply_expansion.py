"""Of a question and its reply, the reply is the answer; also where it stands in the next window, or the next mail."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from relrag_pipelines.records import Record
from relrag_query.answering.sentences import asks_for_something, expects_reply, is_question
from relrag_query.archive import Archive
from tests.cases import cases
from tests.query_hits import passages, publish, record, window

EXPENSES = {"source": "mail", "rag_source_type": "email", "thread_id": "expenses", "subject": "Receipts"}
MAIL = {"source": "mail", "rag_source_type": "email", "thread_id": "order", "subject": "Order 12"}


def chat(thread: str, said: Sequence[tuple[str, str, str]]) -> list[Record]:
    return [
        record(f"whatsapp:{thread}:{number}", text, f"2025-01-{when}:00Z", from_=sender, source="chat",
               rag_source_type="whatsapp", thread_id=thread, subject=thread)
        for number, (sender, when, text) in enumerate(said)
    ]  # fmt: skip


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Archive]:
    petr = chat("Petr", [
        ("Eva", "10T09:00", "When does the plumber come?"),
        ("Petr", "10T09:20", "Which plumber?"),
        ("Eva", "10T09:21", "For the boiler"),
        ("Petr", "10T09:22", "Tomorrow at 9"),
        ("Eva", "11T10:00", "Who left the ladder in the hall?"),
        # the reply comes six hours later, in another window
        ("Petr", "11T16:00", "That was me, sorry"),
        ("Petr", "12T08:00", "The carpenter wants 3 200 for the shelf, ok?"),
        ("Eva", "12T08:05", "Yes, pay him in cash"),
        ("Eva", "13T08:00", "who picks up Anna from the station"),
        ("Petr", "13T08:10", "Grandma, at four"),
        ("Eva", "14T08:00", "Where is the vacuum cleaner?"),
        # too late to be a reply
        ("Petr", "18T08:00", "Good morning"),
    ])  # fmt: skip
    mother = chat("אמא", [
        ("Eva", "15T12:00", "מתי הטיסה שלך לפראג?"),
        ("אמא", "15T12:30", "ב-8 ביולי, נוחתת ב-14:20"),
        ("Eva", "16T12:00", "Kdy má Anička třídní schůzku?"),
        ("אמא", "16T12:05", "Ve čtvrtek v 17:30"),
    ])  # fmt: skip
    mails = [
        record("gmail:1", "Dear all,\n\nwhich glossary should I use for the turbine brochure?\n\nEva",
               "2025-01-13T08:00:00Z", from_="Eva <eva@x.example>", **MAIL),
        record("gmail:2", "Forwarded to my colleague.", "2025-01-13T09:00:00Z", from_="Office <office@x.example>",
               **MAIL),
        record("gmail:3", "Please take version 4, the link is in the portal.", "2025-01-14T08:00:00Z",
               from_="Vendor <vendor@x.example>", parent_asset_id="gmail:1", **MAIL),
    ]  # fmt: skip
    mails += [
        record("gmail:4", "Does the airport bus count as travel or as meals?", "2025-01-20T08:00:00Z",
               from_="Eva <eva@x.example>", **EXPENSES),
        record("gmail:5", "As travel. The sandwich is yours.", "2025-01-20T09:00:00Z",
               from_="Tom <tom@x.example>", parent_asset_id="gmail:4", **EXPENSES),
        *(record(f"gmail:{number}", f"The airport bus of line {number} stops at the harbour.",
                 f"2025-02-{number}T08:00:00Z", from_="Bus <bus@x.example>", source="mail", rag_source_type="email",
                 thread_id=f"bus {number}", subject=f"Airport bus {number}") for number in range(10, 20)),
    ]  # fmt: skip
    windows = [window(petr[:5]), window(petr[5:6]), window(petr[6:8]), window(petr[8:10]), window(petr[10:11]),
               window(petr[11:]), window(mother[:2]), window(mother[2:])]  # fmt: skip
    chunks = [*(one for each in mails for one in passages(each)), *windows]
    with Archive.open(publish(tmp_path_factory.mktemp("replies"), [*petr, *mother, *mails], chunks)) as opened:
        yield opened


@pytest.mark.parametrize(*cases(__file__, "the_reply_answers"))
def test_the_reply_answers(archive: Archive, question: str, answering: str) -> None:
    quote = archive.ask(question).quotes[0]
    assert quote.answering == answering
    assert answering in quote.text


def test_a_reply_stands_below_its_question_with_both_names(archive: Archive) -> None:
    quote = archive.ask("How much does the carpenter want?").quotes[0]
    assert quote.text == "Petr: The carpenter wants 3 200 for the shelf, ok?\nEva: Yes, pay him in cash"


def test_a_reply_without_a_word_of_the_question_stands_before_what_it_replies_to(archive: Archive) -> None:
    quotes = archive.ask("Does the airport bus count as travel?").quotes
    assert [quote.answering for quote in quotes[:2]] == [
        "As travel.",
        "Does the airport bus count as travel or as meals?",
    ]


def test_the_mail_that_replies_is_the_source(archive: Archive) -> None:
    answer = archive.ask("Which glossary is for the turbine brochure?")
    assert answer.sources[0].hit.chunk.asset_id == "gmail:3"
    assert any("; 1 hits ask, 1 mails that reply added" in line for line in answer.trace)


def test_what_only_asks_is_not_quoted_beside_what_answers(archive: Archive) -> None:
    texts = [quote.text for quote in archive.ask("Where is the vacuum cleaner, the plumber?").quotes]
    assert texts
    assert "When does the plumber come?" not in texts


@pytest.mark.parametrize(*cases(__file__, "what_asks"))
def test_what_asks(text: str, asking: bool, for_something: bool) -> None:
    assert (is_question(text), asks_for_something(text)) == (asking, for_something)


@pytest.mark.parametrize(
    ("text", "chat", "expected"),
    [("who picks up Anna", True, True), ("who picks up Anna", False, False), ("Jak jsem psal, je to tak", True, False)],
)
def test_in_a_chat_the_mark_may_be_left_out(text: str, chat: bool, expected: bool) -> None:
    assert is_question(text, chat) is expected


@pytest.mark.parametrize(
    "text",
    [
        "hey Petr, how long on crutches", "ok so when do you land", "see you\nwhere do we park", "do you have the key",
        "send me the gate code", "A jak dlouho o berlích", "hele kdy přijedeš", "ahoj Evo, kolik to stálo",
        "můžeš mi poslat kód od brány", "dej vědět až dorazíš", "אז כמה זמן עם קביים", "יש לך את הקוד לשער",
        "תשלחי לי את הקוד",
    ],
)  # fmt: skip
def test_a_message_that_asks_without_a_mark_expects_a_reply(text: str) -> None:
    assert expects_reply(text)


@pytest.mark.parametrize(
    "text",
    ["the code is 1480", "we are there at six, I think", "kód je 1480", "tak jo, přijedu", "a bude pršet", "ok", "",
     "הקוד הוא 1480"],
)  # fmt: skip
def test_others_do_not(text: str) -> None:
    assert not expects_reply(text)


@pytest.mark.parametrize(
    ("said", "replied", "question"),
    [
        (("Ortopedie je v pátek", "A jak dlouho o berlích"), "6 týdnů", "Co je s ortopedií?"),
        (("The orthopaedist is on Friday", "and how long on crutches"), "6 weeks", "What about the orthopaedist?"),
        (("האורתופד ביום שישי", "אז כמה זמן עם קביים"), "שישה שבועות", "מה עם האורתופד?"),
    ],
)
def test_what_is_quoted_ends_with_the_reply(tmp_path: Path, said: Sequence[str], replied: str, question: str) -> None:
    """The one who asks goes on in a turn of their own, and the reply stands in the next window."""
    first, second = said
    records = chat("Eva", [("Petr", "10T09:00", first), ("Eva", "10T09:10", "ok"), ("Petr", "10T09:20", second),
                           ("Eva", "10T12:00", replied)])  # fmt: skip
    config = publish(tmp_path, records, [window(records[:3]), window(records[3:])])
    with Archive.open(config) as archive:
        texts = [quote.text for quote in archive.ask(question).quotes]
    assert texts[0] == f"Petr: {first}\nEva: ok\nPetr: {second}\nEva: {replied}"
