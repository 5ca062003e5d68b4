"""After a merge every point of the survivor is rewritten, however many: more than any page of a server holds."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest

from relrag_pipelines.identity.journal_statements import Merge
from relrag_pipelines.journal import journal
from relrag_pipelines.stores import catalog, generations, vector_store
from tests import archive
from tests.stores import qdrant

pytestmark = pytest.mark.usefixtures("payload_indexes")

OF_DANA, OF_LEVY, NAMING = 6_000, 4_200, 600
CONFIG = """
keys_file = "test.keys"
embedder = "none"
{server}
[[sources]]
name = "notes"
kind = "jsonl"
path = "notes.jsonl"
"""


def write(folder: Path, server: str) -> Path:
    """10,800 notes of three months: by one person under two names, and by another, who names her."""
    senders = [
        *OF_DANA * [("Dana Levi <dana@example.com>", "The boiler was repaired")],
        *OF_LEVY * [("Daniela Levy <levy@example.com>", "The boiler was paid")],
        *NAMING * [("Ota Kral <ota@example.com>", "Ask Daniela Levy about it")],
    ]
    with (folder / "notes.jsonl").open("w") as file:
        for number, (sender, text) in enumerate(senders):
            note = {"id": str(number), "from": sender, "text": f"{text}, note {number}."}
            file.write(json.dumps(note | {"timestamp": f"2024-0{1 + number % 3}-05T08:00:00Z"}) + "\n")
    (folder / "relrag.toml").write_text(CONFIG.format(server=server))
    return folder / "relrag.toml"


def on_points(home: Path) -> tuple[Counter[int], Counter[int]]:
    """How many points each person wrote, and on how many they are named."""
    with generations.open_current(home) as current:
        payloads = list(vector_store.payloads(current.path / "vectors"))
    assert len(payloads) == OF_DANA + OF_LEVY + NAMING
    wrote, named = (
        Counter(one for payload in payloads for one in payload.get(name, ()))
        for name in ("person_ids", "mentioned_person_ids")
    )
    return wrote, named


def person(home: Path, name: str) -> int:
    with generations.open_current(home) as current, catalog.open(current.path / catalog.NAME) as opened:
        ((found,),) = opened.execute("SELECT person_id FROM persons WHERE name = $1", [name]).fetchall()
    return int(found)


@contextmanager
def local_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with qdrant.served_locally(monkeypatch, qdrant.local()):
        yield


@pytest.mark.slow
@pytest.mark.requirement("S0-8")
@pytest.mark.parametrize(
    "server",
    [
        pytest.param("", id="embedded"),
        pytest.param('qdrant_url = "http://vectors.example:6333"', id="server"),
    ],
)
def test_more_than_ten_thousand_points(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with local_server(monkeypatch) if server else nullcontext():
        config = write(tmp_path, server)
        home = archive.sync(config).home
        dana, levy, ota = (person(home, name) for name in ("Dana Levi", "Daniela Levy", "Ota Kral"))
        assert on_points(home) == ({dana: OF_DANA, levy: OF_LEVY, ota: NAMING}, {levy: NAMING})
        journal.append(home, [Merge(dana, (levy,))])
        archive.sync(config)
        assert on_points(home) == ({dana: OF_DANA + OF_LEVY, ota: NAMING}, {dana: NAMING})
