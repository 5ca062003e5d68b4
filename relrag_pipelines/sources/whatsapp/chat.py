"""The second pass over a chat: one record for each message, and one for each file that a message refers to."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, time
from itertools import chain
from pathlib import PurePosixPath
from typing import Any
from zoneinfo import ZoneInfo

from relrag_pipelines.records import Failure, Record
from relrag_pipelines.sources import CoveredInterval, ReadContext
from relrag_pipelines.sources.chats.message import SentFile, file_records, new_record
from relrag_pipelines.sources.whatsapp import chat_name as titles
from relrag_pipelines.sources.whatsapp import date_order_fallback, system_messages
from relrag_pipelines.sources.whatsapp.detect_format import FormatGuess, OpenStream, detect_format, messages
from relrag_pipelines.sources.whatsapp.quoted_messages import QuotedMessages
from relrag_pipelines.sources.whatsapp.timestamps import MARKS, LocalClock, any_forms

_NAMES_KEPT = 10_000
_NAME_MAX = 200
_FOREIGN_LINES = 3
_NO_SUCH_TIME = "there is no such date or time; the message is kept undated"
_PLAIN = {ord(space): " " for space in "\u00a0\u2007\u2009\u202f"} | {0x2011: "-"}
_MARKS = re.compile(f"[{MARKS}]")
_LEAD = re.compile(f"^[{MARKS}]+")
_NUMBERED = re.compile(rf"\n[{MARKS}]*\[?[{MARKS}]*\d")
"""lines that may begin like a message in any form"""
_QUOTES = re.compile(r"(?<!\w)\"|\"(?!\w)|[“”„«»「」『』]")


@dataclass(frozen=True)
class Chat:
    """One exported chat."""

    title: str
    unit: str
    open: OpenStream
    sent: Callable[[str], SentFile]
    """the exported media file with that name; without a location if there is none"""
    member: str = ""
    """its name within the unit, if that is an archive"""
    others: Callable[[], Iterable[date_order_fallback.OrderHint]] = tuple
    """what the other chats of the source show about the order of day and month"""

    @property
    def location(self) -> str:
        """The beginning of its locations."""
        return f"{self.unit}!{self.member}" if self.member else self.unit

    def line_location(self, line: int) -> str:
        """The location of a line in the unit, for failures."""
        return f"{self.member} line {line}".strip()


def read_chat(chat: Chat, reading: ReadContext) -> Iterator[Record | Failure | CoveredInterval]:
    """Records of a chat in its own order, and a Failure for each message that is not understood."""
    format_ = detect_format(chat.open, chat.title)
    if isinstance(format_, Failure):
        format_.location = chat.member
        return iter([format_])
    if format_.order:
        return chain(_warnings(chat, format_), _records(chat, reading, format_, format_.order))
    return _read_ambiguous(chat, reading, format_)


def _read_ambiguous(
    chat: Chat, reading: ReadContext, format_: FormatGuess
) -> Iterator[Record | Failure | CoveredInterval]:
    """Reads a chat whose dates don't show their order: by the setting, by other evidence, or not at all."""
    if reading.date_order != "auto":
        order = reading.date_order
    elif settled := date_order_fallback.settle_orders(format_, titles.phrase(*_names(chat)), chat.others):
        order, why = settled
        description = date_order_fallback.describe(order, format_.orders, why)
        yield Failure(chat.member, date_order_fallback.UNSURE_ORDER, description)
    else:
        advice = 'set date_order = "dmy" (day first) or "mdy" (month first) for this source'
        why = f"the order of day and month cannot be told: {format_.orders.explain()}"
        yield Failure(chat.member, date_order_fallback.UNSURE_ORDER, f"{why}; {advice}", whole_unit=True)
        return
    if format_.orders.possible:  # covers records that an earlier reading made in another order, so they are deleted
        midnights = (datetime.combine(day, time.min, ZoneInfo(reading.timezone)) for day in format_.orders.span)
        since, until = (int(midnight.timestamp()) for midnight in midnights)
        yield CoveredInterval(_thread(chat, reading), since, until)
    yield from _warnings(chat, format_)
    yield from _records(chat, reading, format_, order)


def _names(chat: Chat) -> list[str]:
    """Names of the file and of the folders and archive around it, innermost first."""
    return [*reversed(PurePosixPath(chat.member).parts), *reversed(PurePosixPath(chat.unit).parts)]


def _thread(chat: Chat, reading: ReadContext) -> str:
    return f"whatsapp:{reading.hash(titles.chat_key(chat.title))}"


def _warnings(chat: Chat, format_: FormatGuess) -> Iterator[Failure]:
    if format_.charset.errors == "replace":
        yield Failure(chat.member, "charset", "some bytes are not UTF-8 and are read as \ufffd; export the chat again")
    elif not format_.charset.name.startswith("utf"):
        why = f"it is not UTF-8 and was read as {format_.charset.name}"
        yield Failure(chat.member, "charset", f"{why}; save it as UTF-8")
    if format_.stray_text:
        why = f"{format_.lines_before} lines before the first message were not read"
        yield Failure(chat.line_location(1), "not_a_message", f"{why}; remove them or export the chat again")


