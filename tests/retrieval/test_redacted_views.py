"""What is read of a generation whose policies were laxer than those of now, before the next sync."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from relrag_pipelines.pii import PIIRedactor
from relrag_pipelines.stores import catalog
from relrag_query.archive import Archive, ArchiveError
from relrag_query.retrieval.redacted_views import WITHHELD
from relrag_query.service import Service, live_settings
from tests import archive

PHONE, MAIL = "052-123-4567", "rina.katz@example.org"
PLANTED = ("052-123-4567", "0521234567", "rina.katz@example.org")
NOTE = {
    "id": "kiln",
    "text": f"The kiln of the pottery: call {PHONE} or write to {MAIL}.",
    "subject": f"Kiln {PHONE}",
    "timestamp": "2024-03-01T08:00:00Z",
    "from": f"Rina Katz <{MAIL}>",
    "to": [f"Ota {PHONE}"],
    "participants": [f"Ota {PHONE}"],
    "file_name": f"kiln {PHONE}.txt",
    "source_uri": f"mailto:{MAIL}",
    "numbers": ["0521234567"],
    "people": [{"role": "mentioned", "name": f"Ota {PHONE}"}],
    "extra": {"phone": PHONE, f"of {PHONE}": {"asked": [MAIL]}, "digits": 972521234567},
}
CARD = """BEGIN:VCARD
VERSION:3.0
UID:rina
FN:Rina Katz
TEL:+972521234567
EMAIL:rina.katz@example.org
NOTE:She is reached at 052-123-4567
RELATED;TYPE=friend;VALUE=text:Dana Levi
END:VCARD
"""
CARDS = '\n[[sources]]\nname = "cards"\nkind = "contacts"\npath = "cards.vcf"\n'
LISTS = {"numbers", "people", "extra"}
OFF, ON = "pii_redaction_enabled = false", "pii_redaction_enabled = true"


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """Indexed when nothing was hidden."""
    made = archive.make(tmp_path)
    made.write_text(made.read_text().replace(ON, OFF) + CARDS)
    (tmp_path / "cards.vcf").write_text(CARD)
    archive.write_notes(tmp_path, NOTE)
    archive.first_sync(made)
    return made


def hide(config: Path) -> None:
    """From now on nothing of these is to be seen."""
    config.write_text(config.read_text().replace(OFF, ON))


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from strings([*value, *value.values()])
    elif isinstance(value, list | tuple):
        for one in value:
            yield from strings(one)


def tables_with_planted(config: Path) -> set[tuple[str, str]]:
    """Tables and columns that show a planted value, ids apart."""
    found = set()
    with Archive.open(config) as opened, opened._reading() as connection:
        for table in {*catalog.STORED} - {"terms"}:  # words of passages are counted, and shown nowhere
            rows = connection.execute(f"FROM {table}")
            names = [one[0] for one in rows.description or ()]
            for row in rows.fetchall():
                for name, value in zip(names, row, strict=True):
                    if any(one in text for text in strings(value) for one in PLANTED):
                        found.add((table, name))
    return found


@pytest.mark.requirement("S0-76")
def test_no_column_of_any_table_shows_what_is_personal_data_by_itself(config: Path) -> None:
    shown = tables_with_planted(config)
    of_records = {name for table, name in shown if table == "records"}
    assert of_records >= {"text", "subject", "from", "to", "participants", "file_name", "source_uri", *LISTS}
    assert {table for table, _ in shown} >= {"records", "chunks", "person_aliases", "identifiers"}
    hide(config)
    assert tables_with_planted(config) == set()


def test_an_answer_is_made_of_redacted_passages(config: Path) -> None:
    with Archive.open(config) as opened:
        plain = opened.ask("Whom to call about the kiln of the pottery?")
    hide(config)
    with Archive.open(config) as opened:
        redacted = opened.ask("Whom to call about the kiln of the pottery?")
        record = opened.record("jsonl:notes:kiln")
        assert opened.briefs(["jsonl:notes:kiln"])["jsonl:notes:kiln"].title.startswith("Kiln <PHONE_NUMBER:")
    assert PHONE in plain.quotes[0].text
    assert redacted.quotes[0].text.startswith("The kiln of the pottery: call <PHONE_NUMBER:k1:")
    assert record is not None
    assert record.extra["phone"].startswith("<PHONE_NUMBER:k1:")
    assert record.thread_id is None and record.to[0].startswith("Ota <PHONE_NUMBER:k1:")


def test_a_record_that_cannot_be_redacted_is_withheld_and_others_are_shown(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hide(config)
    redact = PIIRedactor.redact

    def failing(self: PIIRedactor, text: str, *given: Any, **named: Any) -> str:
        if "kiln" in text:
            raise ValueError(text)  # not foreseen
        return redact(self, text, *given, **named)

    monkeypatch.setattr(PIIRedactor, "redact", failing)
    with Archive.open(config) as opened:
        record, other = opened.record("jsonl:notes:kiln"), opened.record("jsonl:notes:n1")
    assert record and other
    assert (record.text, record.subject, record.extra) == (WITHHELD, WITHHELD, {})
    assert other.text == "The plumber quoted 7,980 for the boiler."


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_settings, "SETTLED_SECONDS", 0.0)


def test_a_running_service_takes_a_stricter_policy_at_the_next_request(config: Path, at_once: None) -> None:
    with Service.open(config) as service:
        assert PHONE in service.show("jsonl:notes:kiln").model_dump_json()
        before = service.settings
        hide(config)
        assert "<PHONE_NUMBER:k1:" in (text := service.show("jsonl:notes:kiln").model_dump_json()) and PHONE not in text
        assert service.settings is not before
        assert service.settings is service.settings
        for wrong in ("answerer = 3\n", "", 'archive = "test"\n', config.read_text().replace(ON, OFF)):
            config.write_text(wrong)
            with pytest.raises(ArchiveError, match=r"^relrag\.toml (is wrong now|has no sources or no redaction)"):
                service.show("jsonl:notes:kiln")


def test_a_running_service_takes_new_recognisers(config: Path, at_once: None) -> None:
    rows = "recognizers:\n- supported_entity: PHONE_NUMBER\n  patterns: [{name: kiln, regex: %s, score: 1.0}]\n"
    (config.parent / "own.yaml").write_text(rows % "Panel")
    hide(config)
    config.write_text(config.read_text().replace(ON, f'{ON}\npii_recognizers = "own.yaml"'))
    with Service.open(config) as service:
        assert "pottery" in service.show("jsonl:notes:kiln").model_dump_json()
        (config.parent / "own.yaml").write_text(rows % "pottery")
        assert "pottery" not in service.show("jsonl:notes:kiln").model_dump_json()


def test_a_file_that_is_being_written_is_not_read(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Service.open(config) as service:
        before = service.settings
        whole = config.read_text()
        config.write_text("")
        assert service.settings is before
        config.write_text(whole.replace(OFF, ON))
        assert service.settings is before
        monkeypatch.setattr(live_settings, "SETTLED_SECONDS", 0.0)
        assert service.settings.pii_redaction_enabled


def test_without_the_keys_nothing_is_shown_and_none_are_made(config: Path) -> None:
    hide(config)
    (config.parent / "test.keys").unlink()
    with pytest.raises(ArchiveError, match="keys are missing"):
        Archive.open(config)
    assert not (config.parent / "test.keys").exists()


def test_an_unknown_entity_is_named(config: Path) -> None:
    hide(config)
    wrong = '[pii_policies.default]\nentities = ["PHONE_NUMBR"]\naction = "mask"\n'
    config.write_text(config.read_text().replace("[[sources]]", f"{wrong}\n[[sources]]", 1))
    with pytest.raises(ArchiveError, match="PHONE_NUMBR"):
        Archive.open(config)


def test_what_was_indexed_under_these_policies_is_read_as_it_stands(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hide(config)
    archive.sync(config)
    monkeypatch.setattr(PIIRedactor, "redact", lambda *_: pytest.fail("redacted again"))
    with Archive.open(config) as opened:
        record = opened.record("jsonl:notes:kiln")
    assert record and "<PHONE_NUMBER:k1:" in record.text
