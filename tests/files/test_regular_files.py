"""Nothing that is no file is opened, and no link is followed out of a source's folder unless that is wanted."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from relrag_pipelines.files import regular_files
from relrag_pipelines.ingest import unread_files
from relrag_pipelines.ingest.ingest import ingest
from relrag_pipelines.ingest.units import SourceNotFound
from relrag_pipelines.onboarding.discover import discover
from relrag_pipelines.records import Failure
from relrag_pipelines.stages import plan as plans
from relrag_pipelines.stores import lake, unit_state
from relrag_pipelines.workspace import Workspace
from tests import archive, repositories


@pytest.fixture(autouse=True)
def in_time() -> Iterator[None]:
    """Whoever opens a FIFO waits for ever."""

    def late(*_: object) -> None:
        raise TimeoutError("something waits for a FIFO")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def put(folder: Path, kind: str, *more: str) -> Workspace:
    """The workspace of an archive whose only source is the folder `in` of that one."""
    (folder / "in").mkdir(exist_ok=True)
    config = folder / "relrag.toml"
    lines = ['keys_file = "keys"', "[[sources]]", 'name = "it"', f'kind = "{kind}"', 'path = "in"', *more]
    config.write_text("\n".join(lines) + "\n")
    return archive.workspace(config)


def sync(made: Workspace) -> list[Failure]:
    ingest(made, made.settings.sources[0])
    return unit_state.load_failures(made.home, "it")


def texts(made: Workspace) -> list[str]:
    months = lake.manifest(made.home, "private_records", "it")
    return sorted(
        text for month in months for text in lake.read(made.home, "private_records", "it", month)["text"].to_pylist()
    )


@pytest.mark.parametrize(
    ("kind", "suffix", "good"),
    [
        ("whatsapp", "txt", archive.CHAT),
        ("whatsapp", "zip", None),
        ("document", "pdf", None),
        ("document", "docx", None),
        ("document", "csv", "a,b\n1,2\n"),
        ("call_recording", "m4a", None),
        ("call_recording", "vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\nHello\n"),
        ("meeting", "vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\nHello\n"),
        ("contacts", "vcf", "BEGIN:VCARD\nVERSION:3.0\nFN:Dana\nEND:VCARD\n"),
        ("git", "gitlog", None),
        ("code", "py", "x = 1\n"),
        ("gmail", "eml", "From: a@b.cz\nTo: c@d.cz\nSubject: x\n\nHello\n"),
        ("gmail", "mbox", None),
        ("jsonl", "jsonl", '{"id": "a", "text": "b"}\n'),
    ],
)
def test_what_is_no_file_is_a_failure_of_its_own(tmp_path: Path, kind: str, suffix: str, good: str | None) -> None:
    made = put(tmp_path, kind)
    folder = tmp_path / "in"
    os.mkfifo(folder / f"fifo.{suffix}")
    os.mkfifo(folder / "hidden")
    (folder / f"linked.{suffix}").symlink_to("hidden")
    (folder / f"device.{suffix}").symlink_to("/dev/zero")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(folder / f"socket.{suffix}"))
    if good is not None:
        (folder / f"good.{suffix}").write_text(good)
    failures = {one.unit: (one.fault, one.message.partition(",")[0]) for one in sync(made)}
    assert failures == {
        f"device.{suffix}": ("link_outside", "a link that leads out of the source's folder"),
        f"fifo.{suffix}": ("not_a_file", "a FIFO"),
        f"socket.{suffix}": ("not_a_file", "a socket"),
        **({} if kind == "code" else {f"linked.{suffix}": ("not_a_file", "a FIFO")}),
    }
    assert bool(texts(made)) == (good is not None)
    assert not plans.build_plan(made).exports, "what cannot be read is not tried again"
    (folder / f"fifo.{suffix}").unlink()
    (folder / f"fifo.{suffix}").write_text(good or "")
    assert [one.why or one.new for one in plans.build_plan(made).exports] == [{"changed": 1}]
    followed = put(tmp_path, kind, "follow_links = true")
    assert {one.message for one in sync(followed) if one.unit.startswith("device")} == {
        "a character device, which is not opened; remove or exclude it"
    }


def test_what_lies_beside_a_unit_is_not_opened_either(tmp_path: Path) -> None:
    made = put(tmp_path, "meeting")
    folder = tmp_path / "in"
    (folder / "review.vtt").write_text("WEBVTT\n\n00:01.000 --> 00:02.000\nHello\n")
    os.mkfifo(folder / "review.ics")
    assert [(one.unit, one.location, one.fault) for one in sync(made)] == [("review.vtt", "review.ics", "not_a_file")]
    assert len(texts(made)) == 1
    (folder / "review.ics").unlink()
    assert sync(made) == []


def test_media_of_a_chat_that_are_no_files_or_lie_outside_are_not_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = put(tmp_path, "whatsapp")
    (tmp_path / "secret.pdf").write_bytes(b"%PDF-")
    (tmp_path / "in" / "lease.pdf").symlink_to(tmp_path / "secret.pdf")
    os.mkfifo(tmp_path / "in" / "plan.pdf")
    lines = "".join(
        f"13/01/2024, 10:1{n} - Dana: {name} (file attached)\n" for n, name in enumerate(["lease.pdf", "plan.pdf"])
    )
    (tmp_path / "in" / "WhatsApp Chat with Dana.txt").write_text(lines)
    opened: list[str] = []
    real = os.open
    monkeypatch.setattr(os, "open", lambda path, *more, **named: opened.append(str(path)) or real(path, *more, **named))
    assert sync(made) == []
    assert [path for path in opened if path.endswith(".pdf")] == []


def test_a_file_that_becomes_a_fifo_before_it_is_opened_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, fifo = tmp_path / "plain", tmp_path / "fifo"
    plain.write_text("x")
    os.mkfifo(fifo)
    seen = plain.lstat()
    monkeypatch.setattr(Path, "lstat", lambda file: seen)
    with pytest.raises(regular_files.RefusedFile, match="a FIFO"):
        regular_files.open_plain(fifo)


def test_a_file_that_becomes_a_link_before_it_is_opened_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, link = tmp_path / "plain", tmp_path / "link"
    plain.write_text("x")
    link.symlink_to(plain)
    assert regular_files.read_plain(link) == b"x"
    seen = plain.lstat()
    monkeypatch.setattr(Path, "lstat", lambda file: seen)
    with pytest.raises(OSError, match="symbolic links"):
        regular_files.open_plain(link)


def outside(folder: Path) -> None:
    """Links of every sort in the folder `in`, to what lies beside it and in it."""
    (folder / "other").mkdir()
    (folder / "other" / "deep.md").write_text("deep outside")
    (folder / "other" / "back").symlink_to(folder / "in")
    (folder / "secret.md").write_text("secret outside")
    inside = folder / "in"
    (inside / "own").mkdir(parents=True)
    (inside / "own" / "a.md").write_text("inside")
    (inside / "same.md").symlink_to("own/a.md")
    (inside / "secret.md").symlink_to(folder / "secret.md")
    (inside / "linked").symlink_to(folder / "other")
    (inside / "again").symlink_to("own")
    (inside / "loop").symlink_to(".")
    (inside / "round.md").symlink_to("round.md")


def test_links_out_of_the_folder_are_told_and_not_followed(tmp_path: Path) -> None:
    outside(tmp_path)
    made = put(tmp_path, "document")
    failures = sync(made)
    assert [(one.unit, one.fault) for one in failures] == [("round.md", "unreadable"), ("secret.md", "link_outside")]
    assert texts(made) == ["inside"], "the link to it is another place of the same record"
    assert list(unread_files.find_unread(made.settings).sentences()) == [
        "2 links lead out of the folder of a source, which does not follow them: in/linked, in/secret.md; "
        "follow_links in the table of the source has them read."
    ]
    assert not plans.build_plan(made).exports


def test_links_are_followed_where_the_source_says_so(tmp_path: Path) -> None:
    outside(tmp_path)
    sync(put(tmp_path, "document"))
    made = put(tmp_path, "document", "follow_links = true")
    assert [(one.unit, one.fault) for one in sync(made)] == [("round.md", "unreadable")]
    assert texts(made) == ["deep outside", "inside", "secret outside"]
    assert sorted(unit_state.load(made.home, "it")) == [
        "linked/deep.md",
        "own/a.md",
        "round.md",
        "same.md",
        "secret.md",
    ]
    assert list(unread_files.find_unread(made.settings).sentences()) == []


def test_a_source_whose_path_is_a_link_is_read(tmp_path: Path) -> None:
    (tmp_path / "place").mkdir()
    (tmp_path / "place" / "a.md").write_text("inside")
    (tmp_path / "in").symlink_to("place")
    made = put(tmp_path, "document")
    assert sync(made) == []
    assert texts(made) == ["inside"]


def test_init_opens_no_fifo_and_nothing_outside(tmp_path: Path) -> None:
    outside(tmp_path)
    os.mkfifo(tmp_path / "in" / "fifo.txt")
    os.mkfifo(tmp_path / "in" / "fifo.jsonl")
    (tmp_path / "chat.txt").write_text(archive.CHAT)
    (tmp_path / "in" / "chat.txt").symlink_to(tmp_path / "chat.txt")
    assert [one.kind for one in discover(tmp_path / "in").sources] == ["document"]


@pytest.mark.parametrize("kind", ["git", "code"])
@pytest.mark.parametrize("name", [".git/config", ".git/refs/heads/waits", ".gitignore", ".gitattributes", "a.py"])
def test_a_fifo_in_a_repository_has_nobody_wait(tmp_path: Path, kind: str, name: str) -> None:
    made = put(tmp_path, kind)
    repository = repositories.make(tmp_path / "in" / "tool")
    repositories.commit(repository, "first", {"a.py": "x = 1\n", "b.py": "y = 2\n"})
    # git asks for attributes where it compares the contents of a file that was renamed and edited
    lines = "".join(f"line {number}\n" for number in range(50))
    repositories.commit(repository, "second", {"long.txt": lines})
    (repository / "long.txt").unlink()
    repositories.commit(repository, "third", {"longer.txt": lines + "more\n"})
    (repository / name).unlink(missing_ok=True)
    os.mkfifo(repository / name)
    if kind == "code" and name.startswith(".git/"):
        with pytest.raises(SourceNotFound) as missing:
            sync(made)
        assert str(missing.value) == (
            f"the files of the repository tool cannot be listed: its {name} is a FIFO or device; "
            "remove it, or exclude tool/"
        )
        assert sync(put(tmp_path, kind, 'exclude = ["tool/"]')) == []
        return
    faults = {(one.unit, one.fault) for one in sync(made)}
    if kind == "git":
        assert faults == ({("tool", "not_a_file")} if name.startswith(".git/") else set())
    else:
        expected = {".gitignore": {("in", "irregular_rules")}, "a.py": {("tool/a.py", "not_a_file")}}
        assert faults == expected.get(name, set())


@pytest.mark.parametrize("kind", ["git", "code"])
def test_the_socket_of_git_s_own_file_monitor_is_no_fault(tmp_path: Path, kind: str) -> None:
    made = put(tmp_path, kind)
    repository = repositories.make(tmp_path / "in" / "tool")
    repositories.commit(repository, "first", {"a.py": "x = 1\n"})
    with socket.socket(socket.AF_UNIX) as monitor, contextlib.chdir(repository / ".git"):
        monitor.bind("fsmonitor--daemon.ipc")  # the name alone: an address is short
    assert sync(made) == []
    assert len(texts(made)) == 1


@pytest.mark.parametrize("kind", ["git", "code"])
def test_a_repository_that_is_kept_outside_is_not_followed(tmp_path: Path, kind: str) -> None:
    made = put(tmp_path, kind)
    repository = repositories.make(tmp_path / "in" / "tool")
    repositories.commit(repository, "first", {"a.py": "x = 1\n"})
    (repository / ".git").rename(tmp_path / "kept")
    (repository / ".git").symlink_to(tmp_path / "kept")
    assert [(one.unit, one.fault) for one in sync(made)] == [("tool/.git", "link_outside")]
    followed = put(tmp_path, kind, "follow_links = true")
    assert sync(followed) == []
    assert len(texts(followed)) == 1
