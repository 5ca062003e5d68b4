"""Hostile and damaged zip archives: refused by name, and what is harmless in them still read."""

from __future__ import annotations

import stat
import struct
import subprocess
import sys
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from relrag_pipelines.sources.formats import safe_zip
from tests.cases import cases

RATIO, BYTES = 100, 10**9


def build(path: Path, members: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data, compression)
    return path


def patch(path: Path, change: Callable[[bytearray], None]) -> Path:
    data = bytearray(path.read_bytes())
    change(data)
    path.write_bytes(data)
    return path


def directory_entry(data: bytearray, number: int = 0) -> int:
    """Offset of an entry of the archive's list of members."""
    position = data.index(b"PK\1\2")
    for _ in range(number):
        position = data.index(b"PK\1\2", position + 1)
    return position


def refusal(path: Path, ratio: int = RATIO, most_bytes: int = BYTES) -> tuple[str, str]:
    """The fault and message by which an archive, or its first member, is refused; it must be."""
    with pytest.raises(safe_zip.ZipRejected) as caught, safe_zip.open_archive(path, ratio, most_bytes) as archive:
        for name in archive.members:
            with archive.open(name) as stream:
                while stream.read(2**16):
                    pass
    failure = caught.value.failure
    assert failure.whole_unit
    return failure.fault, failure.message


def test_members_are_read_by_clean_names(tmp_path: Path) -> None:
    path = build(tmp_path / "a.zip", {"./a//b.txt": b"one", "c\\d.txt": b"two", "folder/": b"", "šír.txt": b"three"})
    with safe_zip.open_archive(path, RATIO, BYTES) as archive:
        assert list(archive.members) == ["a/b.txt", "c/d.txt", "šír.txt"]
        assert archive.failures == []
        with archive.open("c/d.txt") as stream:
            assert stream.read() == b"two"


def test_a_name_in_utf8_without_the_flag_is_read_as_utf8(tmp_path: Path) -> None:
    path = build(tmp_path / "a.zip", {"aaaaaaaa.txt": b"x"})
    hebrew = "שיחה".encode()
    patch(path, lambda data: data.__setitem__(slice(None), data.replace(b"aaaaaaaa", hebrew)))
    with safe_zip.open_archive(path, RATIO, BYTES) as archive:
        assert list(archive.members) == ["שיחה.txt"]


