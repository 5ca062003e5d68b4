"""An export that is cut short does not count what it had written as records that may not go."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from relrag_pipelines.files import failpoints
from relrag_pipelines.ingest.ingest import ingest
from relrag_pipelines.ingest.merge import TooManyDeletions
from relrag_pipelines.stores import lake, unit_state
from tests import archive


class CutShort(BaseException):
    """Stands for a kill."""


def write(folder: Path, numbers: range, name: str = "notes.jsonl") -> None:
    """Notes of six months of 2024."""
    lines = [
        json.dumps({"id": f"m{n}", "text": f"note {n}", "timestamp": f"2024-0{n % 6 + 1}-01T00:00:00Z"})
        for n in numbers
    ]
    (folder / "notes" / name).write_text("\n".join(lines) + "\n")


@pytest.fixture
def config(tmp_path: Path) -> Path:
    (tmp_path / "notes").mkdir()
    config = tmp_path / "relrag.toml"
    head = archive.CONFIG.format(extra="").split("[[sources]]")[0]
    config.write_text(f'{head}[[sources]]\nname = "notes"\nkind = "jsonl"\npath = "notes"\n')
    return config


def export(config: Path, *, full: bool = False, files: int | None = None, source: str = "notes") -> None:
    """Exports a source; with `files` it is cut short when so many files of months are in place."""
    workspace = archive.workspace(config)
    renamed = 0

    def watch(name: str, path: Path) -> None:
        nonlocal renamed
        if name == "file.rename" and path.suffix == ".parquet" and path.parent.parent.name == "records":
            renamed += 1
            if files is not None and renamed > files:
                raise CutShort

    failpoints.watch = watch
    try:
        ingest(workspace, workspace.settings.source(source), full=full)
    except CutShort:
        assert files is not None
    finally:
        failpoints.watch = None


def records(config: Path) -> pa.Table:
    home = archive.workspace(config).home
    months = lake.manifest(home, "private_records", "notes")
    return pa.concat_tables([lake.read(home, "private_records", "notes", month) for month in sorted(months)])


@pytest.mark.parametrize("files", range(6))
@pytest.mark.parametrize("full", [False, True])
def test_after_a_first_export_that_was_cut_short_the_files_may_hold_less(config: Path, files: int, full: bool) -> None:
    write(config.parent, range(60))
    export(config, files=files)
    write(config.parent, range(3))
    export(config, full=full)
    assert records(config)["asset_id"].to_pylist() == ["jsonl:notes:m0", "jsonl:notes:m1", "jsonl:notes:m2"]
    assert [one.reader == unit_state.UNFINISHED for one in units(config)] == [False]


def units(config: Path) -> list[unit_state.UnitState]:
    return list(unit_state.load(archive.workspace(config).home, "notes").values())


def _remove(folder: Path) -> None:
    (folder / "notes" / "notes.jsonl").unlink()


def _rename(folder: Path) -> None:
    (folder / "notes" / "notes.jsonl").rename(folder / "notes" / "others.jsonl")


def _shorten(folder: Path) -> None:
    write(folder, range(60))


_AFTER: dict[str, tuple[Callable[[Path], None], int]] = {
    "gone": (_remove, 0),
    "renamed": (_rename, 120),
    "as it was": (_shorten, 60),
}


@pytest.mark.parametrize("after", ["renamed", "as it was"])
def test_what_a_killed_later_export_had_added_may_go_and_be_renamed(config: Path, after: str) -> None:
    write(config.parent, range(60))
    export(config)
    write(config.parent, range(120))
    export(config, files=3)
    change, count = _AFTER[after]
    change(config.parent)
    export(config)
    assert records(config).num_rows == count


@pytest.mark.parametrize("kills", [1, 2])
def test_what_a_finished_export_left_is_still_protected_after_a_kill(config: Path, kills: int) -> None:
    write(config.parent, range(60))
    export(config)
    for kill in range(kills):
        write(config.parent, range(120 + kill))
        export(config, files=3)
    _remove(config.parent)
    with pytest.raises(TooManyDeletions, match="60 of 60 records would be deleted"):
        export(config)


def test_a_unit_that_a_kill_left_half_replaced_and_that_cannot_be_read_stops_nothing(config: Path) -> None:
    write(config.parent, range(60))
    export(config)
    write(config.parent, range(120))
    export(config, files=3)
    notes = config.parent / "notes" / "notes.jsonl"
    content = notes.read_bytes()
    notes.write_bytes(b"\0" * 40)
    notes.chmod(0)
    export(config)
    assert [one.reader == unit_state.UNFINISHED for one in units(config)] == [False]
    notes.chmod(0o600)
    notes.write_bytes(content)
    export(config)
    assert records(config).num_rows == 120


def test_before_the_first_generation_nothing_is_protected(config: Path) -> None:
    write(config.parent, range(60))
    export(config)
    write(config.parent, range(3))
    archive.sync(config)
    assert records(config).num_rows == 3
    write(config.parent, range(60))
    archive.sync(config)
    write(config.parent, range(3))
    with pytest.raises(TooManyDeletions, match="57 of 60 records would be deleted"):
        archive.sync(config)


@pytest.mark.parametrize("files", [1, 2])
def test_of_a_chat_whose_first_export_was_killed_no_older_message_stays(config: Path, files: int) -> None:
    """Of a chat that was read to its end they stay, since an export may begin late."""
    with config.open("a") as file:
        file.write('[[sources]]\nname = "chat"\nkind = "whatsapp"\npath = "chats"\n')
    chat = config.parent / "chats" / "WhatsApp Chat with Hiking.txt"
    chat.parent.mkdir()
    chat.write_text(archive.CHAT)
    export(config, files=files, source="chat")
    chat.write_text("".join(archive.CHAT.splitlines(True)[2:]))
    export(config, source="chat")
    home = archive.workspace(config).home
    assert sorted(lake.manifest(home, "private_records", "chat")) == ["2024-01", "2024-02"]
