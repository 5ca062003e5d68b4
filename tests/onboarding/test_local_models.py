"""Servers with a language model on this machine: which ports are asked, and what of their answers is taken."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from relrag_pipelines.onboarding import local_models
from relrag_pipelines.onboarding.local_models import LocalServer, LocalServerError, local_servers, models_of
from relrag_pipelines.settings import Settings, SettingsError
from relrag_pipelines.settings import load as load_settings
from relrag_query.cli.commands import plan
from relrag_query.cli.commands.doctor import examine
from relrag_query.cli.commands.init import init
from tests import archive
from tests.answering.chat_service import ChatService, serve
from tests.cases import cases


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatService]:
    with serve() as running:
        running.models = ["qwen2.5:7b", "llama\x1b3"]
        monkeypatch.setenv("RELRAG_LOCAL_PORTS", f"{urlsplit(running.url).port}, 1, x, 99999")
        yield running


def test_the_usual_ports_are_those_of_four_servers() -> None:
    assert list(local_models.PORTS) == [11434, 8080, 1234, 8000]


def test_the_servers_that_list_a_model_are_offered(service: ChatService) -> None:
    assert local_servers() == [LocalServer(f"{service.url}/v1", service.models)]
    service.models = []
    assert local_servers() == []
    assert local_servers({"RELRAG_LOCAL_PORTS": ""}) == []


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://192.0.2.1:8080/v1", "not of this machine"),
        ("http://127.0.0.1.example.org/v1", "not of this machine"),
        ("http://127.0.0.1:1/v1", "does not answer"),
    ],
)
def test_a_server_that_gives_none_is_told_of(url: str, why: str) -> None:
    with pytest.raises(LocalServerError, match=why):
        models_of(url)


def test_a_server_that_refuses_or_speaks_otherwise_is_told_of(
    service: ChatService, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.status = 401
    with pytest.raises(LocalServerError, match="it answered 401"):
        models_of(f"{service.url}/v1")
    monkeypatch.setattr(local_models, "_get", lambda url: json.dumps({"models": []}).encode())
    with pytest.raises(LocalServerError, match="lists no models"):
        models_of(f"{service.url}/v1")


def test_a_port_that_says_nothing_holds_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        threading.Thread(target=silent.accept, daemon=True).start()
        started = time.monotonic()
        assert local_servers({"RELRAG_LOCAL_PORTS": str(silent.getsockname()[1])}) == []
    assert time.monotonic() - started < 5 * local_models.SECONDS


@pytest.mark.parametrize(*cases(__file__, "local_is_this_machine_alone"))
def test_local_is_this_machine_alone(settings: dict[str, str], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        Settings.model_validate({"answerer": "local", "answer_model": "m", **settings})


@pytest.mark.parametrize("url", ["http://127.0.0.1:8080/v1", "http://localhost:1234/v1", "http://[::1]:11434/v1"])
def test_every_spelling_of_this_machine_will_do(url: str) -> None:
    settings = {"answerer": "local", "answer_model": "m", "answer_url": url}
    assert Settings.model_validate(settings).answer_url == url


def test_a_wrong_address_is_named_with_what_to_write(tmp_path: Path) -> None:
    config = archive.make(tmp_path)
    config.write_text(
        'answerer = "local"\nanswer_model = "m"\nanswer_url = "http://10.0.0.1/v1"\n' + config.read_text()
    )
    with pytest.raises(SettingsError, match=r'write answer_url = "http://127\.0\.0\.1:11434/v1"'):
        load_settings(config)


def local(config: Path, service: ChatService, model: str = "qwen2.5:7b") -> Path:
    chosen = f'answerer = "local"\nanswer_url = "{service.url}/v1"\nanswer_model = "{model}"\n'
    config.write_text(chosen + config.read_text())
    return config


def findings(config: Path, what: str) -> list[tuple[str, str]]:
    return [(finding.level, finding.finding) for finding in examine(config) if finding.what == what]


def test_doctor_names_the_models_that_run(tmp_path: Path, service: ChatService) -> None:
    config = archive.make(tmp_path)
    ((level, offer),) = findings(config, "local models")
    assert level == "ok"
    assert offer.startswith(f"qwen2.5:7b, llama3 at {service.url}/v1; answerer = ")
    service.models = []
    assert findings(config, "local models") == []


def test_doctor_says_whether_the_chosen_model_is_there(tmp_path: Path, service: ChatService) -> None:
    config, host = local(archive.make(tmp_path), service), service.url.removeprefix("http://")
    assert findings(config, "answerer") == [("ok", f"qwen2.5:7b at {host}, on this machine: nothing leaves it")]
    assert findings(config, "local models") == []
    service.models = ["other"]
    ((level, finding),) = findings(config, "answerer")
    assert (level, finding) == ("warning", f"qwen2.5:7b at {host}: the server lists other; check answer_model")
    service.status = 500
    ((level, finding),) = findings(config, "answerer")
    assert level == "warning" and finding.endswith("it answered 500; until then answers are excerpts")


def test_plan_says_that_nothing_leaves_the_machine(
    tmp_path: Path, service: ChatService, capsys: pytest.CaptureFixture[str]
) -> None:
    config, host = local(archive.make(tmp_path), service), service.url.removeprefix("http://")
    plan.plan(config)
    said = f"`relrag ask` has qwen2.5:7b at {host} read and answer, on this machine: nothing leaves it\n"
    assert said in capsys.readouterr().out
    assert service.asked == []
    plan.print_answerer(Settings.model_validate({"answerer": "cohere"}))
    assert capsys.readouterr().out.endswith("sends the redacted question and redacted excerpts to api.cohere.com\n")
    plan.print_answerer(Settings.model_validate({}))
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(("chosen", "model"), [("1", "qwen2.5:7b"), ("", None), ("7", None)])
def test_init_offers_the_models_that_run(
    tmp_path: Path, service: ChatService, monkeypatch: pytest.MonkeyPatch, chosen: str, model: str | None
) -> None:
    (tmp_path / "note.md").write_text("# Note\nThe lease ends in May.\n")
    replies = {"Whose archive": "-", "balanced, strict": "", "Which one": chosen, "Write": "y"}
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr(
        "builtins.input", lambda asked="": next(reply for start, reply in replies.items() if asked.startswith(start))
    )
    assert init(tmp_path) == 0
    settings = load_settings(tmp_path / "relrag.toml", {})
    assert (settings.answerer, settings.answer_model) == (("local", model) if model else ("extractive", ""))
    if model:
        assert settings.answer_url == f"{service.url}/v1"


def test_init_that_asks_nothing_says_what_runs(
    tmp_path: Path, service: ChatService, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "note.md").write_text("# Note\nThe lease ends in May.\n")
    assert init(tmp_path, yes=True) == 0
    assert f"- A language model runs at {service.url}/v1 (qwen2.5:7b, llama3).\n" in capsys.readouterr().out
    assert load_settings(tmp_path / "relrag.toml", {}).answerer == "extractive"
