"""Key files are whole or absent, and never replaced."""

from pathlib import Path

import pytest

from relrag_pipelines import keys
from relrag_pipelines.stores import failpoints


@pytest.mark.parametrize("place", ["keys.write", "keys.fsync", "keys.link"])
def test_a_file_that_was_not_finished_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    def interrupt(name: str, path: Path) -> None:
        if name == place:
            raise KeyboardInterrupt

    path = tmp_path / "test.keys"
    monkeypatch.setattr(failpoints, "watch", interrupt)
    with pytest.raises(KeyboardInterrupt):
        keys.create(path)
    monkeypatch.undo()
    assert not path.exists()
    made = keys.create(path)
    assert keys.load(path) == made
    assert path.stat().st_mode & 0o777 == 0o600


def test_keys_that_are_there_are_never_replaced(tmp_path: Path) -> None:
    path = tmp_path / "test.keys"
    made = keys.create(path)
    assert keys.create(path) == made == keys.load(path)
