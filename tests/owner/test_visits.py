"""What the page that asks remembers: the last questions, and what there was at the last visit."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from relrag_pipelines import settings as settings_module
from relrag_pipelines.stores import inventory
from relrag_query.cli.commands import forget as forgetting
from relrag_query.forgetting import ForgetRequest
from relrag_query.owner import visits
from relrag_query.service import Service
from tests import archive

START = datetime(2025, 1, 20, 12, tzinfo=UTC)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    config = archive.make(tmp_path)
    archive.first_sync(config)
    return config


@pytest.fixture
def service(config: Path) -> Iterator[Service]:
    with Service.open(config) as opened:
        yield opened


def _look(service: Service, monkeypatch: pytest.MonkeyPatch, hours: float) -> tuple[list[str], visits.News | None]:
    monkeypatch.setattr(settings_module, "now", lambda: START + timedelta(hours=hours))
    return visits.look(service)


def test_the_last_questions_stand_in_private_each_once_and_can_be_cleared(service: Service, config: Path) -> None:
    for number in range(visits.MAX_QUESTIONS + 2):
        visits.note_question(service, f"question {number}", 1)
    visits.note_question(service, "question 5", 1)
    asked, _ = visits.look(service)
    assert asked[:3] == ["question 5", "question 9", "question 8"]
    assert len(asked) == visits.MAX_QUESTIONS
    file = archive.home(config.parent) / "private/visits.json"
    assert file.stat().st_mode & 0o777 == 0o600
    assert inventory.part("private/visits.json")
    visits.clear_questions(service)
    assert visits.look(service)[0] == []
    assert b"question" not in file.read_bytes().replace(b'"questions"', b"")


def test_what_has_come_since_the_last_visit_is_counted(
    service: Service, config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _look(service, monkeypatch, 0)[1] is None
    assert _look(service, monkeypatch, 0.5)[1] is None
    archive.write_notes(config.parent, {"id": "n9", "text": "A new note.", "timestamp": "2024-02-21T08:00:00Z"})
    archive.sync(config)
    with Service.open(config) as later:
        news = _look(later, monkeypatch, 30)[1]
        assert news
        assert (news.since, news.counts) == ((START + timedelta(hours=0.5)).timestamp(), {"notes": 1})
        # a second look of the same visit shows the same
        assert _look(later, monkeypatch, 30.9)[1] == news
        next_news = _look(later, monkeypatch, 60)[1]
        assert next_news
        assert next_news.counts == {}


def test_what_is_forgotten_takes_the_questions_along(service: Service, config: Path) -> None:
    visits.note_question(service, "Where does Ota live?", 1)
    assert forgetting.forget(ForgetRequest(refs=["jsonl:notes:n1"]), config, yes=True) == 0
    assert visits.load(archive.home(config.parent)).questions == []
    visits.note_question(service, "Where does Ota live?", 1)  # answered from the generation before
    assert not (archive.home(config.parent) / "private/visits.json").exists()


def test_a_damaged_file_is_none(service: Service, config: Path) -> None:
    file = archive.home(config.parent) / "private/visits.json"
    for content in (b"", b"[]", b'{"questions": 1}', b'{"questions": [], "latest": {"x": 1}, "before": {}}', b"\xff"):
        file.write_bytes(content)
        assert visits.load(archive.home(config.parent)) == visits.Visits()
