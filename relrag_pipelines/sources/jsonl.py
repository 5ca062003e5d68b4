"""JSON Lines: one object per line with the universal fields, for sources that have no kind of their own.

| field | type | meaning |
|---|---|---|
| `id` | string or whole number, required | unique in the file; the record is `jsonl:<source>:<id>` |
| `text` | string | the whole text |
| `timestamp` | string | ISO 8601; without a zone in the source's time zone; a date alone is a day without a time |
| `ts` | whole number | the same as seconds since 1970, UTC; `timestamp` wins |
| `subject` or `title`, `from`, `thread_id`, `parent_ref`, `content_type`, `file_name`, `source_uri`, `language`, \
`client_id`, `project_id` | string | as in docs/records.md |
| `to`, `participants` | list of strings, or one | as in docs/records.md |
| `numbers` | list of strings, or one | as in docs/records.md; without it those that are found in `text` |
| `parent_asset_id` | string | the `id` of another line of the source, or `<kind>:...` for a record of that kind |
| `parent_source_id` | string | the older name of `parent_asset_id`, read where that is missing |
| `index_in_parent`, `total_siblings` | whole number | place among the parts of the parent, from 0; how many there are |
| `rag_source_type` | string | email, email_attachment, ... in either case |
| `pages` | list of `{number, start, end}` | offsets in code points |
| `people` | list of `{role, name, person_id}` | people that the source knows; person_id may be left out |
| `extra` | object | anything else |

null means absent. A key that is not in the table is kept in `extra` under its name, and so is a field of the wrong
type, which is a failure as well; the rest of the line is read. Of two lines with one id the first counts. Half of a
surrogate pair becomes U+FFFD, since no file can hold it. The file is streamed; only the ids seen are remembered.

A record that is gone from the file is deleted. A file that holds a part of the time only says so in a line of its own,
`{"covers": {"from": "2024-01-01", "to": "2024-03-31"}}`, both ends included and either one left out for no bound:
what the file held before of any other time is kept, and only what is gone from within that span is deleted.
"""

from __future__ import annotations

import codecs
import json
import math
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO
from zoneinfo import ZoneInfo

import orjson

from relrag_pipelines.files.regular_files import open_plain
from relrag_pipelines.records import Failure, Json, Record
from relrag_pipelines.sources import KINDS, CoveredInterval, ReadContext, Unit
from relrag_pipelines.sources.formats.json_fields import READERS, WrongValueError, native_id, type_of
from relrag_pipelines.text import reference_numbers

MAX_LINE = 32 * 2**20
"""Longest line that is read, bytes."""
SUFFIXES = (".jsonl", ".ndjson")

_DAY = 86_400
_SURROGATES = re.compile("[\ud800-\udfff]")


class _BadLineError(Exception):
    """A line that is not a record. `fault` is the fault word; the message says what is wrong and what to do."""

    def __init__(self, fault: str, message: str) -> None:
        super().__init__(message)
        self.fault = fault


_CUT_OFF = ("not_json", "charset")
"""faults of a last line that may be truncated"""


