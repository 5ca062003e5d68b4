"""Calendars, tasks, notes, statements, photos and office documents through `init` and a sync, with their relations."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from relrag_pipelines.onboarding.discover import discover
from relrag_pipelines.stores import catalog, generations
from tests import archive
from tests.conftest import ROOT

SAMPLES = ROOT / "examples" / "samples"
KINDS = ("calendar", "tasks", "notes", "bank", "photos", "document")
MAIL = """\
Message-ID: <press@werk.example>
From: Annegret Vogt <annegret.vogt@werk.example>
To: Jana <jana.brueckner@werk.example>
Date: Mon, 01 Jul 2024 08:00:00 +0000
Subject: Einladung
MIME-Version: 1.0
Content-Type: text/calendar; charset=utf-8; method=REQUEST

"""
CONFIG = """\
archive = "files"
keys_file = "test.keys"
timezone = "Europe/Prague"
embedder = "none"
pii_redaction_enabled = true

"""


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive of all samples, synced, and a mail that invites to an event."""
    folder = tmp_path_factory.mktemp("files")
    for kind in KINDS:
        shutil.copytree(SAMPLES / kind, folder / kind, ignore=shutil.ignore_patterns("*.ppt.zip"))
    for path in (folder / "calendar").iterdir():
        os.utime(path, (1_719_792_000, 1_719_792_000))  # 2024-07-01: events that repeat are read up to a year later
    (folder / "mail").mkdir()
    invitation = (SAMPLES / "calendar" / "arbeit.ics").read_text(encoding="utf-8")
    (folder / "mail" / "invitation.eml").write_text(MAIL + invitation, encoding="utf-8")
    tables = [f'[[sources]]\nname = "{kind}"\nkind = "{kind}"\npath = "{kind}"\n' for kind in KINDS]
    tables.append('[[sources]]\nname = "mail"\nkind = "gmail"\npath = "mail"\n')
    (folder / "relrag.toml").write_text(CONFIG + "\n".join(tables))
    archive.first_sync(folder / "relrag.toml")
    return folder / "relrag.toml"


def rows(config: Path, sql: str) -> list[Any]:
    """Rows of the published catalog."""
    home = archive.workspace(config).home
    with catalog.open(home / "published" / str(generations.current_number(home)) / catalog.NAME) as opened:
        return opened.execute(sql).fetchall()


def test_every_kind_is_in_the_catalog(config: Path) -> None:
    counts = Counter(kind for (kind,) in rows(config, "SELECT kind FROM records"))
    assert counts == {
        "calendar": 8, "tasks": 5, "notes": 15, "bank": 15, "photos": 5, "document": 9, "gmail": counts["gmail"],
    }  # fmt: skip
    assert rows(config, "SELECT DISTINCT fault FROM failures ORDER BY fault") == [("bad_row",), ("ignored",)]


def test_an_invitation_is_related_to_its_event(config: Path) -> None:
    sql = """SELECT src_asset_ref, dst_asset_ref FROM asset_asset_edges
        WHERE provenance = 'the same calendar event in both'"""
    ((later, earlier),) = rows(config, sql)
    assert {later.partition(":")[0], earlier.partition(":")[0]} == {"calendar", "gmail"}


def test_notes_refer_to_each_other(config: Path) -> None:
    sql = """SELECT a.subject, b.subject FROM asset_asset_edges
        JOIN records a ON src_asset_ref = a.asset_id JOIN records b ON dst_asset_ref = b.asset_id
        WHERE relation_type = 'references' AND a.kind = 'notes' AND b.kind = 'notes' ORDER BY ALL"""
    assert rows(config, sql) == [
        ("2024-04-13", "Tesařství Blaha"),
        ("Kvasnice na chleba", "Žitný chléb"),
        ("Pergola", "2024-04-13"),
        ("Pergola", "Tesařství Blaha"),
        ("Projet verger", "Compte rendu"),
        ("Projet verger", "Pépinières"),
        ("Tesařství Blaha", "Pergola"),
    ]


def test_accounts_and_phones_are_replaced(config: Path) -> None:
    text = "\n".join(f"{text} {extra}" for text, extra in rows(config, "SELECT text, extra FROM records"))
    accounts = ("DE89370400440532013000", "FR1420041010050500013M02606", "DE75512108001245126199", "1920001457/0800")
    assert [value for value in (*accounts, "602 345 678", "777 123 456") if value in text] == []
    assert "<IBAN_CODE:" in text


def test_a_row_of_a_sheet_names_its_columns(config: Path) -> None:
    passages = rows(config, "SELECT text FROM chunks WHERE file_name = 'rozpocet-chaty.xlsx'")
    text = "\n".join(text for (text,) in passages)
    assert "Datum: 19. 2. 2024; Položka: Komín, revize; Částka Kč: 3,600.00; DPH: 12%; Číslo: 00072" in text


def test_init_proposes_a_source_for_each_kind(config: Path) -> None:
    found = discover(config.parent)
    kinds = {source.kind: source.path for source in found.sources}
    assert {kind: kinds.get(kind) for kind in KINDS} == {
        "calendar": "calendar", "tasks": "tasks", "notes": "notes", "bank": "bank", "photos": "photos",
        "document": "document",
    }  # fmt: skip
