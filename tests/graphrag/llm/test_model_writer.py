"""Reports and descriptions by a language model: cited or left out, asked for once, within a budget."""

from collections.abc import Iterator
from typing import Any

import pytest

from relrag_pipelines.graphrag.build import build
from relrag_pipelines.graphrag.invariants import violations
from relrag_pipelines.graphrag.llm.extraction_schema import Extraction
from relrag_pipelines.graphrag.llm.model_writer import REPORT, ModelWriter
from relrag_pipelines.graphrag.schema import Tables
from relrag_pipelines.language_models.model import load
from tests.graphrag.json_service import TOKENS, Service, serve
from tests.graphrag.test_llm import entity, relation
from tests.passages import HOUSE, table

WRITTEN: dict[str, Any] = {
    "title": "A boiler that will not heat",
    "summary": "The cabin's boiler broke and was repaired twice.",
    "findings": [
        {
            "summary": "The repair",
            "statements": [
                {"text": "Dana called the plumber [Data: Reports (9)].", "passages": [1, 99]},
                {"text": "Nobody says so.", "passages": [77]},
            ],
        },
        {"summary": "Rests on nothing", "statements": [{"text": "Invented.", "passages": []}]},
    ],
}


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setattr("relrag_pipelines.language_models.model.RETRIES", 0)
    with serve() as found:
        found.report, found.description = WRITTEN, "She calls and asks."
        yield found


def found_by_model() -> dict[str, Extraction]:
    """In every passage the same three, described at length and otherwise each time."""
    return {
        one.text: Extraction.model_validate(
            {
                "entities": [
                    entity("Dana Levi", description=f"{place} {'long ' * 100}"),
                    entity("plumber", "THING"),
                    entity("boiler", "THING"),
                ],
                "relationships": [relation("Dana Levi", "plumber"), relation("plumber", "boiler")],
            }
        )
        for place, one in enumerate(HOUSE)
    }


def built(writer: ModelWriter) -> Tables:
    return build(table(HOUSE), extractions=found_by_model(), writer=writer)


def writer(service: Service, cache: dict[str, str], budget: int = 100_000) -> ModelWriter:
    return ModelWriter(
        load("openai", "m", service.url), cache, budget, lambda key, answer, texts: cache.update({key: answer})
    )


def test_a_report_keeps_what_names_a_passage_and_nothing_else(service: Service) -> None:
    tables = built(writer(service, {}))
    assert violations(tables) == []
    (report,) = tables["community_reports"].to_dict("records")
    assert report["title"] == "A boiler that will not heat"
    assert report["summary"] == "2024-03-01 – 2024-03-04: The cabin's boiler broke and was repaired twice."
    (finding,) = report["findings"]
    assert finding["summary"] == "The repair"
    # a citation that the model wrote itself would stand for whatever has that number
    assert finding["explanation"].startswith("Dana called the plumber (Data: Reports (9)]. [Data: Entities (")
    assert "Invented" not in report["full_content"]
    assert "Nobody says so" not in report["full_content"]


def test_descriptions_that_are_too_long_together_become_one(service: Service) -> None:
    described = dict(built(writer(service, {}))["entities"][["title", "description"]].to_numpy().tolist())
    assert described["Dana Levi"] == "She calls and asks."
    asked = [one["messages"][1]["content"] for one in service.asked if one["messages"][0]["content"] != REPORT]
    assert len(asked) == 1
    assert "Of: Dana Levi" in asked[0]


def test_what_was_answered_is_not_asked_again(service: Service) -> None:
    cache: dict[str, str] = {}
    first = writer(service, cache)
    tables, asked = built(first), len(service.asked)
    assert (first.asked, first.tokens, len(cache)) == (asked, asked * TOKENS, asked)
    again = writer(service, cache, budget=0)
    assert built(again)["community_reports"].equals(tables["community_reports"])
    assert (again.asked, again.pending, len(service.asked)) == (0, 0, asked)


def test_without_budget_reports_are_quoted_and_wait(service: Service) -> None:
    poor = writer(service, {}, budget=10)
    tables = built(poor)
    assert violations(tables) == []
    assert (poor.asked, poor.pending) == (0, 2)
    assert poor.reason == "the budget of 10 tokens is used up"
    assert "The boiler of the cabin is broken" in tables["community_reports"]["full_content"].iat[0]


def test_an_answer_of_another_form_is_left_out_and_a_service_that_fails_is_not_asked_on(service: Service) -> None:
    service.raw = '{"title": 3}'
    odd = writer(service, {})
    assert violations(built(odd)) == []
    assert (odd.failed, odd.pending) == (2, 0)
    service.status = {"": 500}
    down = writer(service, {})
    assert violations(built(down)) == []
    assert (down.asked, down.pending) == (1, 2)
    assert "answered 500" in down.reason
