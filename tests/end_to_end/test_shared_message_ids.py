"""Mails that share a Message-ID: copies are one record, another text is a record of its own, in any order."""

import itertools
import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from relrag_pipelines.sources.mail_ids import plain_id
from relrag_pipelines.stores import lake
from tests.end_to_end.test_mail_archive import Archive, boxed, mail
from tests.sources.mail.outlook.outlook_files import compound, message

HEAD = "Message-ID: <same@host.example>\nFrom: Jana <jana@host.example>\nSubject: {subject}\nDate: {date}\n"
FEBRUARY, MARCH = "Mon, 3 Feb 2025 09:00:00 +0100", "Tue, 4 Mar 2025 09:00:00 +0100"


def same(text: str, date: str = FEBRUARY, *, more: str = "", subject: str = "The gate") -> bytes:
    return (HEAD.format(subject=subject, date=date) + more + f"\n{text}\n").encode()


OPEN, LOCKED = same("The gate is open."), same("The gate is locked.", MARCH)
WITH_FILE = same(
    "--x\n\nThe gate is painted.\n--x\nContent-Type: text/csv; name=a.csv\n\na,b\n1,2\n--x--",
    "Wed, 5 Mar 2025 09:00:00 +0100",
    more="Content-Type: multipart/mixed; boundary=x\n",
)


def tables(archive: Archive) -> list[list[dict[str, Any]]]:
    archive.export()
    archive.stages()
    return [archive.rows(table) for table in ("private_records", "records", "chunks", "asset_asset_edges")]


def clean_tables(archive: Archive) -> list[list[dict[str, Any]]]:
    shutil.rmtree(archive.workspace.home)
    return tables(archive)


def ids(archive: Archive, table: str = "records") -> dict[str, str]:
    return {row["text"].strip(): row["asset_id"] for row in archive.rows(table)}


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    return Archive(tmp_path)


def test_the_older_of_two_mails_bears_the_plain_id(archive: Archive) -> None:
    (archive.mails / "b.eml").write_bytes(OPEN)
    (archive.mails / "a.eml").write_bytes(LOCKED)
    (archive.mails / "answer.eml").write_bytes(mail("answer", 3, answers="same"))
    tables(archive)
    found = ids(archive)
    assert found["The gate is open."] == plain_id(found["The gate is locked."])
    assert found["The gate is locked."].startswith(found["The gate is open."] + "~")
    rows = {row["text"].strip(): row for row in archive.rows("records")}
    assert rows["answer"]["parent_asset_id"] == found["The gate is open."]
    assert len({row["thread_id"] for row in rows.values()}) == 1
    for row in rows.values():
        assert row["source_id"] == row["parent_ref"] == row["asset_id"].removeprefix("gmail:")


@pytest.mark.parametrize("order", [*itertools.permutations((OPEN, LOCKED, WITH_FILE))])
@pytest.mark.parametrize("form", ["files", "mailbox", "maildir", "mixed"])
def test_ids_do_not_depend_on_the_order_or_on_the_form(archive: Archive, order: tuple[bytes, ...], form: str) -> None:
    if form == "mailbox":
        (archive.mails / "in.mbox").write_bytes(boxed(*order))
    else:
        (archive.mails / "cur").mkdir()
        for number, one in enumerate(order):
            name = {"files": f"{number}.eml", "maildir": f"cur/{number}.host:2,S"}.get(form)
            name = name or (f"{number}.eml" if number % 2 else f"{number}.mbox")
            (archive.mails / name).write_bytes(boxed(one) if name.endswith(".mbox") else one)
    tables(archive)
    found = ids(archive)
    assert found.keys() == {"The gate is open.", "The gate is locked.", "The gate is painted.", "a, b\na: 1; b: 2"}
    assert "~" not in found["The gate is open."]
    assert found["a, b\na: 1; b: 2"] == found["The gate is painted."] + ":0"
    assert {plain_id(found[f"The gate is {how}."]) for how in ("open", "locked", "painted")} == {
        found["The gate is open."]
    }


def test_syncs_one_by_one_end_like_one_sync_of_all(archive: Archive) -> None:
    """Files with mails of three texts and their copies come, change and go; after each step all tables are the same."""
    rng = random.Random(3)
    texts = (OPEN, LOCKED, WITH_FILE, same("The gate is open.", MARCH), mail("answer", 2, answers="same"))
    for _ in range(14):
        names = [path.name for path in archive.mails.iterdir()]
        if names and rng.random() < 0.4:
            (archive.mails / rng.choice(names)).unlink()
        else:
            name = f"{rng.randrange(4)}.{rng.choice(['eml', 'mbox'])}"
            some = rng.choices(texts, k=rng.randint(1, 3))
            (archive.mails / name).write_bytes(boxed(*some) if name.endswith("mbox") else some[0])
        step_by_step = tables(archive)
        assert step_by_step == clean_tables(archive)


