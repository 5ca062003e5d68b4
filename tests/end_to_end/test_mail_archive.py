"""Mail through export and the monthly stages: threads, edges, mailboxes that grow, mails in several places."""

import base64
import mailbox
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, BinaryIO, cast

import pyarrow.parquet as pq
import pytest

from relrag_pipelines import settings
from relrag_pipelines.erasure import purge, record_selection, rule_file, rule_matching
from relrag_pipelines.files import failpoints
from relrag_pipelines.ingest.ingest import ingest
from relrag_pipelines.maintenance.repair import repair
from relrag_pipelines.maintenance.verify import verify_home
from relrag_pipelines.sources.mail import mailbox as containers
from relrag_pipelines.stages.month_stages import STAGES, run
from relrag_pipelines.stores import lake, quarantine, spill_buffer, unit_state
from relrag_pipelines.workspace import Workspace
from tests.sources.mail.outlook.outlook_files import compound, message

CONFIG = """
archive = "mail"
keys_file = "mail.keys"
embedder = "none"
pii_redaction_enabled = true
[[sources]]
name = "mail"
kind = "gmail"
path = "mail"
"""


class Archive:
    """A source of mail in a folder of its own."""

    def __init__(self, folder: Path, more: str = "") -> None:
        (folder / "mail").mkdir()
        (folder / "relrag.toml").write_text(CONFIG + more)
        self.mails = folder / "mail"
        self.workspace = Workspace(settings.load(folder / "relrag.toml", {}))
        self.source = self.workspace.settings.sources[0]

    def export(self, **how: bool) -> dict[str, int]:
        return ingest(self.workspace, self.source, **how).months

    def rows(self, table: str = "private_records") -> list[dict[str, Any]]:
        home = self.workspace.home
        months = sorted(lake.manifest(home, table, "mail"))
        return [row for month in months for row in lake.read(home, table, "mail", month).to_pylist()]

    def by_text(self) -> dict[str, dict[str, Any]]:
        return {row["text"].strip(): row for row in self.rows()}

    def forget(self, *asset_ids: str) -> None:
        self.apply(rule_matching.for_records(asset_ids, self.workspace.keys, "2025-04-01T00:00:00Z"))

    def apply(self, rule: rule_file.ErasureRule) -> None:
        workspace, keys = self.workspace, self.workspace.keys
        chosen = record_selection.select(workspace, [rule])
        kept = rule_file.add_rule(
            rule_file.load(workspace.home, keys), record_selection.complete_rule(rule, chosen, workspace)
        )
        rule_file.save(workspace.home, kept, keys)
        purge.remove(workspace, kept, chosen)

    def stages(self) -> None:
        months = sorted(lake.manifest(self.workspace.home, "private_records", "mail"))
        for stage in STAGES:
            run(self.workspace, self.source, stage, months)


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    return Archive(tmp_path)


def mail(name: str, month: int, *, answers: str = "", also: str = "", extra: str = "") -> bytes:
    date = f"6 {('Jan', 'Feb', 'Mar')[month - 1]} 2025 08:40:00 GMT"
    head = f"Message-ID: <{name}@host.example>\nDate: {date}\n"
    if answers:
        references = " ".join(f"<{one}@host.example>" for one in [*also.split(), answers])
        head += f"In-Reply-To: <{answers}@host.example>\nReferences: {references}\n"
    return (head + extra + f"Subject: hello\n\n{name}\n").encode()


DEEP = b"".join(b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (n, n) for n in range(200)) + b"\nx\n"


def boxed(*mails: bytes) -> bytes:
    return b"".join(b"From a@b Mon Jan  6 08:40:00 2025\n" + one + b"\n" for one in mails)


