"""Attachments are found again in the mails that hold them, for the owner, who has each access noted."""

import json
from collections.abc import Iterator
from email.message import EmailMessage
from pathlib import Path

import pyarrow as pa
import pytest
from starlette.testclient import TestClient

from relrag_pipelines.records import Page, Record
from relrag_pipelines.settings import SettingsError
from relrag_pipelines.stores import lake
from relrag_query.cli.commands.original import original
from relrag_query.owner import originals
from relrag_query.service import Service, original_file
from relrag_query.service.original_file import NoOriginal, OriginalFile
from relrag_query.web.originals import has_pages
from tests import archive
from tests.sources.document.test_page_picture import pdf
from tests.web_app import COOKIE, client

SOURCE = '[[sources]]\nname = "mail"\nkind = "gmail"\npath = "mail"\n'
LEASE, PLAN = pdf(["The lease of the boathouse ends in October."]), pdf(["A plan of the jetty.", "Its second page."])
PICTURE = b"\x89PNG\r\n\x1a\n herons"


def _mail(number: int, text: str, *attached: tuple[str, str, bytes], reply_to: str = "") -> EmailMessage:
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "dana@example.org", "petr@example.org", "Boathouse"
    mail["Date"], mail["Message-ID"] = f"Mon, 05 Feb 2024 10:0{number}:00 +0000", f"<m{number}@example.org>"
    if reply_to:
        mail["In-Reply-To"] = mail["References"] = f"<{reply_to}@example.org>"
    mail.set_content(text)
    for name, content_type, data in attached:
        main, _, sub = content_type.partition("/")
        mail.add_attachment(data, maintype=main, subtype=sub, filename=name)
    return mail


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("attachments")
    config = archive.make(folder, SOURCE)
    (folder / "mail").mkdir()
    first = _mail(1, "Nothing attached here.")
    second = _mail(2, "The lease.", ("lease.pdf", "application/pdf", LEASE), ("../e\u00e9.png", "image/png", PICTURE))
    lines = b"".join(b"From x Mon Feb  5 10:00:00 2024\n" + mail.as_bytes() + b"\n" for mail in (first, second))
    (folder / "mail" / "all.mbox").write_bytes(lines)
    inner = _mail(3, "Inside.", ("plan.pdf", "application/pdf", PLAN))
    outer = _mail(4, "Forwarded.", reply_to="m1")
    outer.add_attachment(inner)
    (folder / "mail" / "outer.eml").write_bytes(outer.as_bytes())
    archive.first_sync(config)
    return config


@pytest.fixture(scope="module")
def service(config: Path) -> Iterator[Service]:
    with Service.open(config) as opened:
        yield opened


@pytest.fixture(scope="module")
def browser(config: Path) -> Iterator[TestClient]:
    with client(config) as opened:
        opened.headers |= COOKIE
        yield opened


def _ref(service: Service, file_name: str) -> str:
    """The id of the attachment of that name."""
    hits = service.search(file_name, limit=50).hits
    return next(hit.asset_id for hit in hits if hit.file_name == file_name)


def _noted(config: Path) -> list[dict[str, str]]:
    path = archive.home(config.parent) / "private" / "reveals.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.mark.parametrize(("name", "data"), [("lease.pdf", LEASE), ("plan.pdf", PLAN)])
def test_an_attachment_is_as_it_was_sent_and_noted(
    service: Service, browser: TestClient, config: Path, tmp_path: Path, name: str, data: bytes
) -> None:
    ref, before = _ref(service, name), len(_noted(config))
    assert "The original file" in browser.get("/record", params={"ref": ref}).text
    assert name in browser.get("/original", params={"ref": ref}).text
    answer = browser.get("/original/file", params={"ref": ref})
    assert answer.content == data
    assert answer.headers["content-disposition"] == f"attachment; filename*=utf-8''{name}"
    assert len(_noted(config)) == before + 1
    assert original(ref, tmp_path, config) == 0
    assert (tmp_path / name).read_bytes() == data
    assert len(_noted(config)) == before + 2


def test_a_page_of_an_attachment_is_a_picture(service: Service, browser: TestClient) -> None:
    ref = _ref(service, "lease.pdf")
    passage = browser.get("/source", params={"chunk": service.search("lease boathouse").hits[0].chunk_id, "of": ref})
    assert passage.status_code == 200
    picture = browser.get("/page.png", params={"ref": ref, "page": 1, "quote": "The lease of the boathouse"})
    assert (picture.status_code, picture.headers["content-type"], picture.headers["x-marked"]) == (
        200,
        "image/png",
        "1.00",
    )


def test_a_reply_is_a_file_although_it_has_a_parent(service: Service, config: Path) -> None:
    reply = next(hit.asset_id for hit in service.search("Forwarded").hits if hit.rag_source_type == "email")
    assert originals.find(service, reply).file == config.parent / "mail" / "outer.eml"


def test_a_mail_that_has_changed_gives_nothing(service: Service, config: Path) -> None:
    ref, file = _ref(service, "plan.pdf"), config.parent / "mail" / "outer.eml"
    content = file.read_bytes()
    try:
        file.write_bytes(content.replace(b"JVBERi", b"JVBERj"))
        with pytest.raises(NoOriginal, match="no longer in the mail"):
            originals.find(service, ref)
        file.unlink()
        with pytest.raises(NoOriginal, match="no longer in the mail"):
            originals.find(service, ref)
    finally:
        file.write_bytes(content)


