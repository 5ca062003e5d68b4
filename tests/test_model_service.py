"""OpenAI and Cohere through their own SDKs, against a server of ours that speaks both protocols and fails as told."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from relrag_pipelines import embedders
from relrag_pipelines import model_service as remote
from relrag_pipelines.embedders import EmbeddingError, cohere, openai
from relrag_pipelines.settings import Settings, SettingsError
from tests.cases import cases
from tests.embedders.service import Fault, Service, serve, vector

SECRET = "sk-secret-never-shown"
PRIVATE = "a private matter"
BOTH = pytest.mark.parametrize("name", ["openai", "cohere"])


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    """A fresh server, and a key for both SDKs."""
    for variable in ("OPENAI_BASE_URL", "CO_API_URL", "CO_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.setenv("COHERE_API_KEY", SECRET)
    monkeypatch.setattr(remote, "PAUSES", (0.01, 0.01))
    with serve() as running:
        yield running


def settings(name: str, service: Service, **more: Any) -> Settings:
    url = f"{service.url}/v1" if name == "openai" else service.url
    return Settings.model_validate({"embedder": name, "embedding_url": url, **more})


def expected(name: str, text: str, kind: str = "search_document") -> embedders.Vectors:
    return vector(text, 1536) if name == "openai" else vector(f"{kind}: {text}", 1024)


@BOTH
def test_each_text_gets_its_own_vector(name: str, service: Service) -> None:
    embedder = embedders.load(settings(name, service))
    vectors, tokens = embedder.documents(["the pump", "hlavní uzávěr vody", "המשאבה"])
    assert tokens == 6
    assert vectors.dtype == np.float32
    for row, text in zip(vectors, ["the pump", "hlavní uzávěr vody", "המשאבה"], strict=True):
        np.testing.assert_allclose(row, expected(name, text), atol=1e-6)
    np.testing.assert_allclose(embedder.query("the pump"), expected(name, "the pump", "search_query"), atol=1e-6)
    assert [one["key"] for one in service.asked] == [f"Bearer {SECRET}"] * 2


@pytest.mark.requirement("S2-23")
def test_what_is_asked_of_openai(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai, "_URL", f"{service.url}/v1")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    vectors, _ = embedders.load(Settings(embedder="openai")).documents(["a"])
    np.testing.assert_allclose(vectors[0], vector("a", 1536), atol=1e-6)
    asked = service.asked[0]
    assert (asked["model"], asked["dimensions"], asked["input"]) == ("text-embedding-3-small", 1536, ["a"])
    assert asked["encoding_format"] == "base64"


def test_what_is_asked_of_cohere(service: Service) -> None:
    embedder = embedders.load(settings("cohere", service))
    embedder.documents(["a"])
    embedder.query("b")
    assert [one["input_type"] for one in service.asked] == ["search_document", "search_query"]
    assert {(one["model"], one["truncate"]) for one in service.asked} == {("embed-multilingual-v3.0", "END")}


@BOTH
@pytest.mark.parametrize(
    "fault",
    [
        Fault(500),
        Fault(429, {"retry-after-ms": "20"}),
        Fault(cut=True),
        Fault(broken=True),
        Fault(dimension=7),
    ],
    ids=["500", "429", "half an answer", "connection closed", "wrong length once"],
)
def test_what_fails_once_is_asked_again(
    name: str, fault: Fault, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cohere.core.http_client.INITIAL_RETRY_DELAY_SECONDS", 0.02)
    service.faults = [fault]
    if fault.dimension:
        with pytest.raises(EmbeddingError, match=r"gave 1 x 7 numbers for 1 texts, not 1 x (1536|1024)$"):
            embedders.load(settings(name, service)).documents(["a"])
        return
    vectors, _ = embedders.load(settings(name, service)).documents(["a"])
    np.testing.assert_allclose(vectors[0], expected(name, "a"), atol=1e-6)
    assert len(service.asked) == 2


@BOTH
def test_retry_after_is_waited_for(name: str, service: Service) -> None:
    service.faults = [Fault(429, {"Retry-After": "1"})]
    embedders.load(settings(name, service)).documents(["a"])
    first, second = (one["at"] for one in service.asked)
    assert 1.0 <= second - first < 2.5


@BOTH
def test_a_service_that_does_not_answer_in_time_is_given_up(
    name: str, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "TIMEOUT_SECONDS", 0.2)
    monkeypatch.setattr(remote, "RETRIES", 1)
    service.faults = [Fault(seconds=0.6)] * 3
    with pytest.raises(EmbeddingError) as caught:
        embedders.load(settings(name, service)).documents(["a"])
    assert "could not be reached" in str(caught.value) or "no answer that can be read" in str(caught.value)
    assert len(service.asked) > 1


@BOTH
@pytest.mark.parametrize(*cases(__file__, "a_refusal_says_what_to_do_and_shows_neither_key_nor_text"))
def test_a_refusal_says_what_to_do_and_shows_neither_key_nor_text(
    name: str,
    status: int,
    said: str,
    service: Service,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(remote, "RETRIES", 1)
    monkeypatch.setattr("cohere.core.http_client.INITIAL_RETRY_DELAY_SECONDS", 0.02)
    service.faults = [Fault(status)] * 2
    with caplog.at_level(logging.INFO), pytest.raises(EmbeddingError) as caught:
        embedders.load(settings(name, service)).documents([PRIVATE])
    assert said in str(caught.value)
    shown = "".join(traceback.format_exception(caught.value)) + caplog.text
    assert SECRET not in shown
    assert PRIVATE not in shown


@BOTH
def test_half_answers_all_the_time_are_an_error_without_their_text(name: str, service: Service) -> None:
    service.faults = [Fault(cut=True)] * 3
    with pytest.raises(EmbeddingError, match=r"gave no answer that can be read, 3 times") as caught:
        embedders.load(settings(name, service)).documents([PRIVATE])
    assert "embedding" not in "".join(traceback.format_exception(caught.value)).split("EmbeddingError: ")[1]


@BOTH
def test_without_a_key_it_says_which_variable(name: str, service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("OPENAI_API_KEY", "COHERE_API_KEY"):
        monkeypatch.setenv(variable, " ")
    with pytest.raises(EmbeddingError, match=f"set {name.upper()}_API_KEY in the environment"):
        embedders.load(Settings.model_validate({"embedder": name}))


def test_a_server_of_ones_own_needs_no_key(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    made = settings("openai", service, embedding_model="nomic-embed-text", embedding_dimension=1536)
    embedders.load(made).documents(["a"])
    assert (service.asked[0]["model"], service.asked[0]["encoding_format"]) == ("nomic-embed-text", "float")
    assert "dimensions" not in service.asked[0]


@pytest.mark.parametrize(*cases(__file__, "what_is_known_before_anything_is_loaded"))
def test_what_is_known_before_anything_is_loaded(
    given: dict[str, Any], name: str, dimension: int, host: str, price: float | None
) -> None:
    found = embedders.model(Settings.model_validate(given))
    assert found is not None
    assert (found.name, found.dimension, found.host, found.usd_per_million) == (name, dimension, host, price)
    assert found.languages == ()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"embedding_model": "mine"}, 'embedding_model is "mine", whose vectors have no known length; set'),
        ({"embedding_url": "ftp://host"}, "embedding_url is not a plain http(s) address"),
        ({"embedding_url": "https://user:pw@host/v1"}, "embedding_url is not a plain http(s) address"),
    ],
)
def test_settings_that_do_not_fit_are_named(given: dict[str, Any], said: str) -> None:
    with pytest.raises(SettingsError) as caught:
        embedders.model(Settings.model_validate({"embedder": "openai", **given}))
    assert said in str(caught.value)
    assert "pw" not in str(caught.value)


def test_a_long_text_is_cut_at_the_token(service: Service) -> None:
    """` word` is one token, the first `word` too; `ž` is one, and a run of eight as well."""
    embedders.load(settings("openai", service)).documents(["word" + " word" * 9000, "word " * 100, "ž" * 4000])
    long, short, czech = service.asked[0]["input"]
    assert long == "word" + " word" * 8190
    assert short == "word " * 100
    assert czech == "ž" * 4000


def test_for_a_model_whose_tokens_are_not_known_a_text_is_cut_where_no_service_would_refuse_it(
    service: Service,
) -> None:
    made = settings("openai", service, embedding_model="mine", embedding_dimension=1536)
    embedders.load(made).documents(["ž" * 8000])
    assert service.asked[0]["input"] == ["ž" * 4095]


def test_what_is_taken_at_once_is_within_what_the_services_take(tmp_path: Path) -> None:
    for module, most in ((openai, 2048), (cohere, 96)):
        assert module.model(Settings()).batch_texts <= most
    assert openai.model(Settings()).batch_bytes <= 300_000
