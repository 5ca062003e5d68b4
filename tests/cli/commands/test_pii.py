"""`relrag pii`: counts without values, and the reasons for a finding."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from relrag_query.cli.commands import pii
from tests import archive

NUMBER = "052-123-4567"


def test_the_report_counts_by_entity_channel_and_month(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = archive.make(tmp_path)
    archive.write_notes(
        tmp_path, {"id": "n3", "text": f"{NUMBER}, {NUMBER}, dana@example.com", "timestamp": "2024-02-21T08:00:00Z"}
    )
    archive.sync(config)
    assert pii.report(config) == 0
    assert capsys.readouterr().out.splitlines() == [
        "EMAIL_ADDRESS  default   2024-02        1",
        "PHONE_NUMBER   default   2024-02        2",
        "PHONE_NUMBER   whatsapp  2024-01        1",
        "4 values replaced in what is indexed.",
        "What a policy removes or masks leaves nothing that could be counted.",
    ]
    assert pii.report(config, as_json=True) == 0
    printed = capsys.readouterr().out
    assert json.loads(printed)[0] == {"entity": "EMAIL_ADDRESS", "channel": "default", "month": "2024-02", "count": 1}
    assert "123" not in printed


@pytest.mark.requirement("S0-70")
def test_a_text_is_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = archive.make(tmp_path)
    archive.sync(config)
    assert pii.test("my passport is 12345678", config=config) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[:4] == [
        "PASSPORT  '12345678'  0.45  pseudonymize",
        "    Detected by `passport` using pattern `digits`",
        "    score 0.10, raised to 0.45",
        "    because of the word 'passport' in front of it",
    ]
    assert said[-1].startswith("my passport is <PASSPORT:k1:")
    assert pii.test("my passport is 12345678", "whatsapp", config) == 0
    assert capsys.readouterr().out == "Nothing is found.\nmy passport is 12345678\n"
