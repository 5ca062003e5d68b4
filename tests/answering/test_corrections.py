"""What a chat or a thread says later of a value stands first, and the older one is marked with the day of that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from relrag_pipelines.records import Record
from relrag_query.archive import Archive
from relrag_query.cli import render
from relrag_query.service import replies
from tests.query_hits import passages, publish, record, window

ZONE = ZoneInfo("Asia/Jerusalem")


def chat(*said: str, thread: str = "neighbours") -> list[Record]:
    """Messages by two people in turn, a day apart from the first of March."""
    return [
        record(f"chat:{thread}-{day}", text, f"2025-03-{day:02}T08:00:00Z", from_=("Dana", "Petr")[day % 2],
               thread_id=thread, rag_source_type="whatsapp")
        for day, text in enumerate(said, 1)
    ]  # fmt: skip


def mails(*said: str) -> list[Record]:
    return [
        record(f"gmail:{day}", text, f"2025-03-{day:02}T08:00:00Z", from_="Eva", thread_id="t", subject="Nabídka",
               rag_source_type="email")
        for day, text in enumerate(said, 1)
    ]  # fmt: skip


def told(folder: Path, records: Sequence[Record], question: str, *, whole: bool = False) -> list[tuple[str, str]]:
    """What is quoted, and when it was superseded; a chat is one window if `whole`, else each message is one."""
    chats = [one for one in records if one.rag_source_type == "whatsapp"]
    threads = dict.fromkeys(one.thread_id for one in chats)
    windows = (
        [window([one for one in chats if one.thread_id == thread]) for thread in threads]
        if whole
        else [window([one]) for one in chats]
    )
    others = [part for one in records if one not in chats for part in passages(one)]
    with Archive.open(publish(folder, records, [*windows, *others])) as archive:
        answer = archive.ask(question)
    assert answer.found
    text, reply = render.answer_text(answer, ZONE), replies.answer_reply(answer, ZONE, 1)
    for quote, sent in zip(answer.quotes, reply.quotes, strict=True):
        assert sent.superseded_on == (quote.superseded_on or None)
        assert (f"{quote.text} (superseded on {quote.superseded_on})" in text) == bool(quote.superseded_on)
    return [(quote.text, quote.superseded_on) for quote in answer.quotes]


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize(
    ("question", "old", "new"),
    [
        ("What is the gate code?", "The gate code is 1480.", "New code 2906, they changed it."),
        ("Jaký je kód od brány?", "Kód od brány je 1480.", "Nový kód 2906, vyměnili to."),
        ("מה הקוד של השער?", "הקוד של השער הוא 1480.", "קוד חדש 2906, החליפו."),
        (
            "What discount does the printer give?",
            "The printer gives a discount of 30%.",
            "Discount settled, 35% it is.",
        ),
        ("Jakou slevu dá tiskárna?", "Tiskárna dá slevu 30 %.", "Sleva domluvená, tak 35 %."),
        ("איזו הנחה נותן בית הדפוס?", "בית הדפוס נותן הנחה של 30%.", "סגרנו על הנחה של 35%."),
        ("When is the choir practice?", "The choir practice is on Tuesday.", "The practice moved to Thursday."),
        ("Kdy je zkouška sboru?", "Zkouška sboru je v úterý.", "Zkouška je přesunutá na čtvrtek."),
        ("מתי החזרה של המקהלה?", "החזרה של המקהלה ביום שלישי.", "החזרה של המקהלה נדחה ליום חמישי."),
    ],
)
def test_what_a_chat_says_later_stands_first(tmp_path: Path, question: str, old: str, new: str, *, whole: bool) -> None:
    quoted = told(tmp_path, chat(old, "🙂", new), question, whole=whole)
    assert quoted[:2] == [(new, ""), (old, "2025-03-03")]


@pytest.mark.parametrize(
    ("question", "old", "new"),
    [
        ("What discount does the printer give?", "The printer gives a discount of 30%.", "Fine, 35% it is."),
        ("Jakou slevu dá tiskárna?", "Tiskárna dá slevu 30 %.", "Tak 35 %, dohodnuto."),
        ("איזו הנחה נותן בית הדפוס?", "בית הדפוס נותן הנחה של 30%.", "סגור, 35%."),
    ],
)
def test_of_a_thread_the_mail_that_agrees_stands_first(tmp_path: Path, question: str, old: str, new: str) -> None:
    records = mails(old, f"{question} {new}")
    quoted = told(tmp_path, records, question)
    assert "35" in quoted[0][0]
    assert old not in dict(quoted), "a mail that is replaced as a whole counts too little to be quoted"


GATE = "The gate code is 1480."


@pytest.mark.parametrize(
    "records",
    [
        chat(GATE, "The gate is painted in 2906, a new green."),
        chat(GATE, "I wrote the code down, 2906 words of it."),
        chat(GATE, "I am at the gate now, bus 480 was late."),
        chat(GATE, "The bus changed at the gate, it is the 480 now."),
        chat(GATE, "The gate is now open, room 214 is free."),
        chat(GATE, "The gate code is 1480, new or old."),
        [*chat(GATE), *chat("Hm.", "New gate code 2906.", thread="work")],
        chat("New gate code 2906.", GATE),
    ],
    ids=[
        "another thing",
        "nothing new",
        "said now",
        "something else changed",
        "open now",
        "the same value",
        "another chat",
        "the older one is new",
    ],
)
def test_what_only_looks_like_it_marks_nothing(tmp_path: Path, records: list[Record]) -> None:
    assert {superseded for _, superseded in told(tmp_path, records, "What is the gate code?")} == {""}


@pytest.mark.parametrize(
    ("question", "old", "new"),
    [
        ("Jaký je kód od brány?", "Kód od brány je 1480.", "Jsem teď u brány, autobus 480 měl zpoždění."),
        ("Jaká je cena sálu?", "Cena sálu je 4500 Kč.", "Tak 150 lidí do sálu přijde."),
        ("מה הקוד של השער?", "הקוד של השער הוא 1480.", "אני עכשיו ליד השער, קו 480 איחר."),
    ],
)
def test_nor_does_it_in_other_languages(tmp_path: Path, question: str, old: str, new: str) -> None:
    assert {superseded for _, superseded in told(tmp_path, chat(old, new), question)} == {""}


def test_what_is_agreed_on_much_later_is_another_matter(tmp_path: Path) -> None:
    summer, winter = "Tábor bude v Jedovnicích, cena 4 900.", "Na zimní tábor bereme myslivnu za 7 200."
    later = [replace(one, ts=one.ts + 200 * 86_400) for one in chat("", winter)[1:] if one.ts]
    assert {superseded for _, superseded in told(tmp_path, [*chat(summer), *later], "cena tábora")} == {""}
    (tmp_path / "soon").mkdir()
    assert dict(told(tmp_path / "soon", chat(summer, winter), "cena tábora"))[summer] == "2025-03-02"


def test_a_hope_agrees_on_nothing(tmp_path: Path) -> None:
    old, new = "הפגישה עם הבנק ב-10:00.", "הפגישה עם הבנק: מקווה שיהיה נעים, נתראה אחריה ב-18:30."
    assert old in dict(told(tmp_path, mails(old, new), "מתי הפגישה עם הבנק?"))


def test_the_last_of_several_stands_first(tmp_path: Path) -> None:
    quoted = told(tmp_path, chat(GATE, "New gate code 2906.", "The gate code changed again: 7713."), "the gate code")
    assert quoted == [
        ("The gate code changed again: 7713.", ""),
        (GATE, "2025-03-02"),
        ("New gate code 2906.", "2025-03-03"),
    ]


def test_what_a_newer_record_says_too_still_holds(tmp_path: Path) -> None:
    """A corrected invoice replaces the first one, and not the mail that asked for it."""
    asked = "On the invoice my company number is wrong, the right company number is 74129036."
    invoice = "Corrected invoice 2026 for company number 74129036.\n\nIt replaces the invoice 20187 of Monday."
    first = "Invoice 20187, company number 74120936."
    found = dict(told(tmp_path, mails(first, asked, invoice), "What is the right company number on the invoice?"))
    assert {text: day for text, day in found.items() if "right" in text} == {asked: ""}


@pytest.mark.parametrize(
    ("question", "old", "new"),
    [
        (
            "What is the gate code?",
            "The gate code is 1480.",
            "The gate code is no longer 1480, from now on it is 2906.",
        ),
        ("Jaký je kód od brány?", "Kód od brány je 1480.", "Nový kód od brány je 2906, ne 1480."),
        ("מה הקוד של השער?", "הקוד של השער הוא 1480.", "הקוד של השער השתנה ל-2906, כבר לא 1480."),
    ],
)
def test_a_value_that_a_mail_takes_back_does_not_hold(tmp_path: Path, question: str, old: str, new: str) -> None:
    first, *others = told(tmp_path, mails(old, new), question)
    assert first == (new, "")
    # in Czech the older mail is replaced as a whole, and not quoted
    assert others == ([] if old.startswith("Kód") else [(old, "2025-03-02")])
