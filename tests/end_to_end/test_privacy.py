"""Nothing leaves the machine unasked, and nothing of a home can be read by others (docs/privacy.md)."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests import archive, network


def bare(home: Path, **more: str) -> dict[str, str]:
    """An environment without settings; many tools report nothing where a variable says that this is CI."""
    home.mkdir(exist_ok=True)
    return {"PATH": os.environ["PATH"], "HOME": str(home), **more}


def files(folder: Path) -> list[str]:
    """Every file below a folder, by its path within it."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir())


def open_to_others(folder: Path) -> list[str]:
    """What of a folder, itself included, is not for its owner only, with its mode."""
    modes = {path: stat.S_IMODE(path.lstat().st_mode) for path in (folder, *folder.rglob("*"))}
    return [
        f"{mode:04o} {path.relative_to(folder.parent)}"
        for path, mode in sorted(modes.items())
        if mode != (0o700 if path.is_dir() else 0o600)
    ]


def spend_day(folder: Path, *options: str) -> tuple[network.Seen, str]:
    """A day of an archive that embeds, under umask 0; and why it was not seen what was sent, where that cannot be."""
    config = archive.make(folder, 'embedder = "minilm"\n')
    command = [sys.executable, "-m", "tests.day", str(config), *options]
    environment = bare(folder / "user", ORT_DISABLE_TELEMETRY="0")
    before = os.umask(0)
    try:
        if why := network.missing():
            done = subprocess.run(command, cwd=network.ROOT, env=environment, capture_output=True, text=True)
            return network.Seen(done.returncode, done.stdout + done.stderr, []), why
        return network.run(command, environment, folder / "sent.json"), ""
    finally:
        os.umask(before)


def test_a_day_sends_nothing_and_writes_for_the_owner_only(tmp_path: Path) -> None:
    """Sync, ask, pages, web server, daemon, code location and forget; `make privacy` adds runs that sensors launch."""
    day, unseen = spend_day(tmp_path)
    assert day.code == 0, day.said
    assert day.sent == []
    assert files(tmp_path / "user") == []
    assert open_to_others(archive.home(tmp_path)) == []
    assert (archive.home(tmp_path) / "dagster" / "ui.log").exists()
    if unseen:
        pytest.skip(f"all but what was sent was seen: {unseen}")


FETCHES = """
from relrag_pipelines.embedders import EmbeddingError, fastembed, openai_tokenizer
from relrag_pipelines.pii.policies import EntityCatalog
from relrag_pipelines.settings import Settings
from relrag_pipelines.stores import catalog

EntityCatalog().engine.analyze("ota@example.co.uk, https://intranet.example.com/x", ["EMAIL_ADDRESS", "URL"])
assert openai_tokenizer.truncate_tokens("a long text " * 1000, 10)
try:
    fastembed.load(Settings(embedder="fastembed", embedding_model="BAAI/bge-small-en-v1.5"))
except EmbeddingError:
    print("no model")
try:
    catalog.connect().sql("FROM 'https://example.org/months.parquet'")
except Exception as error:
    print("no extension" if "requires the extension httpfs to be loaded" in str(error) else error)
"""


def test_libraries_fetch_nothing_of_what_they_lack(tmp_path: Path) -> None:
    """Public suffixes (tldextract), a vocabulary (tiktoken), a model (fastembed), an extension (DuckDB)."""
    for extra in ("fastembed", "tiktoken"):
        pytest.importorskip(extra)
    if why := network.missing():
        pytest.skip(why)
    environment = bare(tmp_path / "user", FASTEMBED_CACHE_PATH=str(tmp_path / "models"))
    seen = network.run([sys.executable, "-c", FETCHES], environment, tmp_path / "sent.json")
    assert (seen.code, seen.sent) == (0, []), seen.said
    assert seen.said.split("\n")[-3:] == ["no model", "no extension", ""]
    assert files(tmp_path / "user") == []


@pytest.mark.parametrize("embedder", ["e5", "minilm"])
def test_whoever_loads_onnx_runtime_through_us_reports_nothing(embedder: str, tmp_path: Path) -> None:
    """Without the variable it writes a device id at once, and looks its event host up after some seconds."""
    load = f"from relrag_pipelines.settings import Settings; from relrag_pipelines.embedders import {embedder} as one"
    command = [sys.executable, "-c", f"{load}; one.load(Settings()).query('cabin')"]
    subprocess.run(command, cwd=network.ROOT, env=bare(tmp_path / "user", ORT_DISABLE_TELEMETRY="0"), check=True)
    assert files(tmp_path / "user") == []


def test_a_network_of_its_own_sees_lookups_and_connections(tmp_path: Path) -> None:
    if why := network.missing():
        pytest.skip(why)
    tries = "".join(
        f"\ntry: socket.create_connection({place}, 5)\nexcept OSError: pass"
        for place in (("events.example.org", 443), ("203.0.113.9", 8443), ("localhost", 9))
    )
    seen = network.run([sys.executable, "-c", f"import socket{tries}"], bare(tmp_path / "user"), tmp_path / "sent.json")
    assert (seen.code, seen.said) == (0, "")
    if "no nameserver" in seen.sent:
        pytest.skip("no nameserver is configured here")
    assert [said for said in seen.sent if "." in said] == ["looks up events.example.org", "tcp 203.0.113.9:8443"]
