"""What a plan says is sent to other machines."""

from pathlib import Path

import pytest

from relrag_pipelines.stages.plan_model import Plan, StaleGraph
from relrag_query.cli.commands import plan
from tests import archive


@pytest.mark.parametrize(("embedder", "sent"), [("none", False), ("e5", False), ("cohere", True)])
def test_texts_of_an_index_that_a_service_embeds_are_told_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], embedder: str, sent: bool
) -> None:
    config = archive.make(tmp_path)
    config.write_text(config.read_text().replace('embedder = "none"', f'embedder = "{embedder}"'))
    settings = archive.workspace(config).settings
    plan.print_graphs(Plan(graphs=[StaleGraph("archive", "new")]), settings)
    said = capsys.readouterr().out
    assert said.startswith("make the GraphRAG index archive (new)\n")
    assert ("send names and descriptions of what an index finds to api.cohere.com" in said) is sent