def test_a_mailbox_that_grows_by_an_older_mail_gives_it_the_plain_id(archive: Archive) -> None:
    box = archive.mails / "in.mbox"
    box.write_bytes(boxed(LOCKED, WITH_FILE))
    tables(archive)
    assert "~" not in ids(archive)["The gate is locked."]
    box.write_bytes(boxed(LOCKED, WITH_FILE, OPEN))
    grown = tables(archive)
    assert "~" not in ids(archive)["The gate is open."]
    assert "~" in ids(archive)["The gate is locked."]
    assert grown == clean_tables(archive)


BASE64 = "VGhlIGdhdGUgaXMgb3Blbi4K"


@pytest.mark.parametrize(
    "copy",
    [
        same("The gate is open.", more="Received: from a by b; Mon, 3 Feb 2025 09:00:01 +0100\nX-Spam: no\n"),
        same(BASE64, more="Content-Transfer-Encoding: base64\nContent-Type: text/plain; charset=utf-8\n"),
        same("The gate=20is=\n open.", more="Content-Transfer-Encoding: quoted-printable\n"),
        same("The gate is open.").replace(b"\n", b"\r\n"),
        same("The gate\nis open."),
        same(
            "The gate is open.\n\n_______________________________________________\nDoors mailing list\n"
            "Doors@host.example\nhttps://host.example/mailman/listinfo/doors",
            subject="[Doors] The gate",
        ),
        same("The gate is open.\n-- \nYou received this message because you are subscribed to the Google Groups"),
        same("The gate is open.\n" + "-" * 69 + "\nTo unsubscribe, e-mail: doors-unsubscribe@host.example"),
        same("The gate is open.", subject="=?utf-8?B?VGhlIGdhdGU=?="),
        same("<p>The <b>gate</b> is open.</p>", more="Content-Type: text/html\n"),
    ],
)
def test_copies_are_one_record(archive: Archive, copy: bytes) -> None:
    (archive.mails / "a.eml").write_bytes(OPEN)
    (archive.mails / "b.mbox").write_bytes(boxed(copy))
    tables(archive)
    (row,) = archive.rows("records")
    assert row["locations"] == ["a.eml", "b.mbox#0"]
    assert "~" not in row["asset_id"]


@pytest.mark.parametrize(
    "other",
    [
        same("The gate is shut."),
        same("The gate is open", subject="The other gate"),
        same("The gate is open.\n-- \nJana"),
        same("> The gate is open."),
        WITH_FILE.replace(b"painted", b"open"),
    ],
)
def test_what_says_something_else_is_a_record_of_its_own(archive: Archive, other: bytes) -> None:
    (archive.mails / "a.eml").write_bytes(OPEN)
    (archive.mails / "b.eml").write_bytes(other)
    tables(archive)
    assert len({row["asset_id"] for row in archive.rows("records") if row["rag_source_type"] == "email"}) == 2


def test_two_scans_without_a_text_keep_both_their_files(archive: Archive) -> None:
    for name in ("one", "two"):
        scan = same(
            f"--x\nContent-Type: application/octet-stream; name=scan.bin\n\n{name}\n--x--",
            more="Content-Type: multipart/mixed; boundary=x\n",
        )
        (archive.mails / f"{name}.eml").write_bytes(scan)
    tables(archive)
    assert len(archive.rows("records")) == 4


def test_a_mail_that_outlook_saved_has_the_id_of_the_same_mail_in_a_mailbox(archive: Archive) -> None:
    head = (
        "Message-ID: <same@host.example>\r\nFrom: Jana <jana@host.example>\r\nDate: Mon, 3 Feb 2025 09:00:00 +0100\r\n"
    )
    saved = compound(message({0x007D: head, 0x0037: "The gate", 0x1000: "The gate is open.\r\n"}))
    (archive.mails / "a.msg").write_bytes(saved)
    (archive.mails / "b.mbox").write_bytes(boxed(OPEN, LOCKED))
    tables(archive)
    rows = {row["text"].strip(): row for row in archive.rows("records")}
    assert rows["The gate is open."]["locations"] == ["a.msg", "b.mbox#0"]
    assert len(rows) == 2