def _attached(location: str, extra: dict[str, str]) -> Record:
    """An attachment with pages that lies there."""
    return Record(
        source_id="m:0",
        text="A plan.",
        rag_source_type="email_attachment",
        parent_asset_id="gmail:m",
        file_name="plan.pdf",
        locations=[location],
        extra=dict(extra),
        pages=[Page(1, 0, 7)],
    )


@pytest.mark.parametrize(
    ("location", "extra", "why"),
    [
        ("old.PST#2097188", {"bytes_hash": "ab"}, "data file of Outlook"),
        ("mail.mbox#0", {}, "cannot be identified"),
    ],
)
def test_what_can_never_be_opened_is_not_promised(
    service: Service, location: str, extra: dict[str, str], why: str
) -> None:
    record = _attached(location, extra)
    assert not original_file.may_have(record)
    assert not has_pages(record)
    with service.reading() as opened, pytest.raises(NoOriginal, match=why):
        original_file.locate(opened.settings, record)
    assert has_pages(_attached("mail.mbox#0", {"bytes_hash": "ab"}))


def test_the_page_of_an_attached_mail_promises_no_file(service: Service, browser: TestClient) -> None:
    hits = service.search("Inside", limit=50).hits
    ref = next(hit.asset_id for hit in hits if hit.rag_source_type == "email_attachment" and not hit.file_name)
    page = browser.get("/record", params={"ref": ref})
    assert page.status_code == 200
    assert "The original file" not in page.text


def test_attachments_of_a_mail_whose_path_is_redacted_are_opened_after_one_look_up(
    config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, months = archive.clone(config.parent, tmp_path / "copy"), list[str]()
    attached = [(f"{name}.bin", "application/octet-stream", name.encode()) for name in ("oar", "rudder")]
    (folder / "mail" / "052-555-0163.eml").write_bytes(_mail(6, "Parts of a boat.", *attached).as_bytes())
    old = _mail(7, "Long ago.")
    old.replace_header("Date", "Thu, 05 Jan 2023 10:00:00 +0000")
    (folder / "mail" / "old.eml").write_bytes(old.as_bytes())
    archive.sync(folder / "relrag.toml")
    read = lake.read

    def read_and_note(home: Path, table: str, source: str, month: str, columns: list[str]) -> pa.Table:
        months.append(month)
        return read(home, table, source, month, columns)

    with Service.open(folder / "relrag.toml") as opened, opened.reading() as index:
        mail = next(hit.asset_id for hit in opened.search("Parts of a boat").hits if hit.rag_source_type == "email")
        records = [record for record in (index.record(f"{mail}:{number}") for number in (0, 1)) if record]
        assert ["052" in record.locations[0] for record in records] == [False, False]
        monkeypatch.setattr(lake, "read", read_and_note)
        attachments = list(original_file.locate_attachments(index.settings, records))
    names = [(file.name, file.content) for _, file in attachments if isinstance(file, OriginalFile)]
    assert names == [("oar.bin", b"oar"), ("rudder.bin", b"rudder")]
    assert months == ["2024-02"], "the records' own month is read, once"


def test_a_long_name_is_cut_and_keeps_its_suffix(config: Path, tmp_path: Path) -> None:
    folder = archive.clone(config.parent, tmp_path / "copy")
    mail = _mail(5, "Hebrew.", ("\u05d0" * 130 + ".bin", "application/octet-stream", b"letters"))
    (folder / "mail" / "long.eml").write_bytes(mail.as_bytes())
    archive.sync(folder / "relrag.toml")
    with Service.open(folder / "relrag.toml") as opened:
        ref = next(hit.asset_id for hit in opened.search("Hebrew").hits if hit.rag_source_type == "email") + ":0"
    (tmp_path / "out").mkdir()
    assert original(ref, tmp_path / "out", folder / "relrag.toml") == 0
    (file,) = (tmp_path / "out").iterdir()
    assert file.name == "\u05d0" * 98 + ".bin"
    with pytest.raises(SettingsError, match="cannot be written: File name too long"):
        original(ref, tmp_path / "out" / ("a" * 300), folder / "relrag.toml")


@pytest.mark.parametrize(
    ("asked", "status", "part", "described"),
    [
        ({"range": "bytes=0-1"}, 206, PICTURE[:2], f"bytes 0-1/{len(PICTURE)}"),
        ({"range": "bytes=4-"}, 206, PICTURE[4:], f"bytes 4-{len(PICTURE) - 1}/{len(PICTURE)}"),
        ({"range": "bytes=-3"}, 206, b"ons", f"bytes {len(PICTURE) - 3}-{len(PICTURE) - 1}/{len(PICTURE)}"),
        ({"range": "bytes=4-999"}, 206, PICTURE[4:], f"bytes 4-{len(PICTURE) - 1}/{len(PICTURE)}"),
        ({"range": "bytes=999-"}, 416, b"", f"bytes */{len(PICTURE)}"),
        ({"range": "bytes=-"}, 200, PICTURE, None),
        ({"range": "bytes=0-1,4-5"}, 200, PICTURE, None),
        ({"range": "bytes=0-1", "if-range": "x"}, 200, PICTURE, None),
        ({}, 200, PICTURE, None),
    ],
)
def test_a_player_has_the_part_of_an_attachment_that_it_asks_for(
    service: Service, browser: TestClient, asked: dict[str, str], status: int, part: bytes, described: str | None
) -> None:
    answer = browser.get("/original/file", params={"ref": _ref(service, "e\u00e9.png")}, headers=asked)
    assert (answer.status_code, answer.content) == (status, part)
    assert answer.headers.get("content-range") == described
    assert answer.headers["accept-ranges"] == "bytes"
