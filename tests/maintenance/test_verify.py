"""Whatever byte changes is named, and what can be made again is made again as it was."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from relrag_pipelines.files import atomic
from relrag_pipelines.files.sparse_files import copy_with_holes
from relrag_pipelines.maintenance.repair import repair
from relrag_pipelines.maintenance.verify import verify_home
from relrag_pipelines.stores import generations, inventory, lake, lake_damage, private_manifest, unit_state
from relrag_pipelines.stores.lake import LakeError
from relrag_query.cli.commands import sync as commands
from relrag_query.cli.commands.verify import verify
from tests import archive
from tests.make_home import rows


@pytest.fixture(scope="module")
def synced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("synced")
    config = archive.make(folder)
    (folder / "chats" / "WhatsApp Chat with Nobody.txt").write_bytes(b"")
    (folder / "papers" / "inventory 2024-01-09.md").write_text("# Inventory\n\nTwo red sleds and one boiler.\n")
    assert commands.sync(config) == 1
    return folder


@pytest.fixture
def config(synced: Path, tmp_path: Path) -> Path:
    copy_with_holes(synced, tmp_path)
    (tmp_path / "test.keys").chmod(0o600)
    return tmp_path / "relrag.toml"


def home_of(config: Path) -> Path:
    return config.parent / ".relrag"


def flip(path: Path, chance: random.Random) -> None:
    """Changes one byte to another one."""
    with path.open("r+b") as file:
        place = chance.randrange(path.stat().st_size)
        file.seek(place)
        (byte,) = file.read(1)
        file.seek(place)
        file.write(bytes([byte ^ (1 << chance.randrange(8))]))


def checkable(home: Path) -> list[str]:
    """Files with a byte to change, but for Dagster's own and the lock."""
    return [
        name
        for name in atomic.files(home)
        if (home / name).stat().st_size and name != "lock" and not name.startswith("dagster/")
    ]


def stored(home: Path) -> dict[str, bytes]:
    """The private records and failures and the lake, by path."""
    found = {
        f"{part}/{name}": content
        for part in ("private", "lake")
        for name, (_, content) in archive.contents(home / part).items()
    }
    return {name: content for name, content in found.items() if not re.match(r"private/(units/|MANIFEST)", name)}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_a_flipped_byte_in_each_of_a_hundred_files_is_named_a_hundred_times(config: Path, seed: int) -> None:
    home, chance = home_of(config), random.Random(seed)
    assert verify_home(home) == []
    flipped = chance.sample(checkable(home), 100)
    for name in flipped:
        flip(home / name, chance)
    assert set(flipped) - {finding.path for finding in verify_home(home)} == set()


@pytest.mark.parametrize("seed", range(12))
def test_one_flipped_byte_is_named_alone(config: Path, seed: int) -> None:
    home, chance = home_of(config), random.Random(seed)
    place = ("private/units", "private/failures", "private/records", "lake", "published")[seed % 5]
    name = chance.choice([one for one in checkable(home) if one.startswith(place) and "MANIFEST" not in one])
    flip(home / name, chance)
    assert [finding.path for finding in verify_home(home)] == [name]


def test_every_byte_of_a_manifest_counts(config: Path) -> None:
    home = home_of(config)
    for name, check in (
        ("private/MANIFEST.json", lambda: private_manifest.damage(home)),
        ("lake/records/papers/MANIFEST.json", lambda: lake_damage.damage(home, "records", "papers")),
        ("published/current", lambda: verify_home(home)),
    ):
        written = (home / name).read_bytes()
        for place in range(len(written)):
            (home / name).write_bytes(written[:place] + bytes([written[place] ^ 4]) + written[place + 1 :])
            assert check()[0][0] == name, place
        (home / name).write_bytes(written)


