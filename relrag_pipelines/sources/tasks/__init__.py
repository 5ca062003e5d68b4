"""Tasks: the Tasks.json of Google Takeout, and calendars that hold tasks alone (VTODO of RFC 5545).

A subtask is attached to its task, and all tasks of a list are a thread.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson

from relrag_pipelines.files.regular_files import open_plain
from relrag_pipelines.records import Failure, Json, Record
from relrag_pipelines.sources import ReadContext, Unit
from relrag_pipelines.sources.calendar.calendar_file import HEAD_BYTES, has_event, has_task, is_calendar, read_calendar
from relrag_pipelines.sources.calendar.event_record import TASK
from relrag_pipelines.sources.formats.members import Member, read_members
from relrag_pipelines.sources.formats.text_cleaning import clean
from relrag_pipelines.sources.formats.versions import changed
from relrag_pipelines.text import reference_numbers

__all__ = ["read", "recognise"]

MAX_BYTES = 64 * 2**20
"""Largest Tasks.json that is read; a task takes some 500 bytes."""

_LISTS = "tasks#taskLists"
_MARK = b'"tasks#taskLists"'
_SUFFIXES = (".json", ".ics")


def read(unit: Unit, reading: ReadContext) -> Iterator[Record | Failure]:
    """The tasks of a file in order, each preceded by its failures."""

    def read_member(member: Member) -> Iterator[Record | Failure]:
        if member.name.lower().endswith(".ics"):
            return read_calendar(member, reading)
        return _read_lists(member, reading)

    return read_members(unit, reading, lambda path: path.lower().endswith(_SUFFIXES), read_member)


def recognise(file: Path) -> bool:
    """Whether a file is a list of Google Tasks, or a calendar of tasks without events."""
    with open_plain(file) as opened:
        head = opened.read(HEAD_BYTES)
    if file.suffix.lower() == ".json":
        return _MARK in head
    return is_calendar(head) and has_task(head) and not has_event(head)


def _read_lists(member: Member, reading: ReadContext) -> Iterator[Record | Failure]:
    try:
        content = orjson.loads(member.read(MAX_BYTES))
    except orjson.JSONDecodeError:
        why = "it is not JSON, or was cut off; export it again. What was read of it before is kept"
        yield Failure(member.inner_path, "not_json", why, whole_unit=True)
        return
    except ValueError as error:
        yield Failure(member.inner_path, "too_large", f"{error}; exclude it", whole_unit=True)
        return
    if not isinstance(content, dict) or content.get("kind") != _LISTS:
        yield Failure(member.inner_path, "wrong_format", f'no list of tasks ("kind": "{_LISTS}")', whole_unit=True)
        return
    for task_list in _objects(content, "items"):
        items = _objects(task_list, "items")
        for number, item in enumerate(items, 1):
            yield _record(item, task_list, member, reading) or Failure(
                f"task {number}", "no_id", "the task has no id and is left out"
            )


def _objects(parent: Json, name: str) -> list[Json]:
    value = parent.get(name)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _text(item: Json, name: str) -> str:
    value = item.get(name)
    return clean(value).strip() if isinstance(value, str) else ""


def _record(item: Json, task_list: Json, member: Member, reading: ReadContext) -> Record | None:
    if not _text(item, "id"):
        return None
    title, notes, list_title = _text(item, "title"), _text(item, "notes"), _text(task_list, "title")
    is_done = item.get("status") == "completed"
    due = _text(item, "due")
    lines = [title, f"list: {list_title}" if list_title else "", f"due: {due[:10]}" if due else ""]
    text = "\n".join(line for line in [*lines, "done" if is_done else "", notes, *_links(item)] if line)
    ts, quality = _date(item)
    parent = _text(item, "parent")
    return Record(
        source_id=reading.hash(_text(item, "id")),
        text=text,
        rag_source_type=TASK,
        subject=title or None,
        ts=ts,
        date_quality=quality,
        thread_id=reading.hash(_text(task_list, "id") or list_title),
        parent_asset_id=f"tasks:{reading.hash(parent)}" if parent else None,
        content_type="application/json",
        locations=[member.location],
        numbers=reference_numbers.find_reference_numbers(text),
        extra={"list": list_title, "status": "completed" if is_done else "open"} | _changed(item),
    )


def _links(item: Json) -> list[str]:
    """Titles and addresses of the mails and documents that the task was made from."""
    links = (
        f"{_text(link, 'description') or _text(link, 'title')} {_text(link, 'link')}"
        for link in _objects(item, "links")
    )
    return [link.strip() for link in links if link.strip()]


def _date(item: Json) -> tuple[int | None, str]:
    """The day on which it is due, else the time at which it was completed or changed."""
    for name, quality in (("due", "day"), ("completed", "exact"), ("created", "exact"), ("updated", "modified")):
        moment = _moment(item.get(name))
        if moment is not None:
            return int(moment.timestamp()), quality
    return None, "none"


def _changed(item: Json) -> Json:
    moment = _moment(item.get("updated"))
    return changed(moment.timestamp()) if moment else {}


def _moment(value: Any) -> datetime | None:
    try:
        moment = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return None
    return moment if moment.tzinfo else None
