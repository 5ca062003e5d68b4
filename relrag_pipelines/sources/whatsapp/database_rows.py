"""Messages of WhatsApp's databases as records, with the ids that the same messages have in an exported text.

An exported text names a message by nothing but its chat, its local time, its sender and its words, so these make the id
in both. The time has minutes in texts of Android, as `msgstore` makes them, and seconds in those of iOS. What a text
lacks (whom a message answers, reactions, exact times) comes from the database.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from relrag_pipelines.records import Failure, Json, NamedPerson, Record
from relrag_pipelines.sources import ReadContext
from relrag_pipelines.sources.chats.message import SentFile, file_records, new_record
from relrag_pipelines.sources.whatsapp import chat_name as titles

_QUARTER = 900
"""seconds; zones have changed their offsets at full quarters of an hour since 1972"""
_TIMES = [f"{hour:02}{minute:02}00" for hour in range(25) for minute in range(60)]
_LAST_SECOND = 253_402_300_799 - 86_400


class StoredMessage(NamedTuple):
    """A message as a row of a database."""

    row: int
    chat: int
    milliseconds: int
    """since 1970"""
    sender: Any
    """what the database calls the account by; None for a notice"""
    text: str
    key: str
    """WhatsApp's own id"""
    quoted: str | None = None
    """key of the message that it answers"""
    extra: Json | None = None
    files: Sequence[SentFile] = ()


MessageRow = tuple[int, int, int, Any, str, str, str | None, Json | None, Sequence[SentFile]]
"""what a StoredMessage is: a plain tuple is quicker to make"""


@dataclass(frozen=True)
class StoredChat:
    """A chat of a database."""

    title: str
    quoted: Container[str] = field(default_factory=frozenset)
    """keys of its messages that others answer"""


@dataclass(frozen=True)
class Account:
    """Who wrote messages."""

    name: str
    people: tuple[NamedPerson, ...] = ()
    """the name together with the number, which the name alone does not tell"""


class _LocalTimes:
    """Local times as ids have them: YYYYMMDDTHHMMSS, or with 00 for the seconds."""

    def __init__(self, timezone: str, *, with_seconds: bool) -> None:
        self._zone, self._with_seconds = ZoneInfo(timezone), with_seconds
        self._quarters: dict[int, tuple[str, int]] = {}
        """quarter of an hour since 1970 -> its local day and a T, and the minute of that day at which it begins"""

    def digits(self, ts: int) -> str:
        """Local day and time of a second since 1970."""
        quarter, second = divmod(ts, _QUARTER)
        day, minute = self._quarters.get(quarter) or self._quarter(quarter)
        time = f"{day}{_TIMES[minute + second // 60]}"
        return f"{time[:-2]}{second % 60:02}" if self._with_seconds else time

    def _quarter(self, number: int) -> tuple[str, int]:
        if len(self._quarters) > 10_000:
            self._quarters.clear()
        local = datetime.fromtimestamp(number * _QUARTER, self._zone)
        quarter = self._quarters[number] = local.strftime("%Y%m%dT"), local.hour * 60 + local.minute
        return quarter


