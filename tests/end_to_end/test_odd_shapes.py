"""Tiny archives of odd shapes are published, can be asked, and go on when something is added or goes."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from relrag_pipelines.sources import KINDS
from relrag_query import cli
from tests import archive
from tests.odd_shapes import SHAPES, make

_ASKED = (["ask", "Who has the key?"], ["search", "boiler"], ["status"], ["explore", "Dana"], ["verify"])
_FEW = ("chat_first_month_of_notices",)
"""the others are in the archive of all of them, and alone among the slow tests"""


def command(monkeypatch: pytest.MonkeyPatch, config: Path, *words: str) -> int:
    with monkeypatch.context() as patch:
        patch.setattr(sys, "argv", ["relrag", *words, "--config", str(config)])
        return cli.command()


def check(monkeypatch: pytest.MonkeyPatch, config: Path) -> None:
    """It is synced, and every command that reads it ends well."""
    assert command(monkeypatch, config, "sync") in (0, 1)
    assert [words for words in _ASKED if command(monkeypatch, config, *words) not in (0, 1)] == []


def test_every_kind_has_odd_shapes() -> None:
    assert {shape.kind for shape in SHAPES.values()} == KINDS.keys() - {"legacy", "imap"}


def test_all_odd_shapes_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, without_dagster: None) -> None:
    check(monkeypatch, make(tmp_path, *SHAPES))


@pytest.mark.parametrize("name", [*_FEW, *(pytest.param(n, marks=pytest.mark.slow) for n in SHAPES if n not in _FEW)])
def test_an_odd_shape_alone(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, without_dagster: None) -> None:
    config = make(tmp_path, name)
    check(monkeypatch, config)
    with config.open("a") as file:
        file.write('[[sources]]\nname = "more"\nkind = "jsonl"\npath = "more.jsonl"\n')
    note = {"id": "n", "text": "The boiler is broken.", "timestamp": "2024-02-05T08:00:00Z", "from": "Dana Levi"}
    (tmp_path / "more.jsonl").write_text(json.dumps(note) + "\n")
    check(monkeypatch, config)
    for path in (tmp_path / name).glob("*.*"):
        path.unlink()
    (tmp_path / "more.jsonl").write_text("")
    assert command(monkeypatch, config, "sync", "--accept-deletions") in (0, 1)
    check(monkeypatch, config)
    assert archive.workspace(config).home.exists()
