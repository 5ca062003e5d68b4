"""State facts about a person."""

from __future__ import annotations

import datetime
import re
from pathlib import Path

from relrag_pipelines.identity.journal_statements import StatedFact
from relrag_query.people.indexed_person import PeopleError
from relrag_query.statements.record import StatementReceipt, record, writable_archive
from relrag_query.statements.type_names import type_name

_DATE = re.compile(r"(?:\d{4}|\d{4}-\d\d|\d{4}-\d\d-\d\d)")
_DAY = re.compile(r"(?:\d{4}-)?\d\d-\d\d")
_DAY_PREDICATES = ("birthday", "died", "anniversary")
"""predicates whose value is a day"""


def add_fact(
    person: str,
    predicate: str,
    value: str,
    valid_from: str | None = None,
    valid_to: str | None = None,
    *,
    config: Path | None = None,
    wait: float = 0,
) -> StatementReceipt:
    """States a fact of a person: birthday, occupation, lives_in ...

    `valid_from` and `valid_to` are a year, a month or a day. Raises PeopleError for an invalid day or date.
    """
    predicate = type_name(predicate)
    _require_dates(predicate, value, valid_from, valid_to)
    with writable_archive(config, wait) as archive, archive.people() as people:
        target = people.find_one(person)
        return record(archive, (target,), [StatedFact(target.person_id, predicate, value, valid_from, valid_to)])


def _require_dates(predicate: str, value: str, valid_from: str | None, valid_to: str | None) -> None:
    if predicate == "age":
        raise PeopleError("an age is worked out from the birthday; state that", code="age_stated")
    if predicate in _DAY_PREDICATES and not (
        _DAY.fullmatch(value) and _is_date(value if len(value) > 5 else f"2000-{value}")
    ):
        raise PeopleError(
            f'{predicate} is "{value}"; write 1986-05-02, or 05-02 where the year is not known',
            code="day_wrong",
            value=value,
        )
    for name, date in (("valid from", valid_from), ("valid to", valid_to)):
        if date is not None and not (_DATE.fullmatch(date) and _is_date(f"{date}-01-01"[:10])):
            raise PeopleError(f'{name} is "{date}"; write 2024, 2024-03 or 2024-03-15', code="date_wrong", text=date)


def _is_date(text: str) -> bool:
    """Whether the text is an existing date."""
    try:
        return bool(datetime.date.fromisoformat(text))
    except ValueError:
        return False
