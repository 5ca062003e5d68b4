"""Hostile archives, read as a sync reads them: nothing escapes, memory stays small, and each is a row in failures."""

from __future__ import annotations

import io
import json
import random
import resource
import stat
import struct
import subprocess
import sys
import warnings
import zipfile
from collections.abc import Callable
from email.message import EmailMessage
from pathlib import Path

import pytest
from reportlab.pdfgen import canvas

from relrag_pipelines.ingest.ingest import ingest
from relrag_pipelines.stages import plan as plans
from relrag_pipelines.stores import lake, unit_state
from relrag_pipelines.workers import sandbox
from relrag_pipelines.workspace import Workspace
from tests import ROOT, archive, hostile_pdfs

CHAT = "13/01/2024, 10:15 - Dana Levi: Who has the key of the cabin?\n"
DOCUMENT = '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>{}</w:body></w:document>'
PARAGRAPH = "<w:p><w:r><w:t>The tenant pays.</w:t></w:r></w:p>"
MEGABYTE = 2**20


def pack(members: list[tuple[str | zipfile.ZipInfo, bytes]], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    packed = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(packed, "w", method) as archive:
        warnings.simplefilter("ignore")  # of names that occur twice
        for name, data in members:
            archive.writestr(name, data, method)
    return packed.getvalue()


def link(name: str, target: str) -> tuple[zipfile.ZipInfo, bytes]:
    entry = zipfile.ZipInfo(name)
    entry.create_system, entry.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    return entry, target.encode()


def flagged(packed: bytes) -> bytes:
    """Every entry says that it is encrypted."""
    data = bytearray(packed)
    for mark, place in ((b"PK\1\2", 8), (b"PK\3\4", 6)):
        position = data.find(mark)
        while position >= 0:
            data[position + place] |= 1
            position = data.find(mark, position + 4)
    return bytes(data)


def overlapping(name: str, size: int, times: int) -> bytes:
    """Entries that all stand on the same packed bytes, so that a small file expands without an end."""
    packed = bytearray(pack([(name, bytes(size))]))
    start = packed.index(b"PK\1\2")
    end = packed.index(b"PK\5\6")
    entry = packed[start:end]
    entries = bytearray()
    for number in range(times):
        again = bytearray(entry)
        again[46 : 46 + len(name)] = f"{number:0{len(name)}}".encode()
        entries += again
    tail = bytearray(packed[end:])
    struct.pack_into("<HHL", tail, 8, times, times, len(entries))
    return bytes(packed[:start] + entries + tail)


def nested(depth: int) -> bytes:
    """An archive in an archive, and so on, around a bomb."""
    inner = pack([("zeros", bytes(100 * MEGABYTE))])
    for _ in range(depth):
        inner = pack([("inner.zip", inner), ("other.zip", inner)], zipfile.ZIP_STORED)
    return inner


def noise(count: int) -> bytes:
    return random.Random(1).randbytes(count)


def word(body: str, *more: tuple[str | zipfile.ZipInfo, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    return pack([("word/document.xml", DOCUMENT.format(body).encode()), *more], method)


def relations(count: int) -> bytes:
    each = '<Relationship Id="r{0}" Type="x/header" Target="big.xml"/>'
    listed = "".join(each.format(number) for number in range(count))
    return f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{listed}</Relationships>'.encode()


BIG_HEADER = DOCUMENT.format(PARAGRAPH * 200_000).encode()
ENTITIES = (
    "<!DOCTYPE d ["
    + "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10 if n else "lol" * 10}">' for n in range(10))
    + ']><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
    "<w:body><w:p><w:r><w:t>&e9;</w:t></w:r></w:p></w:body></w:document>"
).encode()

CHATS: dict[str, tuple[Callable[[], bytes], str]] = {
    "zip_slip": (lambda: pack([("../../escaped.txt", CHAT.encode())]), "unsafe_path"),
    "absolute": (lambda: pack([("/tmp/escaped.txt", CHAT.encode())]), "unsafe_path"),  # noqa: S108  what it must not write
    "drive": (lambda: pack([("C:\\escaped.txt", CHAT.encode())]), "unsafe_path"),
    "link": (lambda: pack([link("_chat.txt", "/etc/passwd")]), "unsafe_path"),
    "link_then_file": (lambda: pack([link("out", "/etc"), ("out/_chat.txt", CHAT.encode())]), "unsafe_path"),
    "twice": (lambda: pack([("_chat.txt", CHAT.encode()), ("_chat.txt", b"other")]), "duplicate"),
    "nested": (lambda: nested(6), "not_a_chat"),
    "bomb": (lambda: pack([("_chat.txt", bytes(300 * MEGABYTE))]), "too_large"),
    "overlapping": (lambda: overlapping("_chat.txt", 10 * MEGABYTE, 1000), "too_large"),
    "encrypted": (lambda: flagged(pack([("_chat.txt", CHAT.encode())])), "encrypted"),
    "truncated": (lambda: pack([("_chat.txt", noise(10_000))])[:5000], "truncated"),
    "bzip2": (lambda: pack([("_chat.txt", noise(10_000))], zipfile.ZIP_BZIP2), "compression"),
    "many": (lambda: pack([(f"{number:06}.jpg", b"") for number in range(100_000)], zipfile.ZIP_STORED), "not_a_chat"),
    "empty": (lambda: b"", "empty"),
}

DOCUMENTS: dict[str, tuple[Callable[[], bytes], str]] = {
    "bomb": (lambda: word(PARAGRAPH, ("word/zeros.xml", bytes(300 * MEGABYTE))), "too_large"),
    "overlapping": (lambda: overlapping("word/document.xml", 10 * MEGABYTE, 1000), "too_large"),
    "bzip2": (lambda: word(PARAGRAPH, ("zeros", bytes(300 * MEGABYTE)), method=zipfile.ZIP_BZIP2), "compression"),
    "vast": (lambda: word(PARAGRAPH * 1_100_000, ("noise", noise(4 * MEGABYTE))), "too_large"),
    "one_part_often": (
        lambda: word(
            PARAGRAPH,
            ("word/_rels/document.xml.rels", relations(5000)),
            ("word/big.xml", BIG_HEADER),
            ("noise", noise(MEGABYTE)),
        ),
        "too_large",
    ),
    "encrypted": (lambda: flagged(word(PARAGRAPH)), "encrypted"),
    "truncated": (lambda: word(PARAGRAPH, ("noise", noise(10_000)))[:5000], "damaged"),
    "entities": (lambda: pack([("word/document.xml", ENTITIES)]), "broken_part"),
    "no_zip": (lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(300 * MEGABYTE), "wrong_format"),
    "many": (
        lambda: word(PARAGRAPH, *((f"{number:06}", b"") for number in range(100_000)), method=zipfile.ZIP_STORED),
        "",
    ),
}
"""name -> (its bytes, the fault that is told; none where it is harmless as it is read)"""

READ = r"""
import json, re, resource, sys
from pathlib import Path
from relrag_pipelines.sources import Unit
from relrag_pipelines.ingest.unit_records import UnitRecords, read_items
from tests import archive
made = archive.workspace(Path(sys.argv[1]))
source = made.settings.sources[0]

def peak():
    try:  # ru_maxrss begins with what the process that started this one had
        return int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1])
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

told = {}
for file in sorted(Path(sys.argv[2]).iterdir()):
    contents = UnitRecords()
    records = sum(1 for _ in read_items(made, source, Unit(file.name, file, file.stat().st_size, 0), contents))
    faults = [failure.fault for failure in contents.failures]
    told[file.stem] = [faults, records, peak()]
print(json.dumps(told))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "suffix", "hostile"),
    [("whatsapp", "zip", CHATS), ("document", "docx", DOCUMENTS)],
    ids=["chats", "documents"],
)
def test_hostile_archives(
    kind: str, suffix: str, hostile: dict[str, tuple[Callable[[], bytes], str]], tmp_path: Path
) -> None:
    exports = tmp_path / "archive" / "exports"
    exports.mkdir(parents=True)
    for name, (build, _) in hostile.items():
        (exports / f"{name}.{suffix}").write_bytes(build())
    config = exports.parent / "relrag.toml"
    config.write_text(f'keys_file = "keys"\n[[sources]]\nname = "it"\nkind = "{kind}"\npath = "exports"\n')
    before = sorted(tmp_path.rglob("*"))
    command = [sys.executable, "-c", READ, str(config), str(exports)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    told = json.loads(done.stdout)
    assert {name: faults for name, (faults, _, _) in told.items()} == {
        name: [fault] if fault else [] for name, (_, fault) in hostile.items()
    }
    assert [name for name, (_, records, _) in told.items() if records] == [
        # nothing is unpacked, so what lies behind a link is a member like any other
        name
        for name in sorted(hostile)
        if hostile[name][1] in ("", "broken_part") or name == "link_then_file"
    ]
    assert sorted(path for path in tmp_path.rglob("*") if path.name != "keys") == before
    assert not Path("/tmp/escaped.txt").exists()  # noqa: S108
    peak = max(kilobytes for _, _, kilobytes in told.values()) / 1024
    assert peak < 1024, {name: kilobytes // 1024 for name, (*_, kilobytes) in told.items()}
    print(f"{kind}: {peak:.0f} MiB at most, {len(told)} archives")


def mail(*attached: tuple[str, bytes]) -> bytes:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "dana@example.com", "ota@example.com", "The lease"
    message["Date"] = "Sat, 13 Jan 2024 10:15:00 +0000"
    message.set_content("Both papers are attached.")
    for name, data in attached:
        message.add_attachment(data, maintype="application", subtype="pdf", filename=name)
    return message.as_bytes()


def good() -> bytes:
    drawn = io.BytesIO()
    page = canvas.Canvas(drawn)
    page.drawString(50, 800, "The tenant pays.")
    page.save()
    return drawn.getvalue()


PARSER = "parser_max_seconds = 4\nparser_max_bytes = 300_000_000\n"
STOPPED = {sandbox.TIME, sandbox.MEMORY, sandbox.CRASH}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited at once on Linux only")
def test_hostile_pdfs_are_failures_and_everything_else_is_read(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    looped = hostile_pdfs.looped()
    (folder / "looped.pdf").write_bytes(looped)
    (folder / "bomb.pdf").write_bytes(hostile_pdfs.bomb())
    (folder / "good.pdf").write_bytes(good())
    (folder / "later.eml").write_bytes(mail(("looped.pdf", looped), ("good.pdf", good())))
    sources = "".join(f'[[sources]]\nname = "{kind}"\nkind = "{kind}"\npath = "in"\n' for kind in ("document", "gmail"))
    config = tmp_path / "relrag.toml"
    config.write_text(f'keys_file = "keys"\n{PARSER}{sources}')
    made = archive.workspace(config)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # of all tests that ran in this process
    for source in made.settings.sources:
        ingest(made, source)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    failures = {one.unit: one for one in unit_state.load_failures(made.home, "document")}
    assert sorted(failures) == ["bomb.pdf", "looped.pdf"]
    assert {one.fault for one in failures.values()} <= STOPPED
    assert all("300,000,000 bytes of memory" in one.message for one in failures.values())
    assert texts(made, "document") == ["The tenant pays."]
    (attached,) = unit_state.load_failures(made.home, "gmail")
    assert (attached.unit, attached.location) == ("later.eml", "attachment 1")
    assert attached.fault in STOPPED
    assert texts(made, "gmail") == ["", "Both papers are attached.", "The tenant pays."]
    assert not plans.build_plan(made).exports, "they are not tried again"
    config.write_text(config.read_text().replace("300_000_000", "301_000_000"))
    (documents, mails) = plans.build_plan(archive.workspace(config)).exports
    assert "parser_max_bytes" in " ".join([*documents.why, *mails.why])
    assert grown < 2 * 2**20, "kilobytes: what takes the memory is another process"


def texts(made: Workspace, source: str) -> list[str]:
    months = lake.manifest(made.home, "private_records", source)
    tables = [lake.read(made.home, "private_records", source, month) for month in months]
    return sorted(text for table in tables for text in table["text"].to_pylist())
