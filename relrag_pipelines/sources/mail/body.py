"""Which parts of a mail are its text, and which are attachments."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field

from relrag_pipelines.sources.formats.text_cleaning import clean
from relrag_pipelines.sources.mail import charset, headers, mime
from relrag_pipelines.sources.mail.html_body import to_text
from relrag_pipelines.sources.mail.mime import MAX_DEPTH, Part
from relrag_pipelines.sources.mail.outlook import mapi_properties, msg, tnef

MAX_TEXT = 4 * 2**20
"""Longest text of one part that is read, bytes; no person wrote a longer one."""
MAX_LOGO = 64 * 2**10
"""A picture that the text itself shows is one of its ornaments up to this size, bytes."""

_STUB = 0.3
"""A plain text this much shorter than the HTML beside it only says that there is more."""
_SIGNATURES = {"application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature"}
_TNEF = {"application/ms-tnef", "application/vnd.ms-tnef"}
_FILE_PLACE = re.compile(r"[^:?#/\\]{1,200}\.\w{1,5}")
_CID = re.compile(rb"cid:([^\"'\s>)]{1,256})", re.IGNORECASE)
_SOFT_BREAK = re.compile(r"(?<!\n--) \n(?![> \n]|-- )")

_STUFFED_BLANK = re.compile(r"^ ", re.MULTILINE)
"""which RFC 3676, section 4.4 puts before lines that begin with a blank, `>` or `From `"""


@dataclass
class Body:
    """The text of a mail, and its other parts."""

    text: str = ""
    content_type: str = "text/plain"
    attachments: list[Part] = field(default_factory=list)
    """in their order, ornaments and signatures left out"""
    ornaments: list[Part] = field(default_factory=list)
    """pictures that the text itself shows: logos, icons, pixels that count readers"""
    signatures: list[Part] = field(default_factory=list)
    """that prove who signed the mail"""
    is_encrypted: bool = False
    """the mail as a whole: there is no text but what stands around"""
    defects: set[str] = field(default_factory=set)


def body_of(mail: Part) -> Body:
    """The best text of a mail, and its other parts."""
    body = Body()
    texts: list[tuple[Part, ...]] = []
    others: list[Part] = []
    _sort(mail, texts, others, body)
    typed_texts: list[tuple[str, str]] = []
    for alternatives in texts:
        if sum(len(text) for text, _ in typed_texts) > MAX_TEXT:
            body.defects.add("text_too_long")
            break
        typed_texts.append(_best(alternatives))
    body.text = "\n\n".join(text for text, _ in typed_texts if text)
    body.content_type = next((kind for text, kind in typed_texts if text), body.content_type)
    shown = _inline_ids(texts) if any(part.type.startswith("image/") for part in others) else set()
    for part in [unwrapped for other in others for unwrapped in _unwrap(other, body)]:
        if _is_ornament(part, shown):
            body.ornaments.append(part)
        else:
            body.attachments.append(part)
    for part in mail.walk():
        body.defects.update(part.defects)
    return body


def name_of(part: Part) -> str:
    """The file name of a part, else the file of its Content-Location; empty without either.

    Programs write raw bytes into it, which no standard allows: they are in the charset of the part or of the mail.
    """
    declared = [part.parameters.get("charset", ""), *part.charsets]
    disposition = headers.decode_plain(part.raw("content-disposition"), declared)
    name = headers.parameters(f";{disposition}").get("filename")
    name = name or headers.content_type(part.raw("content-type"), "", declared)[1].get("name")
    name = name or part.parameters.get("name") or ""  # what Outlook saved has no fields as bytes
    if not name and part.type not in ("text/plain", "text/html"):
        content_location = part.get("content-location")
        name = content_location if _FILE_PLACE.fullmatch(content_location) else ""
    return " ".join(clean(name).replace("\\", "/").rpartition("/")[2].split())


def text_of(part: Part) -> str:
    """A text part, decoded."""
    content = part.content()
    if len(content) > MAX_TEXT:
        part.defects.append("text_too_long")
    text, defect = charset.read(content[:MAX_TEXT], part.parameters.get("charset"))
    if defect:
        part.defects.append(defect)
    if part.parameters.get("format", "").lower() == "flowed":
        replacement = "" if part.parameters.get("delsp", "").lower() == "yes" else " "
        text = _STUFFED_BLANK.sub("", _SOFT_BREAK.sub(replacement, text.replace("\r\n", "\n")))
    return clean(text)


def _sort(
    part: Part, texts: list[tuple[Part, ...]], others: list[Part], body: Body, *, alternative: bool = False
) -> None:
    """Sorts the leaves of a part into texts, each with its alternatives, and other parts.

    Some programs give the text of a mail a file name. A named text is the mail's text if it is the first one or an
    alternative of it; any other named text is a file.
    """
    if part.type == "multipart/encrypted":
        body.is_encrypted = True
        others.append(part)
    elif part.type == "multipart/alternative" and part.parts:
        texts.extend(_sort_alternatives(part, others, body))
    elif part.parts and part.type.startswith("multipart/"):
        for index, child in enumerate(part.parts):
            _sort(child, texts, others, body, alternative=alternative and index == 0)
    elif part.type in _SIGNATURES:
        body.signatures.append(part)
    elif _is_text(part, may_be_named=alternative or not texts):
        texts.append((part,))
    else:
        others.append(part)


def _sort_alternatives(part: Part, others: list[Part], body: Body) -> list[tuple[Part, ...]]:
    """The texts of a multipart/alternative, all as alternatives of one text; empty if there is none."""
    texts: list[tuple[Part, ...]] = []
    for child in part.parts:
        _sort(child, texts, others, body, alternative=True)
    return [tuple(itertools.chain.from_iterable(texts))] if texts else []


def _unwrap(part: Part, body: Body) -> list[Part]:
    """The part itself, or the attachments that Outlook packed into a winmail.dat; opens saved mails in place.

    The text of a winmail.dat becomes the text of a mail that has none.
    """
    name = name_of(part).lower()
    if part.type in _TNEF or name == "winmail.dat":
        try:
            packed = tnef.unpack(part.content(), part.depth)
        except tnef.TnefError:
            part.defects.append("damaged_tnef")
            return [part]
        if not body.text:
            body.text, body.content_type = _best(tuple(mapi_properties.texts(packed.properties)))
        return [mapi_properties.attached_part(attachment, part.depth + 1) for attachment in packed.attachments]
    if not part.parts and (name.endswith((".msg", ".eml")) or part.type == "application/vnd.ms-outlook"):
        _open_saved(part)
    return [part]


def _open_saved(part: Part) -> None:
    """Parses the mail that an attached file contains, as a part of that file."""
    data = part.content()
    if part.depth >= MAX_DEPTH:
        part.defects.append("too_deep")
    elif not data.startswith(msg.SIGNATURE):
        mail = mime.parse(data, part.depth + 1)
        part.parts = [mail] if {"from", "subject", "date"} & mail.fields.keys() else []
    else:
        try:
            part.parts = [msg.parse(data, part.depth + 1)]
        except msg.CompoundError:
            part.defects.append("damaged_outlook")


def _is_text(part: Part, *, may_be_named: bool) -> bool:
    if part.type not in ("text/plain", "text/html") and not part.type.startswith("multipart/"):
        return False
    disposition = part.raw("content-disposition").lstrip()[:10].lower()
    return disposition != b"attachment" and (may_be_named or not name_of(part))


def _best(alternatives: tuple[Part, ...]) -> tuple[str, str]:
    """The most complete alternative of the text, and its type: plain text, unless that is only a stub."""
    plain = "\n\n".join(text for part in alternatives if part.type != "text/html" and (text := text_of(part).strip()))
    pages = [part for part in alternatives if part.type == "text/html"]
    if not pages or (plain and len(plain) > _STUB * sum(part.end - part.start for part in pages)):
        return plain, "text/plain"
    written = "\n\n".join(text for part in pages if (text := to_text(text_of(part)).strip()))
    if plain and len(plain) >= _STUB * len(written):
        return plain, "text/plain"
    return (written, "text/html") if written else (plain, "text/plain")


def _inline_ids(texts: list[tuple[Part, ...]]) -> set[bytes]:
    """Content ids of the pictures that the HTML shows."""
    pages = (part for alternatives in texts for part in alternatives if part.type == "text/html")
    return {content_id.lower() for part in pages for content_id in _CID.findall(part.content()[:MAX_TEXT])}


def _is_ornament(part: Part, shown: set[bytes]) -> bool:
    if not part.type.startswith("image/") or part.end - part.start > MAX_LOGO * 4 // 3:
        return False
    return part.raw("content-id").strip().strip(b"<>").lower() in shown
