"""The intents of a question as a language model reads them, and what happens where it does not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from relrag_pipelines.settings import Settings
from relrag_query.answering import intent_model, llm
from relrag_query.archive import Archive
from relrag_query.understanding.intent import QueryIntent
from tests import query_hits
from tests.answering.chat_service import ChatService, serve

USED = "1,200 tokens read and 50 written"


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatService]:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-test")
    monkeypatch.setattr(llm, "RETRIES", 0)
    with serve() as running:
        yield running


def settings(service: ChatService) -> Settings:
    given = {"answerer": "openai", "answer_url": f"{service.url}/v1", "intent_classifier": "llm"}
    return Settings.model_validate(given)


def host(service: ChatService) -> str:
    return service.url.removeprefix("http://")


@pytest.mark.parametrize(
    ("said", "intents"),
    [
        ("asset_thread", [QueryIntent.ASSET_THREAD]),
        ("Family_Context, person_facts", [QueryIntent.PERSON_FACTS, QueryIntent.FAMILY_CONTEXT]),
        ("general, asset_attachment", [QueryIntent.ASSET_ATTACHMENT]),
        ("general.", [QueryIntent.GENERAL]),
    ],
)
def test_the_names_that_it_says_are_the_intents(service: ChatService, said: str, intents: list[QueryIntent]) -> None:
    service.pieces = [said[:3], said[3:]]
    assert intent_model.infer("Where is it?", settings(service)) == (
        intents,
        f"gpt-4.1-mini at {host(service)}; {USED}",
    )
    assert service.asked[0]["messages"][1]["content"] == "Question: Where is it?"


def test_where_it_fails_or_says_something_else_the_rules_decide(service: ChatService) -> None:
    service.pieces = ["I would rather chat"]
    assert intent_model.infer("Where is it?", settings(service)) == (
        [],
        f"{host(service)} named no intent; the rules decide",
    )
    service.status = 500
    found, why = intent_model.infer("Where is it?", settings(service))
    assert (found, why.endswith("; the rules decide")) == ([], True)
    assert "Where" not in why


def test_by_default_nothing_is_sent(service: ChatService) -> None:
    assert intent_model.infer("Where is it?", Settings.model_validate({})) == ([], "")
    assert service.asked == []


def test_it_needs_a_model() -> None:
    with pytest.raises(
        ValueError, match='intent_classifier "llm" needs a model; set answerer to local, openai or cohere'
    ):
        Settings.model_validate({"intent_classifier": "llm"})


def test_a_question_is_searched_by_what_it_says(
    tmp_path: Path, service: ChatService, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = query_hits.record("gmail:1", "The boiler was repaired on Friday.", "2025-01-10T10:00:00Z")
    config = query_hits.publish(tmp_path, [record])
    for name, value in (("ANSWERER", "openai"), ("ANSWER_URL", f"{service.url}/v1"), ("INTENT_CLASSIFIER", "llm")):
        monkeypatch.setenv(f"RELRAG_{name}", value)
    service.pieces = ["person_history"]
    with Archive.open(config) as archive:
        found = archive.search("the boiler")
    assert found.intents == [QueryIntent.PERSON_HISTORY]
    assert found.trace[0] == f"intents: gpt-4.1-mini at {host(service)}; {USED}"


def test_a_follow_up_asks_once(tmp_path: Path, service: ChatService) -> None:
    """The intents of the earlier question choose nothing, so no model is paid for them."""
    records = [query_hits.record("gmail:1", "The roof leaks.", "2025-01-03T08:00:00Z", rag_source_type="email")]
    extra = f'answerer = "openai"\nanswer_url = "{service.url}/v1"\nintent_classifier = "llm"'
    service.pieces = ["general"]
    with Archive.open(query_hits.publish(tmp_path, records, extra=extra)) as opened:
        opened.ask("and where?", follows=["What leaks?", "Is it old?"])
    about = [asked for asked in service.asked if asked["messages"][0]["content"] == intent_model.INSTRUCTIONS]
    assert [asked["messages"][1]["content"] for asked in about] == ["Question: and where?"]
