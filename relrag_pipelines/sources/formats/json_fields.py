"""The universal fields in JSON, checked and converted.

A reader takes one value that isn't null and returns what the record holds, or raises WrongValueError, whose message
states the type that was found and the one that is expected, never the value.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from relrag_pipelines.records import Json, NamedPerson, Page

ROLES = ("sender", "recipient", "participant", "mentioned", "owner")

_TYPES = {
    str: "a string",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    list: "a list",
    dict: "an object",
    type(None): "null",
}


class WrongValueError(Exception):
    """A value that does not fit its field; the message says what was found and what is expected."""

    def __init__(self, message: str, fault: str = "wrong_type") -> None:
        super().__init__(message)
        self.fault = fault


def type_of(value: Any) -> str:
    """The type of a JSON value, in words."""
    return _TYPES[type(value)]


def native_id(value: Any) -> str:
    """An id: a string, or a whole number as its digits."""
    if type(value) is int:
        return str(value)
    if value is None or value == "":
        raise WrongValueError("no id; give each line one of its own", "missing_id")
    return string(value)


def string(value: Any) -> str:
    """A string as it is."""
    if type(value) is not str:
        raise WrongValueError(f"found {type_of(value)}, wanted a string")
    return value


def _strings(value: Any) -> list[str]:
    if type(value) is str:
        return [value]
    values = _list(value, "a list of strings")
    if odd := [part for part in values if type(part) is not str]:
        raise WrongValueError(f"found {type_of(odd[0])} in the list, wanted strings")
    return values


def _integer(value: Any) -> int:
    if type(value) is not int or not 0 <= value < 2**63:
        raise WrongValueError(f"found {_size(value)}, wanted a whole number from 0 to 2^63 - 1")
    return value


def _seconds(value: Any) -> int:
    if type(value) is not int or not -(2**63) <= value < 2**63:
        raise WrongValueError(f"found {_size(value)}, wanted whole seconds")
    return value


def _size(value: Any) -> str:
    return "a number beyond the range" if type(value) is int else type_of(value)


def _moment(value: Any) -> tuple[datetime, bool]:
    """A time, and whether it is more precise than a day."""
    try:
        text = string(value).strip()
        return datetime.fromisoformat(text), len(text) > len("2025-01-14")
    except ValueError:
        advice = "not an ISO 8601 date; write one as 2025-01-14T09:30:00+01:00"
        raise WrongValueError(advice, "bad_timestamp") from None


def _pages(value: Any) -> list[Page]:
    return [_page(page) for page in _list(value, "a list of pages")]


def _page(value: Any) -> Page:
    if type(value) is not dict:
        raise WrongValueError(f"found {type_of(value)} in the list, wanted {{number, start, end}}")
    return Page(*(_integer(value.get(name)) for name in ("number", "start", "end")))


def _people(value: Any) -> list[NamedPerson]:
    return [_person(person) for person in _list(value, "a list of people")]


def _person(value: Any) -> NamedPerson:
    if type(value) is not dict:
        raise WrongValueError(f"found {type_of(value)} in the list, wanted {{role, name, person_id}}")
    role, person_id = value.get("role"), value.get("person_id")
    if role not in ROLES:
        raise WrongValueError(f"found another role, wanted one of {', '.join(ROLES)}")
    return NamedPerson(role, string(value.get("name")), None if person_id is None else _integer(person_id))


def _object(value: Any) -> Json:
    if type(value) is not dict:
        raise WrongValueError(f"found {type_of(value)}, wanted an object")
    return value


def _list(value: Any, expected: str) -> list[Any]:
    if type(value) is not list:
        raise WrongValueError(f"found {type_of(value)}, wanted {expected}")
    return value


READERS: dict[str, Callable[[Any], Any]] = {
    "text": string,
    "timestamp": _moment,
    "ts": _seconds,
    "from": string,
    "to": _strings,
    "participants": _strings,
    "subject": string,
    "title": string,
    "thread_id": string,
    "parent_asset_id": string,
    "parent_source_id": string,
    "parent_ref": string,
    "index_in_parent": _integer,
    "total_siblings": _integer,
    "content_type": string,
    "file_name": string,
    "source_uri": string,
    "language": string,
    "client_id": string,
    "project_id": string,
    "rag_source_type": string,
    "pages": _pages,
    "numbers": _strings,
    "people": _people,
    "extra": _object,
}
"""Field -> its reader; what is not here is kept in `extra`."""
