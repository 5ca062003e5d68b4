"""The demo's "what is agile": an index on disk, made by a sync or by others, asked and traced by the commands."""

import json
import shutil
from pathlib import Path

import pytest

from relrag_query.cli import app
from relrag_query.cli.commands import graphrag
from tests import ROOT, agile_index, archive

CONFIG = """
archive = "demo"
keys_file = "demo.keys"
embedder = "none"
pii_redaction_enabled = true
[[sources]]
name = "documents"
kind = "document"
path = "documents"
[graphrag]
method = "fast"
"""

QUESTION = "how do stage gates and sprints go together"
"""its themes are told by more than ten pages"""


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo")
    shutil.copytree(ROOT / "examples" / "archive" / "documents", folder / "documents")
    (folder / "relrag.toml").write_text(CONFIG)
    archive.first_sync(folder / "relrag.toml")
    return folder / "relrag.toml"


@pytest.mark.requirement("S1-1", "S1-14", "S1-17")
def test_what_is_agile_in_the_archives_own_index(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert graphrag.query("archive", "what is agile", config, show_sources=True, limit=30) == 0
    said = capsys.readouterr().out
    answer, _, sources = said.partition("GraphRAG Source References:")
    assert "A team that has the clothing and not the habits is not agile; it is busy. [Data: " in answer
    assert "Cooper, R. (2018). Agile-Stage-Gate Hybrids.pdf, p. 3\n" in sources
    assert "Schwaber, K. (2020). Scrum Guide.pdf, p. 5\n" in sources
    assert '"Scrum is the most widely used Agile framework' in sources


@pytest.mark.requirement("S1-12")
def test_ten_sources_are_shown_unless_more_are_asked_for(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["graphrag", "query", "archive", QUESTION, "--config", str(config)]
    app([*asked, "--json"], standalone_mode=False)
    assert json.loads(capsys.readouterr().out)["method"] == "local"
    asked += ["--method", "global"]
    app([*asked, "--json"], standalone_mode=False)
    cited = len(json.loads(capsys.readouterr().out)["sources"])
    assert cited > 10
    app([*asked, "--show-sources"], standalone_mode=False)
    shown = capsys.readouterr().out
    assert f"Source Documents ({cited}):" in shown
    assert "\n  [10] " in shown
    assert "\n  [11] " not in shown
    assert f"... and {cited - 10} more" in shown
    assert graphrag.query("archive", QUESTION, config, method="global", show_sources=True) == 0
    assert capsys.readouterr().out == shown, "the function has the defaults of the command"


def test_its_themes_name_what_the_notes_are_about(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert graphrag.query("archive", "what is agile about", config, method="global", as_json=True) == 0
    told = json.loads(capsys.readouterr().out)
    titles = " ".join(one["title"] for one in told["themes"])
    assert {"gate", "sprint", "stage"} & set(titles.replace(",", "").split())
    assert {one["state"] for one in told["references"]} == {"resolved"}
    assert {"Cooper, R. (2018). Agile-Stage-Gate Hybrids.pdf"} <= {one["document"] for one in told["sources"]}


@pytest.mark.requirement("S1-3", "S1-12", "S1-14")
def test_what_is_agile_in_an_index_that_others_wrote(
    config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = agile_index.write(tmp_path / "agile")
    assert graphrag.add("agile", folder, config) == 0
    (tmp_path / "answer.txt").write_text(agile_index.ANSWER, encoding="utf-8")
    capsys.readouterr()
    assert graphrag.trace(tmp_path / "answer.txt", folder, "what is agile", limit=15) == 0
    said = capsys.readouterr().out
    assert "Community Reports: 7 referenced" in said
    assert "Source Documents (15):" in said
    for row in ("Hybrids.pdf, p. 17\n", "Hybrids.pdf, p. 18\n", "Scrum Guide.pdf, p. 5\n"):
        assert row in said
    assert graphrag.query("agile", "what is agile", config, show_sources=True) == 0
    said = capsys.readouterr().out
    assert "[Data: " in said
    assert "Scrum Guide.pdf, p. " in said or "Hybrids.pdf, p. " in said
