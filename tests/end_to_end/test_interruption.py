"""A sync that is killed, or that finds no room, is made good by the next one. `make crash` does this at 100 places."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from relrag_pipelines.stores import generations
from tests import archive, interruption
from tests.interruption import Place
from tests.proofs import crash
from tests.proofs.crash import Scenario

pytestmark = pytest.mark.slow

KILLS = 6
FULL = [Place("catalog.passages"), Place("catalog.commit"), Place("dagster.commit", 9)]


@pytest.fixture(scope="module")
def shrunk(tmp_path_factory: pytest.TempPathFactory) -> Scenario:
    """A chat that was indexed and has lost messages since."""
    folder = tmp_path_factory.mktemp("shrunk") / "archive"
    folder.mkdir()
    config = archive.make(folder)
    config.write_text(config.read_text().split('[[sources]]\nname = "papers"')[0])
    assert interruption.run(folder, "sync").code == 0
    (folder / "chats" / "WhatsApp Chat with Hiking.txt").write_text("".join(archive.CHAT.splitlines(True)[:3]))
    return crash.scenario(folder, "sync")


def test_nothing_of_what_was_deleted_is_left(shrunk: Scenario) -> None:
    home = archive.home(shrunk.folder.with_name("archive-undisturbed"))
    assert generations.numbers(home) == [2]
    for path, (_, content) in archive.contents(home).items():
        assert b"boiler" not in content, path


def test_the_next_sync_makes_a_killed_one_good(shrunk: Scenario, tmp_path: Path) -> None:
    places = crash.places([shrunk], KILLS, seed=1)
    assert len({place.name for _, place, _ in places}) == KILLS

    def kill(number: int) -> list[str]:
        scenario, place, how = places[number]
        return [f"{place}: {said}" for said in crash.cut_short(scenario, place, how, tmp_path / str(number))]

    with ThreadPoolExecutor(2) as pool:
        assert [said for wrong in pool.map(kill, range(KILLS)) for said in wrong] == []


@pytest.mark.parametrize("place", FULL, ids=lambda place: place.name)
def test_a_full_disk_is_named_with_what_is_needed(shrunk: Scenario, tmp_path: Path, place: Place) -> None:
    folder = archive.clone(shrunk.folder, tmp_path / "archive")
    ended = interruption.run(folder, "sync", at=place, how="full")
    assert ended.code == 2
    assert "no space is left on the disk" in ended.said
    assert f"a sync needs up to 252 MB in {archive.home(folder)}, where " in ended.said
    assert crash.answer(folder) == shrunk.answers[0]
    assert interruption.run(folder, "sync").code == 0
    assert interruption.state(archive.home(folder)) == shrunk.state
    assert interruption.unfinished_runs(archive.home(folder)) == []
