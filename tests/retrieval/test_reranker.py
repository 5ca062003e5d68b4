"""Passages put in order by a service, through Cohere's SDK against a server of ours that fails as told."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from relrag_pipelines import settings as settings_module
from relrag_pipelines.settings import Settings, SettingsError
from relrag_query.answering import features, ranker
from relrag_query.archive import Archive
from relrag_query.results import Results
from relrag_query.retrieval.context import RerankError
from relrag_query.retrieval.reranker import rank
from tests import archive, http_server
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
    trace = searched(config, service, rerank_url="https://rerank.example.org").trace
    assert any("cohere needs a key: set COHERE_API_KEY" in line for line in trace)
    assert service.asked == []


Scores = Callable[[list[str]], Any]
"""texts -> the answer of a server"""


def _results(texts: list[str]) -> Any:
    """llama.cpp's: logits, the best first."""
    return {"results": [{"index": at, "relevance_score": len(texts[at]) - 20.0} for at in (1, 0)]}


def _bare(texts: list[str]) -> Any:
    """Those of text-embeddings-inference."""
    return [{"index": at, "score": len(text) / 100} for at, text in enumerate(texts)]


@contextmanager
def server(routes: Mapping[str, Scores], asked: list[dict[str, Any]]) -> Iterator[str]:
    """A reranker on this machine that has these routes."""

    class Handler(http_server.Posted):
        def answer(self, body: dict[str, Any]) -> None:
            asked.append(body | {"path": self.path, "key": self.headers.get("Authorization")})
            scores = routes.get(self.path)
            self.send_response(200 if scores else 404)
            self.end_headers()
            texts = body.get("documents", body.get("texts", []))
            self.wfile.write(json.dumps(scores(texts) if scores else {"message": f"no route for {texts}"}).encode())

    with http_server.serve(Handler) as url:
        yield url


TEXTS = ["the kiln", "the kiln of the pottery is hot"]


@pytest.mark.parametrize(
    ("routes", "suffix", "paths", "scores"),
    [
        ({"/v2/rerank": _results}, "", ["/v2/rerank"], [0.00001, 0.99995]),
        ({"/v1/rerank": _results, "/rerank": _bare}, "/v1", ["/v2/rerank", "/v1/rerank"], [0.00001, 0.99995]),
        ({"/rerank": _bare}, "/", ["/v2/rerank", "/v1/rerank", "/rerank"], [0.08, 0.3]),
    ],
    ids=["Cohere's", "llama.cpp", "text-embeddings-inference"],
)
def test_a_server_on_this_machine_needs_no_key(
    monkeypatch: pytest.MonkeyPatch,
    routes: Mapping[str, Scores],
    suffix: str,
    paths: list[str],
    scores: list[float],
) -> None:
    for variable in ("COHERE_API_KEY", "CO_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HTTP_PROXY", "http://192.0.2.1:9")
    asked: list[dict[str, Any]] = []
    with server(routes, asked) as url:
        chosen = Settings.model_validate({"reranker": "cohere", "rerank_url": f"{url}{suffix}", "rerank_model": "m"})
        given, model = rank(chosen, "is it hot", TEXTS)
    assert ([round(score, 5) for score in given], model) == (scores, "m")
    assert ([one["path"] for one in asked], {one["key"] for one in asked}) == (paths, {None})


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (lambda texts: {"results": [{"index": 0, "relevance_score": 1}]}, "gave no answer that can be read"),
        (lambda texts: {"results": [{"index": at} for at in range(len(texts))]}, "gave no answer that can be read"),
        (lambda texts: "no", "gave no answer that can be read"),
        (None, "answered 404"),
    ],
)
def test_a_server_on_this_machine_that_fails_is_told_of_without_a_text(
    monkeypatch: pytest.MonkeyPatch, answer: Scores | None, why: str
) -> None:
    for variable in ("COHERE_API_KEY", "CO_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    with server({"/rerank": answer} if answer else {}, []) as url:
        chosen = Settings.model_validate({"reranker": "cohere", "rerank_url": url})
        with pytest.raises(RerankError, match=why) as raised:
            rank(chosen, "is it hot", TEXTS)
    assert "kiln" not in str(raised.value)


def test_the_score_is_a_feature_of_the_ranker_and_absent_without_a_reranker(config: Path, service: Service) -> None:
    column = features.column("rerank_score")
    for reranker, scores in (("cohere", {0.83, 0.17}), ("none", {0.0})):
        chosen = settings_module.load(config).model_copy(update=settings(service, reranker=reranker))
        with Archive.of(chosen) as archive:
            hits = archive.search(QUESTION).hits
        assert {round(hit.rerank_score or 0.0, 2) for hit in hits} == scores
    assert all(
        model.weights[column] == 2.0
        for by_meaning in (True, False)
        for model in (ranker.load(by_meaning).first, ranker.load(by_meaning).second)
    )


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
    archive.first_sync(config)
    searched(config, service)
    searched(config, service, pii_redaction_enabled=True)
    plain, redacted = (" ".join(asked["documents"]) for asked in service.asked)
    assert phone in plain
    assert "The kiln of the pottery: <PHONE_NUMBER:k1:" in redacted
    assert phone not in redacted
