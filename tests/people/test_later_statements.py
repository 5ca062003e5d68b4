"""What the owner said of people since a generation: redacted as the archive is, wherever it is read from."""

from __future__ import annotations

from pathlib import Path

import pytest

from relrag_pipelines import settings as settings_module
from relrag_pipelines.identity.journal_statements import StatedFact
from relrag_pipelines.journal import journal
from relrag_pipelines.pii import PIIRedactor, RedactionError
from relrag_pipelines.settings import Settings
from relrag_pipelines.workspace import Workspace
from relrag_query.archive import Archive
from relrag_query.people import statement_reader
from relrag_query.retrieval.question_reader import redact_question
from tests import archive

OWN = """
recognizers:
  - name: code names
    supported_entity: CODE_NAME
    patterns:
      - {name: one of ours, regex: '\\bBluebird\\b', score: 0.9}
"""
EXTRA = """
pii_recognizers = "recognizers.yaml"

[pii_policies.default]
action = "pseudonymize"
entities = ["CODE_NAME", "EMAIL_ADDRESS"]
"""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    folder = tmp_path / "archive"
    folder.mkdir()
    (folder / "recognizers.yaml").write_text(OWN)
    settings = settings_module.load(archive.make(folder, EXTRA))
    assert Workspace(settings).keys.version == "k1"  # made before the journal, as the first sync does
    return settings


def said_of(settings: Settings) -> list[str]:
    entries = [entry.statement for entry in statement_reader.read(settings, 0).entries]
    return [said.value for said in entries if isinstance(said, StatedFact)]


@pytest.mark.parametrize(
    ("text", "secret", "kind"),
    [
        ("who leads Bluebird?", "Bluebird", "<CODE_NAME:k1:"),
        ("did dana at example dot com reply?", "dana", "<EMAIL_ADDRESS:k1:"),
        ("psala dana zavináč seznam tečka cz", "dana", "<EMAIL_ADDRESS:k1:"),
    ],
)
def test_personal_data_of_letters_alone_is_replaced(settings: Settings, text: str, secret: str, kind: str) -> None:
    journal.append(settings.home_path, [StatedFact(1, "role", text)])
    for redacted in (redact_question(text, settings), *said_of(settings)):
        assert kind in redacted
        assert secret not in redacted


def test_paths_are_those_of_relrag_toml_wherever_it_is_read(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal.append(settings.home_path, [StatedFact(1, "role", "leads Bluebird")])
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert said_of(settings) == [Workspace(settings).redactor.redact("leads Bluebird", "default")]
    assert list(elsewhere.iterdir()) == []


def test_words_that_cannot_be_redacted_are_left_out(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(self: PIIRedactor, text: str, channel: str) -> str:
        raise RedactionError("CODE_NAME could not be looked for (ValueError)")

    journal.append(settings.home_path, [StatedFact(1, "role", "leads Bluebird")])
    monkeypatch.setattr(PIIRedactor, "redact", fails)
    assert said_of(settings) == [""]


def test_a_damaged_journal_leaves_questions_answered_and_is_named(tmp_path: Path) -> None:
    config = archive.make(tmp_path)
    archive.first_sync(config)
    with Archive.open(config) as opened:
        (opened.settings.home_path / journal.NAME).write_text("{damaged\n")
        answer = opened.ask("What did the plumber quote for the boiler?")
    assert "7,980" in answer.text
    assert answer.notice.startswith(
        "What you said of people since the last sync is left out: private/journal.jsonl, line 1, is damaged"
    )
