"""Questions in Czech and Hebrew, as people ask them, find the one record among 4,000 near ones that answers them."""

from __future__ import annotations

from pathlib import Path

import pytest

from relrag_query.archive import Archive
from relrag_query.evaluation.metrics import corpus_questions, measure_corpus
from tests import archive
from tests.retrieval import distractors
from tests.retrieval.distractors import LANGUAGES

CONFIG = 'archive = "test"\nkeys_file = "test.keys"\ntimezone = "Europe/Prague"\nembedder = "{embedder}"\n'
SOURCE = '[[sources]]\nname = "{0}"\nkind = "jsonl"\npath = "{0}.jsonl"\n'


def sync(folder: Path, sentences: tuple[int, ...] = (1,), embedder: str = "none") -> Path:
    """An archive of both languages in that folder, synced; returns its relrag.toml."""
    config = folder / "relrag.toml"
    config.write_text(CONFIG.format(embedder=embedder) + "".join(map(SOURCE.format, LANGUAGES)))
    for language in LANGUAGES:
        distractors.write_source(language, folder / f"{language}.jsonl", sentences)
    archive.sync(config)
    return config


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sync(tmp_path_factory.mktemp("languages"))


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_four_of_five_questions_find_the_answer_first(config: Path, language: str) -> None:
    """By words alone; a question has other forms of its words than the answer."""
    asked = corpus_questions(distractors.HERE / language / "questions.jsonl")
    with Archive.open(config) as opened:
        measured = measure_corpus(opened, asked, [1, 5])
    assert len(asked) >= 25
    assert measured["gold_not_in_archive"] == 0
    assert measured["recall@1"] >= 0.8
    assert measured["recall@5"] >= 0.9


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_set_asks_what_one_record_alone_answers(language: str) -> None:
    """The answer stands in the record that is named, and in no distractor, even of the harder set."""
    told = {record["id"]: record["text"] for record in distractors.read(language, "records.jsonl")}
    near = distractors.distractors(language, distractors.SEVERAL)
    texts = "\n".join(f"{record.get('subject', '')}\n{record['text']}" for record in near)
    assert len(near) == distractors.COUNT == len({record["text"] for record in near})
    for question in distractors.read(language, "questions.jsonl"):
        (gold,) = question["gold"]
        assert question["answer"] in told[gold.partition(":")[2]]
        assert question["answer"] not in texts, question["id"]
