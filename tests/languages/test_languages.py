"""A language is a folder: one that is added is understood, and a mistake in one is named."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from relrag_pipelines import languages
from relrag_pipelines.languages import LanguageError
from relrag_pipelines.text.analyzer import document_tokens, query_tokens
from tests import ROOT
from tests.cases import cases

TOY = ROOT / "tests" / "data" / "languages"
CODES = sorted(languages.codes())


def test_a_folder_adds_a_language(tmp_path: Path) -> None:
    """In a process of its own, since what is read of languages is kept for the life of one."""
    shutil.copytree(TOY, tmp_path / "languages")
    (tmp_path / "archive").mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "tests.languages.ask_in_toy_language", str(tmp_path / "archive")],
        env={**os.environ, languages.VARIABLE: str(tmp_path / "languages")},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout.splitlines()[-1]) == {
        "tokens": "fralmo ~fra ~fral ~fralm murvak ~mur ~murv ~murva",
        "asks_when": True,
        "asks_who": True,
        "family": True,
        "kin": [["sibling", "brakkunok"]],
        "may_name": True,
        "month": "2024-03-01",
        "described": "toy",
        "hits": ["Dana Levi: zub fralmo grintu zib murvak"],
    }


def test_without_the_folder_its_words_are_any_words() -> None:
    assert "qtz" not in languages.codes()
    assert "zub" in query_tokens("Quom zub fralmo zib murvak?").split()


def test_there_are_25_languages() -> None:
    assert len(CODES) == 25


@pytest.mark.parametrize("code", CODES)
def test_every_language_has_the_files_that_search_and_questions_need(code: str) -> None:
    assert languages.language(code).stop_words
    assert languages.table(code, "questions")["asked"].keys() >= {"when", "price", "count", "who", "where", "why"}
    assert {"numbers", "language", "questions"} <= {file.stem for file in (languages.FOLDER / code).glob("*.toml")}
    assert code in languages.codes("dates") or code in ("ja", "ko")  # whose dates have no words


@pytest.mark.parametrize(*cases(__file__, "a_question_and_a_text_share_stems"))
def test_a_question_and_a_text_share_stems(text: str, question: str, stem: str) -> None:
    shared = {token for token in document_tokens(text).split() if token[0] == "="} & set(query_tokens(question).split())
    assert stem in shared if stem else not shared


@pytest.mark.parametrize(*cases(__file__, "stop_words_of_a_question_are_not_searched"))
def test_stop_words_of_a_question_are_not_searched(question: str, words: set[str]) -> None:
    whole = {token for token in query_tokens(question).split() if token[0] not in "~="}
    assert words <= whole and len(whole) <= len(words) + 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('stopwords = "a b"', r"xx/language\.toml: stopwords is unknown; known: .*stop_words"),
        ("name = [", r"xx/language\.toml: "),
    ],
)
def test_a_mistake_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, message: str) -> None:
    (tmp_path / "xx").mkdir()
    (tmp_path / "xx" / "language.toml").write_text(text)
    monkeypatch.setattr(languages, "FOLDER", tmp_path)
    with pytest.raises(LanguageError, match=message):
        languages.language("xx")


def test_further_folders_count_before_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "en").mkdir()
    (tmp_path / "en" / "numbers.toml").write_text('phone = ["blower"]')
    monkeypatch.setenv(languages.VARIABLE, str(tmp_path))
    assert languages.table("en", "numbers") == {"phone": ["blower"]}
    assert languages.codes("numbers").count("en") == 1
