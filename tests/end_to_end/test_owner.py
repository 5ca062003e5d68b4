"""The owner under his given name alone: `Jonah` is Jonah Pickel where nobody else is Jonah."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from relrag_pipelines.stores import catalog, generations
from tests import archive

CONFIG = """
keys_file = "test.keys"
embedder = "none"
owner = "{owner}"

[[sources]]
name = "notes"
kind = "jsonl"
path = "notes.jsonl"

[[sources]]
name = "talks"
kind = "jsonl"
path = "talks.jsonl"
"""
OWN, WEISS, DANA = "Jonah Pickel <jonah@pickel.example>", "Jonah Weiss <weiss@example.com>", "Dana <dana@example.com>"


def people(folder: Path, owner: str, senders: list[str], talkers: list[str]) -> dict[str, list[str]]:
    """Each person's name with a star for the owner, and the records that he has to do with."""
    for name, values in (("notes", senders), ("talks", talkers)):
        lines = [json.dumps({"id": str(number), "text": "x", "from": one}) for number, one in enumerate(values)]
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
    (folder / "relrag.toml").write_text(CONFIG.format(owner=owner))
    home = archive.sync(folder / "relrag.toml").home
    with generations.open_current(home) as current, catalog.open(current.path / catalog.NAME) as opened:
        found = opened.sql(
            """SELECT name || if(is_owner, '*', ''), list(DISTINCT asset_ref ORDER BY asset_ref)
            FROM persons JOIN person_assets USING (person_id) GROUP BY ALL"""
        ).fetchall()
    return {name: [ref.removeprefix("jsonl:") for ref in refs] for name, refs in found}


@pytest.mark.parametrize("owner", ["Jonah Pickel", "Jonah"])
def test_a_given_name_alone_is_the_owners(owner: str, tmp_path: Path) -> None:
    found = people(tmp_path, owner, [OWN, DANA], ["Jonah", "Jonah"])
    assert found == {"Jonah Pickel*": ["notes:0", "talks:0", "talks:1"], "Dana": ["notes:1"]}


def test_two_addresses_of_the_owner_are_not_two_who_bear_his_given_name(tmp_path: Path) -> None:
    found = people(tmp_path, "Jonah Pickel", [OWN, "Jonah Pickel <jonah@work.example>"], ["Jonah"])
    assert found == {"Jonah Pickel*": ["notes:0", "notes:1", "talks:0"]}


def test_not_where_another_bears_it(tmp_path: Path) -> None:
    found = people(tmp_path, "Jonah Pickel", [OWN, WEISS], ["Jonah"])
    assert found == {"Jonah Pickel*": ["notes:0"], "Jonah Weiss": ["notes:1"], "Jonah": ["talks:0"]}


def test_not_where_it_has_an_address_of_its_own(tmp_path: Path) -> None:
    found = people(tmp_path, "Jonah Pickel", [OWN], ["Jonah <another@example.com>"])
    assert found == {"Jonah Pickel*": ["notes:0"], "Jonah": ["talks:0"]}


def test_an_owner_without_an_address(tmp_path: Path) -> None:
    assert people(tmp_path, "Jonah Pickel", ["Jonah Pickel"], ["Jonah"]) == {"Jonah Pickel*": ["notes:0", "talks:0"]}


def test_ids_stay_when_another_comes_and_goes(tmp_path: Path) -> None:
    def ids() -> list[tuple[str, int]]:
        with (
            generations.open_current(tmp_path / ".relrag") as current,
            catalog.open(current.path / catalog.NAME) as opened,
        ):
            return opened.sql("SELECT name, person_id FROM persons ORDER BY ALL").fetchall()

    people(tmp_path, "Jonah Pickel", [OWN], ["Jonah"])
    ((_, own),) = ids()
    people(tmp_path, "Jonah Pickel", [OWN, WEISS], ["Jonah"])
    assert dict(ids())["Jonah Pickel"] == own
    assert len(ids()) == 3
    people(tmp_path, "Jonah Pickel", [OWN], ["Jonah"])
    assert ids() == [("Jonah Pickel", own)]
