"""What a model was paid for survives a kill, is its owner's alone, and goes with its texts."""

from pathlib import Path

import pytest

from relrag_pipelines.stores import model_answers
from relrag_pipelines.stores.model_answers import text_hash


@pytest.mark.parametrize("name", model_answers.FILES)
def test_answers_survive_a_kill_and_go_with_their_texts(tmp_path: Path, name: str) -> None:
    model_answers.keep(tmp_path, name, "k1", "of one", ["one"])
    model_answers.keep(tmp_path, name, "k2", "of both", ["one", "two"])
    path = tmp_path / name
    path.write_bytes(path.read_bytes() + b'{"key": "k3", "tex')  # a kill tore it
    model_answers.keep(tmp_path, name, "k4", "of two", ["two"])
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert model_answers.load(tmp_path, name) == {"k1": "of one", "k2": "of both", "k4": "of two"}
    assert model_answers.prune(tmp_path, {text_hash("one")}) == 2
    assert model_answers.load(tmp_path, name) == {"k1": "of one"}
    assert b"of two" not in path.read_bytes()
    assert b"k3" not in path.read_bytes()
    assert path.stat().st_mode & 0o777 == 0o600
