"""messages.html, messages2.html ... of Telegram Desktop: a thousand messages a page.

Each message is a `div` of its own with its id, and its parts are marked by classes. A page is cut at the beginnings of
messages, and each is read token by token, so that a damaged one does not concern the others. A message under the same
name as the one before is `joined`, and shows no name.
"""

from __future__ import annotations

import functools
import html
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import PurePosixPath
from zoneinfo import ZoneInfo

from relrag_pipelines.records import Failure, Json
from relrag_pipelines.sources import ReadContext
from relrag_pipelines.sources.chats.export_files import ExportFiles, FolderFiles, Item, head, sent_file
from relrag_pipelines.sources.chats.json_chats import NO_SUCH_TIME, pieces
from relrag_pipelines.sources.chats.message import Conversation, Message, SentFile, records
from relrag_pipelines.sources.formats.html_tokens import TOKEN, VOID, attribute
from relrag_pipelines.sources.telegram import export_json

_MAX_PAGE_BYTES = 2**26
"""bytes of a page; Telegram's have some hundred kilobytes"""
_HEAD = re.compile(rb'class="page_body chat_page"|class="message (?:default|service)[^"]*" id="message-?\d')
_TITLE = re.compile(r'class="page_header".{0,600}?class="text bold">([^<]{0,300})</div>', re.DOTALL)
_MESSAGE = re.compile(r'<div class="message (default|service)([^"]*)" id="message(-?\d+)">')
_FIRST_PAGE = "messages.html"
_NUMBER_AND_TIME = re.compile(
    r'<div class="message default[^"]{0,80}" id="message(-?\d+)">(?:(?!<div class="message ).){0,2000}?'
    r'title="(\d\d\.\d\d\.\d{4} \d\d:\d\d:\d\d[^"]{0,20})"',
    re.DOTALL,
)
_CLASS = re.compile(r'class="([^"]*)"')
_TITLE_ATTRIBUTE = re.compile(r'title="([^"]*)"')
_TARGET = re.compile(r"(?:go_to_message|GoToMessage\()(-?\d+)")
_WHEN = re.compile(r"(\d\d)\.(\d\d)\.(\d{4}) (\d\d):(\d\d):(\d\d)(?: UTC([+-])(\d\d):?(\d\d))?")
_LAST_DAY = -500_000_000
"""lines with a day have ids above it; what a group held before it became a supergroup has ids far below"""
_FORWARD_DATE = re.compile(r"\s*\d\d\.\d\d\.\d{4} \d\d:\d\d:\d\d\s*$")
_MEDIA = {
    "media_photo": "photo",
    "photo_wrap": "photo",
    "media_video": "video",
    "video_file_wrap": "video",
    "animated_wrap": "animation",
    "media_voice_message": "voice message",
    "media_audio_file": "audio file",
    "media_file": "file",
    "media_contact": "contact",
    "media_live_location": "location",
    "media_location": "location",
    "media_venue": "location",
    "media_poll": "poll",
    "media_call": "call",
    "sticker_wrap": "sticker",
    "media_game": "game",
    "media_invoice": "invoice",
}
"""class of what shows media -> what it is"""
_PARTS = frozenset(
    {"from_name", "text", "date", "reply_to", "title", "description", "status", "question", "answer", "signature"}
    | {"forwarded", "reaction", "emoji", "userpics", "body", "count", "initials", "via", "total"}
)
"""classes of elements whose text is read"""


def is_export(head_bytes: bytes) -> bool:
    """Whether a file begins like one of these."""
    return _HEAD.search(head_bytes) is not None and b"page_wrap" in head_bytes


def read(files: ExportFiles, path: str, reading: ReadContext) -> Iterator[Item]:
    """The messages of a page."""
    with files.open(path) as stream:
        page = stream.read(_MAX_PAGE_BYTES).decode("utf-8", "replace")
    name = _title(page) or PurePosixPath(path).parent.name or export_json.KIND
    key = _key_of_json(files, path, name, reading) or _key_of_title(files, path, name, reading)
    conversation = Conversation(export_json.KIND, key, name, f"{files.location(path)}#")
    reader = _Page(files, str(PurePosixPath(path).parent), ZoneInfo(reading.timezone), page)
    starts = list(_MESSAGE.finditer(page))
    for position, start in enumerate(starts, 1):
        end = starts[position].start() if position < len(starts) else len(page)
        message = reader.read(start, page[start.end() : end])
        if message is None:
            continue
        if message.ts is None and message.sender is not None:
            yield Failure(f"{files.member(path)} message {position}".strip(), "date", NO_SUCH_TIME)
        yield from records(conversation, message, reading.hash)
    if "</html>" not in page[-64:]:
        why = "the page ends before it should; export it again"
        yield Failure(files.member(path), "truncated", why, whole_unit=True)


def _title(page: str) -> str:
    heading = _TITLE.search(page, 0, 2**16)
    return " ".join(html.unescape(heading[1]).split()) if heading else ""


