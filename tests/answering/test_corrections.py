"""What a chat or a thread says later of a value stands first, and the older one is marked with the day of that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from relrag_pipelines.records import Record
from relrag_query.answering.candidates import candidates
from relrag_query.answering.corrections import corrections
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


def quotes(folder: Path, records: Sequence[Record], question: str, *, whole: bool = False) -> list[tuple[str, str]]:
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
    quoted = quotes(tmp_path, chat(old, "🙂", new), question, whole=whole)
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
    quoted = quotes(tmp_path, records, question)
    assert "35" in quoted[0][0]
    assert quoted[1] == (old, "2025-03-02")


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
    assert {superseded for _, superseded in quotes(tmp_path, records, "What is the gate code?")} == {""}


@pytest.mark.parametrize(
    ("question", "old", "new"),
    [
        ("Jaký je kód od brány?", "Kód od brány je 1480.", "Jsem teď u brány, autobus 480 měl zpoždění."),
        ("Jaká je cena sálu?", "Cena sálu je 4500 Kč.", "Tak 150 lidí do sálu přijde."),
        ("מה הקוד של השער?", "הקוד של השער הוא 1480.", "אני עכשיו ליד השער, קו 480 איחר."),
    ],
)
def test_nor_does_it_in_other_languages(tmp_path: Path, question: str, old: str, new: str) -> None:
    assert {superseded for _, superseded in quotes(tmp_path, chat(old, new), question)} == {""}


def test_what_is_agreed_on_much_later_is_another_matter(tmp_path: Path) -> None:
    summer, winter = "Tábor bude v Jedovnicích, cena 4 900.", "Na zimní tábor bereme myslivnu za 7 200."
    later = [replace(one, ts=one.ts + 200 * 86_400) for one in chat("", winter)[1:] if one.ts]
    assert {superseded for _, superseded in quotes(tmp_path, [*chat(summer), *later], "cena tábora")} == {""}
    (tmp_path / "soon").mkdir()
    assert dict(quotes(tmp_path / "soon", chat(summer, winter), "cena tábora"))[summer] == "2025-03-02"


def test_a_hope_agrees_on_nothing(tmp_path: Path) -> None:
    old, new = "הפגישה עם הבנק ב-10:00.", "הפגישה עם הבנק: מקווה שיהיה נעים, נתראה אחריה ב-18:30."
    assert old in dict(quotes(tmp_path, mails(old, new), "מתי הפגישה עם הבנק?"))


def test_the_last_of_several_stands_first(tmp_path: Path) -> None:
    quoted = quotes(tmp_path, chat(GATE, "New gate code 2906.", "The gate code changed again: 7713."), "the gate code")
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
    found = dict(quotes(tmp_path, mails(first, asked, invoice), "What is the right company number on the invoice?"))
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
    assert quotes(tmp_path, mails(old, new), question) == [(new, ""), (old, "2025-03-02")]


MAIL = {"source": "mail", "rag_source_type": "email", "from_": "Petra <petra@example.org>"}
FILE = {"source": "notes", "rag_source_type": "documentation"}


def mail(name: str, text: str, day: str, thread: str = "t", **fields: str) -> Record:
    return record(f"gmail:{name}", text, f"2025-03-{day}T08:00:00Z", thread_id=thread, **(MAIL | fields))


def file(name: str, text: str, day: str, **fields: str) -> Record:
    return record(f"document:{name}", text, f"2025-03-{day}T08:00:00Z", **({"file_name": name} | FILE | fields))


OLD = mail("old", "The offer for the windows is 84,000 crowns.", "01")


@pytest.mark.parametrize(
    ("older", "newer", "replaced"),
    [
        (OLD, mail("new", "Corrected offer for the windows: 79,500 crowns.", "04"), True),
        (mail("a", "Nabídka na okna je 84 000 Kč.", "01"), mail("b", "Oprava: okna budou za 79 500 Kč.", "04"), True),
        (mail("a", "הצעת המחיר לחלונות 8,400 שקל", "01"), mail("b", "תיקון: החלונות יעלו 7,950 שקל", "04"), True),
        (mail("a", "Windows: fitter comes at 10:30.", "01"), mail("b", "The windows moved to 14:00.", "04"), True),
        (file("lease_flat_v1.txt", "Rent 9,000", "01"), file("lease_flat_v2_updated.txt", "Rent 9,400", "04"), True),
        # what a later one agrees on is not what was offered
        (OLD, mail("deal", "Agreed then, windows for 79,500 fitted in May.", "04"), True),
        (mail("a", "Nabízím okna za 84 000 Kč.", "01"), mail("b", "Dohodnuto, okna za 79 500 Kč.", "04"), True),
        (mail("a", "לחלונות אני מציע 8,400 שקל", "01"), mail("b", "סגרנו על 7,950 שקל לחלונות", "04"), True),
        (OLD, mail("deal", "In the end we got the windows for 79,500.", "04"), True),
        (mail("a", "Vlk chce auto za 85 tisíc.", "01"), mail("b", "Nakonec za 79 000, Vlk ukecal slevu.", "04"), True),
        (mail("a", "דני מבקש 8,400 שקל", "01"), mail("b", "דני הסכים בסוף ל-7,950 שקל", "04"), True),
        # a sentence that names nothing is of what stands around it
        (OLD, mail("new", "The glass of the windows was left out. The right amount is 91,500 crowns.", "04"), True),
        (mail("a", "Nabídka na okna je 84 000 Kč.", "01"),
         mail("b", "V nabídce na okna chybělo sklo. Správná částka je 91 500 Kč.", "04"), True),
        (mail("a", "הצעת המחיר לחלונות 8,400 שקל", "01"),
         mail("b", "בהצעה לחלונות חסרה הזכוכית. הסכום הנכון 9,150 שקל.", "04"), True),
        # a question replaces nothing, nor does a record that asks for the right one
        (OLD, mail("new", "The glass of the windows was left out. Is 91,500 crowns the right amount?", "04"), False),
        (OLD, mail("new", "The windows come. Please give the correct address, glass is 9,100 crowns.", "04"), False),
        (OLD, mail("new", "The windows look fine. The right price of the door is 9,100 crowns.", "04"), False),
        (mail("a", "New laptops arrive on 5 May.", "01"), mail("b", "Laptops are delayed to 19 May.", "04"), True),
        (mail("a", "Nové notebooky přijdou 5. května.", "01"),
         mail("b", "Notebooky se zpozdí na 19. května.", "04"), True),
        (mail("a", "המחשבים מגיעים ב-5 במאי.", "01"), mail("b", "המחשבים מתעכבים ל-19 במאי.", "04"), True),
        # a new date replaces days and hours, and names the old one
        (mail("a", "The piano is ready by 14 March.", "01"),
         mail("b", "I need until 2 April, not the 14th of March.", "04", subject="A crack, and a new date"), True),
        (mail("a", "Nasazení rovnátek ve středu v 9:30.", "01"),
         mail("b", "Nasazení bude v pátek v 10:15.", "04", subject="Změna termínu"), True),
        (mail("a", "The piano costs 18,400 with strings.", "01"),
         mail("b", "The strings cost 640 more.", "04", subject="A crack, and a new date"), False),
        (mail("a", "Rovnátka stojí 38 500 Kč.", "01"),
         mail("b", "Rovnátka nasadíme 18. února, kontrola 500 Kč.", "04", subject="Změna termínu"), False),
        (mail("a", "גשר לשיניים עולה 8,400 שקל", "01"),
         mail("b", "הגשר ב-18 בפברואר, ביקורת 300 שקל", "04", subject="התור נדחה"), False),
        # only units and months are the same
        (OLD, mail("new", "Corrected: the door is 9,100 crowns.", "04"), False),
        (mail("a", "Klíče 3. března.", "01"), mail("b", "Oprava: porada 9. března.", "04"), False),
        (OLD, mail("deal", "Agreed, windows for 84,000 it is.", "04"), False),
        (OLD, mail("deal", "Agreed, windows for 79,500.", "06", thread="other"), False),
        (OLD, mail("deal", "Agreed on the windows. By the way, the door costs 9,100.", "06"), False),
        # it says nothing new, is of another conversation or file, gives no other value, or is older
        (OLD, mail("new", "The windows for 79,500 crowns look fine.", "04"), False),
        (OLD, mail("new", "Corrected offer for the door: 79,500 crowns.", "04", thread="other"), False),
        (OLD, mail("new", "Corrected text, the windows are 84,000 crowns as before.", "04"), False),
        (OLD, mail("new", "I have not corrected the windows yet.", "04"), False),
        (mail("a", "The windows are 84,000.", "06"), mail("b", "Corrected: windows 79,500.", "04"), False),
        (file("lease.txt", "Windows 9,000", "01"), file("loan_updated.txt", "Windows 9,400", "04"), False),
        (file("2024-11-01 report.txt", "9,000 windows", "01"), file("2025-01-04 report.txt", "9,400", "04"), False),
    ],
)  # fmt: skip
def test_what_is_replaced(tmp_path: Path, older: Record, newer: Record, replaced: bool) -> None:
    with Archive.open(publish(tmp_path, [older, newer])) as archive:
        hits = archive.search(f"{older.text} {newer.text}").hits
    found = candidates(hits)
    (unit,) = (one.unit for one in found if one.unit.asset_id == older.asset_id)
    assert [one.asset_id for one in corrections(unit, found, ())][:1] == ([newer.asset_id] if replaced else [])


LESSONS = [
    ("When are the cello lessons?", "Cello lessons with Ryšavá on Wednesday 16:15.",
     "Cello is in the end on Tuesday 15:45, on Wednesday Ryšavá has the orchestra."),
    ("Kdy je violoncello?", "Violoncello u paní Ryšavé, středa 16:15.",
     "Violoncello je nakonec v úterý v 15:45, ve středu má Ryšavá orchestr."),
    ("מתי השיעור של צ'לו?", "שיעור צ'לו אצל רישבה, יום רביעי 16:15.",
     "צ'לו בסוף ביום שלישי 15:45, ביום רביעי יש לרישבה תזמורת."),
]  # fmt: skip


@pytest.mark.parametrize(("question", "old", "new"), LESSONS)
def test_what_names_both_values_replaces_the_old_one_half_a_year_later(
    tmp_path: Path, question: str, old: str, new: str
) -> None:
    first, second = chat(old, new)
    later = replace(second, ts=(second.ts or 0) + 180 * 86_400)
    quoted = quotes(tmp_path, [first, later], question)
    assert quoted[0] == (new, "")
    assert dict(quoted)[old]


BRACES = "Braces for Noa cost 38,500 crowns. The braces are fitted on Wednesday at 9:30."


def test_only_the_value_that_is_asked_for_marks_a_quote(tmp_path: Path) -> None:
    later = mail("b", "The braces are fitted on Friday at 10:15.", "04", subject="New date")
    with Archive.open(publish(tmp_path, [mail("a", BRACES, "01"), later])) as archive:
        price, day = (archive.ask(question) for question in ("How much are the braces?", "When are the braces fitted?"))
    assert "38,500" in price.quotes[0].text
    assert not price.quotes[0].superseded_by
    assert "Friday" in day.quotes[0].text
    assert [quote.superseded_on for quote in day.quotes] == ["", "2025-03-04"]


def test_what_replaces_a_quote_and_has_only_the_time_of_its_file_is_named(tmp_path: Path) -> None:
    versions = [
        file(name, text, day, date_quality="modified")
        for name, text, day in (
            ("lease_flat_v1.txt", "The rent is 9,000.", "04"),
            ("lease_flat_v2_updated.txt", "The rent is 9,400.", "01"),
        )
    ]
    with Archive.open(publish(tmp_path, versions)) as archive:
        answer = archive.ask("How much is the rent?")
    assert [quote.marked_text for quote in answer.quotes] == [
        "The rent is 9,400.",
        "The rent is 9,000. (superseded by lease_flat_v2_updated.txt)",
    ]
    _, old = replies.answer_reply(answer, ZONE, 1).quotes
    assert (old.superseded_by, old.superseded_on) == (versions[1].asset_id, None)
