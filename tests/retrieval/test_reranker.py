"""Passages put in order by a service, through Cohere's SDK against a server of ours that fails as told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from relrag_pipelines import settings as settings_module
from relrag_pipelines.settings import Settings, SettingsError
from relrag_query.archive import Archive
from relrag_query.results import Results
from relrag_query.retrieval.reranker import RerankError, rank
from tests import archive
from tests.embedders.service import Fault, Service, serve
from tests.query_hits import publish, record

SECRET = "sk-secret-never-shown"
RECORDS = [
    record("jsonl:short", "kiln kiln", source="notes"),
    record("jsonl:long", "The kiln of the pottery is hot, and it was fired on Monday by Eva.", source="notes"),
]
QUESTION = "the kiln of the pottery is hot"


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    """A fresh server, and a key for it."""
    for variable in ("CO_API_URL", "CO_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("COHERE_API_KEY", SECRET)
    with serve() as running:
        yield running


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return publish(tmp_path_factory.mktemp("rerank"), RECORDS)


def settings(service: Service, **more: Any) -> dict[str, Any]:
    return {"reranker": "cohere", "rerank_url": service.url, "rerank_seconds": 1, **more}


def searched(config: Path, service: Service, **more: Any) -> Results:
    with Archive.of(settings_module.load(config).model_copy(update=settings(service, **more))) as archive:
        return archive.search(QUESTION)


@pytest.mark.requirement("S0-56")
def test_the_service_puts_the_hits_in_order(config: Path, service: Service) -> None:
    results = searched(config, service)
    assert [(hit.chunk.asset_id, round(hit.score, 2)) for hit in results.hits] == [
        ("jsonl:long", 0.83),
        ("jsonl:short", 0.17),
    ]
    (asked,) = service.asked
    assert (asked["path"], asked["model"], asked["query"]) == ("/v2/rerank", "rerank-v3.5", QUESTION)
    assert sorted(asked["documents"]) == sorted(one.text for one in RECORDS)
    assert asked["key"] == f"Bearer {SECRET}"
    assert any(line.startswith("2 rerank: 2 in, 2 out; 2 passages scored by rerank-v3.5") for line in results.trace)


@pytest.mark.parametrize(
    ("fault", "said", "attempts"),
    [
        (Fault(status=401), "answered 401", 1),
        (Fault(status=500), "answered 500", 2),
        (Fault(seconds=1.5), "could not be reached (ReadTimeout)", 1),
        (Fault(cut=True), "answered 200", 1),
    ],
)
def test_where_it_fails_the_order_stays_and_the_trace_says_why(
    config: Path, service: Service, fault: Fault, said: str, attempts: int
) -> None:
    service.faults += [fault] * 10
    with Archive.open(config) as archive:
        usual = [hit.chunk.asset_id for hit in archive.search(QUESTION).hits]
    results = searched(config, service)
    assert [hit.chunk.asset_id for hit in results.hits] == usual
    (line,) = [line for line in results.trace if line.startswith("2 rerank")]
    assert f"{said}; the order stays" in line
    assert SECRET not in line and "pottery" not in line
    assert len(service.faults) == 10 - attempts, "a search does not wait for a service that fails again and again"


def test_a_missing_key_is_named(config: Path, service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COHERE_API_KEY")
    assert any("cohere needs a key: set COHERE_API_KEY" in line for line in searched(config, service).trace)
    assert service.asked == []


def test_scores_that_are_not_those_of_the_passages_are_refused(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    def short(*_: object) -> dict[str, Any]:
        return json.loads('{"id": "1", "results": [{"index": 1, "relevance_score": 0.5}]}')  # type: ignore[no-any-return]

    monkeypatch.setattr("tests.embedders.service._answer", short)
    with pytest.raises(RerankError, match="gave no answer that can be read"):
        rank(Settings.model_validate(settings(service)), "q", ["a", "b"])


def test_an_address_with_a_password_is_refused(service: Service) -> None:
    wrong = Settings.model_validate(settings(service, rerank_url="https://me:secret@host/v2"))
    with pytest.raises(SettingsError, match="rerank_url is not a plain") as raised:
        rank(wrong, "q", ["a"])
    assert "secret" not in str(raised.value)


def test_nothing_is_sent_unless_it_is_set(config: Path, service: Service) -> None:
    searched(config, service, reranker="none")
    assert service.asked == []


@pytest.mark.requirement("S0-76")
def test_it_is_sent_what_the_policies_of_now_let_through(service: Service, tmp_path: Path) -> None:
    """Indexed when nothing was hidden, and no sync since."""
    config, phone = archive.make(tmp_path), "052-123-4567"
    config.write_text(config.read_text().replace("pii_redaction_enabled = true", "pii_redaction_enabled = false"))
    archive.write_notes(tmp_path, {"id": "k1", "text": f"The kiln of the pottery: {phone}"})
    archive.sync(config)
    searched(config, service)
    searched(config, service, pii_redaction_enabled=True)
    plain, redacted = (" ".join(asked["documents"]) for asked in service.asked)
    assert phone in plain
    assert "The kiln of the pottery: <PHONE_NUMBER:k1:" in redacted
    assert phone not in redacted
