"""A mail that two sources hold, a mailbox and a folder of saved mails, is one record with the places of both."""

from __future__ import annotations

from pathlib import Path

import pytest

from relrag_query.archive import Archive
from tests import archive

CONFIG = """
archive = "test"
keys_file = "test.keys"
embedder = "none"
owner = "Dana Levi"
[[sources]]
name = "thunderbird"
kind = "gmail"
path = "thunderbird"
[[sources]]
name = "saved"
kind = "gmail"
path = "saved"
"""
TEXT = "The boiler of the cabin is broken, and the plumber comes on Tuesday."
MAIL = (
    "From: Petr Kolar <petr@x.example>\r\nTo: Dana Levi <dana@x.example>\r\nMessage-ID: <{name}@x.example>\r\n"
    "Date: Tue, 5 Mar 2024 08:00:00 +0000\r\nSubject: {name}\r\n{more}\r\n{text}\r\n"
)


def mail(name: str, text: str = TEXT, more: str = "") -> bytes:
    return MAIL.format(name=name, text=text, more=more).encode()


def boxed(*mails: bytes) -> bytes:
    return b"".join(b"From x Tue Mar  5 08:00:00 2024\n" + one.replace(b"\r\n", b"\n") + b"\n" for one in mails)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    for source in ("thunderbird", "saved"):
        (tmp_path / source).mkdir()
    config = tmp_path / "relrag.toml"
    config.write_text(CONFIG)
    return config


@pytest.mark.parametrize(
    ("text", "more"),
    [
        (TEXT, ""),
        (TEXT, "Received: from a.example by b.example; Tue, 5 Mar 2024 08:00:03 +0000\r\n"),
        (TEXT, "X-Mozilla-Status: 0001\r\nContent-Transfer-Encoding: 8bit\r\n"),
        (f"{TEXT}\r\n\r\n-- \r\n____\r\nTo unsubscribe write to cabin-leave@x.example", ""),
    ],
    ids=["equal bytes", "as a server passed it on", "as a program saved it", "as a list passed it on"],
)
def test_a_mail_in_two_sources_is_one_record_with_both_places(config: Path, text: str, more: str) -> None:
    (config.parent / "thunderbird" / "inbox.mbox").write_bytes(
        boxed(mail("other", "Bring the red sleds."), mail("boiler"))
    )
    (config.parent / "saved" / "boiler.eml").write_bytes(mail("boiler", text, more))
    archive.first_sync(config)
    with Archive.open(config) as opened:
        rows = opened._catalog.execute("SELECT locations FROM records").fetchall()
        hits = [hit for hit in opened.search("boiler plumber").hits if "plumber" in hit.text]
    assert len(rows) == 2
    (places,) = [places for (places,) in rows if "boiler.eml" in places]
    assert [place.partition("#")[0] for place in places] == ["inbox.mbox", "boiler.eml"]
    assert len(hits) == 1
