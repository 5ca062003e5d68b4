"""`relrag init` estimates the time of a first sync within a factor of two, whatever the folder holds."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from relrag_pipelines import embedders
from relrag_pipelines.embedders import e5
from relrag_pipelines.onboarding import first_sync
from relrag_pipelines.onboarding.discover import discover
from relrag_pipelines.onboarding.estimate import START_SECONDS
from tests import ROOT

_DAY = datetime(2023, 1, 2, 9, tzinfo=UTC)
_SENTENCES = (
    "The plumber comes on Tuesday to repair the pump of house {}.",
    "We agreed on {} euros for the windows, and half of that before the work begins.",
    "Please send me the signed contract number {} before noon.",
    "The landlord raised the rent of flat {} again, and nobody has answered his letter.",
)


def text(number: int, count: int) -> str:
    return " ".join(_SENTENCES[(number + place) % 4].format(number + place) for place in range(count))


def chats(folder: Path) -> None:
    for chat in range(4):
        lines = [
            f"{_DAY + timedelta(hours=5 * n):%d/%m/%Y, %H:%M} - {('Dana', 'Petr')[n % 2]}: {text(n, 1)}\n"
            for n in range(1_500)
        ]
        (folder / f"WhatsApp Chat with Group {chat}.txt").write_text("".join(lines))


def mails(folder: Path) -> None:
    for n in range(250):
        sent = f"{_DAY + timedelta(days=2 * n):%a, %d %b %Y %H:%M:%S +0000}"
        head = f"From: Dana <dana@example.com>\nTo: Eva <eva@example.com>\nMessage-ID: <{n}@example.com>\n"
        (folder / f"{n}.eml").write_text(f"{head}Subject: {n}\nDate: {sent}\n\n{text(n, 12)}\n")


def documents(folder: Path) -> None:
    for n in range(60):
        (folder / f"report {n} {2020 + n % 5}-{1 + n % 12:02}-03.md").write_text(f"# Report {n}\n\n{text(n, 40)}\n")


def demo(folder: Path) -> None:
    shutil.copytree(ROOT / "examples" / "archive", folder, dirs_exist_ok=True)


@pytest.mark.slow
@pytest.mark.parametrize("fill", [chats, mails, documents, demo])
def test_the_estimate_is_within_a_factor_of_two(
    fill: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = replace(embedders.EMBEDDERS["e5"], load=e5.load)  # the one that tests share has embedded some texts before
    monkeypatch.setitem(embedders.EMBEDDERS, "e5", own)
    folder = tmp_path / "memory"
    folder.mkdir()
    fill(folder)
    estimated = START_SECONDS + sum(first_sync.seconds_of_each(folder, discover(folder), "UTC"))
    run(["init", str(folder), "--yes"], tmp_path)
    begun = time.perf_counter()
    run(["sync", "--config", str(folder / "relrag.toml")], tmp_path)
    measured = time.perf_counter() - begun
    print(f"{fill.__name__}: estimated {estimated:.0f} s, measured {measured:.0f} s")
    assert 0.5 <= estimated / measured <= 2


def run(words: list[str], home: Path) -> None:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("RELRAG_", "DAGSTER_"))}
    relrag = str(Path(sys.executable).with_name("relrag"))
    done = subprocess.run([relrag, *words], env=clean | {"HOME": str(home)}, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
