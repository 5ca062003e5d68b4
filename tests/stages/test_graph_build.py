"""GraphRAG indexes of an archive: what they are made of, when they are stale, and that nothing of before stays."""

import json
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from relrag_pipelines.graphrag import extractive_reports, parquet
from relrag_pipelines.graphrag.schema import ALL, OPTIONAL
from relrag_pipelines.settings import SettingsError
from relrag_pipelines.stages import graph_build
from relrag_pipelines.stages import plan as plans
from relrag_pipelines.stores import catalog, graph_indexes, model_answers
from relrag_pipelines.workspace import Workspace
from tests import archive
from tests.cases import cases
from tests.graphrag.json_service import TOKENS, Service, serve
from tests.graphrag.test_llm import entity, relation
from tests.passages import passage
from tests.passages import table as passage_table

TAIL = '\n[graphrag]\nmethod = "fast"\n'
LETTERS = '[graphrag.collections.archive]\n[graphrag.collections.winter]\nsources = ["chat"]\nuntil = "2023-12"\n'


def table(workspace: Workspace, collection: str, name: str) -> pd.DataFrame:
    place = graph_indexes.current_folder(workspace.home, collection)
    assert place
    read = parquet.read(place, name)
    assert read is not None
    return read


def with_graphs(config: Path, more: str = "") -> Path:
    config.write_text(config.read_text() + TAIL + more)
    return config


def test_an_index_is_made_of_what_is_published_and_only_where_it_is_asked_for(tmp_path: Path) -> None:
    config = archive.make(tmp_path)
    plain = archive.first_sync(config)
    assert not (plain.home / "graphrag").exists()
    assert [one.collection for one in plans.build_plan(archive.workspace(with_graphs(config))).graphs] == ["archive"]
    made = archive.sync(config)
    texts = table(made, "archive", "text_units")["text"]
    assert texts.str.contains("red sleds").any()
    assert texts.str.contains("orangery").any()
    assert not texts.str.contains("052-123-4567").any()  # redacted
    titles = set(table(made, "archive", "entities")["title"])
    assert {"Dana Levi", "Petr Kolar"} <= titles
    assert graph_build.broken_invariants(made, "archive") == []
    assert graph_build.find_unredacted(made, "archive") == {}


def test_a_collection_is_limited_to_sources_and_a_time(tmp_path: Path) -> None:
    made = archive.first_sync(with_graphs(archive.make(tmp_path), LETTERS))
    assert graph_indexes.collections(made.home) == ["archive", "winter"]
    texts = " ".join(table(made, "winter", "text_units")["text"])
    assert "Merry Christmas" in texts
    assert "Who has the key" not in texts
    assert len(table(made, "archive", "text_units")) > 3


def test_only_the_indexes_of_sources_that_changed_are_made_again(tmp_path: Path) -> None:
    config = with_graphs(archive.make(tmp_path), LETTERS)
    archive.first_sync(config)
    archive.write_notes(tmp_path, {"id": "n3", "text": "The boiler hums.", "timestamp": "2024-03-01T08:00:00Z"})
    made = archive.sync(config)
    found = {name: graph_indexes.current_info(made.home, name) for name in ("archive", "winter")}
    assert {name: one.number for name, one in found.items() if one} == {"archive": 2, "winter": 1}
    before = archive.contents(made.home / "graphrag")
    archive.sync(config)
    assert archive.changed(before, archive.contents(made.home / "graphrag")) == []


def test_a_change_of_settings_says_what_changed(tmp_path: Path) -> None:
    config = with_graphs(archive.make(tmp_path), LETTERS)
    archive.first_sync(config)
    config.write_text(config.read_text().replace('until = "2023-12"', 'until = "2024-01"'))
    (stale,) = plans.build_plan(archive.workspace(config)).graphs
    assert (stale.collection, stale.reason) == ("winter", "setting until changed")


def test_what_is_deleted_from_a_source_leaves_no_trace(tmp_path: Path) -> None:
    config = with_graphs(archive.make(tmp_path))
    made = archive.first_sync(config)
    assert any(b"orangery" in file for _, file in _plain(made).items())
    (tmp_path / "papers" / "lease 2024-01-05.md").write_text("# Lease\n\nThe tenant pays nine hundred a month.\n")
    made = archive.sync(config)
    assert not [name for name, file in _plain(made).items() if b"orangery" in file]


