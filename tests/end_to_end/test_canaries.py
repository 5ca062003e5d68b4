"""Values that stand nowhere else are planted in all kinds and fields, deleted, and gone from every byte."""

from pathlib import Path

import pytest

from relrag_pipelines.erasure import byte_search
from relrag_query.cli.commands import forget as forgetting
from relrag_query.cli.commands import sync as commands
from relrag_query.cli.commands.forget import ForgetRequest
from tests import archive, canaries
from tests.graphrag.json_service import serving
from tests.graphrag.test_llm import entity, relation


def test_nothing_that_was_deleted_or_forgotten_is_left(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = canaries.run(tmp_path, 88, 20, canaries.PEOPLE[:1])
    said = capsys.readouterr().out
    assert found.left == {}
    assert found.lost == []
    assert set(found.codes) <= {0, 1}  # 1: some of the files that are kept cannot be read
    assert said.count("others named above: 0 hold any.") == 4


CLAIMED = "zqplumtree9"


def test_what_a_model_made_of_a_record_goes_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In entities, claims and reports of a GraphRAG index, and among the answers that were paid for."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setattr("relrag_pipelines.graphrag.llm.model.RETRIES", 0)
    with serving() as service:
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
        archive.write_notes(tmp_path, {"id": "n7", "text": f"Ota owes {CLAIMED} to all."})
        assert commands.sync(config) == 0
        home = archive.home(tmp_path)
        holding = {Path(name).name for name in byte_search.search(home, [CLAIMED]).holding if "graphrag" in str(name)}
        assert holding >= {"covariates.parquet", "entities.parquet", "community_reports.parquet", "model_answers.jsonl"}
        assert forgetting.forget(ForgetRequest(refs=["jsonl:notes:n7"]), config, yes=True) == 0
        assert commands.sync(config) == 0
        assert byte_search.search(home, [CLAIMED]).holding == {}
