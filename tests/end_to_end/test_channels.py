"""A channel that a question names: what lies there answers; if nothing does, what is elsewhere is said to be so."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from relrag_pipelines.sources import RECORD_TYPES
from relrag_query.archive import Archive
from relrag_query.cli import render
from relrag_query.understanding.intent import QueryIntent, classify_query_intent, named_channel
from tests import archive as archives
from tests.end_to_end.test_hybrid import CONFIG as HYBRID
from tests.query_hits import passages, publish, record, window

MAIL, CHAT = frozenset({"email", "email_attachment"}), frozenset({"whatsapp"})
ANY_CHAT = frozenset(kind.name for kind in RECORD_TYPES.values() if kind.chat)
CALL, MEETING = frozenset({"call_recording"}), frozenset({"meeting_transcript"})


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Archive]:
    chat = [
        record("whatsapp:1", "The rent of the garage is 400, Jan says", "2025-01-12T07:00:00Z", from_="Eva",
               source="chat", rag_source_type="whatsapp", thread_id="c"),
    ]  # fmt: skip
    records = [
        record("gmail:1", "Hello, about the garage: the rent of it goes up to 450.", "2025-01-14T08:00:00Z",
               from_="Jan <jan@x.example>", source="mail", rag_source_type="email"),
        record("meeting:1", "Jan: The garage gets a new roof, and its rent stays.", "2025-01-15T10:00:00Z",
               source="meetings", rag_source_type="meeting_transcript", from_="Jan, Eva"),
        *[
            record(f"meeting:{number}", f"Rent of the garage, garage, rent: item {number}.", "2025-01-15T10:00:00Z",
                   source="meetings", rag_source_type="meeting_transcript")
            for number in range(10, 60)
        ],
    ]  # fmt: skip
    chunks = [*(one for each in records for one in passages(each)), window(chat)]
    with Archive.open(publish(tmp_path_factory.mktemp("channel"), [*records, *chat], chunks)) as opened:
        yield opened


@pytest.mark.parametrize(
    ("question", "ref"),
    [
        ("What is the rent of the garage in the mail from Jan?", "gmail:1"),
        ("What did Jan mail about the rent of the garage? I mean the e-mail from him.", "gmail:1"),
        ("What is said about the garage rent on WhatsApp?", "whatsapp:chunk:c"),
        ("garage rent in the chat", "whatsapp:chunk:c"),
    ],
)
def test_the_channel_is_found_behind_any_number_of_better_hits_and_alone_answers(
    archive: Archive, question: str, ref: str
) -> None:
    answer = archive.ask(question)
    assert [source.hit.chunk.asset_id[:16] for source in answer.sources] == [ref]
    assert answer.head == []
    assert archive.search(question, limit=1).hits[0].chunk.asset_id.startswith(ref)


def test_where_the_channel_holds_nothing_that_is_said(archive: Archive) -> None:
    answer = archive.ask("What did Jan say about the roof of the garage in the call?")
    assert answer.quotes[0].text == "Jan: The garage gets a new roof, and its rent stays."
    assert answer.head == ["No call answers this; what follows is from elsewhere."]
    assert render.answer_text(answer, ZoneInfo(archive.settings.timezone)).startswith(
        "No call answers this; what follows is from elsewhere.\n\nJan: The garage gets a new roof"
    )


def test_what_comes_closest_in_the_channel_is_not_from_elsewhere(archive: Archive) -> None:
    answer = archive.ask("What did we settle in the chat about heating the attic of the garage?")
    assert all(source.hit.chunk.asset_id.startswith("whatsapp:") for source in answer.sources)
    assert answer.head == []


def test_a_chat_in_another_language_is_not_from_elsewhere(tmp_path: Path) -> None:
    """What is quoted decides, not whether it holds words of the question."""
    notes = [
        {"id": "chat", "rag_source_type": "whatsapp", "text": "הטכנאי היה פה והחליף את המשאבה של החימום"},
        {"id": "mail", "rag_source_type": "email", "text": "The train to Vienna leaves at nine from platform two."},
    ]
    (tmp_path / "notes.jsonl").write_text("\n".join(json.dumps(one | {"from": "Eva"}) for one in notes))
    (tmp_path / "relrag.toml").write_text(HYBRID.format(embedder="e5"))
    archives.sync(tmp_path / "relrag.toml")
    with Archive.open(tmp_path / "relrag.toml") as opened:
        heating = opened.ask("What did the heating technician replace, as we wrote in the chat?")
    assert (heating.quotes[0].text, heating.head) == (notes[0]["text"], [])


def test_a_kind_that_is_given_leaves_nothing_of_another_channel(archive: Archive) -> None:
    hits = archive.search("garage rent in the mail", kinds=["meeting"]).hits
    assert {hit.chunk.rag_source_type for hit in hits} == {"meeting_transcript"}


@pytest.mark.parametrize(
    ("question", "types"),
    [
        ("what did Jan write in the mail about the rent", MAIL),
        ("the contract from last week's email", MAIL),
        ("e-mails from Siemens", MAIL),
        ("What did Tamar email about the passport?", MAIL),
        ("v mailu od Jana o sazbě", MAIL),
        ("co psal Jan e-mailem?", MAIL),
        ("co psala v posledním mailu?", MAIL),
        ("מה כתבה תמר במייל על החתונה?", MAIL),
        ("what did she write on WhatsApp?", CHAT),
        ("co psala na WhatsAppu?", CHAT),
        ("מה אמא כתבה בוואטסאפ על הרופא?", CHAT),
        ("in the call with Karel, what did he say?", CALL),
        ("o čem jsme mluvili po telefonu?", CALL),
        ("what was decided at the meeting?", MEETING),
        ("co jsme si psali v rodinném chatu o střeše?", ANY_CHAT),
        # not a channel, or not one alone
        ("Kolik stojí noc na chatě v létě?", None),
        ("Co je nového v chatě u lesa?", None),
        ("What is the email address of Jan?", None),
        ("What is Jan's email?", None),
        ("what is the email of the school?", None),
        ("Which mail or WhatsApp message names the rent?", None),
        ("What did Jan write, and did we discuss it on the call?", None),
    ],
)
def test_which_channel_a_question_names(question: str, types: frozenset[str] | None) -> None:
    assert named_channel(question, classify_query_intent(question, [], [])) == (types or frozenset())


@pytest.mark.parametrize(
    "question",
    ["What did Omer write about the price, and did we talk on WhatsApp about it?", "Co psal Jan a co řekl v hovoru?"],
)
def test_a_channel_named_in_a_second_question_goes_across(question: str) -> None:
    assert QueryIntent.CROSS_CHANNEL in classify_query_intent(question, [], [])
