"""What is mirrored of an IMAP server, and what happens when it refuses, breaks off or stalls."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from relrag_pipelines.sources.mail import imap_server
from relrag_pipelines.sources.mail.imap_server import Limits, decode_utf7
from relrag_pipelines.sources.remote import FetchError, Mirror, Server
from tests.cases import cases
from tests.imap_server import PASSWORD, USER, ImapServer, Mailbox, serve


def mail(number: int, text: str = "Hello") -> bytes:
    return f"Message-ID: <m{number}@x.example>\r\nSubject: {number}\r\n\r\n{text}\r\n".encode()


@pytest.fixture
def held() -> Iterator[ImapServer]:
    inbox, archive = Mailbox(), Mailbox()
    for number in (1, 2, 3):
        inbox.add(mail(number))
    archive.add(mail(4))
    folders = {"INBOX": inbox, "Archiv/S&AOE-zava": archive, "Trash": Mailbox(flags="\\Trash")}
    folders["Trash"].add(mail(5))
    with serve(ImapServer(folders)) as running:
        yield running


@pytest.fixture
def mirror(tmp_path: Path) -> Mirror:
    return open_mirror(tmp_path)


def open_mirror(folder: Path) -> Mirror:
    return Mirror(folder / "mirror", lambda path: hashlib.sha256(path.encode()).hexdigest(), ".eml")


def fetch(held: ImapServer, mirror: Mirror, *folders: str, secret: str = PASSWORD, **limits: float) -> list[float]:
    """One fetch; the pauses that it made."""
    pauses: list[float] = []
    server = Server(held.url, USER, lambda: secret, "the secret", folders)
    imap_server.fetch(server, mirror, Limits(**limits), pauses.append)  # type: ignore[arg-type]
    return pauses


@pytest.mark.parametrize("plain", [True, False])
@pytest.mark.parametrize("condstore", [True, False])
def test_all_folders_but_trash_are_mirrored(held: ImapServer, mirror: Mirror, condstore: bool, plain: bool) -> None:
    held.condstore, held.plain = condstore, plain
    fetch(held, mirror)
    assert mirror.paths() == {"INBOX/7-1.eml", "INBOX/7-2.eml", "INBOX/7-3.eml", "Archiv/Sázava/7-1.eml"}
    assert mirror.read("Archiv/Sázava/7-1.eml") == mail(4)
    held.commands.clear()
    fetch(held, mirror)
    assert held.fetched() == 0
    assert any("SEARCH" in command for command in held.commands) is not condstore


def test_folders_that_are_named_are_read(held: ImapServer, mirror: Mirror) -> None:
    fetch(held, mirror, "Archiv/*", "Trash")
    assert mirror.paths() == {"Archiv/Sázava/7-1.eml", "Trash/7-1.eml"}


@pytest.mark.parametrize("condstore", [True, False])
def test_new_and_deleted_mails_are_followed(held: ImapServer, mirror: Mirror, condstore: bool) -> None:
    held.condstore = condstore
    fetch(held, mirror)
    held.folders["INBOX"].delete(2)
    held.folders["INBOX"].add(mail(6))
    del held.folders["Archiv/S&AOE-zava"]
    fetch(held, mirror)
    assert mirror.paths() == {"INBOX/7-1.eml", "INBOX/7-3.eml", "INBOX/7-4.eml"}


def test_another_uidvalidity_is_another_folder(held: ImapServer, mirror: Mirror) -> None:
    fetch(held, mirror)
    held.folders["INBOX"].validity = 8
    held.folders["INBOX"].mails[1] = mail(9)
    fetch(held, mirror)
    assert {path for path in mirror.paths() if "INBOX" in path} == {f"INBOX/8-{uid}.eml" for uid in (1, 2, 3)}
    assert mirror.read("INBOX/8-1.eml") == mail(9)


def test_a_broken_connection_continues(held: ImapServer, mirror: Mirror) -> None:
    held.break_after = [1, 1, 0, 1]
    pauses = fetch(held, mirror, first_pause=1.0)
    assert len(mirror.paths()) == 4
    assert len(pauses) == 4
    assert pauses[3] <= 1 <= pauses[1], "a connection that got on begins the pauses anew"
    assert not list(mirror.items.rglob("*.part"))


def test_a_server_that_always_breaks_off(held: ImapServer, mirror: Mirror, tmp_path: Path) -> None:
    held.break_after = [1, 1, 1, 0, 0, 0]
    with pytest.raises(FetchError, match="broke off the connection, 3 times; what was fetched is kept"):
        fetch(held, mirror, tries=3)
    assert len(mirror.paths()) == 1
    fetch(held, open_mirror(tmp_path))
    assert len(mirror.paths()) == 4


def test_a_deletion_needs_a_fetch_that_came_to_its_end(held: ImapServer, mirror: Mirror) -> None:
    fetch(held, mirror)
    held.folders["INBOX"].delete(1)
    held.folders["Archiv/S&AOE-zava"].add(mail(10))
    held.break_after = [0] * 9
    with pytest.raises(FetchError):
        fetch(held, mirror, tries=2)
    assert "INBOX/7-1.eml" in mirror.paths()


def test_a_wrong_password(held: ImapServer, mirror: Mirror, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    for held.plain in (True, False):
        with pytest.raises(FetchError, match="does not accept user and secret; check user and the secret") as raised:
            fetch(held, mirror, secret="other-99")
        assert "other-99" not in str(raised.value) + caplog.text


def test_a_stall_is_bounded(held: ImapServer, mirror: Mirror) -> None:
    held.stall = 0.5
    with pytest.raises(FetchError, match=r"did not answer within 0\.1 s, 2 times"):
        fetch(held, mirror, silence=0.1, tries=2)


@pytest.mark.parametrize(
    ("command", "says"),
    [("LIST", "does not list its folders"), ("EXAMINE", "does not open one"), ("UID SEARCH", "does not list the mails"),
     ("UID FETCH", "refuses to send mails, 2 times")],
)  # fmt: skip
def test_a_refused_command(held: ImapServer, mirror: Mirror, command: str, says: str) -> None:
    held.refuse = command
    with pytest.raises(FetchError, match=says):
        fetch(held, mirror, tries=2)


@pytest.mark.parametrize(*cases(__file__, "a_list_that_lacks_mails_removes_nothing"))
def test_a_list_that_lacks_mails_removes_nothing(
    held: ImapServer, mirror: Mirror, tmp_path: Path, instead: dict[str, list[str]], says: str
) -> None:
    held.condstore = False
    fetch(held, mirror)
    before = mirror.paths()
    assert len(before) == 4
    held.instead = instead
    with pytest.raises(FetchError, match=says):
        fetch(held, mirror)
    assert open_mirror(tmp_path).paths() == before
    held.instead = {}
    fetch(held, mirror)
    assert mirror.paths() == before


def test_many_mails_are_removed_only_with_consent(held: ImapServer, mirror: Mirror) -> None:
    for number in range(10, 60):
        held.folders["INBOX"].add(mail(number))
    fetch(held, mirror)
    for uid in range(4, 30):
        held.folders["INBOX"].delete(uid)
    with pytest.raises(FetchError, match=r"lists 28 items, and 54 were fetched before.*--accept-deletions"):
        fetch(held, mirror)
    assert len(mirror.paths()) == 54
    server = Server(held.url, USER, lambda: PASSWORD, "the secret", accept_deletions=True)
    imap_server.fetch(server, mirror)
    assert len(mirror.paths()) == 28


@pytest.mark.parametrize("command", ["CAPABILITY", "ENABLE"])
def test_a_refusal_of_any_command_is_an_error_or_none(held: ImapServer, mirror: Mirror, command: str) -> None:
    held.refuse = command
    try:
        fetch(held, mirror, tries=1)
    except FetchError:
        assert mirror.paths() == set()
    else:
        assert len(mirror.paths()) == 4


@pytest.mark.parametrize(*cases(__file__, "an_odd_answer_is_a_clear_error_or_a_failure"))
def test_an_odd_answer_is_a_clear_error_or_a_failure(
    held: ImapServer, mirror: Mirror, tmp_path: Path, command: str, lines: list[str]
) -> None:
    held.instead = {command: lines}
    try:
        fetch(held, mirror, tries=2)
    except FetchError as error:
        assert "127.0.0.1" in str(error)
    else:
        assert mirror.omissions or len(mirror.paths()) == 4
    held.instead = {}
    fetch(held, open_mirror(tmp_path))
    assert len(mirror.paths()) == 4
    assert open_mirror(tmp_path).omissions == {}


@pytest.mark.parametrize("code", ["UNAVAILABLE", "INUSE", "SERVERBUG"])
def test_a_server_that_lets_nobody_in_at_present_is_asked_again(held: ImapServer, mirror: Mirror, code: str) -> None:
    held.refuse, held.code, held.plain = "LOGIN", code, False
    with pytest.raises(FetchError, match="lets nobody log in at present, 2 times"):
        fetch(held, mirror, tries=2)


def test_a_mail_that_is_too_large_is_a_failure(held: ImapServer, mirror: Mirror) -> None:
    uid = held.folders["INBOX"].add(mail(9, "x" * 200_000))
    server = Server(held.url, USER, lambda: PASSWORD, "the secret", max_bytes=100_000)
    imap_server.fetch(server, mirror)
    path = f"INBOX/7-{uid}.eml"
    assert mirror.read(path) == b"Message-ID: <m9@x.example>\r\nSubject: 9\r\n\r\n"
    assert {path: omission.limit for path, omission in mirror.omissions.items()} == {path: 100_000}
    assert "the mail has 200,044 bytes and the limit is 100,000 bytes" in mirror.omissions[path].message
    held.commands.clear()
    imap_server.fetch(server, mirror)
    assert held.fetched() == 0
    assert len(mirror.omissions) == 1
    held.folders["INBOX"].add(mail(10))  # so that the folder is listed
    fetch(held, mirror)
    assert mirror.read(path) == mail(9, "x" * 200_000), "a higher limit fetches it"
    assert mirror.omissions == {}


@pytest.mark.parametrize(
    "sent", [b"Subject: one line", b'Subject: say "BODY[]" \\ twice', b'Subject: BODY[] "nested"', b"no header"]
)
def test_a_mail_that_comes_as_a_quoted_string_is_read(held: ImapServer, mirror: Mirror, sent: bytes) -> None:
    inbox = held.folders["INBOX"]
    uid = inbox.add(sent, 'BODY[] \\"label\\"')
    held.quoted, held.gmail = {uid}, True
    fetch(held, mirror)
    assert mirror.read(f"INBOX/7-{uid}.eml").endswith(sent)
    assert mirror.omissions == {}


def test_commands_have_a_budget(held: ImapServer, mirror: Mirror) -> None:
    with pytest.raises(FetchError, match="was sent 3 commands"):
        fetch(held, mirror, commands=3)


def test_nobody_listens(mirror: Mirror) -> None:
    with pytest.raises(FetchError, match=r"127\.0\.0\.1:9 could not be reached"):
        fetch(ImapServer(url="imap://127.0.0.1:9"), mirror, tries=1)


def test_no_password_is_sent_in_clear_over_a_network(mirror: Mirror, monkeypatch: pytest.MonkeyPatch) -> None:
    held = ImapServer({"INBOX": Mailbox()})
    with serve(held):
        monkeypatch.setattr(imap_server, "is_loopback", lambda host: False)
        with pytest.raises(FetchError, match="offers no encryption"):
            fetch(held, mirror)
    assert held.commands == ["CAPABILITY"]


def test_gmail_is_read_once_with_labels_and_threads(held: ImapServer, mirror: Mirror) -> None:
    held.gmail = True
    everything = held.folders["[Gmail]/All Mail"] = Mailbox(flags="\\All")
    everything.add(mail(1), "\\\\Inbox", "House, garden", "Caf\\\\&AOk-")
    everything.add(mail(2))
    fetch(held, mirror)
    assert mirror.paths() == {"[Gmail]/All Mail/7-1.eml", "[Gmail]/All Mail/7-2.eml"}
    first = mirror.read("[Gmail]/All Mail/7-1.eml")
    assert first.startswith(b"X-GM-THRID: 171\r\nX-Gmail-Labels: =?UTF-8?B?")
    assert mirror.read("[Gmail]/All Mail/7-2.eml") == b"X-GM-THRID: 172\r\n" + mail(2)
    held.commands.clear()
    everything.relabel(2, "\\\\Sent")
    fetch(held, mirror)
    assert mirror.read("[Gmail]/All Mail/7-2.eml") == b"X-GM-THRID: 172\r\nX-Gmail-Labels: Sent\r\n" + mail(2)
    assert held.fetched() == 0


@pytest.mark.parametrize(
    ("name", "decoded"),
    [(b"INBOX", "INBOX"), (b"Entw&APw-rfe", "Entwürfe"), (b"A&-B", "A&B"), (b"&BdEF0gXg-", "בגנ"),
     (b"R&2D3eAA-", "R😀"), (b"odd&name", "odd&name"), ("žluť".encode(), "žluť")],
)  # fmt: skip
def test_names_of_folders(name: bytes, decoded: str) -> None:
    assert decode_utf7(name) == decoded
