"""Mail on a server: the same mail from a mailbox, from IMAP or from elsewhere is one record."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from relrag_pipelines.erasure import byte_search
from relrag_pipelines.ingest.ingest import ingest
from relrag_pipelines.stores import lake
from relrag_query.archive import Archive
from relrag_query.cli.commands.forget import forget
from relrag_query.forgetting import ForgetRequest
from tests import archive
from tests.imap_server import PASSWORD, USER, ImapServer, Mailbox, serve

CONFIG = """
archive = "test"
keys_file = "test.keys"
timezone = "Europe/Prague"
pii_redaction_enabled = true
embedder = "none"

[[sources]]
name = "takeout"
kind = "gmail"
path = "takeout"

[[sources]]
name = "server"
kind = "imap"
url = "{url}"
user = "{user}"
"""


def mail(number: int, text: str, answers: int = 0) -> bytes:
    head = f"Message-ID: <m{number}@x.example>\nFrom: Ota Novak <ota@x.example>\nTo: Dana Levi <dana@x.example>\n"
    head += f"In-Reply-To: <m{answers}@x.example>\n" if answers else ""
    return f"{head}Date: 0{number} Mar 2024 08:00:00 +0000\nSubject: Boiler {number}\n\n{text}\n".encode()


MAILS = [
    mail(1, "The boiler is broken again."),
    mail(2, "The plumber will come on Tuesday.", 1),
    mail(3, "The sledge stands in the orangery.", 2),
]


@pytest.fixture
def held() -> Iterator[ImapServer]:
    box = Mailbox()
    for one in MAILS:
        box.add(one.replace(b"\n", b"\r\n"))
    with serve(ImapServer({"INBOX": box, "Sent": Mailbox()})) as running:
        yield running


@pytest.fixture
def config(tmp_path: Path, held: ImapServer, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "takeout").mkdir()
    separator = b"From x@x Sat Mar 02 08:00:00 2024\nX-Gmail-Labels: Inbox\n"
    (tmp_path / "takeout" / "All mail.mbox").write_bytes(b"".join(separator + one + b"\n" for one in MAILS[:2]))
    path = tmp_path / "relrag.toml"
    path.write_text(CONFIG.format(url=held.url, user=USER))
    monkeypatch.setenv("RELRAG_SECRET_SERVER", PASSWORD)
    return path


def ids(config: Path, source: str, text: str = "") -> list[str]:
    """The ids of the private records of a source that hold a text."""
    home = archive.workspace(config).home
    tables = (lake.read(home, "private_records", source, one) for one in lake.manifest(home, "private_records", source))
    return sorted(row["asset_id"] for table in tables for row in table.to_pylist() if text in row["text"])


def test_a_mail_in_a_mailbox_and_on_a_server_is_one_record(config: Path) -> None:
    archive.sync(config)
    assert len(ids(config, "takeout")) == 2
    assert set(ids(config, "takeout")) < set(ids(config, "server"))
    (broken,) = ids(config, "takeout", "broken")
    with Archive.open(config) as opened:
        assert [hit.chunk.asset_id for hit in opened.search("boiler broken").hits if "broken" in hit.chunk.text] == [
            broken
        ]
        record = opened.record(broken)
    assert record is not None
    assert record.locations == ["All mail.mbox#0", "INBOX/7-1.eml"]


def test_a_mail_that_is_deleted_on_the_server_goes(config: Path, held: ImapServer) -> None:
    archive.sync(config)
    held.folders["INBOX"].delete(3)
    archive.sync(config)
    assert ids(config, "server") == ids(config, "takeout")


def test_a_forgotten_mail_leaves_no_quote_in_the_mirror(config: Path, held: ImapServer) -> None:
    quoting = mail(4, "Agreed.\n\nOn 3 Mar 2024, Ota Novak wrote:\n> The sledge stands in the orangery.", 3)
    held.folders["INBOX"].add(quoting)
    archive.sync(config)
    home = archive.home(config.parent)
    assert forget(ForgetRequest(refs=ids(config, "server", "sledge stands")), config, yes=True) == 0
    assert byte_search.search(home, ["The sledge stands in the orangery"]).holding == {}
    made = archive.workspace(config)
    for full in (False, True):
        ingest(made, made.settings.source("server"), full=full)
        assert byte_search.search(home, ["The sledge stands in the orangery"]).holding == {}
        assert len(ids(config, "server")) == 3, "what quoted it stays, without the quote"
    held.folders["INBOX"].delete(4)
    ingest(made, made.settings.source("server"))
    assert len(ids(config, "server")) == 2