def test_what_does_not_belong_there_and_what_was_left_over_is_named(config: Path) -> None:
    home = home_of(config)
    (home / "private" / "records" / "chat" / "notes.txt").write_text("mine")
    (home / "lake" / "guesses" / "chat").mkdir(parents=True)
    (home / "lake" / "guesses" / "chat" / "2024-01.parquet").write_text("mine")
    (home / "link").symlink_to("/etc")
    (home / "private" / "units" / ".chat.parquet.4711.tmp").write_text("half")
    (home / "published" / "next").mkdir()
    (home / "published" / "next" / "catalog.duckdb").write_text("half")
    (home / "published" / "1" / "extra").write_text("mine")
    assert [" ".join(finding) for finding in verify_home(home)] == [
        "lake/guesses/chat/2024-01.parquet does not belong here",
        "link does not belong here",
        "private/records/chat/notes.txt does not belong here",
        "private/units/.chat.parquet.4711.tmp was left by a process that was killed",
        "published/1/extra is not in its MANIFEST",
        "published/next/catalog.duckdb belongs to a generation that was not finished",
    ]


def test_missing_files_are_named(config: Path) -> None:
    home = home_of(config)
    for name in ("private/units/chat.parquet", "lake/chunks/chat/MANIFEST.json", "published/current"):
        (home / name).unlink()
    assert {"private/units/chat.parquet", "lake/chunks/chat/MANIFEST.json", "published/current"} <= {
        finding.path for finding in verify_home(home) if finding.problem == "is missing"
    }


