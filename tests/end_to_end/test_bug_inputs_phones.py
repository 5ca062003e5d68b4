"""Small archives whose phone numbers relrag once left standing, or took for two people's."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from relrag_pipelines import settings as settings_module
from relrag_pipelines.stages import plan as plans
from relrag_pipelines.stores import archive_regions, archive_tables, lake
from relrag_pipelines.workspace import Workspace
from relrag_query.cli.commands import pii as pii_command
from tests import archive

CONFIG = """
keys_file = "test.keys"
timezone = "UTC"
pii_redaction_enabled = true
embedder = "none"
{extra}
[[sources]]
name = "chat"
kind = "whatsapp"
path = "chats"
"""
CARDS = """
[[sources]]
name = "cards"
kind = "contacts"
path = "cards"
"""
SPANISH = """\
25/10/2024, 15:50 - Lucía: Mañana por la tarde quedamos en la puerta del colegio para llevar a los niños al parque
25/10/2024, 15:51 - Paco: Perfecto, yo llevo la merienda y las bicicletas, ¿a qué hora te viene bien a ti?
25/10/2024, 15:52 - Lucía: A las seis, antes tengo que pasar por casa de mi madre a recoger unas cosas
25/10/2024, 15:53 - Paco: 698 55 01 37
25/10/2024, 15:54 - Lucía: 612408819
25/10/2024, 15:55 - Paco: el pedido 612408820 ya está en camino, llega el jueves por la mañana según la web
"""


@pytest.fixture(scope="session")
def bugs(shared_data: Path) -> Path:
    folder = shared_data / "bugs"
    if not folder.is_dir():
        pytest.skip(f"no inputs at {folder}")
    return folder


def texts(home: Path) -> list[str]:
    months = lake.manifest(home, "records", "chat")
    rows = [row for month in sorted(months) for row in lake.read(home, "records", "chat", month).to_pylist()]
    return [row["text"] for row in sorted(rows, key=lambda row: row["timestamp"])]


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    (tmp_path / "chats").mkdir()
    (tmp_path / "relrag.toml").write_text(CONFIG.format(extra=""))
    return tmp_path


def test_one_number_written_two_ways_is_one_person(bugs: Path, chat: Path) -> None:
    (chat / "cards").mkdir()
    folder = bugs / "phone-variants-of-one-number"
    shutil.copy(folder / "WhatsApp Chat with Club.txt", chat / "chats")
    shutil.copy(folder / "c.vcf", chat / "cards")
    (chat / "relrag.toml").write_text(CONFIG.format(extra="") + CARDS)
    home = archive.first_sync(chat / "relrag.toml").home
    names = {row["person_id"]: row["name"] for row in archive_tables.read(home, "persons").to_pylist()}
    assert len(names) == 7
    senders = [
        row
        for month in lake.manifest(home, "identifiers", "chat")
        for row in lake.read(home, "identifiers", "chat", month).to_pylist()
        if row["role"] == "sender" and row["kind"] == "phone"
    ]
    cards = [
        row
        for month in lake.manifest(home, "identifiers", "cards")
        for row in lake.read(home, "identifiers", "cards", month).to_pylist()
        if row["kind"] == "phone"
    ]
    assert {row["keyed"] for row in senders} == {row["keyed"] for row in cards}
    assert len({row["keyed"] for row in cards}) == 7


def test_a_national_number_goes_where_texts_tell_the_country(chat: Path) -> None:
    (chat / "chats" / "WhatsApp Chat with Lucía.txt").write_text(SPANISH)
    home = archive.first_sync(chat / "relrag.toml").home
    assert archive_regions.load(home) == ("ES",)
    said = texts(home)
    assert said[3].startswith("<PHONE_NUMBER:k1:") and said[4].startswith("<PHONE_NUMBER:k1:")
    assert said[5].startswith("el pedido 612408820 ya")


def test_a_region_that_is_set_redacts_months_again(chat: Path) -> None:
    (chat / "chats" / "WhatsApp Chat with Lucía.txt").write_text("25/10/2024, 15:53 - Paco: 698 55 01 37\n")
    home = archive.first_sync(chat / "relrag.toml").home
    assert texts(home) == ["698 55 01 37"]
    (chat / "relrag.toml").write_text(CONFIG.format(extra='pii_regions = ["es"]'))
    plan = plans.build_plan(archive.workspace(chat / "relrag.toml"))
    assert "pii_regions" in repr(plan.stale)
    archive.sync(chat / "relrag.toml")
    assert texts(home)[0].startswith("<PHONE_NUMBER:k1:")
    assert plans.build_plan(archive.workspace(chat / "relrag.toml")).empty


def test_a_country_that_does_not_exist_is_named(chat: Path) -> None:
    (chat / "relrag.toml").write_text(CONFIG.format(extra='pii_regions = ["Spain"]'))
    with pytest.raises(settings_module.SettingsError, match='pii_regions names "Spain"; write countries by their two'):
        settings_module.load(chat / "relrag.toml")


def test_pii_test_hides_what_texts_call_a_phone(bugs: Path, chat: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for line in (bugs / "phones-named-in-other-languages" / "ph_s.txt").read_text().splitlines():
        assert pii_command.test(line, "whatsapp", chat / "relrag.toml") == 0
        shown = capsys.readouterr().out.splitlines()[-1]
        assert "<PHONE_NUMBER:" in shown and not any(part.isdigit() and len(part) > 2 for part in shown.split())


def test_pii_test_knows_the_regions_that_are_set(chat: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (chat / "relrag.toml").write_text(CONFIG.format(extra='pii_regions = ["ES"]'))
    for text in ("698 55 01 37", "612408819"):
        pii_command.test(text, "whatsapp", chat / "relrag.toml")
        assert capsys.readouterr().out.splitlines()[-1].strip().startswith("<PHONE_NUMBER:k1:")
    assert Workspace(settings_module.load(chat / "relrag.toml")).regions == ("ES",)