def _records(chat: Chat, reading: ReadContext, format_: FormatGuess, order: str) -> Iterator[Record | Failure]:
    """The records of a chat with a known order. This is the hot loop: it skips whatever most messages don't need."""
    hash_id, title = reading.hash, chat.title
    mark, notes, longest_note = system_messages.MARK, system_messages.WHOLE, system_messages.LONGEST
    thread, line = _thread(chat, reading), format_.lines_before
    chat_id, at_line = thread.removeprefix("whatsapp:"), f"{chat.location}#L"
    moment = LocalClock(order, reading.timezone, format_.halves).moment
    senders: dict[str, str] = {}
    earlier = QuotedMessages()
    for date, hour, second, half, body in messages(format_):
        ts, digits, ids = moment(date, hour, second, half)
        line += 1
        raw, _, text = body.partition(": ")
        sender: str | None = senders.get(raw)
        if sender is None:
            sender, text = _split(body, senders)
        content = body if sender == raw else f"{sender}: {text}" if sender else text
        files: Sequence[str] = ()
        extra: dict[str, Any] = {}
        if sender is None:
            extra["system"] = True
        elif "<" in text or mark in text or "(" in text or (len(text) <= longest_note and text in notes):
            sender, text, files, extra = _read_notes(sender, text, title, format_)
            content = f"{sender}: {text}" if sender else content
        source_id = f"{chat_id}:{digits}:{hash_id(content)}"
        ids[source_id] = count = ids.get(source_id, 0) + 1
        if count > 1:
            source_id = f"{source_id}:{count}"
        message = _message(source_id, text, sender, ts, title, thread, f"{at_line}{line}", extra)
        earlier.link(message, source_id, sender, text)
        if ts is None:
            yield Failure(chat.line_location(line), "date", _NO_SUCH_TIME)
        sent = [chat.sent(name) for name in files]
        further = file_records(message, f"whatsapp:{source_id}", sent, hash_id) if sent else ()
        yield message
        yield from further
        if "\n" in body:
            breaks = body.count("\n")
            if breaks >= _FOREIGN_LINES and (foreign := _is_foreign_line(body)):
                yield Failure(chat.line_location(line), "mixed_forms", foreign)
            line += breaks


def _message(
    source_id: str,
    text: str,
    sender: str | None,
    ts: int | None,
    title: str,
    thread: str,
    location: str,
    extra: dict[str, Any],
) -> Record:
    message = new_record(source_id, text, location, extra)
    message.rag_source_type = "whatsapp"
    message.from_ = sender
    message.subject = title
    message.ts = ts
    message.thread_id = thread
    message.content_type = "text/plain"
    if ts is None:
        message.date_quality = "none"
    return message


def _read_notes(
    sender: str, text: str, title: str, format_: FormatGuess
) -> tuple[str | None, str, list[str], dict[str, Any]]:
    """The sender, what they typed, files named in it, and facts for `extra`; no sender if it is a notice."""
    typed, files, extra = system_messages.read(text)
    if not files and not extra and _is_system(sender, text, title, format_):
        return None, typed, [], {"system": True}
    return sender, typed, files, extra


def _is_foreign_line(body: str) -> str:
    """The failure message for a message with many lines that begin like messages in another format; else empty."""
    if len(_NUMBERED.findall(body)) < _FOREIGN_LINES or (count := _in_any_form(body)) < _FOREIGN_LINES:
        return ""
    return f"{count} of its lines begin like messages in another form; if exports were joined, split the file there"


def _in_any_form(body: str) -> int:
    return max(len(form.findall(body)) for form in any_forms())


def _split(body: str, senders: dict[str, str]) -> tuple[str | None, str]:
    """The sender and what they wrote; without a name at the beginning, no sender and the whole text."""
    first = body.partition("\n")[0]
    raw, colon, _ = first.partition(": ")
    if not colon and not first.endswith(":"):
        return None, _LEAD.sub("", body)
    raw = raw if colon else raw.removesuffix(":")  # an empty message that lost its space
    name = _MARKS.sub("", raw).translate(_PLAIN).strip()
    if not name or len(name) > _NAME_MAX or len(_QUOTES.findall(name)) % 2:
        return None, _LEAD.sub("", body)  # a notice such as: You changed the subject from "Trip: Rome" to "Trip"
    if len(senders) >= _NAMES_KEPT:
        senders.clear()
    senders[raw] = name
    return name, body[len(raw) + 2 :]


def _is_system(sender: str, text: str, title: str, format_: FormatGuess) -> bool:
    """Whether it is a notice, which iOS shows as a message: of the group, or of the person it is about."""
    if not text.startswith(system_messages.MARK):
        return False
    is_of_group = not format_.title_speaks and titles.chat_key(sender) == titles.chat_key(title)
    return is_of_group or system_messages.is_notice(sender, text)