def _plain(workspace: Workspace) -> dict[str, bytes]:
    """Every table of every index as JSON: parquet compresses."""
    return {
        f"{collection}/{name}": json.dumps(table(workspace, collection, name).to_dict("records"), default=list).encode()
        for collection in graph_indexes.collections(workspace.home)
        for name in ALL.keys() - OPTIONAL.keys()
    }


def test_what_personal_data_stands_in_a_table_is_counted_and_not_shown(tmp_path: Path) -> None:
    made = archive.first_sync(with_graphs(archive.make(tmp_path)))
    place = graph_indexes.current_folder(made.home, "archive")
    assert place
    tables = {name: table(made, "archive", name) for name in ALL.keys() - OPTIONAL.keys()}
    tables["entities"].loc[0, "description"] = "Call me on 052-123-4567"
    parquet.write(tables, place)
    assert graph_build.find_unredacted(made, "archive") == {"entities": 1}


def test_an_index_is_refused_while_the_generation_is_behind_the_lake(tmp_path: Path) -> None:
    config = with_graphs(archive.make(tmp_path))
    archive.first_sync(config)
    config.write_text("link_max_records = 7\n" + config.read_text())
    with pytest.raises(graph_build.GraphIndexError, match="not up to date"):
        graph_build.run(archive.workspace(config), "archive")


def test_people_of_the_catalog_are_taken_with_the_name_to_show_first(tmp_path: Path) -> None:
    with catalog.connect() as connection:
        assert graph_build.people(connection) is None
        connection.execute("CREATE TABLE persons (person_id BIGINT, name VARCHAR)")
        connection.execute("CREATE TABLE person_aliases (person_id BIGINT, alias VARCHAR, kind VARCHAR)")
        assert graph_build.people(connection) is None
        connection.execute("INSERT INTO persons VALUES (2, 'Dana Levi'), (1, '')")
        connection.execute(
            "INSERT INTO person_aliases VALUES (2, 'Dana', 'name'), (2, '+972', 'phone'), (1, 'Ota', 'name')"
        )
        found = graph_build.people(connection)
    assert found is not None
    assert found.to_numpy().tolist() == [[1, "Ota"], [2, "Dana Levi"], [2, "Dana"]]


@pytest.mark.parametrize(*cases(__file__, "wrong_settings_say_what_to_write"))
def test_wrong_settings_say_what_to_write(tmp_path: Path, text: str, said: str) -> None:
    config = archive.make(tmp_path)
    config.write_text(config.read_text() + text)
    with pytest.raises(SettingsError) as raised:
        archive.workspace(config)
    assert said in str(raised.value)


