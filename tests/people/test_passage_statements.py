"""Facts and relationships that a language model finds: with words that say so, of known people, paid for once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from relrag_pipelines.people.passage_question import INSTRUCTIONS, PassageAnswer, supported_statements
from relrag_pipelines.stages import plan as plans
from relrag_pipelines.stages import whole_archive
from relrag_pipelines.stores import archive_tables, catalog, generations, model_answers, unread_passages
from relrag_query import statements
from relrag_query.archive import Archive
from relrag_query.cli.commands import plan as planning
from relrag_query.cli.commands import sync as commands
from tests import archive
from tests.graphrag.json_service import NO_STATEMENTS, TOKENS, Service, serve

MOVED = "Petr Kolar: We settled in Brno in May, Dana is a cousin of mine"
CHAT = f"""\
01/03/2024, 10:00 - Dana Levi: How is the new flat? Call 052-123-4567
01/03/2024, 10:05 - {MOVED}
"""


def fact(person: str, predicate: str, value: str, quote: str, confidence: float = 0.9, **days: str) -> dict[str, Any]:
    told = {"person": person, "predicate": predicate, "value": value, "confidence": confidence, "quote": quote}
    return told | {"valid_from": "NONE", "valid_to": "NONE"} | days


def relation(person: str, other: str, type_: str, quote: str, confidence: float = 0.9) -> dict[str, Any]:
    told = {"person": person, "other": other, "relationship_type": type_, "confidence": confidence, "quote": quote}
    return told | {"valid_from": "NONE", "valid_to": "NONE"}


SAID = {
    "facts": [
        fact("AUTHOR", "lives_in", "Brno", "We settled in Brno in May"),
        fact("Petr Kolar", "occupation", "pilot", "Petr flies planes"),  # nobody says so
        fact("Napoleon", "lives_in", "Brno", "We settled in Brno in May"),  # nobody is called so
    ],
    "relationships": [
        relation("Petr Kolar", "Dana Levi", "cousin", "Dana is a cousin of mine"),
        relation("Petr Kolar", "mine", "cousin", "Dana is a cousin of mine"),  # it names nobody
    ],
}


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("COHERE_API_KEY", "secret")
    monkeypatch.setattr("relrag_pipelines.language_models.model.RETRIES", 0)
    with serve() as found:
        found.says = {"Brno": SAID}
        yield found


def make(folder: Path, service: Service, budget: int = 100_000, kind: str = "openai") -> Path:
    config = archive.make(folder)
    (folder / "chats" / "WhatsApp Chat with Flat.txt").write_text(CHAT)
    asked = f'method = "llm"\nservice = "{kind}"\nmodel = "m"\nurl = "{service.url}"\ntoken_budget = {budget}\n'
    config.write_text(f"{config.read_text()}\n[people]\n{asked}")
    return config


def rows(home: Path, query: str) -> list[tuple[Any, ...]]:
    with generations.open_current(home) as generation, catalog.open(generation.path / catalog.NAME) as connection:
        return connection.execute(query).fetchall()


def passages(service: Service) -> list[str]:
    return [one["messages"][1]["content"] for one in service.asked]


@pytest.mark.parametrize("kind", ["openai", "cohere"])
def test_what_a_model_finds_is_known_with_the_words_that_say_so(tmp_path: Path, service: Service, kind: str) -> None:
    config = make(tmp_path, service, kind=kind)
    home = archive.first_sync(config).home
    query = (
        "SELECT name, predicate, value, confidence, source_quote, valid_from, "
        "(SELECT text FROM records WHERE asset_id = source_ref) FROM person_facts JOIN persons USING (person_id)"
    )
    moved = MOVED.removeprefix("Petr Kolar: ")
    said = "We settled in Brno in May"
    assert rows(home, query) == [("Petr Kolar", "lives_in", "Brno", 0.7, said, "2024-03-01", moved)]
    query = (
        "SELECT a.name, b.name, relationship_type, r.description, confidence, source_quote FROM person_relationships r "
        "JOIN persons a ON a.person_id = from_person_id JOIN persons b ON b.person_id = to_person_id"
    )
    found = ("Petr Kolar", "Dana Levi", "cousin", None, 0.7, "Dana is a cousin of mine")
    assert rows(home, query) == [found]
    assert not any("052-123-4567" in one for one in passages(service))
    assert any("<PHONE_NUMBER>" in one for one in passages(service)), "a pseudonym is shown as its type"
    assert {one["messages"][0]["content"] for one in service.asked} == {INSTRUCTIONS}


def test_what_it_took_is_told_in_figures(tmp_path: Path, service: Service) -> None:
    config = make(tmp_path, service)
    workspace = archive.first_sync(config)
    archive_tables.drop(workspace.home, ("passage_statements",))
    (workspace.home / model_answers.PEOPLE).unlink()
    _, told = whole_archive.run(workspace, whole_archive.stage_named("passage_statements", workspace.settings))
    assert told.pop("tokens_expected") > 0
    asked = len(service.asked) // 2
    assert told == {
        "passages": asked,
        "tokens": asked * TOKENS,
        "statements": 3,
        "dropped": 2,
        "failed": 0,
        "pending": 0,
    }
    _, told = whole_archive.run(workspace, whole_archive.stage_named("people", workspace.settings))
    assert told["statements_of_nobody_known"] == 1


def test_an_unchanged_passage_is_never_paid_for_twice(tmp_path: Path, service: Service) -> None:
    config = make(tmp_path, service)
    home = archive.first_sync(config).home
    texts, before = passages(service), rows(home, "FROM person_facts")
    assert len(texts) == len(set(texts))
    archive.write_notes(tmp_path, {"id": "n3", "text": "The boiler hums.", "timestamp": "2024-03-01T08:00:00Z"})
    archive.sync(config)
    (added,) = passages(service)[len(texts) :]
    assert "The boiler hums." in added
    assert rows(home, "FROM person_facts") == before


def test_where_the_budget_ends_the_next_sync_goes_on(
    tmp_path: Path, service: Service, capsys: pytest.CaptureFixture[str]
) -> None:
    config = make(tmp_path, service, budget=0)
    assert commands.sync(config) == 1
    said = capsys.readouterr().out
    assert "passages wait for the language model: the budget of 0 tokens is used up" in said
    assert service.asked == []
    home = archive.home(tmp_path)
    assert {name for (name,) in rows(home, "SELECT name FROM persons")} >= {"Petr Kolar", "Dana Levi"}
    assert rows(home, "FROM person_facts") == []
    todo = plans.build_plan(archive.workspace(config))
    assert (list(todo.unfinished), todo.lake_is_stale, todo.outdated, todo.empty) == (
        ["passage_statements"],
        False,
        False,
        False,
    )
    config.write_text(config.read_text().replace("token_budget = 0", "token_budget = 100000"))
    assert commands.sync(config) == 0
    assert "passages wait for the language model" in capsys.readouterr().out, "it says why it goes on"
    assert [value for (value,) in rows(home, "SELECT value FROM person_facts")] == ["Brno"]
    told = _told(home)
    assert (told["pending"], told["failed"], told["dropped"]) == (0, 0, 2)
    assert told["tokens"] == len(service.asked) * TOKENS
    assert told["tokens_expected"] > 0
    assert plans.build_plan(archive.workspace(config)).empty
    assert not (home / unread_passages.NAME).exists()


def _told(home: Path) -> dict[str, Any]:
    """What Dagster shows of the last run of the stage."""
    with dg.DagsterInstance.from_config(str(home / "dagster")) as dagster:
        event = dagster.get_latest_materialization_event(dg.AssetKey("passage_statements"))
    assert event
    assert event.asset_materialization
    return {name: value.value for name, value in event.asset_materialization.metadata.items()}


def test_a_service_that_fails_costs_nothing_that_was_known(tmp_path: Path, service: Service) -> None:
    config = make(tmp_path, service)
    home = archive.first_sync(config).home
    service.status = {"hums": 401}
    archive.write_notes(tmp_path, {"id": "n3", "text": "The boiler hums.", "timestamp": "2024-03-01T08:00:00Z"})
    with pytest.raises(AssertionError):  # the plan is not empty
        archive.sync(config)
    assert [value for (value,) in rows(home, "SELECT value FROM person_facts")] == ["Brno"]
    left = unread_passages.load(home)
    assert (left.passages, left.reason) == (1, f"{service.url.removeprefix('http://')} answered 401")
    assert (home / unread_passages.NAME).stat().st_mode & 0o777 == 0o600


def test_without_a_key_people_are_made_all_the_same(tmp_path: Path, service: Service) -> None:
    config = make(tmp_path, service)
    config.write_text(config.read_text().replace(f'url = "{service.url}"\n', ""))
    with pytest.raises(AssertionError):  # the plan is not empty
        archive.first_sync(config)
    home = archive.home(tmp_path)
    assert rows(home, "SELECT count(*) FROM persons WHERE name = 'Petr Kolar'") == [(1,)]
    assert "set OPENAI_API_KEY in the environment" in unread_passages.load(home).reason


def test_what_the_owner_says_counts_for_more(tmp_path: Path, service: Service) -> None:
    config = make(tmp_path, service)
    archive.first_sync(config)
    statements.add_fact("Petr Kolar", "lives_in", "Ostrava", config=config)
    with Archive.open(config) as opened, opened.people() as people:
        known = [(one.value, one.confidence) for one in people.facts([people.find_one("Petr Kolar").person_id])]
    assert known == [("Ostrava", 1.0), ("Brno", 0.7)]


def test_nobody_is_asked_where_no_setting_says_so(tmp_path: Path, service: Service) -> None:
    config = make(tmp_path, service)
    config.write_text(config.read_text().replace('method = "llm"', 'method = "patterns"'))
    home = archive.first_sync(config).home
    assert service.asked == []
    assert archive_tables.read(home, "passage_statements").num_rows == 0
    before = archive_tables.entry(home, "passage_statements")
    archive.write_notes(tmp_path, {"id": "n3", "text": "The boiler hums.", "timestamp": "2024-03-01T08:00:00Z"})
    workspace = archive.workspace(config)
    assert "passage_statements" not in {one.stage for one in plans.build_plan(workspace).archive}
    archive.sync(config)
    assert archive_tables.entry(home, "passage_statements") == before


def test_switching_it_off_takes_its_facts_away(tmp_path: Path, service: Service) -> None:
    config = make(tmp_path, service)
    home = archive.first_sync(config).home
    config.write_text(config.read_text().replace('method = "llm"', 'method = "patterns"'))
    archive.sync(config)
    assert rows(home, "FROM person_facts") == []
    asked = len(service.asked)
    config.write_text(config.read_text().replace('method = "patterns"', 'method = "llm"'))
    archive.sync(config)
    assert (len(rows(home, "FROM person_facts")), len(service.asked)) == (1, asked)


def test_the_plan_says_what_it_will_cost(tmp_path: Path, service: Service, capsys: pytest.CaptureFixture[str]) -> None:
    config = make(tmp_path, service)
    assert planning.plan(config) == 0
    said = capsys.readouterr().out
    host = service.url.removeprefix("http://")
    assert "ask m for facts about people, about " in said
    assert f"the redacted text of passages is sent to {host}" in said
    archive.first_sync(config)
    config.write_text(config.read_text().replace(f'model = "m"\nurl = "{service.url}"\n', ""))
    assert planning.plan(config, as_json=True) == 0
    told = json.loads(capsys.readouterr().out)["people_model"]
    assert (told["model"], told["host"], told["redacted"]) == ("gpt-4.1-mini", "api.openai.com", True)
    assert 0 < told["usd"] < 0.05
    assert told["passages"] == len(service.asked)


PASSAGE = "Dana Levi: My cousin Ota\nturned 40, he was born 1984 in Brno, call <PHONE_NUMBER>"


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (fact("Ota", "born_in", "Brno", "born 1984 in Brno"), True),
        (fact("Ota", "Born in", " Brno ", "My cousin Ota turned 40"), True),  # predicates and spaces are made alike
        (fact("Ota", "born_in", "Brno", "Born 1984 in Brno"), False),  # not letter by letter
        (fact("Ota", "born_in", "Brno", " "), False),
        (fact("Petr", "born_in", "Brno", "born 1984 in Brno"), False),  # the passage does not name him
        (fact("Ota", "age", "40", "turned 40"), False),  # never stored
        (fact("Ota", "phone", "<PHONE_NUMBER>", "call <PHONE_NUMBER>"), False),
        (fact("Ota", "birthday", "1984", "born 1984"), True),
        (fact("Ota", "birthday", "forty years ago", "turned 40"), False),
        (fact("Ota", "likes; drop", "", "turned 40"), False),
        (fact("Ota", "note", "x" * 121, "turned 40"), False),
        (relation("AUTHOR", "Ota", "cousin", "My cousin Ota"), True),
        (relation("Ota", "Ota", "cousin", "My cousin Ota"), False),
        (relation("AUTHOR", "Napoleon", "cousin", "My cousin Ota"), False),
    ],
)
def test_only_what_words_of_the_passage_say_is_kept(said: dict[str, Any], kept: bool) -> None:
    name = "relationships" if "other" in said else "facts"
    answer = PassageAnswer.model_validate({**NO_STATEMENTS, name: [said]})
    found = list(supported_statements(answer, PASSAGE))
    assert bool(found) is kept
    if found:
        (one,) = found
        assert " ".join(PASSAGE[one.start : one.end].split()) == said["quote"]
        assert one.predicate in ("born_in", "birthday", "cousin")


def test_confidence_and_days_are_what_they_may_be() -> None:
    told = [
        fact("Ota", "born_in", "Brno", "born", 7.5, valid_from="2024-03", valid_to="soon"),
        fact("Ota", "lives_in", "Brno", "born", -1.0, valid_from="03-15"),
    ]
    found = list(supported_statements(PassageAnswer.model_validate({**NO_STATEMENTS, "facts": told}), PASSAGE))
    assert [(one.confidence, one.valid_from, one.valid_to) for one in found] == [
        (1.0, "2024-03", None),
        (0.0, None, None),
    ]
