"""Google Voice in Google Takeout: a page for each call, voice message, and run of texts, below `Voice/Calls`.

Texts are a `div` of the class `message` each, in one of the class `hChatLog`; a call is one of the class `haudio`, and
its tags tell which kind of call it was, in every language of the account. The owner is an `abbr` without a title, the
others are links with their number. A page in which only the owner wrote names the other in its title.
"""

from __future__ import annotations

import html
import itertools
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import PurePosixPath

from relrag_pipelines.records import Failure, NamedPerson
from relrag_pipelines.sources import ReadContext
from relrag_pipelines.sources.chats.export_files import ExportFiles, Item, sent_file
from relrag_pipelines.sources.chats.json_chats import NO_SUCH_TIME
from relrag_pipelines.sources.chats.message import Conversation, Message, SentFile, records
from relrag_pipelines.sources.formats.html_spacing import tidy
from relrag_pipelines.sources.formats.html_text import HtmlTextReader
from relrag_pipelines.sources.sms.backup_xml import call_text, conversation_with

_MAX_PAGE_BYTES = 2**25
_HEAD = re.compile(rb'<div class="(?:hChatLog hfeed|haudio)"')
_MESSAGE = re.compile(r'<div class="message">')
_TITLE = re.compile(r"<title>([^<]*)</title>")
_GROUP = re.compile(r'<div class="participants">(.*?)</div>', re.DOTALL)
_PERSON = re.compile(r'href="tel:([^"]*)"[^>]*>\s*<span class="fn">([^<]*)</span>')
_TIME = re.compile(r'<abbr class="(?:dt|published)" title="([^"]*)"')
_SENDER = re.compile(r'<cite class="sender vcard">(.*?)</cite>', re.DOTALL)
_OWNER = '<abbr class="fn"'
_TEXT = re.compile(r"<q>(.*?)</q>", re.DOTALL)
_FILE = re.compile(r'<(?:img|video|audio)\b[^>]*?\ssrc="([^"]*)"|<a class="(?:vcard|video|audio)"[^>]*?href="([^"]*)"')
_TRANSCRIPT = re.compile(r'<span class="full-text">(.*?)</span>', re.DOTALL)
_DURATION = re.compile(r'<abbr class="duration" title="PT(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?"')
_TAG = re.compile(r'rel="tag" href="[^"]*#(\w+)"')
_CALLS = {"received": "1", "placed": "2", "missed": "3", "voicemail": "4"}
"""tag of a call -> the number that Android has for its type"""
_SUFFIXES = ("", ".jpg", ".gif", ".png", ".mp4", ".3gp", ".mp3", ".amr", ".vcf")
"""what the name of a file may lack on the page"""


def is_export(head: bytes) -> bool:
    """Whether a file begins like a page of Google Voice."""
    return _HEAD.search(head) is not None


def read(kind: str, files: ExportFiles, path: str, reading: ReadContext) -> Iterator[Item]:
    """The texts or the call of a page."""
    with files.open(path) as stream:
        page = stream.read(_MAX_PAGE_BYTES).decode("utf-8", "replace")
    people = _people(page)
    conversation = conversation_with(kind, people, files.location(path), reading)
    begins = [match.start() for match in _MESSAGE.finditer(page)]
    sources = [page[begin:end] for begin, end in itertools.pairwise([*begins, len(page)])]
    folder, owner = str(PurePosixPath(path).parent), reading.owner or "Me"
    for position, source in enumerate(sources or [page], 1):
        message = _message(source, owner, position) if sources else _call(source, people, owner)
        message.files = tuple(_files(files, folder, source))
        yield from _records(conversation, message, source, files.member(path), reading)
    if not page.rstrip().endswith("</html>"):
        why = "the page ends before it should; export it again"
        yield Failure(files.member(path), "truncated", why, whole_unit=True)


def _records(
    conversation: Conversation, message: Message, source: str, member: str, reading: ReadContext
) -> Iterator[Item]:
    """The records of a message, whose id is made of its time, its direction and what it says."""
    if message.ts is None:
        yield Failure(f"{member} message {message.anchor[1:]}".strip(), "date", NO_SUCH_TIME)
    time = _TIME.search(source)
    direction = "received" if message.people else "sent"
    names = " ".join(file.name for file in message.files)
    message.id = f"{message.ts or 0}:{reading.hash(f'{time and time[1]} {direction} {message.text} {names}')}"
    yield from records(conversation, message, reading.hash)


def _people(page: str) -> dict[str, str]:
    """Address -> name of everyone but the owner; the title where nobody else is on the page."""
    group = _GROUP.search(page)
    people = {
        number: html.unescape(name).strip() or number for number, name in _PERSON.findall(group[1] if group else page)
    }
    title = _TITLE.search(page)
    name = " ".join(html.unescape(title[1]).split()) if title else ""
    return people or ({name: name} if name else {})


def _time(source: str) -> int | None:
    match = _TIME.search(source)
    try:
        when = datetime.fromisoformat(match[1] if match else "")
        return int((when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp())
    except (ValueError, OverflowError):
        return None


def _message(source: str, owner: str, position: int) -> Message:
    cite, text = _SENDER.search(source), _TEXT.search(source)
    message = Message("", _plain(text), owner, _time(source), f"M{position}")
    sender = _PERSON.search(cite[1]) if cite and _OWNER not in cite[1] else None
    if sender:
        number, name = sender[1], html.unescape(sender[2]).strip()
        message.sender, message.to = name or number, (owner,)
        message.people = (NamedPerson("sender", f"{name} {number}".strip()),)
    return message


def _call(source: str, people: dict[str, str], owner: str) -> Message:
    """The notice of a call; of a voice message what was said."""
    name = ", ".join(people.values()) or "unknown"
    if text := _plain(_TRANSCRIPT.search(source)):
        callers = tuple(NamedPerson("sender", f"{name} {number}") for number, name in people.items() if name != number)
        return Message("", text, name, _time(source), "M1", people=callers, to=(owner,), extra={"voice_message": True})
    kind = next((_CALLS[tag] for tag in _TAG.findall(source) if tag in _CALLS), "")
    text = call_text(kind, name, owner, str(_seconds(source)))
    return Message("", text, None, _time(source), "M1", extra={"call": True})


def _seconds(source: str) -> int:
    """How long a call took; 0 where the page does not tell."""
    duration = _DURATION.search(source)
    hours, minutes, seconds = (int(part or 0) for part in duration.groups()) if duration else (0, 0, 0)
    return hours * 3600 + minutes * 60 + seconds


def _plain(match: re.Match[str] | None) -> str:
    return tidy("".join(HtmlTextReader(match[1]).read())) if match else ""


def _files(files: ExportFiles, folder: str, source: str) -> Iterator[SentFile]:
    """Files by the names on the page, which may lack their suffix."""
    for src, href in _FILE.findall(source):
        name = html.unescape(src or href)
        if not name or "://" in name:
            continue
        candidates = (f"{name}{suffix}" for suffix in _SUFFIXES)
        exact = next((path for path in candidates if files.has((PurePosixPath(folder) / path).as_posix())), name)
        yield sent_file(files, exact, folder)
