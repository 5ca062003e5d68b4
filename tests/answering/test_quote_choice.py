"""What is quoted where nothing surely answers; and evidence in another language than the question's."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from relrag_query.answering import confidence, evidence, quote_choice
from relrag_query.answering.candidates import candidates
from relrag_query.answering.confidence import Judgement
from relrag_query.answering.extractive import ExtractiveAnswer, Sentence
from relrag_query.archive import Archive
from relrag_query.cli import render
from relrag_query.retrieval.hit import Hit
from relrag_query.retrieval.question import Filters
from relrag_query.service import replies
from tests import archive as archives
from tests.end_to_end.test_hybrid import CONFIG
from tests.query_hits import passages, publish, record

NOTES = {
    "boiler": "Kotelník přijde v úterý mezi osmou a desátou, nechte otevřený sklep.",
    "jam": "Babička posílá pusu a sklenici švestkové marmelády.",
    "cottage": "Insurance for the cottage is 3,870 a year from November.",
    "dentist": "התור לרופא שיניים של נועה הוזז ליום רביעי בשעה ארבע.",
    "trip": "The train to Vienna leaves at nine in the morning.",
}


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Archive]:
    folder = tmp_path_factory.mktemp("closest")
    lines = (json.dumps({"id": name, "text": text, "from": "Eva"}) for name, text in NOTES.items())
    (folder / "notes.jsonl").write_text("\n".join(lines))
    (folder / "relrag.toml").write_text(CONFIG.format(embedder="e5"))
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("RELRAG_CONFIG", raising=False)
        archives.sync(folder / "relrag.toml")
    with Archive.open(folder / "relrag.toml") as opened:
        yield opened


@pytest.mark.parametrize(
    ("question", "note"),
    [
        ("When does the boiler repairman come?", "boiler"),
        ("when is the dentist appointment", "dentist"),
        ("כמה עולה הביטוח של הקוטג'?", "cottage"),
    ],
)
def test_evidence_in_another_language_is_found_and_quoted(archive: Archive, question: str, note: str) -> None:
    assert archive.search(question).hits[0].chunk.source_id == note
    answer = archive.ask(question)
    assert NOTES[note] in [quote.text for quote in answer.quotes]
    zone = ZoneInfo(archive.settings.timezone)
    assert (answer.confidence == "unsure") == render.answer_text(answer, zone).startswith(render.UNSURE)
    assert replies.answer_reply(answer, zone, 1).confidence == answer.confidence


def test_a_question_is_compared_without_what_its_language_has_in_common(archive: Archive) -> None:
    """As the passages are: their means stand with the generation."""
    assert archive.generation.manifest["means"].keys() == {"cs", "en", "he"}
    with archive._reading() as connection:
        context = archive._context(connection, "When does the train leave?", Filters(), 8)
    assert context.meaning is not None
    alone = archive._questions._embedder.query("When does the train leave?")
    assert float(context.meaning @ alone) < 0.7
    assert context.similarities is not None
    near = context.similarities(list(NOTES.values()))
    assert near.argmax(axis=0)[:3].tolist() == [list(NOTES).index("trip")] * 3


def test_a_passage_in_another_language_is_found_first(archive: Archive) -> None:
    assert archive.search("Kdy jede vlak do Vídně?").hits[0].chunk.source_id == "trip"


def test_what_is_near_nothing_is_not_answered_as_if_sure(archive: Archive) -> None:
    assert not archive.ask("What colour is the submarine of Orly?").found


def test_a_doubted_answer_gives_way_to_the_closest_passages_one_of_each_record(archive: Archive) -> None:
    found = candidates(archive.search("the cottage in November").hits)
    shares = np.linspace(0.4, 0.05, len(found), dtype=np.float32)
    said = ExtractiveAnswer([Sentence(found[0].unit, 1.0)], 1.0, 0.5)
    judged = Judgement(shares, 0.4, by_meaning=True, worth_showing=True)
    doubted = quote_choice.weigh(said, found, judged, 8)
    assert (doubted.confidence, len(doubted.sentences)) == ("unsure", 3)
    assert len({one.unit.asset_id for one in doubted.sentences}) == 3
    assert quote_choice.weigh(said, found, replace(judged, sure=True), 8).confidence == "sure"
    assert quote_choice.weigh(said, found, replace(judged, worth_showing=False), 8).confidence == "none"
    assert quote_choice.weigh(said, found, replace(judged, by_meaning=False), 8).confidence == "sure"
    assert quote_choice.weigh(said, found, judged, 8, records=True).confidence == "sure", (
        "a thread is shown, not doubted"
    )


def test_what_several_records_say_alike_takes_one_of_the_closest_passages() -> None:
    """A newsletter that came three times leaves room for the others; a figure that differs makes another text."""
    said = ("The pool is closed for repairs.", "The pool is closed for repairs.", "Bring a towel to the lesson.")
    texts = [*said, "Ticket number 14 for the pool.", "Ticket number 15 for the pool."]
    found = candidates(
        [Hit(passages(record(f"jsonl:{number}", text))[0], 1.0, 1.0) for number, text in enumerate(texts)]
    )
    shares = np.linspace(0.4, 0.05, len(found), dtype=np.float32)
    judged = Judgement(shares, 0.4, by_meaning=True, worth_showing=True)
    doubted = quote_choice.weigh(ExtractiveAnswer([], 1.0, 0.5), found, judged, 8)
    assert [one.unit.text for one in doubted.sentences] == [*said[1:], texts[3]]
    assert [len(one.hits) for one in doubted.sentences] == [2, 1, 1]
    last = quote_choice.weigh(ExtractiveAnswer([], 1.0, 0.5), found[3:], replace(judged, shares=shares[3:]), 8)
    assert [one.unit.text for one in last.sentences] == texts[3:]


def test_a_sure_answer_is_the_best_candidate_whatever_its_words_are(archive: Archive) -> None:
    found = candidates(archive.search("the cottage in November").hits)
    by_words = ExtractiveAnswer([Sentence(found[0].unit, 1.0)], 1.0, 0.5)
    shares = np.zeros(len(found), np.float32)
    shares[:3] = (0.01, 0.7, 0.1)
    said = quote_choice.weigh(by_words, found, Judgement(shares, 0.9, by_meaning=True, sure=True), 8)
    assert [one.unit for one in said.sentences] == [found[1].unit], (
        "the unlikely sentence and the far second are left out"
    )
    near = np.where(shares == np.float32(0.1), np.float32(0.3), shares)
    said = quote_choice.weigh(by_words, found, Judgement(near, 0.9, by_meaning=True, sure=True), 8)
    assert [one.unit for one in said.sentences] == [found[1].unit, found[2].unit]


@pytest.mark.parametrize(("share", "quoted"), [(0.05, False), (0.15, True)])
def test_all_words_of_a_question_do_not_make_an_unlikely_sentence_a_source(
    archive: Archive, share: float, quoted: bool
) -> None:
    found = candidates(archive.search("the cottage in November").hits)
    by_words = ExtractiveAnswer([Sentence(found[0].unit, 1.0)], 1.0, 0.5)
    shares = np.zeros(len(found), np.float32)
    shares[:2] = (share, 0.7)
    said = quote_choice.weigh(by_words, found, Judgement(shares, 0.9, by_meaning=True, sure=True), 8)
    assert (found[0].unit in [one.unit for one in said.sentences]) is quoted


def test_one_candidate_of_each_passage_is_compared_by_meaning(archive: Archive) -> None:
    found = candidates(archive.search("the cottage in November").hits)
    twice = [found[0], *found]
    places = confidence.best_of_passages(twice, np.linspace(1, 2, len(twice), dtype=np.float32))
    assert places == list(range(len(twice) - 1, 0, -1))
    assert confidence.share(np.array([1.0, 1.0, 1.0, 1.0], np.float32)).tolist() == [0.25] * 4


def test_all_that_channels_say_to_one_question_counts_as_quoted() -> None:
    """A call and a mail that both answer share the answer; by the share of either alone it would be in doubt."""
    rows = np.zeros((3, len(evidence.FEATURES)), np.float32)
    scores = np.log(np.array([0.7, 0.2, 0.1], np.float32))
    one, across = (confidence.best_row(scores, rows, 1.0, 0, across=it) for it in (False, True))
    named = [dict(zip(confidence.BEST, known.tolist(), strict=True)) for known in (one, across)]
    assert [round(known["quoted_share"], 3) for known in named] == [0.7, 1.0]
    assert [known["two_quoted"] for known in named] == [0.0, 1.0]


@pytest.mark.parametrize(
    ("best", "asks", "reply"),
    [
        ("The knee is to be operated on.", "And how long on crutches?", "Six weeks."),
        ("Koleno se bude operovat.", "A jak dlouho o berlích?", "6 týdnů."),
        ("הברך תנותח.", "וכמה זמן עם קביים?", "שישה שבועות."),
    ],
)
def test_a_passage_does_not_end_with_a_question_before_its_answer(best: str, asks: str, reply: str) -> None:
    long = f"Bla{' bla' * 150}"[: 597 - len(best) - len(asks)].rstrip() + "."
    found = candidates([Hit(passages(record("document:1", f"{best} {long} {asks} {reply} {long}"))[0], 1.0, 1.0)])
    one = next(one for one in found if one.unit.text == best)
    assert quote_choice._passage(one, found).endswith(f"\n{asks}\n{reply}")


@pytest.mark.parametrize("by_meaning", [True, False])
@pytest.mark.parametrize(
    ("asks_amount", "asks_day", "reminder"),
    [
        ("How much was the vaccination?", "When is the vaccination?", "Rex is due for his vaccination on 12 May 2025."),
        ("Kolik stálo očkování?", "Kdy je očkování?", "Rex má očkování 12. května 2025."),
        ("כמה עלה החיסון?", "מתי החיסון?", "החיסון של רקס ב-12 במאי 2025."),
    ],
)
def test_what_holds_no_amount_surely_answers_no_question_for_one(
    asks_amount: str, asks_day: str, reminder: str, by_meaning: bool
) -> None:
    found = candidates([Hit(passages(record("document:1", reminder))[0], 1.0, 1.0)])
    said = ExtractiveAnswer([Sentence(found[0].unit, 1.0)], 1.0, 0.5)
    judged = Judgement(np.ones(1, np.float32), 0.9, by_meaning=by_meaning, sure=True, worth_showing=by_meaning)
    for question, confident in ((asks_amount, "unsure"), (asks_day, "sure")):
        told = quote_choice.weigh(said, found, judged, 8, question=question)
        assert (told.confidence, [one.unit.text for one in told.sentences]) == (confident, [reminder])


def test_a_reminder_of_a_vaccination_tells_no_price(tmp_path: Path) -> None:
    reminder = "Rex is due for his yearly vaccination against rabies on 12 May 2025 at the clinic."
    with Archive.open(publish(tmp_path, [record("document:1", reminder)])) as archive:
        price = archive.ask("How much is the yearly vaccination of Rex against rabies?")
        day = archive.ask("When is the yearly vaccination of Rex against rabies?")
    assert (price.confidence, day.confidence) == ("unsure", "sure")
