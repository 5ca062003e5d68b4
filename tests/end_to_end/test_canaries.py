"""Values that stand nowhere else are planted in all kinds and fields, deleted, and gone from every byte."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from relrag_pipelines.erasure import byte_search
from relrag_pipelines.stores import graph_indexes, model_answers, vector_cache
from relrag_query.cli.commands import forget as forgetting
from relrag_query.cli.commands import sync as commands
from relrag_query.forgetting import ForgetRequest
from tests import archive, canaries
from tests.graphrag.json_service import serve
from tests.graphrag.test_llm import entity, relation


@pytest.mark.slow
def test_nothing_that_was_deleted_or_forgotten_is_left(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = canaries.run(tmp_path, 88, 20, canaries.PEOPLE[:1])
    said = capsys.readouterr().out
    assert found.left == {}
    assert found.lost == []
    assert set(found.codes) <= {0, 1}  # 1: some of the files that are kept cannot be read
    assert said.count("others named above: 0 hold any.") == 4


CLAIMED = "zqplumtree9"


@pytest.mark.usefixtures("without_dagster")
def test_what_a_model_made_of_a_record_goes_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In entities, claims, reports and vectors of a GraphRAG index, and among the answers that were paid for."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setattr("relrag_pipelines.language_models.model.RETRIES", 0)
    with serve() as service:
        claim = {"subject": CLAIMED, "object": "NONE", "type": "debt", "status": "TRUE"}
        claim |= {"start_date": "NONE", "end_date": "NONE", "description": CLAIMED, "source_text": f"owes {CLAIMED}"}
        service.says = {
            CLAIMED: {
                "entities": [entity(CLAIMED, "THING", f"{CLAIMED} is owed."), entity("Ota")],
                "relationships": [relation("Ota", CLAIMED, 7)],
                "claims": [claim],
            }
        }
        asked = f'method = "llm"\nmodel = "m"\nurl = "{service.url}"\ngleanings = 0\nclaims = true'
        config = archive.make(tmp_path, f"[graphrag]\n{asked}")
        config.write_text(config.read_text().replace(archive.WORDS_ONLY, 'embedder = "e5"\n'))
        archive.write_notes(tmp_path, {"id": "n7", "text": f"Ota owes {CLAIMED} to all."})
        assert commands.sync(config) == 0
        home = archive.home(tmp_path)
        holding = {Path(name).name for name in byte_search.search(home, [CLAIMED]).holding if "graphrag" in str(name)}
        assert holding >= {"covariates.parquet", "entities.parquet", "community_reports.parquet", "model_answers.jsonl"}
        vectors = _vectors_of_what_was_claimed(home)
        assert len(vectors) == 2, "the entity has a vector, and so has its relationship"
        assert {name for one in vectors.values() for name in _files_with(home, one)} >= {"vectors.db"}
        assert _cached(home) >= vectors.keys()
        assert forgetting.forget(ForgetRequest(refs=["jsonl:notes:n7"]), config, yes=True) == 0
        assert commands.sync(config) == 0
        assert byte_search.search(home, [CLAIMED]).holding == {}
        assert {name for one in vectors.values() for name in _files_with(home, one)} == set()
        assert vectors.keys().isdisjoint(_cached(home) | {*_table(home, "text_vectors")["text_hash"]})
        assert _cached(home), "other passages keep theirs"


@pytest.mark.usefixtures("without_dagster")
def test_what_a_model_found_of_people_goes_with_the_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From facts, relationships and their vectors, and from the answers that were paid for."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setattr("relrag_pipelines.language_models.model.RETRIES", 0)
    with serve() as service:
        told = {"confidence": 0.9, "valid_from": "NONE", "valid_to": "NONE", "quote": f"calls it {CLAIMED}"}
        service.says = {
            CLAIMED: {
                "facts": [told | {"person": "Dana Levi", "predicate": "nickname", "value": CLAIMED}],
                "relationships": [told | {"person": "Dana Levi", "other": "Petr Kolar", "relationship_type": "friend"}],
            }
        }
        config = archive.make(tmp_path)
        asked = f'[people]\nmethod = "llm"\nmodel = "m"\nurl = "{service.url}"\n'
        config.write_text(f"{config.read_text()}\n{asked}")
        line = {"id": "n7", "text": f"Dana Levi asked Petr Kolar, who calls it {CLAIMED}.", "timestamp": "2024-02-21"}
        archive.write_notes(tmp_path, line)
        assert commands.sync(config) == 0
        home = archive.home(tmp_path)
        holding = {str(name) for name in byte_search.search(home, [CLAIMED]).holding}
        made = {"passage_statements", "person_facts", "person_relationships", "people_answers.jsonl", "catalog.duckdb"}
        assert {one for one in made if any(one in name for name in holding)} == made
        assert forgetting.forget(ForgetRequest(refs=["jsonl:notes:n7"]), config, yes=True) == 0
        assert byte_search.search(home, [CLAIMED]).holding == {}
        assert commands.sync(config) == 0
        assert byte_search.search(home, [CLAIMED]).holding == {}
        assert (home / model_answers.PEOPLE).stat().st_size, "answers about other passages stay"


def _table(home: Path, name: str) -> pd.DataFrame:
    folder = graph_indexes.current_folder(home, "archive")
    assert folder
    return pd.read_parquet(folder / f"{name}.parquet")


def _vectors_of_what_was_claimed(home: Path) -> dict[str, bytes]:
    """The vector of every entity and relationship that names the value, by the hash of its text."""
    entities, links = _table(home, "entities"), _table(home, "relationships")
    records = {*entities["id"][entities["title"].str.lower() == CLAIMED]}
    ends = links["source"].str.lower().eq(CLAIMED) | links["target"].str.lower().eq(CLAIMED)
    texts = _table(home, "record_texts")
    hashes = {*texts["text_hash"][texts["record_id"].isin(records | {*links["id"][ends]})]}
    vectors = _table(home, "text_vectors").set_index("text_hash")["vector"]
    return {one: np.asarray(vectors[one], "<f4").tobytes() for one in hashes}


def _files_with(home: Path, vector: bytes) -> set[str]:
    """The files that hold the beginning of a vector as it is stored."""
    return {path.name for path in home.rglob("*") if path.is_file() and vector[:24] in path.read_bytes()}


def _cached(home: Path) -> set[str]:
    with vector_cache.open(home) as cache:
        return {key for (key,) in cache.execute("SELECT text_hash FROM vectors")}
