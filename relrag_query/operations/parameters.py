"""Parameters that several operations share: type, limits, help and examples of each.

Imports little besides pydantic, so that the help of a command stays fast.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from relrag_query.retrieval import attachment_filter
from relrag_query.service.cursors import MAX_ENTRIES, PATTERN

_YEAR = r"[12]\d{3}"
_LEAP_YEAR = r"([12]\d(0[48]|[2468][048]|[13579][26])|(1[26]|2[048])00)"
_LATE_DAY = rf"{_YEAR}-((0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31)|{_LEAP_YEAR}-02-29"
"""a day behind the 28th"""
_EARLY_DAY = r"-(0[1-9]|1\d|2[0-8])"
_MONTH = rf"{_YEAR}-(0[1-9]|1[0-2])"
DATE_PATTERN = rf"^({_YEAR}|{_MONTH}({_EARLY_DAY})?|{_LATE_DAY})$"
"""a year, month or day that the calendar has, from the year 1000 to 2999"""
_CLOCK = r"([01]\d|2[0-3]):[0-5]\d"
TIME_PATTERN = rf"^({_MONTH}{_EARLY_DAY}|{_LATE_DAY})T{_CLOCK}(:[0-5]\d([.]\d{{1,6}})?)?(Z|[+-]{_CLOCK})$"
"""a time of such a day with its zone, as RFC 3339 has it; seconds may be left out"""

_Date = Annotated[str, StringConstraints(pattern=DATE_PATTERN)]

Sources = Annotated[list[str], Field(description="Only these sources.", examples=[["mail"]])]
Kinds = Annotated[list[str], Field(description="Only these kinds of source.")]
Person = Annotated[
    str,
    Field(
        max_length=200,
        description="Only what involves this person: a name, alias or number.",
        examples=["Dana Levi"],
    ),
]
Since = Annotated[
    _Date | None, Field(description="Nothing earlier: 2024, 2024-03 or 2024-03-15.", examples=["2024-03"])
]
Until = Annotated[_Date | None, Field(description="Nothing later: 2024, 2024-03 or 2024-03-15.", examples=["2024"])]
Attachment = Annotated[
    attachment_filter.Attachment | None,
    Field(description="Only attachments of this type, and what they are attached to; any: of each type."),
]
Added = Annotated[
    Annotated[str, StringConstraints(pattern=f"{DATE_PATTERN}|{TIME_PATTERN}")] | None,
    Field(
        description="Only what was first added to the archive then or later: 2024-03-15 or 2024-03-15T10:00Z.",
        examples=["2024-03-15T10:00Z"],
    ),
]
Limit = Annotated[int, Field(ge=1, le=MAX_ENTRIES, description="At most this many entries.")]
Passages = Annotated[int | None, Field(ge=1, le=MAX_ENTRIES, description="At most this many passages.")]
Sentences = Annotated[int | None, Field(ge=1, le=MAX_ENTRIES, description="At most this many sentences and sources.")]
Related = Annotated[int, Field(ge=1, le=MAX_ENTRIES, description="At most this many related records.")]
Members = Annotated[int, Field(ge=1, le=MAX_ENTRIES, description="At most this many records, the latest ones.")]
Explored = Annotated[int, Field(ge=1, le=MAX_ENTRIES, description="At most this many records and relationships.")]
Cursor = Annotated[
    str | None, Field(pattern=PATTERN, description="`next_cursor` of the page before, to have the next one.")
]
Ref = Annotated[str, StringConstraints(min_length=1, max_length=2000)]
Attitude = Annotated[int | None, Field(ge=1, le=5, description="From 1, very negative, to 5, very positive.")]
Proximity = Annotated[int | None, Field(ge=1, le=5, description="From 1, distant, to 5, very close.")]
