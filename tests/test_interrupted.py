"""A sync that is interrupted between any two writes is made good by the next one."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from relrag_pipelines import plan as plans
from relrag_pipelines.stores import generations
from relrag_query.commands import sync as commands
from tests import archive


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive that was synced and then changed: a message more, a document edited, another policy."""
    folder = tmp_path_factory.mktemp("before")
    config = archive.make(folder)
    assert commands.sync(config) == 0
    with (folder / "chats" / "WhatsApp Chat with Hiking.txt").open("a") as file:
        file.write("15/02/2024, 08:00 - Petr Kolar: The plumber comes on Friday\n")
    (folder / "papers" / "lease 2024-01-05.md").write_text(archive.LEASE.replace("orangery", "conservatory"))
    archive.configure(folder, '[pii_policies.whatsapp]\nentities = ["PHONE_NUMBER"]\naction = "replace"\n')
    return folder


def stored(folder: Path) -> dict[str, bytes]:
    """Everything under private/ and lake/ by path; what the units remember of times is left out."""
    home = archive.workspace(folder / "relrag.toml").home
    parts = {
        f"{part}/{path}": found for part in ("private", "lake") for path, found in archive.contents(home / part).items()
    }
    return {path: content for path, (_, content) in parts.items() if "/units/" not in path}


@pytest.fixture(scope="module")
def undisturbed(before: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("undisturbed") / "archive"
    shutil.copytree(before, folder)
    assert commands.sync(folder / "relrag.toml") == 0
    return stored(folder)


@pytest.mark.parametrize("write", [1, 2, 3, 5, 8, 13, 20, 28, 36])
def test_the_next_sync_makes_it_good(
    before: Path,
    undisturbed: dict[str, bytes],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    write: int,
) -> None:
    folder = tmp_path / "archive"
    shutil.copytree(before, folder)
    config = folder / "relrag.toml"
    home = archive.workspace(config).home
    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", interrupting(Path.replace, home, write))
        try:
            finished = commands.sync(config) == 0
        except BaseException:
            finished = False
    assert not finished
    with generations.open_current(home) as generation:
        assert generations.verify(home, generation.number) == []
    assert commands.sync(config) == 0
    assert plans.current(archive.workspace(config)).empty
    assert stored(folder) == undisturbed
    with generations.open_current(home) as generation:
        content = (generation.path / "catalog.duckdb").read_bytes()
    assert b"orangery" not in content and b"conservatory" in content
    # neither the edited text nor what the older policy let through is kept
    assert generations.numbers(home) == [generation.number]


def interrupting(replace: Callable[[Path, Path], Path], home: Path, write: int) -> Callable[[Path, Path], Path]:
    """`Path.replace` that is interrupted before the given replacement within the home, and before all that follow."""
    seen = 0

    def interrupted(source: Path, target: Path) -> Path:
        nonlocal seen
        if source.is_relative_to(home) and "dagster" not in source.relative_to(home).parts:
            seen += 1
            if seen >= write:
                raise KeyboardInterrupt
        return replace(source, target)

    return interrupted
