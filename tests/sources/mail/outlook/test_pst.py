"""Outlook's data files: what is made of the items that libpff gives, which stand-ins are here.

No program that is free writes these files, so the items are invented; libpff itself is tried where it is installed.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from relrag_pipelines.records import Failure, Record
from relrag_pipelines.sources import KINDS, ReadContext, mail, outlook_stores
from relrag_pipelines.sources.mail.outlook import pst
from relrag_pipelines.sources.mail.outlook.mapi_properties import BINARY, INTEGER, UNICODE
from relrag_pipelines.sources.unit_files import unit_of
from tests.sources.connector import keyed


def utf16(text: str) -> tuple[int, bytes]:
    return UNICODE, text.encode("utf-16-le") + b"\0\0"


def record_set(values: dict[int, tuple[int, bytes]]) -> Any:
    entries = [
        SimpleNamespace(entry_type=number, value_type=kind, data=data) for number, (kind, data) in values.items()
    ]
    return SimpleNamespace(entries=entries)


@dataclass
class Item:
    """A message or attachment as libpff gives it."""

    values: dict[int, tuple[int, bytes]]
    attached: list[Any] = field(default_factory=list)
    to: list[dict[int, tuple[int, bytes]]] = field(default_factory=list)
    identifier: int = 2_097_188
    content: bytes = b""
    inside: list[Any] = field(default_factory=list)

    @property
    def record_sets(self) -> list[Any]:
        return [record_set(self.values)]

    @property
    def recipients(self) -> Any:
        return SimpleNamespace(record_sets=[record_set(values) for values in self.to])

    @property
    def number_of_attachments(self) -> int:
        return len(self.attached)

    def get_attachment(self, number: int) -> Any:
        return self.attached[number]

    @property
    def number_of_sub_items(self) -> int:
        return len(self.inside)

    def get_sub_item(self, number: int) -> Any:
        return self.inside[number]

    @property
    def size(self) -> int:
        return len(self.content)

    def read_buffer(self, size: int) -> bytes:
        return self.content[:size]


class Folder:
    """A folder; None among its items is one that cannot be read."""

    def __init__(self, *items: Item | None, folders: tuple[Folder, ...] = (), identifier: int = 0x8022) -> None:
        self.items, self.folders, self.identifier = items, folders, identifier
        self.number_of_sub_messages, self.number_of_sub_folders = len(items), len(folders)

    def get_sub_message(self, index: int) -> Item:
        if (item := self.items[index]) is None:
            raise OSError
        return item

    def get_sub_folder(self, index: int) -> Folder:
        return self.folders[index]


def letter(number: int, kind: str = "IPM.Note", **more: Any) -> Item:
    values = {
        0x001A: utf16(kind),
        0x0037: utf16("\x01\x05Re: Key of the cabin"),
        0x0042: utf16("Petr Kolář"),
        0x5D02: utf16("petr@kolar.example"),
        0x1000: utf16(f"The key number {number} is here."),
        0x1035: utf16(f"<k{number}@mail.example>"),
    }
    to = [{0x3001: utf16("Dana Levi"), 0x39FE: utf16("dana@levi.example"), 0x0C15: (INTEGER, b"\1\0\0\0")}]
    return Item(values, to=to, identifier=2_097_156 + 32 * number, **more)


def read(root: Folder, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[Record | Failure]:
    """What the connector makes of a file with that root folder."""
    closed = SimpleNamespace(open=lambda path: None, close=lambda: None, get_root_folder=lambda: root)
    monkeypatch.setitem(sys.modules, "pypff", SimpleNamespace(file=lambda: closed))
    monkeypatch.setattr(pst.sandbox, "call", lambda limits, size, function, *arguments: function(*arguments))
    (folder / "all.pst").write_bytes(b"!BDN")
    items = mail.read(unit_of(folder / "all.pst", folder), ReadContext("sample", "Europe/Prague", keyed))
    return [item for item in items if isinstance(item, Record | Failure)]


def test_a_mail_with_its_recipients_and_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = Item({0x3707: utf16("plan.txt"), 0x370E: utf16("text/plain"), 0x3705: (INTEGER, b"\1\0\0\0")},
                content=b"The plan of the cabin.")  # fmt: skip
    forwarded = Item({0x3001: utf16("Forwarded"), 0x3705: (INTEGER, b"\5\0\0\0")}, inside=[letter(9)])
    items = read(Folder(folders=(Folder(letter(1, attached=[plan, forwarded])),)), tmp_path, monkeypatch)
    message, file, inner = items
    assert isinstance(message, Record)
    assert isinstance(file, Record)
    assert isinstance(inner, Record)
    assert message.source_id.startswith("k1@mail.example~")
    assert (message.from_, message.to) == ("Petr Kolář <petr@kolar.example>", ["Dana Levi <dana@levi.example>"])
    assert (message.subject, message.text) == ("Re: Key of the cabin", "The key number 1 is here.")
    assert message.locations == ["all.pst#2097188"]
    assert (file.file_name, file.text) == ("plan.txt", "The plan of the cabin.")
    assert inner.text == "The key number 9 is here."


def test_all_mails_come_in_batches_and_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pst, "_BATCH_MAILS", 3)
    search = Folder(letter(1), letter(2), identifier=0x2223)
    root = Folder(folders=(search, Folder(*(letter(number) for number in range(8)), folders=(Folder(letter(8)),))))
    items = read(root, tmp_path, monkeypatch)
    assert sorted(item.text for item in items if isinstance(item, Record)) == [
        f"The key number {number} is here." for number in range(9)
    ]


def test_what_is_no_mail_or_cannot_be_read_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = Folder(
        letter(1), None, letter(2, "IPM.Appointment"), letter(3, "IPM.Contact"), letter(4, "REPORT.IPM.Note.NDR")
    )
    items = read(root, tmp_path, monkeypatch)
    assert len([item for item in items if isinstance(item, Record)]) == 2
    failures = {item.fault: item.message for item in items if isinstance(item, Failure)}
    assert failures.keys() == {"damaged", "not_mail"}
    assert failures["not_mail"].startswith("2 items are no mails")


def test_a_damaged_attachment_leaves_the_mail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    item = letter(1)
    item.attached = [SimpleNamespace(record_sets=[record_set({0x3701: (BINARY, b"")})], number_of_sub_items=0, size=0)]
    (message, *_) = read(Folder(item), tmp_path, monkeypatch)
    assert isinstance(message, Record)
    assert message.text == "The key number 1 is here."


def test_without_libpff_a_failure_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pypff", None)
    monkeypatch.setattr(pst.sandbox, "call", lambda limits, size, function, *arguments: function(*arguments))
    (tmp_path / "all.ost").write_bytes(b"!BDN")
    (failure,) = mail.read(unit_of(tmp_path / "all.ost", tmp_path), ReadContext("sample", "Europe/Prague", keyed))
    assert isinstance(failure, Failure)
    assert failure.whole_unit
    assert "pip install 'relrag[outlook]'" in failure.message


def test_what_is_no_data_file_is_a_failure(tmp_path: Path) -> None:
    pytest.importorskip("pypff", reason="libpff-python is not installed")
    (tmp_path / "all.pst").write_bytes(b"!BDN" + b"\0" * 600)
    (failure,) = mail.read(unit_of(tmp_path / "all.pst", tmp_path), ReadContext("sample", "Europe/Prague", keyed))
    assert isinstance(failure, Failure)
    assert failure.fault == "damaged"


@pytest.mark.parametrize(
    ("head", "recognised"), [(b"!BDN\0\0", True), (b"From: a@b.example\nTo: c@d.example\n", False)]
)
def test_a_data_file_is_recognised(tmp_path: Path, head: bytes, recognised: bool) -> None:
    for suffix in outlook_stores.SUFFIXES:
        (tmp_path / f"all{suffix}").write_bytes(head)
        assert KINDS["gmail"].recognise(tmp_path / f"all{suffix}") is recognised