@pytest.mark.parametrize(*cases(__file__, "an_entry_that_leads_out_is_left_out_and_the_rest_is_read"))
def test_an_entry_that_leads_out_is_left_out_and_the_rest_is_read(tmp_path: Path, name: str) -> None:
    path = build(tmp_path / "a.zip", {name: b"evil", "good.txt": b"good"})
    with safe_zip.open_archive(path, RATIO, BYTES) as archive:
        assert list(archive.members) == ["good.txt"]
        (failure,) = archive.failures
    assert (failure.fault, failure.location, failure.whole_unit) == ("unsafe_path", "entry 1", True)
    assert "1 of 2 entries" in failure.message
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.zip"]


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR])
def test_links_and_devices_are_left_out(tmp_path: Path, kind: int) -> None:
    entry = zipfile.ZipInfo("link.txt")
    entry.create_system = 3
    entry.external_attr = (kind | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(entry, "/etc/passwd")
        archive.writestr("good.txt", "good")
    with safe_zip.open_archive(tmp_path / "a.zip", RATIO, BYTES) as opened:
        assert list(opened.members) == ["good.txt"]
        assert [(failure.fault, failure.location) for failure in opened.failures] == [("unsafe_path", "link.txt")]


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_of_entries_with_one_name_none_is_read(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("chat.txt", "one")
        archive.writestr("./chat.txt", "two")
        archive.writestr("good.txt", "good")
    with safe_zip.open_archive(tmp_path / "a.zip", RATIO, BYTES) as opened:
        assert list(opened.members) == ["good.txt"]
        (failure,) = opened.failures
    assert failure.fault == "duplicate"
    assert "2 of 3 entries" in failure.message


def test_encrypted_entries_are_left_out_with_advice(tmp_path: Path) -> None:
    path = build(tmp_path / "a.zip", {"_chat.txt": b"secret", "photo.jpg": b"secret"})

    def encrypt(data: bytearray) -> None:
        for number in range(2):
            data[directory_entry(data, number) + 8] |= 1

    with safe_zip.open_archive(patch(path, encrypt), RATIO, BYTES) as archive:
        assert not archive.members
        (failure,) = archive.failures
    assert (failure.fault, failure.location) == ("encrypted", "_chat.txt")
    assert "2 of 2 entries are encrypted" in failure.message
    assert "without a password" in failure.message


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_methods_that_expand_without_a_bound_are_left_out(tmp_path: Path, method: int) -> None:
    with safe_zip.open_archive(build(tmp_path / "a.zip", {"a.txt": b"a"}, method), RATIO, BYTES) as archive:
        assert not archive.members
        assert [failure.fault for failure in archive.failures] == ["compression"]


def test_a_declared_bomb_is_refused_unread(tmp_path: Path) -> None:
    path = build(tmp_path / "a.zip", {"zeros": bytes(10**7)})
    fault, message = refusal(path)
    assert fault == "too_large"
    assert "10,000,000" in message
    assert "archive_max_ratio" in message


def test_the_limit_in_bytes_counts_too(tmp_path: Path) -> None:
    path = build(tmp_path / "a.zip", {"a": b"x" * 600, "b": b"y" * 600}, zipfile.ZIP_STORED)
    assert refusal(path, most_bytes=1000)[0] == "too_large"
    with safe_zip.open_archive(path, RATIO, 1200) as archive:
        assert len(archive.members) == 2


def lie_about_size(data: bytearray) -> None:
    data[directory_entry(data) + 24 : directory_entry(data) + 28] = struct.pack("<L", 10)
    data[22:26] = struct.pack("<L", 10)


def test_a_bomb_whose_header_lies_is_refused_while_it_is_read(tmp_path: Path) -> None:
    path = patch(build(tmp_path / "a.zip", {"zeros": bytes(10**8)}), lie_about_size)
    tracemalloc.start()
    fault, message = refusal(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert fault == "too_large"
    assert "while it was read" in message
    assert peak < 2 * 2**20


def test_a_small_lie_about_the_size_is_damage(tmp_path: Path) -> None:
    path = patch(build(tmp_path / "a.zip", {"text": b"some text " * 5}), lie_about_size)
    assert refusal(path)[0] == "damaged"


def test_reading_a_member_twice_counts_once(tmp_path: Path) -> None:
    path = build(tmp_path / "a.zip", {"a": b"x" * 1000}, zipfile.ZIP_STORED)
    with safe_zip.open_archive(path, RATIO, 1000) as archive:
        for _ in range(3):
            with archive.open("a") as stream:
                assert len(stream.read()) == 1000


def test_damage_within_a_member_names_it(tmp_path: Path) -> None:
    path = build(tmp_path / "a.zip", {"a.txt": b"x" * 1000}, zipfile.ZIP_STORED)
    patch(path, lambda data: data.__setitem__(100, data[100] ^ 1))
    with (
        pytest.raises(safe_zip.ZipRejected) as caught,
        safe_zip.open_archive(path, RATIO, BYTES) as archive,
        archive.open("a.txt") as a,
    ):
        a.read()
    assert (caught.value.failure.fault, caught.value.failure.location) == ("damaged", "a.txt")


def test_what_is_no_whole_zip_is_named(tmp_path: Path) -> None:
    path = build(tmp_path / "a.zip", {"a.txt": b"x" * 1000})
    whole = path.read_bytes()
    for data, fault in (
        (whole[:-30], "truncated"),
        (whole[:40], "truncated"),
        (b"%PDF-1.7", "not_a_zip"),
        (b"", "empty"),
    ):
        path.write_bytes(data)
        assert refusal(path)[0] == fault


OPEN_AND_MEASURE = """
import resource, sys
from pathlib import Path
from relrag_pipelines.sources.formats import safe_zip
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
with safe_zip.open_archive(Path(sys.argv[1]), 100, 10**9) as archive, archive.open("_chat.txt") as stream:
    print(len(archive.members), stream.read().decode(), end=" ")
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.slow
def test_a_hundred_thousand_entries_fit_into_memory(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("_chat.txt", "hello")
        for number in range(100_000):  # only in the list of entries, which is all that opening reads
            entry = zipfile.ZipInfo(f"IMG-20240101-WA{number:06}.jpg")
            entry.CRC = entry.header_offset = 0
            archive.filelist.append(entry)
    command = [sys.executable, "-c", OPEN_AND_MEASURE, str(tmp_path / "a.zip")]
    members, text, kilobytes = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert (members, text) == ("100001", "hello")
    assert int(kilobytes) < 100_000


def test_a_list_of_entries_beyond_memory_is_refused_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = build(tmp_path / "a.zip", {f"{number:030}": b"" for number in range(100)})
    monkeypatch.setattr(safe_zip, "MAX_DIRECTORY_BYTES", 5000)
    monkeypatch.setattr(zipfile, "ZipFile", None)
    fault, message = refusal(path)
    assert fault == "too_large"
    assert "7,600 bytes" in message
