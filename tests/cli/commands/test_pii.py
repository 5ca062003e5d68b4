"""`relrag pii`: counts without values, and the reasons for a finding."""

from __future__ import annotations

import io
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
    archive.first_sync(config)
    assert pii.report(config) == 0
    assert capsys.readouterr().out.splitlines() == [
        "entity         channel   month    count",
        "EMAIL_ADDRESS  default   2024-02      1",
        "PHONE_NUMBER   default   2024-02      1",
        "PHONE_NUMBER   whatsapp  2024-01      1",
        "3 values replaced in what is indexed.",
        "Values that a policy removes or masks cannot be counted.",
    ]
    assert pii.report(config, as_json=True) == 0
    printed = capsys.readouterr().out
    assert json.loads(printed)[0] == {"entity": "EMAIL_ADDRESS", "channel": "default", "month": "2024-02", "count": 1}
    assert "123" not in printed


@pytest.mark.requirement("S0-70")
def test_a_text_is_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = archive.make(tmp_path)
    archive.first_sync(config)
    assert pii.test("my passport is 12345678", "default", config) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[:6] == [
        "Regions: CZ, US",
        "PASSPORT  '12345678'  0.75",
        "    because of a word for a passport before it",
        "    found by relrag PASSPORT",
        "",
        "default: PASSPORT pseudonymize",
    ]
    assert said[-1].startswith("    my passport is <PASSPORT:k1:")
    assert pii.test("my passport is 12345678", "whatsapp", config) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[1:] == [
        "stays  '12345678'",
        '    because of the word "passport is" before it',
        "Nothing is found.",
        "whatsapp: nothing",
        "    my passport is 12345678",
    ]


def test_a_file_and_the_standard_input_are_read_line_by_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    config = archive.make(tmp_path)
    lines = tmp_path / "lines.txt"
    lines.write_text(f"call {NUMBER}\n\norder {NUMBER}\n")
    assert pii.test(None, "default", config, lines) == 0
    from_file = capsys.readouterr().out
    assert f"PHONE_NUMBER  '{NUMBER}'" in from_file and 'because of the word "call" before it' in from_file
    assert f"stays  '{NUMBER}'" in from_file and 'because of the word "order" before it' in from_file
    monkeypatch.setattr("sys.stdin", io.StringIO(lines.read_text()))
    assert pii.test(None, "default", config) == 0
    assert capsys.readouterr().out.count("stays") == from_file.count("stays") == 1
    with pytest.raises(pii.TextFileError, match=r"missing\.txt cannot be read"):
        pii.test(None, "default", config, tmp_path / "missing.txt")


def test_a_try_makes_no_keys_and_says_first_that_redaction_is_off(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keys, config = tmp_path / "keys", tmp_path / "relrag.toml"
    config.write_text(f'home = "{tmp_path / "home"}"\nkeys_file = "{keys}"\npii_redaction_enabled = false\n')
    assert pii.test(f"call {NUMBER}", "default", config) == 0
    said = capsys.readouterr().out
    assert said.startswith("Redaction is off in this archive: nothing is replaced.")
    assert "call <PHONE_NUMBER:k1:" in said
    assert not keys.exists()


def test_what_each_channel_does_with_a_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = archive.make(tmp_path)
    assert pii.test(f"{NUMBER}, dana@example.com", config=config) == 0
    said = capsys.readouterr().out.splitlines()
    assert [line for line in said if line.startswith(("PHONE", "EMAIL"))] == [
        f"PHONE_NUMBER  '{NUMBER}'  0.75",
        "EMAIL_ADDRESS  'dana@example.com'  0.95",
    ]
    channels = dict(line.split(": ") for line in said if line and line[0].islower())
    assert channels["gmail"] == "PHONE_NUMBER replace"
    assert channels["paperless"] == "nothing"
    assert channels["whatsapp"] == channels["default"] == "EMAIL_ADDRESS pseudonymize, PHONE_NUMBER pseudonymize"
    assert "    <PHONE_NUMBER>, dana@example.com" in said


def test_a_contact_counts_once_in_the_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = archive.make(tmp_path)
    card = {"role": "owner", "name": f"Dana Levi {NUMBER} <dana@example.com>"}
    note = {"id": "n3", "text": f"Dana Levi\n{NUMBER}\ndana@example.com", "extra": {"phone": NUMBER}, "people": [card]}
    archive.write_notes(tmp_path, note | {"timestamp": "2024-02-21T08:00:00Z", "subject": f"card {NUMBER}"})  # type: ignore[arg-type]
    archive.first_sync(config)
    assert pii.report(config, as_json=True) == 0
    counted = {(row["entity"], row["month"]): row["count"] for row in json.loads(capsys.readouterr().out)}
    assert counted["PHONE_NUMBER", "2024-02"] == 1
    assert counted["EMAIL_ADDRESS", "2024-02"] == 1
