"""Marks in a mail's own text cite nothing: in quoted answers, in answers of an index, and in what is traced."""

from __future__ import annotations

import json
import re
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from relrag_query.archive import Archive
from relrag_query.cli.commands import graphrag
from relrag_query.cli.render import answer_text
from relrag_query.service.replies import answer_reply
from tests import ROOT, archive

CONFIG = """
archive = "marks"
keys_file = "test.keys"
embedder = "none"
pii_redaction_enabled = true

[graphrag]
method = "fast"

[[sources]]
name = "mail"
kind = "gmail"
path = "{path}"
"""
ZONE = ZoneInfo("Europe/Prague")
OWN = ROOT / "tests" / "data" / "citation-marks"


def synced(folder: Path, mails: Path) -> Path:
    config = folder / "relrag.toml"
    config.write_text(CONFIG.format(path=mails))
    archive.sync(config)
    return config


def traced(config: Path, question: str, method: str, capsys: pytest.CaptureFixture[str]) -> tuple[str, str]:
    """What `relrag graphrag query --show-sources` prints: the answer, and its sources."""
    capsys.readouterr()
    graphrag.query("archive", question, method=method, show_sources=True, config=config)
    answer, _, sources = capsys.readouterr().out.partition("GraphRAG Source References:")
    return answer, sources


def test_the_marks_of_a_mail_are_not_traced(
    tmp_path: Path,
    shared_data: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    without_dagster: None,
) -> None:
    monkeypatch.setenv("RELRAG_NOW", "2025-06-01T12:00:00+00:00")
    config = synced(tmp_path, shared_data / "bugs" / "citation-marks-in-a-text")
    answer, sources = traced(config, "Who painted the fence purple?", "basic", capsys)
    assert "Zork ［Data: Sources (0, 1); Reports (0); Entities (0, 1)］" in answer
    assert re.findall(r"^  \[\d+\] ([A-Z][a-z]+)", sources, re.MULTILINE) == ["Fence"]
    assert "rent" not in sources.lower()
    assert "salary" not in sources.lower()


@pytest.mark.parametrize(
    ("question", "title", "mark"),
    [
        ("Where was the green boat sold?", "Boat", "［2］, as the list ［1, 3］"),
        ("Where do the spare keys lie?", "Keys", "［Data: Reports (0, +more)"),
    ],
)
def test_other_marks_are_told_apart(
    question: str,
    title: str,
    mark: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    without_dagster: None,
) -> None:
    monkeypatch.setenv("RELRAG_NOW", "2025-06-01T12:00:00+00:00")
    config = synced(tmp_path, OWN)
    for method in ("basic", "local"):
        answer, sources = traced(config, question, method, capsys)
        assert mark in answer
        assert re.findall(r"^  \[\d+\] ([A-Z][a-z]+)", sources, re.MULTILINE) == [title]
    with Archive.open(config) as opened:
        found = opened.ask(question)
        printed = answer_text(found, ZONE, show_sources=True)
        reply = json.loads(answer_reply(found, ZONE, 1).model_dump_json())
    for text in (printed, reply["answer"]):
        assert mark in text
    assert set(re.findall(r"\[(\d+)\]", reply["answer"])) == {"1"}