def test_of_dagsters_databases_the_structure_is_checked(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home = home_of(config)
    assert verify(config) == 0
    assert "Of Dagster's 3 databases the structure was checked" in capsys.readouterr().out
    database = home / "dagster" / "history" / "runs.db"
    content = bytearray(database.read_bytes())
    content[4096] ^= 0x0F  # the kind of the second page
    database.write_bytes(content)
    (home / "dagster" / "dagster.yaml").write_text("telemetry:\n  enabled: true\n")
    assert [finding.path for finding in verify_home(home)] == ["dagster/dagster.yaml", "dagster/history/runs.db"]


DAMAGE = (
    "private/units/chat.parquet",
    "private/failures/papers.parquet",
    "private/records/chat/2024-01.parquet",
    "private/records/notes/MANIFEST.json",
    "lake/records/chat/2024-02.parquet",
    "lake/chunks/papers/MANIFEST.json",
    "published/1/catalog.duckdb",
    "published/current",
    "dagster/dagster.yaml",
)


def test_repair_makes_everything_again_as_it_was(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home, chance = home_of(config), random.Random(7)
    before, catalog = stored(home), rows(home)
    for name in DAMAGE:
        flip(home / name, chance)
    (home / "private" / "units" / ".chat.parquet.4711.tmp").write_text("half")
    assert verify(config) == 1
    assert "`relrag verify --repair` rebuilds what it can" in capsys.readouterr().out
    assert verify(config, repair=True) == 0
    said = capsys.readouterr().out
    assert (
        "repair: private/records/chat/2024-01.parquet: to be made again; files of chat to be read: 1 at least" in said
    )
    assert "repair: lake/records/chat/2024-02.parquet: removed, to be made again from private/" in said
    assert "repair: published/1: removed, to be made again from the lake" in said
    assert "Everything is as it was written" in said
    assert stored(home) == before
    assert rows(home) == catalog
    assert [failure.fault for failure in unit_state.load_failures(home, "chat")] == ["empty"]
    assert verify(config) == 0


@pytest.mark.parametrize("name", ["private/failures/chat.parquet", "private/MANIFEST.json"])
def test_a_private_file_that_was_emptied_can_be_repaired(config: Path, name: str) -> None:
    """The one of failures is needed to list the units, and the manifest to note whatever is written."""
    home = home_of(config)
    (home / name).write_bytes(b"")
    said = list(repair(archive.workspace(config), verify_home(home)))
    assert any(line.startswith(f"{name}: ") for line in said)
    archive.sync(config)
    assert [finding.path for finding in verify_home(home)] == []
    assert [failure.fault for failure in unit_state.load_failures(home, "chat")] == ["empty"]


def test_a_private_manifest_that_cannot_be_read_is_named(config: Path) -> None:
    (home_of(config) / private_manifest.NAME).write_bytes(b"")
    with pytest.raises(private_manifest.ManifestError, match=r"private/MANIFEST.json cannot be read; `relrag verify"):
        private_manifest.expect(home_of(config), "private/units/chat.parquet", "0" * 64)


def test_an_older_sound_generation_serves_where_the_newest_is_damaged(config: Path) -> None:
    published = home_of(config) / "published"
    copy_with_holes(published / "1", published / "2")
    (published / "2" / "lock").touch()
    (published / "current").write_text("2\n")
    catalog = rows(home_of(config))
    assert verify_home(home_of(config)) == []
    flip(published / "2" / "catalog.duckdb", random.Random(1))
    assert list(repair(archive.workspace(config), verify_home(home_of(config)))) == [
        "published/2: removed, to be made again from the lake",
        "published/current: names 1 now",
    ]
    assert verify_home(home_of(config)) == []
    assert rows(home_of(config)) == catalog


def test_a_damaged_generation_that_is_being_read_is_left(config: Path) -> None:
    home = home_of(config)
    flip(home / "published" / "1" / "catalog.duckdb", random.Random(1))
    with generations.open_current(home):
        said = list(repair(archive.workspace(config), verify_home(home)))
        assert "run this again when its readers are done" in said[0]
        assert generations.numbers(home) == [1]


@pytest.fixture
def retained(config: Path) -> Path:
    """The archive, where a file of a source that retains is gone; its month of private records."""
    config.write_text(config.read_text().replace('path = "papers"', 'path = "papers"\nretain = true'))
    (config.parent / "papers" / "inventory 2024-01-09.md").unlink()
    return home_of(config) / "private" / "records" / "papers" / "2024-01.parquet"


def test_what_cannot_be_made_again_is_left_and_named(config: Path, retained: Path) -> None:
    flip(retained, random.Random(3))
    damaged = retained.read_bytes()
    (said,) = repair(archive.workspace(config), verify_home(home_of(config)))
    assert "2024-01.parquet: left, it was made of files that are gone; restore it from a backup" in said
    assert retained.read_bytes() == damaged


def test_records_of_files_that_are_gone_outlive_their_manifest(config: Path, retained: Path) -> None:
    home = home_of(config)
    entries = lake.manifest(home, "private_records", "papers")
    flip(retained.with_name("MANIFEST.json"), random.Random(3))
    (said,) = repair(archive.workspace(config), verify_home(home))
    assert "2024-01.parquet: taken as it is" in said
    assert verify_home(home) == []
    assert lake.manifest(home, "private_records", "papers") == entries


def test_units_that_are_gone_are_known_again_when_their_list_is_damaged(config: Path, retained: Path) -> None:
    home = home_of(config)
    flip(home / "private" / "units" / "papers.parquet", random.Random(3))
    list(repair(archive.workspace(config), verify_home(home)))
    known = unit_state.load(home, "papers")
    assert sorted(known) == ["inventory 2024-01-09.md", "lease 2024-01-05.md"]
    assert {(state.reader, state.months[0].rows) for state in known.values()} == {(unit_state.UNFINISHED, 1)}


def test_nothing_private_is_removed_while_the_exports_are_away(config: Path) -> None:
    home = home_of(config)
    (config.parent / "papers").rename(config.parent / "unmounted")
    month = home / "private" / "records" / "papers" / "2024-01.parquet"
    flip(month, random.Random(3))
    damaged = month.read_bytes()
    (said,) = repair(archive.workspace(config), verify_home(home))
    assert said.startswith("papers: nothing private can be made again")
    assert month.read_bytes() == damaged


def test_repair_leaves_a_newer_archive_alone(config: Path) -> None:
    home = home_of(config)
    archive.as_schema(home / "private" / "records" / "chat" / "MANIFEST.json", 99)
    flip(home / "lake" / "records" / "chat" / "2024-01.parquet", random.Random(3))
    before = archive.contents(home)
    with pytest.raises(LakeError, match=r"newer relrag \(schema 99, this one knows \d+\); install that"):
        verify(config, repair=True)
    assert archive.changed(before, archive.contents(home)) == []


def test_a_home_that_is_not_there_yet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = archive.make(tmp_path)
    assert verify(config) == 0
    assert "Nothing is stored" in capsys.readouterr().out
    assert not home_of(config).exists()


def test_every_file_of_a_home_is_declared_once(config: Path) -> None:
    home = home_of(config)
    for name in atomic.files(home):
        matching = [part for part in inventory.PARTS if re.fullmatch(part.pattern, name)]
        assert len(matching) == 1, name