@pytest.mark.requirement("S0-40", "S0-43")
def test_threads_follow_references_over_all_files_and_change_when_the_beginning_arrives(archive: Archive) -> None:
    (archive.mails / "in.mbox").write_bytes(
        boxed(mail("answer", 2, answers="first"), mail("later", 3, answers="answer", also="first"), mail("other", 3))
    )
    archive.export()
    found = archive.by_text()
    assert found["answer"]["thread_id"] == found["later"]["thread_id"] != found["other"]["thread_id"]
    assert found["later"]["parent_asset_id"] == found["answer"]["asset_id"]

    (archive.mails / "sent.eml").write_bytes(mail("first", 1, answers="zero"))
    before = (archive.workspace.home / "private/records/mail/2025-03.parquet").read_bytes()
    assert archive.export().keys() == {"2025-01", "2025-02", "2025-03"}
    found = archive.by_text()
    assert len({found[name]["thread_id"] for name in ("first", "answer", "later")}) == 1
    assert (archive.workspace.home / "private/records/mail/2025-03.parquet").read_bytes() != before
    assert archive.export() == {}


def test_gmails_own_thread_comes_first(archive: Archive) -> None:
    own = "X-GM-THRID: 1820000000000000001\n"
    (archive.mails / "a.eml").write_bytes(mail("a", 1, extra=own))
    (archive.mails / "b.eml").write_bytes(mail("b", 2, extra=own))
    (archive.mails / "c.eml").write_bytes(mail("c", 3, answers="b"))
    archive.export()
    assert len({row["thread_id"] for row in archive.rows()}) == 1


def test_a_mail_that_comes_later_with_the_id_of_another_is_one_of_its_own(archive: Archive) -> None:
    """As it is where both are read at once."""
    box, again = archive.mails / "in.mbox", mail("one", 1).replace(b"\n\none", b"\n\nanother")
    box.write_bytes(boxed(mail("one", 1), mail("two", 2)))
    archive.export()
    box.write_bytes(boxed(mail("one", 1), mail("two", 2), again, mail("three", 3)))
    archive.export()
    grown = archive.rows()
    assert {row["text"].strip() for row in grown} == {"one", "two", "another", "three"}
    assert len({row["asset_id"] for row in grown}) == 4
    archive.export(full=True)
    assert archive.rows() == grown