def test_a_mail_of_apple_mail_has_the_id_of_the_same_mail_in_a_mailbox(archive: Archive) -> None:
    property_list = b'<?xml version="1.0" encoding="UTF-8"?>\n<plist version="1.0"><dict/></plist>\n'
    (archive.mails / "1.emlx").write_bytes(b"%-10d\n" % len(OPEN) + OPEN + property_list)
    (archive.mails / "b.mbox").write_bytes(boxed(OPEN, LOCKED))
    tables(archive)
    rows = {row["text"].strip(): row for row in archive.rows("records")}
    assert rows["The gate is open."]["locations"] == ["1.emlx", "b.mbox#0"]
    assert len(rows) == 2


def test_what_is_forgotten_stays_away_and_the_other_mail_stays(archive: Archive) -> None:
    (archive.mails / "a.eml").write_bytes(OPEN)
    (archive.mails / "b.eml").write_bytes(WITH_FILE)
    tables(archive)
    before = ids(archive)
    archive.forget(before["The gate is open."])
    for full in (False, True, True):
        archive.export(full=full)
        assert ids(archive, "private_records") == {
            text: one for text, one in before.items() if text != "The gate is open."
        }
    archive.forget(before["The gate is painted."])
    archive.export(full=True)
    assert archive.rows() == []


@pytest.mark.parametrize("gone", ["The gate is locked.", "The gate is open."])
@pytest.mark.parametrize("form", ["eml", "mbox"])
def test_a_mail_that_is_forgotten_stays_away_under_whatever_name(archive: Archive, gone: str, form: str) -> None:
    """Its name changes with the other mail of its Message-ID, which goes and comes back."""
    other = {"The gate is locked.": OPEN, "The gate is open.": LOCKED}[gone]
    (archive.mails / "a.eml").write_bytes(OPEN)
    (archive.mails / "b.eml").write_bytes(LOCKED)
    tables(archive)
    archive.forget(ids(archive)[gone])
    files = {OPEN: archive.mails / "a.eml", LOCKED: archive.mails / "b.eml"}
    files.pop(other).unlink()
    archive.export(full=True)
    assert archive.rows() == []
    (mail_of_gone,) = files.values()
    mail_of_gone.rename(archive.mails / "c.eml")
    again = archive.mails / f"d.{form}"
    again.write_bytes(other if form == "eml" else boxed(other))
    archive.export(full=True)
    assert [row["text"].strip() for row in archive.rows()] == [other.decode().rsplit("\n\n", 1)[1].strip()]


def test_a_forgotten_mail_stays_away_under_another_text_where_no_other_bore_its_id(archive: Archive) -> None:
    (archive.mails / "a.eml").write_bytes(OPEN)
    tables(archive)
    archive.forget(ids(archive)["The gate is open."])
    (archive.mails / "b.eml").write_bytes(same("The gate is open. (converted)"))
    archive.export()
    assert archive.rows() == []


def test_mails_that_are_retained_are_not_taken_for_another_with_their_id(tmp_path: Path) -> None:
    archive = Archive(tmp_path, "retain = true\n")
    (archive.mails / "a.eml").write_bytes(LOCKED)
    tables(archive)
    (archive.mails / "a.eml").unlink()
    (archive.mails / "b.eml").write_bytes(OPEN)
    tables(archive)
    assert ids(archive).keys() == {"The gate is open.", "The gate is locked."}
    assert "~" in ids(archive)["The gate is locked."]
    (archive.mails / "c.eml").write_bytes(LOCKED)
    tables(archive)
    locked = [row for row in archive.rows() if "locked" in row["text"]]
    assert [row["unit"] for row in locked] == ["c.eml"]


def test_an_index_that_is_lost_is_made_again_from_the_records(archive: Archive) -> None:
    (archive.mails / "a.eml").write_bytes(OPEN)
    (archive.mails / "b.eml").write_bytes(WITH_FILE)
    tables(archive)
    index = archive.workspace.home / "private/threads/mail.parquet"
    index.write_bytes(b"damaged")
    (archive.mails / "c.eml").write_bytes(LOCKED)
    assert tables(archive) == clean_tables(archive)


def test_a_kill_between_two_months_mixes_no_mails_up(archive: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    (archive.mails / "a.eml").write_bytes(LOCKED)
    (archive.mails / "b.eml").write_bytes(WITH_FILE)
    tables(archive)
    (archive.mails / "c.eml").write_bytes(OPEN)
    write = lake.write_rows
    written: list[Path] = []

    def killed(path: Path, *given: Any) -> Any:
        written.append(path)
        if len(written) > 1:
            raise KeyboardInterrupt
        return write(path, *given)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(lake, "write_rows", killed)
        archive.export()
    assert tables(archive) == clean_tables(archive)
