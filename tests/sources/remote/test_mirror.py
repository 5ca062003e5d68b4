"""What a server names stays inside its mirror."""

from pathlib import Path

import pytest

from relrag_pipelines.sources.remote import Mirror


@pytest.mark.parametrize("path", ["../../out.eml", "/out.eml", "a/../../out.eml", ".."])
def test_an_item_does_not_leave_the_mirror(tmp_path: Path, path: str) -> None:
    mirror = Mirror(tmp_path / "mirror", str, ".eml")
    with pytest.raises(ValueError, match="leads out of its mirror"):
        mirror.write(path, b"x")
    with pytest.raises(ValueError, match="leads out of its mirror"):
        mirror.remove(path)
    assert list(tmp_path.rglob("out.eml")) == []


def test_an_item_in_a_folder_is_written_and_read(tmp_path: Path) -> None:
    mirror = Mirror(tmp_path / "mirror", str, ".eml")
    mirror.write("INBOX/7.eml", b"Subject: key")
    assert mirror.read("INBOX/7.eml") == b"Subject: key"
    assert mirror.paths() == {"INBOX/7.eml"}