def test_a_month_of_which_only_threads_moved_is_made_good_after_a_kill(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mail that moved them goes before the next export, so that nothing but the lake tells of the month."""
    (archive.mails / "a.eml").write_bytes(mail("a", 1))
    (archive.mails / "b.eml").write_bytes(mail("b", 2, answers="between"))
    archive.export()
    before = archive.rows()
    (archive.mails / "between.eml").write_bytes(mail("between", 3, answers="a"))

    class KilledError(BaseException):
        pass

    def watch(name: str, path: Path) -> None:
        if (name, path.name) == ("file.rename", "2025-03.parquet"):
            raise KilledError

    with monkeypatch.context() as cut, pytest.raises(KilledError):
        cut.setattr(failpoints, "watch", watch)
        archive.export()
    assert [row["text"] for row in archive.rows()] == ["a"]  # February waits to be listed again
    (archive.mails / "between.eml").unlink()
    archive.export()
    assert archive.rows() == before
    assert archive.export() == {}


def test_a_mailbox_that_grew_is_read_from_where_it_ended(archive: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    box = archive.mails / "in.mbox"
    first = boxed(*(mail(f"filler{number}", 1) for number in range(500)), mail("one", 1), mail("two", 2))
    more = boxed(mail("three", 2, answers="one"), mail("four", 3))
    box.write_bytes(first)
    count = counted(monkeypatch)
    archive.export()
    assert sum(count) == len(first)
    count.clear()
    box.write_bytes(first + more)
    report = ingest(archive.workspace, archive.source)
    assert report.bytes_read == sum(count) == len(more)
    assert set(report.months) == {"2025-02", "2025-03"}
    found = archive.by_text()
    assert {"one", "two", "three", "four", "filler499"} < found.keys()
    assert found["three"]["thread_id"] == found["one"]["thread_id"]
    assert found["four"]["locations"] == [f"in.mbox#{len(first) + len(boxed(mail('three', 2, answers='one')))}"]

    state = unit_state.load(archive.workspace.home, "mail")["in.mbox"]
    contents = {row["asset_id"]: row for row in archive.rows()}
    count.clear()
    assert set(archive.export(full=True)) == {"2025-01", "2025-02", "2025-03"}
    assert sum(count) == len(first + more)
    assert unit_state.load(archive.workspace.home, "mail")["in.mbox"].months == state.months
    assert {row["asset_id"]: row for row in archive.rows()} == contents


def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many bytes of mailboxes the reader takes from now on, read by read."""
    count: list[int] = []
    split = containers._split

    def counting(stream: BinaryIO, start: int) -> Iterator[containers.Mail]:
        def read(size: int) -> bytes:
            data = stream.read(size)
            count.append(len(data))
            return data

        return split(cast(BinaryIO, SimpleNamespace(read=read)), start)

    monkeypatch.setattr(containers, "_split", counting)
    return count


def test_a_mailbox_whose_beginning_changed_is_read_as_a_whole(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even where it is as long as before, and more mails follow."""
    box = archive.mails / "in.mbox"
    box.write_bytes(boxed(mail("one", 1), mail("two", 2)))
    archive.export()
    box.write_bytes(boxed(mail("one", 1), mail("new", 2), mail("three", 3)))
    count = counted(monkeypatch)
    assert ingest(archive.workspace, archive.source).bytes_read == box.stat().st_size == sum(count)
    assert archive.by_text().keys() == {"one", "new", "three"}


def test_an_index_of_threads_that_cannot_be_read_is_made_again_from_the_records(archive: Archive) -> None:
    forwarded = b"Message-ID: <outer@host.example>\nDate: 6 Feb 2025 08:40:00 GMT\nContent-Type: message/rfc822\n\n"
    forwarded += mail("inner", 1, answers="one")
    (archive.mails / "in.mbox").write_bytes(boxed(mail("one", 1), mail("two", 2, answers="one"), forwarded))
    archive.export()
    index = archive.workspace.home / "private" / "threads" / "mail.parquet"
    whole = index.read_bytes()
    index.write_bytes(whole[:-20])
    (archive.mails / "b.eml").write_bytes(mail("three", 3, answers="two"))
    assert archive.export().keys() == {"2025-03"}
    found = archive.by_text()
    assert found["three"]["thread_id"] == found["one"]["thread_id"] == found["inner"]["thread_id"]
    (archive.mails / "b.eml").unlink()
    archive.export()
    assert index.read_bytes() == whole
    assert verify_home(archive.workspace.home) == []


def test_forgetting_passes_over_an_index_that_cannot_be_read(archive: Archive) -> None:
    (archive.mails / "in.mbox").write_bytes(boxed(mail("one", 1), mail("two", 2)))
    archive.export()
    (archive.workspace.home / "private" / "threads" / "mail.parquet").write_bytes(b"PAR1")
    archive.forget(archive.by_text()["one"]["asset_id"])
    assert archive.by_text().keys() == {"two"}


def test_bytes_that_were_not_read_are_checked_and_kept_again(tmp_path: Path) -> None:
    archive = Archive(tmp_path, "retain = true\n")
    home, keys = archive.workspace.home, archive.workspace.keys
    for name in ("a.eml", "b.eml"):
        (archive.mails / name).write_bytes(DEEP)
    archive.export()
    for name in ("a.eml", "b.eml"):
        (kept,) = quarantine.list_items(home, "mail", keys, name, "")
        kept.write_bytes(DEEP[:-9] + b"otherwise")
    (archive.mails / "b.eml").unlink()
    archive.export()
    damaged = verify_home(home)
    assert [one.problem for one in damaged] == ["is not as it was written"] * 2
    said = sorted(line.partition(": ")[2] for line in repair(archive.workspace, damaged))
    assert said[0].startswith("left, it is of a file that is gone")
    assert said[1] == "to be kept again when its file is read"
    archive.export()
    (kept,) = quarantine.list_items(home, "mail", keys, "a.eml", "")
    assert kept.read_bytes() == DEEP
    assert len(verify_home(home)) == 1


NAMED = b"Zoltan Quixote"
UNREAD = {
    "plain": b"by " + NAMED + b"\n",
    "header": b"Subject: =?utf-8?Q?by_Zol?= =?utf-8?B?dGFuIFF1aXhvdGU=?=\n\n",
    "quoted-printable": b"by Zolt=61n Quix=\note\n",
    "base64": base64.encodebytes(b"x" * 60 + b" by " + NAMED + b" " + b"y" * 60),
    "twice": base64.encodebytes(b"\n" * 50 + base64.encodebytes(b"x" * 60 + b" by " + NAMED + b" ")),
    "utf-16": "\0by Zoltan Quixote\n".encode("utf-16-le"),
    "picture": b"\xff\xd8" + bytes(range(256)) * 9 + b" by " + NAMED + b" \xff\xd9",
    "utf-16, odd": b"x" + bytes(range(256)) * 9 + "\0 by Zoltan Quixote ".encode("utf-16-le"),
    "utf-16, Hebrew": "שלום, זולטן קיחוטה!".encode("utf-16-le"),
    "cp1255": "שלום, זולטן קיחוטה!".encode("cp1255"),
    "packed": b"%PDF-1.7 whatever",
}


@pytest.mark.parametrize("name", UNREAD)
def test_what_was_not_read_goes_with_the_person_whom_it_names(name: str, archive: Archive) -> None:
    """The mail itself names nobody; what was not read of it does, or might."""
    home, keys = archive.workspace.home, archive.workspace.keys
    (archive.mails / "named.eml").write_bytes(DEEP + UNREAD[name])
    # with words of its own, as what says the same as a forgotten mail is not kept either
    other = DEEP.replace(b"=b", b"=c").replace(b"--b", b"--c")
    (archive.mails / "other.eml").write_bytes(other + b"by Zoltan Other, to Quixote\n")
    (archive.mails / "torn.msg").write_bytes(compound(message({0x37: "by Zoltan Quixote"}))[:-600])
    archive.export()
    assert len(quarantine.list_items(home, "mail", keys)) == 3
    for who in ("Zoltan Quixote", "זולטן קיחוטה"):
        archive.apply(rule_matching.for_person(who, keys, "2025-04-01T00:00:00Z"))
    assert quarantine.list_items(home, "mail", keys) == quarantine.list_items(home, "mail", keys, "other.eml")
    assert len(quarantine.list_items(home, "mail", keys)) == 1
    archive.export(full=True)
    assert len(quarantine.list_items(home, "mail", keys)) == 1
    assert verify_home(home) == []


def test_what_was_not_read_goes_with_its_time_and_its_source(archive: Archive) -> None:
    home, keys = archive.workspace.home, archive.workspace.keys
    for year in (2018, 2025):
        (archive.mails / f"{year}.eml").write_bytes(b"Date: 6 Jan %d 08:40:00 GMT\n" % year + DEEP)
    archive.export()
    archive.apply(rule_file.ErasureRule(0, "before", "2025-04-01T00:00:00Z", before=1577836800))
    assert quarantine.list_items(home, "mail", keys) == quarantine.list_items(home, "mail", keys, "2025.eml") != []
    archive.apply(rule_file.ErasureRule(0, "source", "2025-04-01T00:00:00Z", source="mail"))
    assert quarantine.list_items(home, "mail", keys) == []
    assert not (home / "private" / "raw" / "mail").exists()


def test_a_last_mail_that_went_on_is_read_again(archive: Archive) -> None:
    box = archive.mails / "in.mbox"
    box.write_bytes(boxed(mail("one", 1)))
    archive.export()
    with box.open("ab") as file:
        file.write(b"and more\n")
    archive.export()
    assert [row["text"] for row in archive.rows()] == ["one\n\nand more"]


@pytest.mark.requirement("S0-39")
def test_one_mail_in_two_files_is_one_record_with_two_locations(archive: Archive) -> None:
    (archive.mails / "in.mbox").write_bytes(boxed(mail("one", 1), mail("two", 1), mail("one", 1)))
    (archive.mails / "one.eml").write_bytes(mail("one", 1))
    archive.export()
    archive.stages()
    records = {row["text"]: row for row in archive.rows("records")}
    second = len(boxed(mail("one", 1), mail("two", 1)))
    assert records["one"]["locations"] == ["in.mbox#0", f"in.mbox#{second}", "one.eml"]
    assert len(archive.rows("records")) == 2
    assert unit_state.load_failures(archive.workspace.home, "mail") == []


@pytest.mark.requirement("S0-41", "S0-43")
def test_edges_of_mails(archive: Archive) -> None:
    """reply_to the mail that is answered, references to the others that are named, here or not."""
    (archive.mails / "in.mbox").write_bytes(
        boxed(mail("one", 1), mail("two", 1, answers="one"), mail("three", 1, answers="two", also="absent one"))
    )
    archive.export()
    archive.stages()
    names = {row["asset_id"]: row["text"] for row in archive.rows("records")}
    edges = {
        (names[edge["src_asset_ref"]], edge["relation_type"], names.get(edge["dst_asset_ref"], "?"))
        for edge in archive.rows("asset_asset_edges")
        if edge["relation_type"] in ("reply_to", "references")
    }
    assert edges == {
        ("two", "reply_to", "one"),
        ("three", "reply_to", "two"),
        ("three", "references", "one"),
        ("three", "references", "?"),
    }
    (archive.mails / "late.eml").write_bytes(mail("absent", 1))
    archive.export()
    archive.stages()
    absent = next(row["asset_id"] for row in archive.rows("records") if row["text"] == "absent")
    found = (edge for edge in archive.rows("asset_asset_edges") if edge["dst_asset_ref"] == absent)
    assert {names[edge["src_asset_ref"]] for edge in found if edge["relation_type"] == "references"} == {"three"}
    (archive.mails / "late.eml").unlink()
    archive.export()
    archive.stages()
    members = [row for row in archive.rows("asset_asset_edges") if row["relation_type"] == "thread_member"]
    assert len({row["dst_asset_ref"] for row in members}) == 1
    assert len(members) == 3


def test_ids_show_no_address(archive: Archive) -> None:
    (archive.mails / "one.eml").write_bytes(mail("two", 1, answers="one", also="absent"))
    archive.export()
    archive.stages()
    for table in ("records", "chunks", "asset_asset_edges"):
        for row in archive.rows(table):
            assert "@" not in str({name: row[name] for name in row if name != "text"}), table


def test_history_and_signature_are_passages_that_say_so(archive: Archive) -> None:
    text = "Yes.\n\n-- \nDana, Acme Ltd\n\nOn Mon, 6 Jan 2025 at 10:00, Ota <ota@b.example> wrote:\n> Tuesday?\n"
    (archive.mails / "one.eml").write_bytes(b"Message-ID: <a@b>\nSubject: Re: when\n\n" + text.encode())
    archive.export()
    archive.stages()
    chunks = sorted(archive.rows("chunks"), key=lambda row: row["chunk_index"])
    assert [(row["section"], row["chunk_index"], row["chunk_count"]) for row in chunks] == [
        (None, 0, 3), ("quoted", 1, 3), ("signature", 2, 3),
    ]  # fmt: skip
    assert chunks[0]["text"] == "Yes."
    assert chunks[1]["text"].endswith("> Tuesday?")


def test_a_maildir_is_read(archive: Archive) -> None:
    box = mailbox.Maildir(archive.mails / "Maildir")
    box.add(mail("one", 1))
    flagged = mailbox.MaildirMessage(mail("two", 1))
    flagged.set_subdir("cur")
    flagged.set_flags("RS")
    box.add(flagged)
    box.add_folder("Sent").add(mail("three", 2))
    archive.export()
    assert archive.by_text().keys() == {"one", "two", "three"}


def test_what_does_not_fit_into_memory_waits_on_disk(archive: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    many = [mail(f"m{number}", 1 + number % 3) for number in range(300)]
    (archive.mails / "in.mbox").write_bytes(boxed(*many))
    archive.export()
    whole = archive.rows()
    monkeypatch.setattr(spill_buffer, "MOST_BYTES", 1)
    monkeypatch.setattr("relrag_pipelines.ingest.unit_records._FLUSH_ROWS", 10)
    put_away: list[Path] = []
    before = spill_buffer.SpillBuffer._put_away

    def noting(self: spill_buffer.SpillBuffer, folder: Path) -> None:
        put_away.append(folder)
        before(self, folder)

    monkeypatch.setattr(spill_buffer.SpillBuffer, "_put_away", noting)
    archive.export(full=True)
    assert put_away
    assert archive.rows() == whole
    assert not spill_buffer.spill_folder(archive.workspace.home, "mail").exists()


def test_bytes_that_were_not_read_are_kept_until_the_file_is_read_again(archive: Archive) -> None:
    file = archive.mails / "deep.eml"
    file.write_bytes(DEEP)
    archive.export()
    (kept,) = quarantine.list_items(archive.workspace.home, "mail", archive.workspace.keys, "deep.eml", "")
    assert kept.read_bytes() == DEEP
    assert kept.parent.stat().st_mode & 0o77 == 0
    file.write_bytes(mail("one", 1))
    archive.export()
    assert not kept.exists()


def test_a_kill_while_a_grown_mailbox_is_written_loses_and_doubles_nothing(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = archive.mails / "in.mbox"
    box.write_bytes(boxed(mail("one", 1), mail("two", 2)))
    archive.export()
    with box.open("ab") as file:
        file.write(boxed(mail("three", 1), mail("four", 3)))
    write = lake.write

    def killed(*given: Any) -> Any:
        write(*given)
        raise KeyboardInterrupt

    monkeypatch.setattr(lake, "write", killed)
    with pytest.raises(KeyboardInterrupt):
        archive.export()
    monkeypatch.setattr(lake, "write", write)
    archive.export()
    assert sorted(row["text"] for row in archive.rows()) == ["four", "one", "three", "two"]
    assert archive.export() == {}


def test_a_forgotten_mail_goes_from_all_that_is_kept_of_a_mailbox_and_stays_away_when_it_grows(
    archive: Archive,
) -> None:
    box, home = archive.mails / "in.mbox", archive.workspace.home
    first = boxed(mail("one", 1), mail("two", 2, answers="one"), b"Message-ID: <deep@host.example>\n" + DEEP)
    box.write_bytes(first)
    (archive.mails / "deep.eml").write_bytes(DEEP)
    archive.export()
    assert len([path for path in (home / "private" / "raw").rglob("*") if path.is_file()]) == 2
    going = [row["asset_id"] for row in archive.rows() if row["text"].strip() != "two"]
    assert len(going) == 3
    archive.forget(*going)
    assert [path for path in (home / "private" / "raw").rglob("*") if path.is_file()] == []
    assert pq.read_table(home / "private/threads/mail.parquet")["unit"].to_pylist() == ["in.mbox"]
    assert verify_home(home) == []
    assert archive.export() == {}

    more = boxed(mail("three", 2, answers="two", also="one"), mail("four", 3))
    box.write_bytes(first + more)
    assert ingest(archive.workspace, archive.source).bytes_read == len(more)
    found = archive.by_text()
    assert found.keys() == {"two", "three", "four"}
    assert found["two"]["thread_id"] == found["three"]["thread_id"]
    assert [(one.month, one.rows) for one in unit_state.load(home, "mail")["in.mbox"].months] == [
        ("2025-02", 2), ("2025-03", 1),
    ]  # fmt: skip
    archive.export(full=True)
    assert archive.by_text() == found
    assert [path for path in (home / "private" / "raw").rglob("*") if path.is_file()] == []
    assert verify_home(home) == []


def test_a_kill_leaves_nothing_that_was_put_away(archive: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    (archive.mails / "in.mbox").write_bytes(boxed(mail("one", 1), mail("two", 2)))
    monkeypatch.setattr(spill_buffer, "MOST_BYTES", 1)

    def killed(*given: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(lake, "write", killed)
        archive.export()
    home = archive.workspace.home
    assert list(spill_buffer.spill_folder(home, "mail").iterdir())
    assert {one.problem for one in verify_home(home)} == {"was put away by an export that was killed"}
    lake.sweep(home)
    assert not (home / "private" / "spill").exists()
    archive.export()
    assert archive.by_text().keys() == {"one", "two"}
