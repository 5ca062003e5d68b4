"""What is quoted where nothing surely answers; and evidence in another language than the question's."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from relrag_query.answering import closest
from relrag_query.answering.candidates import candidates
from relrag_query.answering.confidence import Judgement
from relrag_query.answering.extractive import ExtractiveAnswer, Sentence
from relrag_query.archive import Archive
from relrag_query.cli import render
from relrag_query.cli.commands import sync as commands
from relrag_query.retrieval.question import Filters
from relrag_query.service import replies
from tests.retrieval.test_hybrid import CONFIG

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
        assert commands.sync(folder / "relrag.toml") == 0
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
    assert (answer.confidence == "unsure") == render.answer_text(answer, archive._zone).startswith(render.UNSURE)
    assert replies.answer_reply(answer, archive._zone, 1).confidence == answer.confidence


def test_a_question_is_compared_without_what_its_language_has_in_common(archive: Archive) -> None:
    """As the passages are: their means stand with the generation."""
    assert archive.generation.manifest["means"].keys() == {"cs", "en", "he"}
    with archive._reading() as connection:
        context = archive._context(connection, "When does the train leave?", Filters(), 8)
    assert context.meaning is not None
    alone = archive._questions._embedder.query("When does the train leave?")
    assert float(context.meaning @ alone) < 0.7
    assert context.similarities is not None
    assert np.argmax(context.similarities(list(NOTES.values()))) == list(NOTES).index("trip")


def test_a_passage_in_another_language_is_found_first(archive: Archive) -> None:
    assert archive.search("Kdy jede vlak do Vídně?").hits[0].chunk.source_id == "trip"


def test_what_is_near_nothing_is_not_answered_as_if_sure(archive: Archive) -> None:
    assert not archive.ask("What colour is the submarine of Orly?").found


def test_a_doubted_answer_gives_way_to_the_closest_passages_one_of_each_record(archive: Archive) -> None:
    found = candidates(archive.search("the cottage in November").hits)
    likely = np.linspace(0.19, 0.05, len(found))
    said = ExtractiveAnswer([Sentence(found[0].unit, 1.0)], 1.0, 0.5)
    doubted = closest.weigh(said, found, Judgement(likely, 0.1, by_meaning=True, worth_showing=True), 8)
    assert (doubted.confidence, len(doubted.sentences)) == ("unsure", 3)
    assert len({one.unit.asset_id for one in doubted.sentences}) == 3
    sure = replace(Judgement(likely, 0.1, by_meaning=True), probabilities=likely + closest.DOUBT)
    assert closest.weigh(said, found, sure, 8).confidence == "sure"
    assert closest.weigh(said, found, Judgement(likely, 0.01, by_meaning=True), 8).confidence == "none"
    by_words = Judgement(likely, 0.01, by_meaning=False)
    assert closest.weigh(said, found, by_words, 8).confidence == "sure"
