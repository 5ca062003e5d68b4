"""Questions for a time, a channel or a person alone: what is listed, in which order, and how many there are in all."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from relrag_pipelines import settings
from relrag_query.archive import Archive
from relrag_query.cli import render
from relrag_query.display.page_texts import page_texts
from relrag_query.results import Answer
from tests.cases import cases
from tests.query_hits import passages, publish, record, window

MAIL = {"source": "mail", "rag_source_type": "email"}
TAMAR, JAN = "Tamar Levi <tamar@x.example>", "Jan Novák <jan@x.example>"


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Archive]:
    """Seen from Monday 20 January 2025: two threads of mail, a newsletter, a chat, a meeting, a dated file."""
    records = [
        record("gmail:1", "The kitchen will be painted on Friday.", "2025-01-14T08:00:00Z", from_=TAMAR,
               thread_id="kitchen", subject="Kitchen", **MAIL),
        record("gmail:1:0", "A plan of the kitchen with all its colours.", "2025-01-14T08:00:00Z", from_=TAMAR,
               thread_id="kitchen", file_name="plan.pdf", source="mail", rag_source_type="email_attachment",
               parent_asset_id="gmail:1", index_in_parent=0),
        record("gmail:2", "Yellow, please, and not too dark.", "2025-01-14T09:00:00Z", from_=JAN,
               thread_id="kitchen", subject="Re: Kitchen", **MAIL),
        record("gmail:3", "Zítra přijde instalatér, nechte klíč u sousedů.", "2025-01-16T08:00:00Z", from_=JAN,
               thread_id="key", subject="Klíč", **MAIL),
        record("gmail:4", "Everything is cheaper this week, come and see.", "2025-01-17T08:00:00Z",
               from_="Shop <news@shop.example>", thread_id="shop", extra={"bulk": "unsubscribe"}, **MAIL),
        record("gmail:5", "Happy new year to all of you.", "2025-01-01T08:00:00Z", from_=TAMAR,
               thread_id="year", **MAIL),
        record("meeting:1", "Tamar: The budget is agreed.", "2025-01-15T10:00:00Z", source="meetings",
               rag_source_type="meeting_transcript", from_="Tamar, Jan", participants=["Tamar", "Jan"]),
        record("document:1", "The price list of the painter, valid for a year.", "2025-01-19T10:00:00Z", source="docs",
               rag_source_type="documentation", file_name="prices.txt"),
    ]  # fmt: skip
    chat = [
        record(f"whatsapp:{number}", text, when, from_=sender, source="chat", rag_source_type="whatsapp",
               thread_id="family", subject="Family")
        for number, (sender, when, text) in enumerate([
            ("Dana", "2025-01-12T07:00:00Z", "On my way"),
            ("Dana", "2025-01-13T07:00:00Z", "The boiler is warm again"),
            ("Tamar", "2025-01-13T07:10:00Z", "At last"),
        ])
    ]  # fmt: skip
    chunks = [one for each in records for one in passages(each)] + [window(chat)]
    config = publish(tmp_path_factory.mktemp("listing"), [*records, *chat], chunks)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RELRAG_NOW", "2025-01-20T12:00:00+00:00")
        with Archive.open(config) as opened:
            yield opened


def cited(answer: Answer) -> list[str]:
    """What the sentences cite, in their order."""
    assert all(quote.sources for quote in answer.quotes)
    return [answer.sources[number - 1].hit.chunk.asset_id for quote in answer.quotes for number in quote.sources]


def counted(answer: Answer, kinds: dict[str, int], listed: int) -> str:
    """How many records there are by type, in the question's language."""
    texts, total = page_texts(answer.language), sum(kinds.values())
    form = texts.records_listed if listed < total else texts.records
    each = ", ".join(texts.count(name, count) for name, count in kinds.items())
    return form.format(count=total, kinds=each, listed=listed)


LAST_WEEK = ["gmail:4", "gmail:3", "meeting:1", "gmail:2", "gmail:1", "whatsapp:chunk:family", "document:1"]


@pytest.mark.parametrize(*cases(__file__, "a_time_alone_lists_what_it_holds_newest_first"))
def test_a_time_alone_lists_what_it_holds_newest_first(archive: Archive, question: str) -> None:
    answer = archive.ask(question)
    assert [ref[:21] for ref in cited(answer)] == LAST_WEEK
    assert re.findall(r"\d{4}-\d\d-\d\d", answer.head[0]) == ["2025-01-13", "2025-01-19"]
    kinds = {"email": 4, "whatsapp": 2, "documentation": 1, "email_attachment": 1, "meeting_transcript": 1}
    assert answer.head[1] == counted(answer, kinds, listed=8)


