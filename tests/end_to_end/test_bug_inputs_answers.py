"""What was stated later comes first: the folder `bugs/superseded-values`."""

from pathlib import Path

import pytest

from relrag_query.archive import Archive
from relrag_query.results import Answer
from tests import archive

CONFIG = """
archive = "superseded"
keys_file = "test.keys"
pii_redaction_enabled = true

[[sources]]
name = "mail"
kind = "gmail"
path = "{path}"
"""
NEWER = {
    "Where does Ivo Kral live?": "Harborne",
    "What is the status of project Heron?": "beta testing",
    "What is the wifi password?": "kaktus88",
}
"""question -> the value that holds now, which a mail of May states"""


@pytest.mark.xfail(strict=True, reason="the issue on answers: the older value is quoted first")
def test_the_newer_value_is_quoted_first(
    tmp_path: Path, shared_data: Path, monkeypatch: pytest.MonkeyPatch, without_dagster: None
) -> None:
    monkeypatch.setenv("RELRAG_NOW", "2025-06-01T12:00:00+00:00")
    config = tmp_path / "relrag.toml"
    config.write_text(CONFIG.format(path=shared_data / "bugs" / "superseded-values"))
    archive.sync(config)
    with Archive.open(config) as opened:
        first_quotes = {question: _first_quote(opened.ask(question)) for question in NEWER}
    assert {question: value in first_quotes[question] for question, value in NEWER.items()} == dict.fromkeys(
        NEWER, True
    )


def _first_quote(answer: Answer) -> str:
    return answer.quotes[0].text if answer.quotes else ""