TOPICS = (
    ("Boiler Man", "Plumber Ltd", "INV-1187", "Valve Works"),
    ("Dana Levi", "City Choir", "Spring Concert", "Bach"),
    ("Petr Kolar", "Red Cabin", "Lake Road", "Old Sleds"),
)
NOTES = st.lists(
    st.sampled_from(TOPICS).flatmap(lambda words: st.lists(st.sampled_from(words), min_size=2, max_size=4)),
    min_size=1,
    max_size=4,
)


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive of notes alone, synced once and then again with more notes."""
    config = with_graphs(archive.many_notes(tmp_path_factory.mktemp("grown"), 3))
    for more in ([], [["Petr Kolar", "Red Cabin", "Lake Road", "Old Sleds"]]):
        archive.write_notes(config.parent, *_notes([*map(list, TOPICS), ["Dana Levi", "Bach"], *more]))
        archive.sync(config)
    return config


def test_what_a_sync_builds_on_an_earlier_index_is_that_of_a_rebuild(grown: Path) -> None:
    """Notes are only added between its syncs: what vanishes would drop the index that is built on."""
    made = archive.workspace(grown)
    info = graph_indexes.current_info(made.home, "archive")
    assert info
    assert (info.number, info.figures["reports_kept"], info.figures["reports_drafted"]) == (2, 1, 1)
    built = _plain(made)
    graph_indexes.drop(made.home)
    graph_build.run(made, "archive")
    assert _plain(made) == built


def test_what_is_built_on_an_earlier_index_is_that_of_a_rebuild(grown: Path) -> None:
    """The same of other passages, which are given to it: a sync of them costs more than what is built of them."""
    made, kept = archive.workspace(grown), []
    _, people = graph_build._inputs(made, "archive")

    def run(notes: list[list[str]]) -> None:
        passages = [passage(note["id"], note["text"], day=0) for note in _notes(notes)]
        with patch.object(graph_build, "_inputs", return_value=(passage_table(passages), people)):
            graph_build.run(made, "archive")

    @settings(max_examples=6, deadline=None)
    @given(first=NOTES, more=NOTES)
    @example(first=[["INV-1187", "Valve Works"]], more=[["Dana Levi", "Bach"]])
    def add(first: list[list[str]], more: list[list[str]]) -> None:
        first = [*map(list, TOPICS), *first]
        run(first)
        with patch.object(extractive_reports, "draft", wraps=extractive_reports.draft) as draft:
            run([*first, *more])
        built = _plain(made)
        kept.append(len(table(made, "archive", "communities")) - draft.call_count)
        graph_indexes.drop(made.home)
        run([*first, *more])
        assert _plain(made) == built

    add()
    assert any(kept), "no earlier draft was used"


def _notes(some: list[list[str]]) -> list[dict[str, str]]:
    return [
        {"id": f"x{place}", "text": f"{' and '.join(words)} again.", "timestamp": "2024-03-01T08:00:00Z"}
        for place, words in enumerate(some)
    ]


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setattr("relrag_pipelines.language_models.model.RETRIES", 0)
    with serve() as found:
        found.says = {
            "boiler": {
                "entities": [entity("boiler", "THING", "It is broken."), entity("cabin", "PLACE")],
                "relationships": [relation("boiler", "cabin", 7)],
            }
        }
        yield found


def by_model(config: Path, service: Service, budget: int = 100_000) -> Path:
    asked = f'method = "llm"\nmodel = "m"\nurl = "{service.url}"\ngleanings = 0\ntoken_budget = {budget}\n'
    config.write_text(config.read_text() + f"\n[graphrag]\n{asked}")
    return config


def test_what_a_model_was_paid_for_is_not_asked_again(tmp_path: Path, service: Service) -> None:
    config = by_model(archive.make(tmp_path), service)
    made = archive.first_sync(config)
    assert set(table(made, "archive", "entities")["title"]) == {"boiler", "cabin"}
    known = graph_indexes.current_info(made.home, "archive")
    assert known
    assert known.figures["tokens"] == len(service.asked) * TOKENS
    assert known.figures["tokens_expected"] > 0
    texts = [one["messages"][1]["content"] for one in service.asked]
    assert len(texts) == len(set(texts))
    assert not any("052-123-4567" in one for one in texts)
    archive.write_notes(tmp_path, {"id": "n3", "text": "The boiler hums.", "timestamp": "2024-03-01T08:00:00Z"})
    before = len(service.asked)
    archive.sync(config)
    extracted = [one for one in service.asked[before:] if "The boiler hums." in one["messages"][1]["content"]]
    assert extracted
    assert all("Christmas" not in one["messages"][1]["content"] for one in service.asked[before:])


def test_where_the_budget_ends_the_next_sync_goes_on(tmp_path: Path, service: Service) -> None:
    config = by_model(archive.make(tmp_path), service, budget=0)
    workspace = archive.workspace(config)
    with pytest.raises(AssertionError):  # the plan is not empty
        archive.first_sync(config)
    assert service.asked == []
    (waiting,) = plans.build_plan(workspace).graphs
    assert waiting.resumed
    assert waiting.reason.endswith("passages wait for the language model")
    config.write_text(config.read_text().replace("token_budget = 0", "token_budget = 100000"))
    made = archive.sync(config)
    assert set(table(made, "archive", "entities")["title"]) == {"boiler", "cabin"}


def test_what_a_model_said_of_what_is_deleted_goes_with_it(tmp_path: Path, service: Service) -> None:
    config = by_model(archive.make(tmp_path), service)
    made = archive.first_sync(config)
    answers = made.home / model_answers.GRAPHRAG
    kept = len(model_answers.load(made.home, model_answers.GRAPHRAG))
    (tmp_path / "chats" / "WhatsApp Chat with Hiking.txt").write_text("".join(archive.CHAT.splitlines(True)[:-1]))
    asked = len(service.asked)
    archive.sync(config)
    assert len(model_answers.load(made.home, model_answers.GRAPHRAG)) < kept
    assert len(service.asked) - asked <= 1
    assert answers.stat().st_mode & 0o077 == 0