def test_hebrew_weeks_begin_on_sunday(archive: Archive) -> None:
    answer = archive.ask("מה קרה בשבוע שעבר?")
    assert answer.head == [
        '"בשבוע שעבר": מ־2025-01-12 עד 2025-01-18.',
        "9 רשומות: מייל: 4, הודעה: 3, קובץ מצורף: 1, פגישה: 1; מוצגות 8, מהחדשה לישנה.",
    ]
    assert answer.quotes[-1].text == "Dana: On my way\nDana: The boiler is warm again\nTamar: At last"


@pytest.mark.parametrize(*cases(__file__, "a_channel_and_a_person_limit_the_list"))
def test_a_channel_and_a_person_limit_the_list(archive: Archive, question: str, refs: list[str]) -> None:
    assert [ref[:21] for ref in cited(archive.ask(question))] == refs


def test_of_a_chat_only_what_that_person_wrote_then_is_quoted(archive: Archive) -> None:
    answer = archive.ask("What did Dana write last week?")
    assert [quote.text for quote in answer.quotes] == ["Dana: The boiler is warm again"]
    assert answer.head[1] == "1 record: 1 message; newest first."


def test_where_not_all_have_room_each_thread_comes_first_and_the_newsletter_last(archive: Archive) -> None:
    answer = archive.ask("what mails came last week?", limit=2)
    assert cited(answer) == ["gmail:3", "gmail:2"]
    assert answer.head[1] == "4 records: 4 mails; 2 of them listed, newest first."
    assert [hit.chunk.asset_id for hit in archive.search("mails of last week", limit=2).hits] == ["gmail:3", "gmail:2"]


def test_limits_limit_the_list(archive: Archive) -> None:
    assert cited(archive.ask("what came?", since="2025-01-15", until="2025-01-16")) == ["gmail:3", "meeting:1"]
    assert cited(archive.ask("what came last week?", sources=["meetings"])) == ["meeting:1"]
    assert cited(archive.ask("what came last week?", kinds=["gmail"], until="2025-01-14")) == ["gmail:2", "gmail:1"]


def test_a_range_may_be_open(archive: Archive) -> None:
    assert archive.ask("what came before 13 January 2025?").head[0] == '"before 13 January 2025": until 2025-01-12.'
    assert archive.ask("what came since 17 January 2025?").head[0] == '"since 17 January 2025": from 2025-01-17.'
    assert cited(archive.ask("what came since 17 January 2025?")) == ["gmail:4", "document:1"]


def test_a_time_of_nothing_says_so(archive: Archive) -> None:
    answer = archive.ask("what mails came in June 2024?")
    assert (answer.found, answer.sources, answer.missing) == (False, [], [])
    assert answer.head == ['"June 2024": from 2024-06-01 to 2024-06-30.']
    assert answer.searched == "0 passages in mail, meetings, docs, chat, from 2024-06-01 to 2024-06-30"
    assert render.search_text(archive.search("June 2024"), ZoneInfo(archive.settings.timezone)).startswith(
        '"June 2024": from 2024-06-01 to 2024-06-30.\nNothing found.\nSearched 0 passages in '
    )


@pytest.mark.parametrize("question", ["painter last week", "What did Tamar write about Jan?", "kitchen", "Tamar"])
def test_what_names_something_is_searched_for_as_before(archive: Archive, question: str) -> None:
    assert not any(line.startswith("1 list:") for line in archive.ask(question).trace)


