"""People of an address book in two scripts: found in either, related both ways, and told of as they were stated."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from relrag_pipelines.identity.journal_statements import Merge
from relrag_pipelines.journal import journal
from relrag_pipelines.stores import private_manifest
from relrag_query import statements
from relrag_query.archive import Archive
from relrag_query.cli.commands import people as commands
from relrag_query.people.indexed_person import PeopleError
from tests import archive

CONFIG = """
keys_file = "test.keys"
embedder = "none"
owner = "Jonah Pickel"

[[sources]]
name = "cards"
kind = "contacts"
path = "cards.vcf"
"""
CARDS = {
    "1": ("Jonah Pickel", ""),
    "2": ("יעל לוי", "TEL:052-555-0102\n"),
    "3": ("נועה בר", "TEL:052-555-0103\n"),
    "4": ("אורי כהן", "TEL:052-555-0104\n"),
    "5": ("Leah Katz", "TEL:052-555-0105\nX-ABRELATEDNAMES;TYPE=spouse:Doron Katz\n"),
    "6": ("Doron Katz", "TEL:052-555-0106\n"),
    "7": ("Dodo", "TEL:052-555-0107\n"),
    "8": ("אור גל", "TEL:052-555-0108\n"),
}


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cards")
    cards = (
        f"BEGIN:VCARD\nVERSION:3.0\nUID:{uid}\nX-RELRAG-PERSON-ID:{uid}\nFN:{name}\n{more}END:VCARD\n"
        for uid, (name, more) in CARDS.items()
    )
    (folder / "cards.vcf").write_text("".join(cards))
    (folder / "relrag.toml").write_text(CONFIG)
    archive.first_sync(folder / "relrag.toml")
    return folder / "relrag.toml"


@pytest.mark.parametrize(
    ("typed", "person_id"),
    [
        *[("Yael", 2), ("yael", 2), ("Noa", 3), ("Uri", 4), ("לאה", 5), ("דורון", 6)],
        *[("Or", 8), ("or", 8), ("Or Gal", 8)],
    ],
)
def test_a_name_of_one_consonant_is_found_in_the_other_script(config: Path, typed: str, person_id: int) -> None:
    with Archive.open(config) as opened, opened.people() as people:
        assert [one.person_id for one in people.find(typed)] == [person_id]


def test_a_word_that_is_a_name_in_hebrew_names_nobody(config: Path) -> None:
    with Archive.open(config) as opened, opened.people() as people:
        assert people.name_bearers("is it your hour or mine, all right") == {}
        assert people.name_bearers("Or is it mine") == {}


def test_a_spouse_on_one_card_is_that_both_ways(config: Path) -> None:
    with Archive.open(config) as opened, opened.people() as people:
        found = [(one.other_id, one.type) for one in people.relationships([5])]
        assert (found, [(one.other_id, one.type) for one in people.relationships([6])]) == (
            [(6, "spouse")],
            [(5, "spouse")],
        )


def test_a_misspelt_type_is_refused_and_any_other_word_is_one(config: Path) -> None:
    with pytest.raises(PeopleError, match=r'^"freind" is not a type that relrag knows; did you mean friend\?$'):
        statements.create_relationship("Leah Katz", "Noa", "freind", config=config)
    for free in ("choir partner", "sitter", "oncle", "step_brother", "other", "cousine"):
        said = statements.create_relationship("Leah Katz", "Noa", free, config=config)
        statements.undo(said.number, config=config)


def test_what_was_stated_before_a_merge_is_told_with_the_names_of_then(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    statements.create_relationship("Doron Katz", "Dodo", "client", config=config)
    statements.merge("Doron Katz", ["Dodo"], config=config)
    capsys.readouterr()
    assert commands.undo(None, config) == 0
    now = capsys.readouterr().out
    assert "Dodo (7) of Doron Katz (6)" in now
    assert "Doron Katz (6), Dodo (7)" in now
    archive.sync(config)
    assert commands.undo(None, config) == 0
    assert capsys.readouterr().out == now


def test_a_merge_of_before_names_were_stored_is_told_by_numbers(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = archive.workspace(config).home
    journal.append(home, [Merge(2, (3,))])
    line = json.loads(journal.path(home).read_bytes().splitlines()[-1])
    del line["said"]["names"]  # as an earlier version wrote it
    kept = b"".join(journal.path(home).read_bytes().splitlines(keepends=True)[:-1])
    journal.path(home).write_bytes(kept + json.dumps(line).encode() + b"\n")
    private_manifest.reset(home)
    archive.sync(config)
    capsys.readouterr()
    assert commands.undo(None, config) == 0
    assert "יעל לוי (2), 3, now יעל לוי (2)" in capsys.readouterr().out