def _key_of_title(files: ExportFiles, path: str, name: str, reading: ReadContext) -> str:
    """The key of the chat of a title; where another chat has that title too, also of when it began.

    Another chat is one that has a message of the same number from another time; a second export of it has none.
    """
    own_path = (PurePosixPath(path).parent / _FIRST_PAGE).as_posix()
    pages = _first_pages(files, reading)
    own = pages.get(own_path)
    for other_path, other in pages.items() if own else ():
        if own and other_path != own_path and own.is_other_chat(other):
            return export_json.title_key(f"{name} {min(own.times.values(), key=_moment)}", reading.hash)
    return export_json.title_key(name, reading.hash)


@dataclass(frozen=True)
class _FirstPage:
    """What the beginning of a chat's first page shows."""

    title: str
    times: Mapping[str, str]
    """id of a message -> its time, as written"""

    def is_other_chat(self, other: _FirstPage) -> bool:
        """Whether it is the beginning of another chat of the same title."""
        shared = self.times.keys() & other.times.keys()
        return self.title == other.title and any(self.times[own_id] != other.times[own_id] for own_id in shared)


def _first_pages(files: ExportFiles, reading: ReadContext) -> dict[str, _FirstPage]:
    """The first pages of all chats that are read together, by path; those of the last source are kept for its pages."""
    if isinstance(files, FolderFiles):
        states = [(unit.path, unit.size, unit.mtime_ns) for unit in reading.units()]
        paths = [path for path, _, _ in states if PurePosixPath(path).name == _FIRST_PAGE]
        source = (reading.source, *states)
    else:
        paths = [path for path in files.names if PurePosixPath(path).name == _FIRST_PAGE]
        source = (files.location(""), *((path, files.size(path)) for path in paths))
    if len(paths) < 2:
        return {}
    if source not in _pages_by_source:
        _pages_by_source.clear()
        _pages_by_source[source] = {path: _first_page(files, path) for path in paths if files.has(path)}
    return _pages_by_source[source]


_pages_by_source: dict[tuple[object, ...], dict[str, _FirstPage]] = {}


def _first_page(files: ExportFiles, path: str) -> _FirstPage:
    page = head(files, path).decode("utf-8", "replace")
    return _FirstPage(_title(page), {match[1]: match[2] for match in _NUMBER_AND_TIME.finditer(page)})


def _moment(when: str) -> tuple[str, ...]:
    """A time as written, in an order that sorts."""
    day, month, year, *rest = re.findall(r"\d+", when)
    return (year, month, day, *rest)


def _key_of_json(files: ExportFiles, path: str, name: str, reading: ReadContext) -> str:
    """The key of the chat of that name in the result.json of the same export; empty if it has none, or several."""
    folder = PurePosixPath(path).parent
    for parent in (folder, folder.parent.parent):
        other = (parent / "result.json").as_posix()
        if not files.has(other) or not export_json.is_export(head(files, other)):
            continue
        opened = functools.partial(files.open, other)
        chats: dict[int, Json] = {}
        for fields, _ in pieces(opened, "messages", export_json.LISTS):
            chats[id(fields)] = fields
        keys = {
            export_json.chat_key(fields, reading.hash)
            for fields in chats.values()
            if " ".join(export_json.title(fields, other).split()) == name
        }
        if len(keys) == 1:
            return keys.pop()
    return ""


@dataclass
class _Parts:
    """What the elements of one message say, by their classes."""

    texts: dict[str, list[str]] = field(default_factory=dict)
    links: list[str] = field(default_factory=list)
    classes: set[str] = field(default_factory=set)
    reactions: list[Json] = field(default_factory=list)
    when: str = ""
    reply: str = ""

    def text(self, name: str) -> str:
        """The text of elements of a class."""
        lines = "".join(self.texts.get(name, ())).split("\n")
        return "\n".join(" ".join(line.split()) for line in lines).strip()