@pytest.fixture(scope="module")
def owned(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Archive]:
    """The archive of somebody: mails in both directions, a chat with a picture, a call, a commit."""
    dana, ota = "Dana Levi <dana@x.example>", "Ota Beran <ota@x.example>"
    records = [
        record("gmail:1", "Shall we paint the hall in May?", "2025-01-14T08:00:00Z", from_=dana, to=[ota],
               thread_id="hall", **MAIL),
        record("gmail:2", "Yes, and the stairs as well.", "2025-01-14T09:00:00Z", from_=ota, to=[dana],
               thread_id="hall", **MAIL),
        record("gmail:2:0", "A drawing of the stairs, to scale.", "2025-01-14T09:00:00Z", from_=ota,
               source="mail", rag_source_type="email_attachment", parent_asset_id="gmail:2", index_in_parent=0),
        record("call_recording:1", "Ota: The ladder is at my place.", "2025-01-15T10:00:00Z", source="calls",
               rag_source_type="call_recording", from_="Dana", participants=["Dana", "Ota"]),
        record("git:1", "Stairs and their colours, as they were agreed.", "2025-01-16T10:00:00Z", source="code",
               rag_source_type="git_history", from_=dana),
    ]  # fmt: skip
    chat = [
        record(f"whatsapp:{number}", text, f"2025-01-13T07:0{number}:00Z", from_=sender, source="chat",
               rag_source_type="whatsapp", thread_id="chat", subject="Hall")
        for number, (sender, text) in enumerate([("Ota", "The paint is here"), ("Dana", ""), ("Ota", "Nice")])
    ]  # fmt: skip
    chunks = [one for each in records for one in passages(each)] + [window(chat)]
    config = publish(tmp_path_factory.mktemp("owned"), [*records, *chat], chunks, 'owner = "Ota"')
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RELRAG_NOW", "2025-01-20T12:00:00+00:00")
        with Archive.open(config) as opened:
            yield opened


@pytest.mark.parametrize(*cases(__file__, "who_wrote_to_whom_and_words_that_only_name_the_list"))
def test_who_wrote_to_whom_and_words_that_only_name_the_list(owned: Archive, question: str, refs: list[str]) -> None:
    assert [ref[:21] for ref in cited(owned.ask(question))] == refs


def test_a_message_without_words_is_said_to_be_one(owned: Archive) -> None:
    answer = owned.ask("What messages did Dana write on 13 January 2025?")
    assert [quote.text for quote in answer.quotes] == ["Dana: (no text)"]
    assert owned.ask("mails of last week", limit=1).head[1] == "2 records: 2 mails; 1 of them listed, newest first."


def test_a_list_shows_as_many_as_are_asked_for(tmp_path: Path) -> None:
    records = [
        record(f"gmail:{day}", f"The letter of day {day}, in which all is well.", f"2025-01-{day:02}T08:00:00Z",
               from_=TAMAR, **MAIL)
        for day in range(1, 21)
    ]  # fmt: skip
    with Archive.open(publish(tmp_path, records)) as opened:
        usual, more = opened.ask("mails in January 2025"), opened.ask("mails in January 2025", limit=15)
        assert (len(usual.quotes), len(cited(more))) == (8, 15)
        assert more.head[1] == "20 records: 20 mails; 15 of them listed, newest first."


@pytest.mark.parametrize(
    "question",
    ["What did Ota write in January 2025?", "Co psal Ota v lednu 2025?", "מה כתב Ota בינואר 2025?"],
)
def test_a_sender_whom_a_stricter_policy_hides_is_listed_and_not_shown(tmp_path: Path, question: str) -> None:
    """Records are compared by who wrote them as they were indexed; what is shown goes by the policy of now."""
    said = {"hers": "The paint is here, and the ladder.", "his": "I will be late.", "other": "Nobody is at home."}
    senders = {"hers": "ota.beran@x.example", "his": "ota.beran@x.example", "other": "dana@x.example"}
    records = [
        record(f"whatsapp:{name}", said[name], f"2025-01-1{day}T08:00:00Z", from_=senders[name], source="chat",
               rag_source_type="whatsapp", thread_id=f"chat {name}", subject="Hall")
        for day, name in enumerate(said)
    ]  # fmt: skip
    extra = "pii_redaction_enabled = {}"
    config = publish(tmp_path, records, [window([one]) for one in records], extra.format("false"))
    settings.load(config).key_store.create()
    shown = {}
    for hides in ("false", "true"):
        config.write_text(re.sub(extra.format(r"\w+"), extra.format(hides), config.read_text()))
        with Archive.open(config) as opened:
            answer = opened.ask(question)
            shown[hides] = render.answer_text(answer, ZoneInfo(opened.settings.timezone))
        assert answer.head[-1] == counted(answer, {"whatsapp": 2}, listed=2)
        assert [said["his"] in one.text for one in answer.quotes] == [True, False]
    assert "ota.beran@x.example: I will be late." in shown["false"]
    assert "beran" not in shown["true"]
    assert "<EMAIL_ADDRESS" in shown["true"] and said["hers"] in shown["true"]
