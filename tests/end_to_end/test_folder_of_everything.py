"""A folder of everything, as a person has it: `relrag init` proposes a source a kind, and a sync reads all of it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from relrag_pipelines.ingest.ingest import ingest
from relrag_pipelines.onboarding.discover import discover
from relrag_pipelines.settings import Source
from relrag_pipelines.stores import lake, unit_state
from relrag_pipelines.workspace import Workspace
from relrag_query.cli.commands.init import init
from tests import archive, folder_of_everything

RECORDS = {
    "ai_chat": 20,
    "bank": 11,
    "calendar": 10,
    "call_recording": 1,
    "code": 1,
    "contacts": 5,
    "discord": 13,
    "document": 6,
    "git": 1,
    "gmail": 12,
    "google_chat": 6,
    "imessage": 10,
    "instagram": 5,
    "jsonl": 1,
    "linkedin": 4,
    "meeting": 1,
    "messenger": 11,
    "notes": 9,
    "photos": 7,
    "signal": 6,
    "slack": 12,
    "sms": 16,
    "tasks": 3,
    "teams": 8,
    "telegram": 8,
    "twitter": 12,
    "whatsapp": 7,
}
"""kind -> records in the folder"""


def read_all(folder: Path) -> Workspace:
    """The archive that `init` proposes for a folder, read."""
    assert init(folder, owner="Dana Levi", yes=True) == 0
    config = folder / "relrag.toml"
    config.write_text(f'keys_file = "test.keys"\nembedder = "none"\n{config.read_text()}')
    workspace = archive.workspace(config)
    for source in workspace.settings.sources:
        ingest(workspace, source)
    return workspace


def records(workspace: Workspace, source: Source) -> list[dict[str, str]]:
    """The private records of a source."""
    months = lake.manifest(workspace.home, "private_records", source.name)
    return [
        row for month in months for row in lake.read(workspace.home, "private_records", source.name, month).to_pylist()
    ]


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    folder = tmp_path_factory.mktemp("everything")
    folder_of_everything.make(folder)
    return read_all(folder)


def test_each_kind_is_one_source_and_all_of_it_is_read(everything: Workspace) -> None:
    kinds = Counter(source.kind for source in everything.settings.sources)
    assert set(kinds.values()) == {1}
    counts = {source.kind: len(records(everything, source)) for source in everything.settings.sources}
    assert counts == RECORDS


def test_no_file_is_read_by_two_sources(everything: Workspace) -> None:
    seen: Counter[str] = Counter()
    for source in everything.settings.sources:
        root = everything.settings.source_path(source)
        seen.update((root / path).as_posix() for path in unit_state.load(everything.home, source.name))
    repository = everything.settings.folder / "projects" / "site"
    assert [path for path, count in seen.items() if count > 1 and not path.startswith(str(repository))] == []


def test_only_damaged_and_left_out_items_fail(everything: Workspace) -> None:
    failures = [
        (source.kind, failure.fault, Path(failure.unit).name)
        for source in everything.settings.sources
        for failure in unit_state.load_failures(everything.home, source.name)
    ]
    assert failures == [
        ("whatsapp", "zip", "music.tgz"),  # it is cut off
        ("notes", "ignored", "2023-12-01T08_00_00.json"),
        ("bank", "bad_row", "statement.csv"),
        ("document", "damaged", "barn.pdf"),
        ("document", "damaged", "broken.pdf"),
        ("document", "damaged", "File-delivery note.pdf"),
    ]


@pytest.mark.parametrize("language", folder_of_everything.TAKEOUT_NAMES)
@pytest.mark.parametrize("is_packed", [True, False])
def test_a_takeout_is_its_kinds_whatever_its_folders_are_called(language: str, is_packed: bool, tmp_path: Path) -> None:
    files = folder_of_everything.takeout(language)
    if is_packed:
        (tmp_path / "takeout-20240310T101010Z-001.zip").write_bytes(folder_of_everything.zipped(files))
    for path, content in {} if is_packed else files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(content)
    found = discover(tmp_path)
    assert {source.kind: source.files for source in found.sources} == {
        "google_chat": 2,
        "notes": 4,
        "contacts": 1,
        "calendar": 1,
        "tasks": 1,
        "document": 3,  # two of Drive, and a PDF that was sent in a chat
        "photos": 1,
        "gmail": 1,
    }
    names = folder_of_everything.TAKEOUT_NAMES[language]
    left_out = {part.folder.rpartition("/")[2]: part.label for part in found.left_out}
    assert left_out == {
        "archive_browser.html": "lists about the account",
        names.activity: "searches and activity",
        names.youtube: "videos watched and searches (YouTube)",
        names.location: "visited places",
    }
