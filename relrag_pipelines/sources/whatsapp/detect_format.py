"""The first pass over a chat: finds its charset, message format, and order of day and month."""

from __future__ import annotations

import codecs
import io
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, BinaryIO

from relrag_pipelines.records import Failure
from relrag_pipelines.sources.formats.charset_detection import MIXED, SAMPLE, CharsetError, decode
from relrag_pipelines.sources.whatsapp.date_order import DateOrderVotes
from relrag_pipelines.sources.whatsapp.day_halves import DayHalves, Hours
from relrag_pipelines.sources.whatsapp.system_messages import MARK
from relrag_pipelines.sources.whatsapp.timestamps import PARTS, MessageFormat, find_form

CHUNK = 2**15
"""Characters that are examined together; a chunk ends at a line break, so a long line makes it longer."""

LONGEST = 2**24
"""Most characters of a line, or of lines without a message among them, in a plausible chat."""

_MAX_BUFFERED = 2**22
"""Characters of a chat whose text is buffered in the first pass for the second; a longer one is read again.

What WhatsApp exports, 40,000 messages at most, is below this.
"""

UNSURE_HALF = "half_of_day"
"""fault word of a chat whose words beside the times are unknown"""
_UNSURE_HALF = (
    "the words beside its times are no half of the day that is known, and the sequence of times does not show it; "
    "export the chat again from a phone with a clock of 24 hours"
)

OpenStream = Callable[[], BinaryIO]