class _Page:
    """Reads the messages of a page in order."""

    def __init__(self, files: ExportFiles, folder: str, zone: ZoneInfo, page: str) -> None:
        self._files, self._folder, self._zone = files, folder, zone
        self._sender, self._last = "", self._time(page)
        """of the message before; at first the first time on the page"""

    def read(self, start: re.Match[str], source: str) -> Message | None:
        """One message; None for a line that states a day."""
        kind, classes, own_id = start.groups()
        parts = _parts(source)
        anchor = f"M{own_id}"
        if kind == "service":
            # Telegram numbers the lines with a day down from -1, and shows no time of a notice
            is_day = _LAST_DAY < int(own_id) < 0
            return None if is_day else Message(own_id, parts.text("body"), None, self._last, anchor, "day")
        self._sender = parts.text("from_name") or (self._sender if "joined" in classes else "Deleted Account")
        message = Message(own_id, parts.text("text"), self._sender, self._time(parts.when), anchor)
        self._last = message.ts or self._last
        message.reply_to = parts.reply
        extra = message.extra = {}
        if forwarded := _FORWARD_DATE.sub("", parts.text("forwarded from_name")):
            extra["forwarded_from"] = forwarded
        if parts.reactions:
            extra["reactions"] = parts.reactions
        message.files = tuple(self._sent_files(parts, extra))
        message.text = "\n".join(filter(None, (message.text, *_further_texts(parts, extra))))
        return message

    def _time(self, when: str) -> int | None:
        match = _WHEN.search(when)
        if not match:
            return None
        *clock, sign, hours, minutes = match.groups()
        day, month, year, hour, minute, second = map(int, clock)
        offset = timedelta(hours=int(hours or 0), minutes=int(minutes or 0)) * (-1 if sign == "-" else 1)
        zone = timezone(offset) if sign else self._zone
        try:
            return int(datetime(year, month, day, hour, minute, second, tzinfo=zone).timestamp())
        except (ValueError, OverflowError):
            return None

    def _sent_files(self, parts: _Parts, extra: Json) -> Iterator[SentFile]:
        media = next((word for name, word in _MEDIA.items() if name in parts.classes), "")
        if media in ("", "contact", "location", "poll", "call", "sticker", "game", "invoice"):
            return
        links = [link for link in parts.links if "://" not in link and not link.startswith(("#", "messages"))]
        for link in dict.fromkeys(links):
            yield sent_file(self._files, link, self._folder)
        if not links:
            extra["omitted"] = media


def _further_texts(parts: _Parts, extra: Json) -> Iterator[str]:
    """What a message says beside its text: a poll, a contact, a place, a call, a sticker."""
    words = {word for name, word in _MEDIA.items() if name in parts.classes}
    if "poll" in words:
        extra["poll"] = True
        yield parts.text("question")
        yield parts.text("answer")
    if "location" in words:
        extra["place"] = True
        yield ", ".join(filter(None, (parts.text("title"), parts.text("description")))) or "(location)"
    if words & {"contact", "call", "game", "invoice"}:
        yield ", ".join(filter(None, (parts.text("title"), parts.text("status"))))
    if "sticker" in words:
        extra["media"] = "sticker"


def _parts(source: str) -> _Parts:
    """The parts of one message. Text belongs to the innermost open element whose class is of _PARTS."""
    parts, open_elements, position = _Parts(), list[tuple[str, str]](), 0
    for token in TOKEN.finditer(source):
        _add_text(parts, open_elements, source[position : token.start()])
        position = token.end()
        closing, name, attributes, closed, _ = token.groups()
        if not name or not closed:
            continue
        name = name.lower()
        if closing:
            _close(open_elements, name)
        elif name == "br":
            _add_text(parts, open_elements, "\n", is_break=True)
        elif name not in VOID:
            open_elements.append((name, _open(parts, open_elements, attributes)))
    return parts


def _open(parts: _Parts, open_elements: list[tuple[str, str]], attributes: str) -> str:
    """Records the attributes of an element; returns the name of the part that its text belongs to."""
    match = _CLASS.search(attributes)
    classes = match[1].split() if match else []
    parts.classes.update(classes)
    title = _TITLE_ATTRIBUTE.search(attributes)
    if title and "date" in classes:
        parts.when = parts.when or title[1]
    if link := attribute(attributes, "href"):
        _add_link(parts, open_elements, attributes, link)
    if "reaction" in classes:
        parts.reactions.append({"emoji": "", "count": 1})
    if title and "initials" in classes and parts.reactions and _is_within(open_elements, "reaction"):
        parts.reactions[-1].setdefault("from", []).append(html.unescape(title[1]))
    return next((name for name in classes if name in _PARTS), "")


def _add_link(parts: _Parts, open_elements: list[tuple[str, str]], attributes: str, link: str) -> None:
    """Notes the message that a link replies to, or the file that it leads to."""
    target = _TARGET.search(attributes)
    if target and any(part == "reply_to" for _, part in open_elements):
        parts.reply = target[1]
    elif "media" in attributes or "wrap" in attributes:
        parts.links.append(link)


def _close(open_elements: list[tuple[str, str]], name: str) -> None:
    """Closes the innermost open element of that name, and what is open in it."""
    for index in range(len(open_elements) - 1, max(-1, len(open_elements) - 20), -1):
        if open_elements[index][0] == name:
            del open_elements[index:]
            return


def _is_within(open_elements: list[tuple[str, str]], part: str) -> bool:
    return any(own == part for _, own in open_elements[-10:])


def _add_text(parts: _Parts, open_elements: list[tuple[str, str]], text: str, *, is_break: bool = False) -> None:
    part = next((own for _, own in reversed(open_elements[-10:]) if own), "body")
    text = text if is_break else html.unescape(text).replace("\n", " ")
    if not text.strip(" "):
        text = " " if text else ""
    if part in ("emoji", "count") and _is_within(open_elements, "reaction"):
        if parts.reactions and text.strip():
            parts.reactions[-1][part] = _count(text.strip()) if part == "count" else text.strip()
        return
    if part == "from_name" and _is_within(open_elements, "forwarded"):
        part = "forwarded from_name"
    parts.texts.setdefault(part, []).append(text)


def _count(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 9 else 1
