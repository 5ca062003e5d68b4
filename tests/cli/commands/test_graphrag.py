"""`relrag graphrag trace` on an index on disk."""

import io
import json
from pathlib import Path

import pytest

from relrag_query.cli import source_references
from relrag_query.cli.commands import graphrag
from relrag_query.cli.commands.graphrag import AnswerUnreadable
from relrag_query.graphrag.index import open_index
from relrag_query.graphrag.trace import trace
from tests import agile_index
from tests.cases import cases


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return agile_index.write(tmp_path_factory.mktemp("agile"))


@pytest.mark.requirement("S1-3", "S1-12", "S1-14", "S1-17")
def test_what_is_agile(index: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = tmp_path / "answer.txt"
    answer.write_text(agile_index.ANSWER, encoding="utf-8")
    assert graphrag.trace(answer, index, "what is agile") == 0
    said = capsys.readouterr().out
    assert said.startswith(
        "GraphRAG Source References:\n"
        "  • Community Reports: 7 referenced\n"
        "  • Entities: 2 referenced\n"
        "  • Sources: 2 referenced\n"
        "\n"
        "Source Documents (15):\n"
        "  [1] Cooper, R. (2018). Agile-Stage-Gate Hybrids.pdf, p. 17\n"
        '      "Agile methodologies have become central to NPD processes in many of the firms described here, '
        'and not only in their software."\n'
        "\n"
        "  [2] "
    )
    assert said.endswith("\n\n  ... and 5 more documents\n")
    assert sum(line.startswith("  [") for line in said.splitlines()) == 10
    assert "Hybrids.pdf, p. 18\n" in said
    assert "Guide.pdf, p. 5\n" in said


@pytest.mark.requirement("S1-11", "S1-12")
def test_a_row_a_document(index: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("Agile [Data: Reports (5, 47)]."))
    graphrag.trace(Path("-"), index, documents=True)
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.startswith(("  [", "      ("))] == [
        "  [1] Cooper, R. (2018). Agile-Stage-Gate Hybrids.pdf, p. 3, 17, 18",
        "      (3 chunks referenced)",
        "  [2] Schwaber, K. (2020). Scrum Guide.pdf, p. 1, 5",
        "      (2 chunks referenced)",
    ]


@pytest.mark.requirement("S1-12")
def test_documents_beyond_the_first_are_counted(
    index: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("Agile [Data: Reports (5, 47)]."))
    graphrag.trace(Path("-"), index, documents=True, limit=1)
    said = capsys.readouterr().out
    assert "Source Documents (2):\n" in said
    assert said.endswith("      (3 chunks referenced)\n\n  ... and 1 more document\n")


@pytest.mark.requirement("S1-11", "S1-12")
def test_a_document_without_pages_is_named_alone(tmp_path: Path) -> None:
    tables = agile_index.tables()
    tables["documents"]["text"] = "without form feeds"
    tables["text_units"]["text"] = [f"Agile teams, {row}" for row in range(len(tables["text_units"]))]
    for name, frame in tables.items():
        frame.to_parquet(tmp_path / f"{name}.parquet")
    opened = open_index(tmp_path)
    said = source_references.as_text(
        trace("Agile [Data: Sources (16, 17)]. Teams [Data: Sources (0)].", opened), opened
    )
    assert said.splitlines()[3:6] == [
        "Source Documents (1):",
        "  [1] Cooper, R. (2018). Agile-Stage-Gate Hybrids.pdf",
        '      "Agile teams, 0"',
    ]
    assert said.endswith("\n      (3 chunks referenced)")


@pytest.mark.requirement("S1-13")
@pytest.mark.parametrize(*cases(__file__, "nothing_to_show"))
def test_nothing_to_show(index: Path, answer: str, message: str) -> None:
    opened = open_index(index)
    assert source_references.as_text(trace(answer, opened), opened) == message
    if "Reports" in answer:
        assert "No source documents found" in source_references.as_text(trace(answer, opened), opened, documents=True)


def test_problems_are_told(tmp_path: Path) -> None:
    (agile_index.write(tmp_path) / "communities.parquet").unlink()
    opened = open_index(tmp_path)
    said = source_references.as_text(trace("Agile [Data: Sources (16)].", opened), opened)
    assert "  [1] Cooper, R. (2018). Agile-Stage-Gate Hybrids.pdf, p. 17\n" in said
    assert said.endswith(f"\n\nProblems of {tmp_path}:\n  communities.parquet is missing")


@pytest.mark.requirement("S1-16")
def test_json(index: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = tmp_path / "answer.txt"
    answer.write_text("Agile [Data: Reports (99, 47, +more), General Knowledge (href)].", encoding="utf-8")
    graphrag.trace(answer, index, as_json=True)
    said = json.loads(capsys.readouterr().out)
    assert said["index"] == {"path": str(index), "layout": "3.x", "problems": []}
    assert said["referenced"] == {"reports": 2, "entities": 0, "relationships": 0, "claims": 0, "sources": 0}
    assert said["citations"] == [
        {
            "start": 6,
            "end": 63,
            "sentence": "Agile.",
            "references": ["Reports (99)", "Reports (47)"],
            "more": True,
            "unread": ["General Knowledge (href)"],
        }
    ]
    assert [(one["reference"], one["state"], one["title"]) for one in said["references"]] == [
        ("Reports (99)", "unresolved", ""),
        ("Reports (47)", "resolved", "Theme 47"),
    ]
    assert [(one["document"], one["page_number"], one["cited_by"]) for one in said["sources"]] == [
        (agile_index.SCHWABER, 5, ["Reports (47)"]),
        (agile_index.SCHWABER, 1, ["Reports (47)"]),
    ]


def test_what_a_document_says_cannot_command_the_terminal(tmp_path: Path) -> None:
    tables = agile_index.tables()
    tables["text_units"]["text"] = "Agile \x1b]0;owned\x07 teams"
    for name, frame in tables.items():
        frame.to_parquet(tmp_path / f"{name}.parquet")
    opened = open_index(tmp_path)
    assert '"Agile ]0;owned teams"' in source_references.as_text(trace("Agile [Data: Sources (0)].", opened), opened)


def test_answers_that_cannot_be_read(index: Path, tmp_path: Path) -> None:
    with pytest.raises(AnswerUnreadable, match="No such file or directory; name a file"):
        graphrag.trace(tmp_path / "gone.txt", index)
    (tmp_path / "answer.docx").write_bytes(b"PK\x03\x04\xff\xfe")
    with pytest.raises(AnswerUnreadable, match="not UTF-8 text"):
        graphrag.trace(tmp_path / "answer.docx", index)