class Transcript:
    """Makes the records of all chats of a database, whose messages come chat by chat in the order of their times."""

    def __init__(
        self, unit: str, reading: ReadContext, chat: Callable[[int], StoredChat], account: Callable[[Any], Account],
        *, with_seconds: bool,
    ) -> None:  # fmt: skip
        self._unit, self._reading, self._find_chat, self._accounts = unit, reading, chat, _Accounts(account)
        self._times = _LocalTimes(reading.timezone, with_seconds=with_seconds)

    def records(self, messages: Iterator[MessageRow]) -> Iterator[Record | Failure]:
        """The records of messages and of files that were sent with them."""
        for chat_row, rows in itertools.groupby(messages, key=operator.itemgetter(1)):
            yield from self._chat_records(chat_row, rows)

    def _chat_records(self, chat_row: int, messages: Iterator[MessageRow]) -> Iterator[Record | Failure]:
        """The records of the messages of a chat. This is the hot loop."""
        hash_id, digits_of = self._reading.hash, self._times.digits
        chat = self._find_chat(chat_row)
        chat_id = hash_id(titles.chat_key(chat.title))
        thread, location = f"whatsapp:{chat_id}", f"{self._unit}#C{chat_row}M"
        today = ""
        counts: dict[str, int] = {}
        id_by_key: dict[str, str] = {}
        for row, _, milliseconds, sender, text, key, quoted, extra, files in messages:
            ts = milliseconds // 1000
            if not 0 <= ts <= _LAST_SECOND:
                yield Failure(f"message {row}", "date", "there is no such time; the message is left out")
                continue
            digits = digits_of(ts)
            if not digits.startswith(today) or not today:
                today, counts = digits[:9], {}
            account = None if sender is None else self._accounts[sender]
            content = f"{account.name}: {text}" if account else text
            source_id = f"{chat_id}:{digits}:{hash_id(content)}"
            counts[source_id] = count = counts.get(source_id, 0) + 1
            if count != 1:
                source_id = f"{source_id}:{count}"
            record = new_record(source_id, text, f"{location}{row}", extra or {})
            record.rag_source_type, record.content_type = "whatsapp", "text/plain"
            record.subject, record.ts, record.thread_id = chat.title, ts, thread
            _set_sender(record, account)
            if key in chat.quoted:
                id_by_key[key] = source_id
            if quoted and quoted in id_by_key:
                record.parent_asset_id = f"whatsapp:{id_by_key[quoted]}"
            further = file_records(record, f"whatsapp:{source_id}", files, hash_id) if files else ()
            yield record
            yield from further


class _Accounts(dict[Any, Account]):
    """The accounts of a database by their row, each looked up once."""

    def __init__(self, find: Callable[[Any], Account]) -> None:
        super().__init__()
        self._find = find

    def __missing__(self, row: Any) -> Account:
        account = self[row] = self._find(row)
        return account


def _set_sender(record: Record, account: Account | None) -> None:
    """Says who wrote a message; nobody wrote a notice."""
    if account is None:
        record.extra["system"] = True
        return
    record.from_ = account.name
    if account.people:
        record.people = list(account.people)


def number_of(account: str) -> str:
    """The phone number of an account such as 420601234567@s.whatsapp.net; empty if it hides it."""
    user, _, server = account.partition("@")
    digits = user.partition(":")[0].partition(".")[0]
    return f"+{digits}" if server in ("s.whatsapp.net", "c.us") and digits.isdigit() else ""


def written_number(number: str) -> str:
    """A number as WhatsApp shows it: +420 601 234 567."""
    import phonenumbers  # the numbering plans take a while to load, and most senders have a name

    try:
        parsed = phonenumbers.parse(number)
    except phonenumbers.NumberParseException:
        return number
    written: str = phonenumbers.format_number(parsed, phonenumbers.PhoneNumberFormat.INTERNATIONAL)
    return written


def account(jid: str, name: str) -> Account:
    """Who an account is, by the name that the address book or its holder gives it, else by its number."""
    number = number_of(jid)
    shown = name or (written_number(number) if number else jid)
    identifier = f"{shown} {number}" if number and name else jid if not number and name else ""
    return Account(shown, (NamedPerson("sender", identifier),) if identifier else ())


def poll_text(question: str, options: Sequence[tuple[Any, Any]]) -> str:
    """A poll as an exported text has it; each option with its votes."""
    lines = [f"OPTION: {option} ({votes or 0} {'vote' if votes == 1 else 'votes'})" for option, votes in options]
    return "\n".join(["POLL:", question, *lines])


def place_text(latitude: Any, longitude: Any, name: str = "") -> str:
    """A location as an exported text has it."""
    address = f"https://maps.google.com/?q={latitude},{longitude}"
    return f"{name}: {address}" if name else f"location: {address}"