def read(unit: Unit, reading: ReadContext) -> Iterator[Record | Failure | CoveredInterval]:
    """The records of a file in the order of its lines, each preceded by the failures of its fields."""
    seen: set[str] = set()
    with open_plain(unit.file) as file:
        if file.peek(2)[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            yield Failure("", "charset", "the file is UTF-16; save it as UTF-8", whole_unit=True)
            return
        for number, line in _lines(file):
            yield from _read_line(line, number, unit, reading, seen)


def _read_line(
    line: bytes | None, number: int, unit: Unit, reading: ReadContext, seen: set[str]
) -> Iterator[Record | Failure | CoveredInterval]:
    """The record or interval of a line, after the failures of its fields; its id is added to `seen`."""
    faults: list[tuple[str, str]] = []
    try:
        fields = _parse(line)
        if "covers" in fields and "id" not in fields:
            yield _coverage(fields["covers"], number, reading)
            return
        record = _record(fields, unit, reading, faults)
        if record.source_id in seen:
            raise _BadLineError("duplicate_id", "an earlier line has the same id and counts; give each its own")
    except _BadLineError as error:
        cut_off = error.fault in _CUT_OFF and line is not None and not line.endswith(b"\n")
        why = "; the file may be cut off there, so nothing that is gone is deleted" if cut_off else ""
        yield Failure(f"line {number}", error.fault, f"{error}{why}", whole_unit=cut_off)
        return
    seen.add(record.source_id)
    for fault, message in faults:
        yield Failure(f"line {number}", fault, message)
    yield record


def recognise(file: Path) -> bool:
    """Whether the file is named as JSON Lines and its first line is an object with an id and a text."""
    if file.suffix.lower() not in SUFFIXES:
        return False
    with open_plain(file) as opened:
        for _, line in _lines(opened):
            try:
                item = _parse(line)
            except _BadLineError:
                return False
            return "id" in item and "text" in item
    return False


def _lines(file: BinaryIO) -> Iterator[tuple[int, bytes | None]]:
    """Line numbers from 1 and lines that are not blank; None for one that is longer than MAX_LINE."""
    number = 0
    while line := file.readline(MAX_LINE + 1):
        number += 1
        if len(line) > MAX_LINE and not line.endswith(b"\n"):
            while len(line) > MAX_LINE and not line.endswith(b"\n"):
                line = file.readline(MAX_LINE + 1)
            yield number, None
            continue
        if number == 1:
            line = line.removeprefix(codecs.BOM_UTF8)
        if not line.isspace():
            yield number, line


def _parse(line: bytes | None) -> Json:
    """The object on a line. Raises _BadLineError."""
    if line is None:
        raise _BadLineError("too_long", f"the line has more than {MAX_LINE} bytes; split its text into several records")
    try:
        item = orjson.loads(line)
    except orjson.JSONDecodeError:
        item = _parse_with_halves(line)
    if type(item) is not dict:
        raise _BadLineError("not_object", f"found {type_of(item)}; write one object a line: {{...}}")
    return item


def _parse_with_halves(line: bytes) -> Any:
    """Parses JSON with halves of surrogate pairs, as written by programs that cut text between UTF-16 units."""
    try:
        text = line.decode()
        if "\\u" in text:
            return orjson.loads(_SURROGATES.sub("\ufffd", json.dumps(json.loads(text), ensure_ascii=False)))
    except UnicodeDecodeError as error:
        why = f"byte {error.start + 1} of the line is not UTF-8; save the file as UTF-8"
        raise _BadLineError("charset", why) from None
    except (ValueError, RecursionError):
        pass
    raise _BadLineError("not_json", "the line is not JSON; write one whole object per line, without line breaks in it")


def _record(item: Json, unit: Unit, reading: ReadContext, faults: list[tuple[str, str]]) -> Record:
    """The record of an object; `faults` gets what is wrong with single fields. Raises _BadLineError."""
    try:
        name = native_id(item.pop("id", None))
    except WrongValueError as wrong:
        raise _BadLineError(wrong.fault, f"id: {wrong}") from None
    fields, extra = _fields(item, faults)
    _rename_fields(fields, extra)
    _check_pages(item, fields, extra, faults)
    fields["ts"], fields["date_quality"] = _when(fields.pop("timestamp", None), fields.get("ts"), reading.timezone)
    if "parent_asset_id" in fields:
        fields["parent_asset_id"] = _parent(fields["parent_asset_id"], reading)
    if "numbers" not in fields:
        fields["numbers"] = reference_numbers.find_reference_numbers(fields.get("text", ""))
    fields["extra"] = _check_depth(extra | fields["extra"] if "extra" in fields else extra)
    return Record(name, asset_id=f"jsonl:{reading.source}:{name}", locations=[f"{unit.path}#{name}"], **fields)


def _rename_fields(fields: dict[str, Any], extra: Json) -> None:
    """Replaces alternative and older names of fields by those of Record; a title beside a subject goes to `extra`."""
    if "title" in fields:
        title = fields.pop("title")
        if fields.setdefault("subject", title) != title:
            extra["title"] = title
    if "from" in fields:
        fields["from_"] = fields.pop("from")
    if "rag_source_type" in fields:
        fields["rag_source_type"] = fields["rag_source_type"].strip().lower()
    parent_source_id = fields.pop("parent_source_id", None)
    if parent_source_id is not None:
        fields.setdefault("parent_asset_id", parent_source_id)


def _check_pages(item: Json, fields: dict[str, Any], extra: Json, faults: list[tuple[str, str]]) -> None:
    """Moves pages that reach beyond the text to `extra`, with a fault."""
    if all(page.start <= page.end <= len(fields.get("text", "")) for page in fields.get("pages", ())):
        return
    faults.append(("wrong_type", "pages: found offsets outside the text, wanted start <= end <= its length"))
    del fields["pages"]
    extra["pages"] = item["pages"]


def _coverage(covers: Any, number: int, reading: ReadContext) -> CoveredInterval | Failure:
    """The interval that the file covers. If it cannot be read, no records missing from the file are deleted."""
    faults: list[tuple[str, str]] = []
    if type(covers) is dict and covers and covers.keys() <= {"from", "to"}:
        try:
            since, until = (_end(covers.get(name), reading) for name in ("from", "to"))
        except WrongValueError as wrong:
            faults.append((wrong.fault, str(wrong)))
        else:
            return CoveredInterval(None, since and since[0], until and until[0] + (1 if until[1] == "exact" else _DAY))
    fault = faults[0][1] if faults else "wanted an object with from, to or both"
    why = f"covers: {fault}; until that is mended nothing that is gone from the file is deleted"
    return Failure(f"line {number}", "covers", why, whole_unit=True)


def _end(value: Any, reading: ReadContext) -> tuple[int, str] | None:
    if value is None:
        return None
    seconds, quality = _when(READERS["timestamp"](value), None, reading.timezone)
    return (seconds, quality) if seconds is not None else None


def _fields(item: Json, faults: list[tuple[str, str]]) -> tuple[dict[str, Any], Json]:
    """The known fields with valid values, and all others."""
    fields: dict[str, Any] = {}
    extra: Json = {}
    for name, value in item.items():
        reader = READERS.get(name)
        if reader is None:
            extra[name] = value
        elif value is not None:
            try:
                fields[name] = reader(value)
            except WrongValueError as wrong:
                faults.append((wrong.fault, f"{name}: {wrong}; the value is kept in extra"))
                extra[name] = value
    return fields, extra


def _when(timestamp: tuple[datetime, bool] | None, ts: int | None, timezone: str) -> tuple[int | None, str]:
    """Seconds since 1970, and date_quality. A day is its midnight in UTC, so that it stays in its month."""
    if timestamp is None:
        return ts, "none" if ts is None else "exact"
    moment, has_time = timestamp
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=ZoneInfo(timezone) if has_time else UTC)
    return math.floor(moment.timestamp()), "exact" if has_time else "day"


def _parent(parent_id: str, reading: ReadContext) -> str:
    kind, colon, _ = parent_id.partition(":")
    return parent_id if colon and kind in KINDS else f"jsonl:{reading.source}:{parent_id}"


def _check_depth(extra: Json) -> Json:
    """Returns `extra`. Raises _BadLineError if it is nested too deep to be written, though it was read."""
    if extra:
        try:
            orjson.dumps([[[[extra]]]])
        except TypeError:
            why = "objects within objects beyond 250 levels; write the innermost as text"
            raise _BadLineError("too_deep", why) from None
    return extra