_MARKS = (
    *((codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32")),
    *((codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16")),
)


@dataclass(frozen=True)
class Charset:
    """How bytes become text: `errors` is `replace` if a few bytes of UTF-8 are damaged."""

    name: str
    errors: str = "strict"


@dataclass(frozen=True)
class FormatGuess:
    """The charset and format of a chat, needed before its first message can be read."""

    charset: Charset
    form: MessageFormat
    order: str | None
    """of day and month, if the dates show it"""
    orders: DateOrderVotes
    title_speaks: bool
    """somebody with the chat's name wrote a message, so it is a person and no group"""
    lines_before: int
    """lines before the first message"""
    stray_text: bool
    """one of them is not blank"""
    halves: Mapping[str, Hours]
    """of the unknown words beside its times, by their letters"""
    beginnings: re.Pattern[str]
    """the beginnings of messages: those of `form`, with the words that stand for halves of the day in this chat"""
    text: Callable[[], Iterable[str]]
    """its `chunks` again"""


def detect_format(opener: OpenStream, title: str) -> FormatGuess | Failure:
    """Finds the format in one pass over the chat."""
    try:
        charset = declared_charset(opener)
        try:
            return _survey(opener, charset, title)
        except UnicodeDecodeError:
            if charset.name != "utf-8":
                raise CharsetError("charset", f"it begins as {charset.name} but does not stay so") from None
        charset = _other_charset(opener)
        try:
            return _survey(opener, charset, title)
        except UnicodeDecodeError:
            raise CharsetError("charset", f"parts of it are {charset.name}, parts are not") from None
    except CharsetError as error:
        return _reject(error.fault, f"the text cannot be read: {error}; export the chat again or save it as UTF-8")


def chunks(opener: OpenStream, charset: Charset) -> Iterator[str]:
    """The text in parts of whole lines, each with one line break before every line and none at its end.

    In all charsets but the wide ones a line break is one byte that is part of no other character, so bytes are cut at
    it and decoded in one go; that takes half the time of decoding while reading.
    """
    wide = charset.name.startswith(("utf-16", "utf-32"))
    with opener() as file:
        source: Any = io.TextIOWrapper(file, charset.name, charset.errors) if wide else file
        while part := source.read(CHUNK):
            rest = source.readline(LONGEST)
            if len(rest) == LONGEST:
                raise CharsetError("binary", f"a line is longer than {LONGEST:,} characters")
            part += rest
            text: str = part if wide else part.decode(charset.name, charset.errors)
            if "\r" in text:
                text = text.replace("\r\n", "\n").replace("\r", "\n")
            yield "\n" + text.removesuffix("\n")


def messages(format_: FormatGuess) -> Iterator[tuple[str, ...]]:
    """The PARTS of each message of a chat, as `beginnings` splits it; second and half of the day may be None."""
    pieces = map(format_.beginnings.split, format_.text())
    return itertools.chain.from_iterable(zip(*[iter(block)] * PARTS, strict=True) for block in _blocks(pieces))


def _blocks(pieces: Iterable[list[str]]) -> Iterator[list[str]]:
    """The parts of complete messages: the last message of a piece may continue in the next."""
    last: list[str] = []
    for continued, *block in pieces:
        if last:
            last[-1] += continued
            if block:
                yield last
        if block:
            last = block[-PARTS:]
            del block[-PARTS:]
            yield block
    if last:
        last[-1] = last[-1].rstrip("\n")
        yield last


def declared_charset(opener: OpenStream) -> Charset:
    """UTF-16 and UTF-32 by their byte order mark or zero bytes, else UTF-8, which the first pass proves."""
    with opener() as file:
        head = file.read(4096)
    for mark, name in _MARKS:
        if head.startswith(mark):
            return Charset(name)
    if b"\0" in head:
        line_end = head.rfind(b"\n")
        try:
            return Charset(decode(head[: line_end - line_end % 2] if line_end > 0 else head).charset)
        except CharsetError:
            pass  # zero bytes, but not those of UTF-16
    return Charset("utf-8")


def _other_charset(opener: OpenStream) -> Charset:
    """Damaged UTF-8, or the charset of the lines beyond ASCII; raises CharsetError."""
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    valid = damaged = 0
    telling: list[bytes] = []
    with opener() as file:
        while data := file.read(CHUNK) + file.readline(CHUNK):
            text = decoder.decode(data)
            broken = len(re.findall("[\udc80-\udcff]", text))
            damaged += broken
            valid += len(re.findall("[^\0-\x7f]", text)) - broken
            if sum(map(len, telling)) < SAMPLE:
                telling += [line for line in data.splitlines(keepends=True) if not line.isascii()]
    if damaged * 3 < valid:
        return Charset("utf-8", "replace")
    guess = decode(b"".join(telling)[:SAMPLE])
    if guess.rivals:
        raise CharsetError("charset", f"not UTF-8, and could be {guess.charset} as well as {' or '.join(guess.rivals)}")
    return Charset("utf-8", "replace") if guess.charset.startswith(MIXED) else Charset(guess.charset)


def _survey(opener: OpenStream, charset: Charset, title: str) -> FormatGuess | Failure:
    form: MessageFormat | None = None
    orders, halves = DateOrderVotes(), DayHalves()
    signature = f"] {title}: "
    title_speaks = False
    lines = silence = size = 0
    stray_text = False
    buffer: list[str] = []
    for chunk in chunks(opener, charset):
        size += len(chunk)
        if size <= _MAX_BUFFERED:
            buffer.append(chunk)
        else:
            buffer.clear()
        if form is None:
            form, before = _find_first(chunk)
            lines += before.count("\n")
            stray_text = stray_text or bool(before.strip())
        if form:
            dates = form.dates.findall(chunk)
            orders.add(dates)
            halves.add(form.messages.findall(chunk) if form.has_half else ())
            silence = 0 if dates else silence + len(chunk)
            if silence > LONGEST:
                raise CharsetError("binary", f"there are {LONGEST:,} characters without a message among them")
            title_speaks = title_speaks or (form.style == "bracket" and _has_sender(chunk, signature))
    if form is None:
        if not lines:
            return _reject("empty", "the file is empty; export the chat again")
        return _reject("not_a_chat", f"none of its {lines} lines begins like a WhatsApp message; is it an export?")
    text = partial(iter, buffer) if buffer else partial(chunks, opener, charset)
    guess = FormatGuess(
        charset, form, orders.decide(), orders, title_speaks, lines, stray_text, {}, form.messages, text
    )
    return _with_halves(guess, halves) if form.has_half else guess


def _with_halves(guess: FormatGuess, halves: DayHalves) -> FormatGuess | Failure:
    """The guess with what the words beside its times mean."""
    meanings = halves.decide()
    if meanings is None:
        return _reject(UNSURE_HALF, _UNSURE_HALF)
    rare = halves.rare
    form = guess.form.with_halves(halves.counts.keys() - rare - {""}) if rare else guess.form
    return replace(guess, halves=meanings, beginnings=form.messages)


def _find_first(chunk: str) -> tuple[MessageFormat | None, str]:
    """The format of the first message in a chunk, and the text before it; without a message, all of the chunk."""
    form = find_form(chunk)
    first = form.messages.search(chunk) if form else None
    return form, chunk[: first.start()] if first else chunk


def _has_sender(chunk: str, signature: str) -> bool:
    """Whether a message has this signature and isn't one of WhatsApp's own, which have a mark before their text."""
    position = chunk.find(signature)
    while position >= 0:
        end = position + len(signature)
        if not chunk.startswith(MARK, end):
            return True
        position = chunk.find(signature, end)
    return False


def _reject(fault: str, message: str) -> Failure:
    return Failure("", fault, message, whole_unit=True)
