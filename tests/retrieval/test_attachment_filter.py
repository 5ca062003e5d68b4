"""A query limited to attachments of a type, and to what they are attached to."""

import re
from collections.abc import Iterator
from email.message import EmailMessage
from pathlib import Path

import duckdb
import pytest

from relrag_query.archive import Archive
from relrag_query.retrieval import attachment_filter
from relrag_query.retrieval.attachment_filter import TYPES, Attachment
from relrag_query.retrieval.connection_sharing import WrongQuestion
from tests import archive
from tests.web_app import BEARER, COOKIE, client

SOURCES = """
[[sources]]
name = "mail"
kind = "gmail"
path = "mail"

[[sources]]
name = "talks"
kind = "whatsapp"
path = "talks"
"""
CHAT = """\
15/03/2024, 10:12 - Eva Mala: The kiln is cold
15/03/2024, 10:13 - Jan Novak: kiln.csv (file attached)
12/05/2024, 08:00 - Eva Mala: The kiln is hot
"""


def write_mail(folder: Path, name: str, attached: str = "") -> None:
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "Eva <e@x.cz>", "jan@x.cz", f"The kiln {name}"
    mail["Date"], mail["Message-ID"] = "Fri, 15 Mar 2024 10:12:00 +0100", f"<{name}@x.cz>"
    mail.set_content(f"The kiln of {name} is cold.")
    if attached:
        mail.add_attachment(f"Glaze for the kiln of {name}, 3 kg".encode(), "text", "plain", filename=attached)
    folder.joinpath(f"{name}.eml").write_bytes(mail.as_bytes())


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("attachments")
    config = archive.make(folder, SOURCES)
    (folder / "mail").mkdir()
    (folder / "talks").mkdir()
    write_mail(folder / "mail", "alone")
    write_mail(folder / "mail", "text", "glaze.TXT")
    write_mail(folder / "mail", "table", "glaze.csv")
    chat = folder / "talks" / "WhatsApp Chat with Eva Mala"
    chat.mkdir()
    chat.joinpath("WhatsApp Chat with Eva Mala.txt").write_text(CHAT)
    chat.joinpath("kiln.csv").write_text("glaze,kiln\n3 kg,2024\n")
    archive.first_sync(config)
    return config


@pytest.fixture(scope="module")
def opened(config: Path) -> Iterator[Archive]:
    with Archive.open(config) as opened:
        yield opened


def texts(opened: Archive, attachment: Attachment | None) -> str:
    return "\n".join(hit.text for hit in opened.search("kiln", attachment=attachment, limit=50).hits)


def kilns(text: str) -> set[str]:
    """Which mails and attachments a text holds."""
    return set(re.findall(r"kiln of (?:alone|text|table) is cold|Glaze for the kiln of \w+", text))


TEXT = {"kiln of text is cold", "Glaze for the kiln of text"}
TABLE = {"kiln of table is cold", "Glaze for the kiln of table"}


def test_attachments_and_what_they_are_attached_to_are_left(opened: Archive) -> None:
    assert kilns(texts(opened, "document")) == TEXT
    assert kilns(texts(opened, "spreadsheet")) == TABLE
    assert kilns(texts(opened, "any")) == TEXT | TABLE
    assert kilns(texts(opened, None)) == TEXT | TABLE | {"kiln of alone is cold"}


def test_a_chat_window_around_an_attachment_is_left_and_one_without_is_not(opened: Archive) -> None:
    hits = opened.search("kiln", attachment="spreadsheet", sources=["talks"], limit=50).hits
    text = "\n".join(hit.text for hit in hits)
    assert "The kiln is cold" in text
    assert "hot" not in text


def test_a_type_that_nothing_has_leaves_nothing(opened: Archive) -> None:
    assert texts(opened, "video") == ""
    assert not opened.ask("Is the kiln cold?", attachment="video").quotes
    assert opened.ask("Is the kiln cold?", attachment="any").quotes


@pytest.mark.parametrize(
    ("name", "media", "attachment"),
    [
        ("", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "document"),
        ("", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "spreadsheet"),
        ("", "application/vnd.oasis.opendocument.presentation", "presentation"),
        ("", "text/csv; charset=utf-8", "spreadsheet"),
        ("", "application/x-zip-compressed", "archive"),
        ("Zprava .PDF ", "application/octet-stream", "pdf"),
        ("id_rsa.key", "application/octet-stream", None),
        ("talk.key", "application/vnd.apple.keynote", "presentation"),
        ("offer.pdf", "text/plain", "pdf"),
    ],
)
def test_a_name_tells_the_type_and_else_the_media_type(name: str, media: str, attachment: str | None) -> None:
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE records AS SELECT 'a' AS asset_id, $name AS file_name, $media AS content_type",
            {"name": name, "media": media},
        )
        connection.execute(
            "CREATE TABLE asset_asset_edges AS SELECT 'a' AS src_asset_ref, 'b' AS dst_asset_ref, "
            "'attachment_of' AS relation_type"
        )
        connection.execute("CREATE TABLE chunks AS SELECT 'c' AS chunk_id, 'a' AS asset_id")
        types = [type_ for type_ in TYPES if attachment_filter.passages(connection, type_) == {"c"}]
    assert types == ["any", *([attachment] if attachment else [])]


def test_an_unknown_type_is_refused_by_name(opened: Archive) -> None:
    with pytest.raises(WrongQuestion, match='no type of attachment is named "exe"; known types: any, pdf, image'):
        opened.search("kiln", attachment="exe")  # type: ignore[arg-type]


def test_api_and_page_narrow_to_a_type(config: Path) -> None:
    with client(config) as browser:
        query = {"query": "kiln", "attachment": "document"}
        hits = browser.post("/api/v1/search", json=query, headers=BEARER).json()["hits"]
        assert kilns("\n".join(hit["text"] for hit in hits)) == TEXT
        refused = browser.post("/api/v1/search", json={**query, "attachment": "exe"}, headers=BEARER)
        assert refused.status_code == 422
        page = browser.get("/search?q=kiln&attachment=document", headers=COOKIE).text
        assert '<option value="document" selected>document</option>' in page
        assert 'aria-label="Attachment: no longer only document"' in page
        assert "The kiln table" not in page
        assert page.count("<option") == len(TYPES) + 1
