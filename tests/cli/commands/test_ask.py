"""What `relrag ask` says below an answer that hides values, and to whom it says so."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from relrag_query.cli.commands.ask import SearchOptions, ask
from tests.query_hits import publish, record

NOTES = {
    "The plumber": "The plumber can be reached at {}, he comes on Monday.",
    "Instalatér": "Instalatér má číslo {}, přijde v pondělí.",
    "השרברב": "המספר של השרברב הוא {}, הוא מגיע ביום שני.",
}
REPLACED = "`relrag reveal ID` shows a record before redaction"
PSEUDONYM = "`relrag ask --reveal` shows them"


@pytest.mark.parametrize("question", NOTES)
@pytest.mark.parametrize(
    ("value", "hint"),
    [("<PHONE_NUMBER>", REPLACED), ("<PHONE_NUMBER:k1:0123456789ab>", PSEUDONYM), ("extension 12", None)],
)
def test_how_a_hidden_number_can_be_seen_is_said_on_a_terminal_alone(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    question: str,
    value: str,
    hint: str | None,
) -> None:
    config = publish(tmp_path, [record("document:1", NOTES[question].format(value))])
    for terminal in (True, False):
        monkeypatch.setattr(sys.stdout, "isatty", lambda terminal=terminal: terminal)
        assert ask(question, SearchOptions(), config) == 0
        said = capsys.readouterr().out
        assert value in said
        told = [one for one in (REPLACED, PSEUDONYM) if one in said]
        assert told == ([hint] if hint and terminal else [])
