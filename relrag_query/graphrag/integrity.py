"""Checks an opened index of any version: ids that occur twice, and ids that lead to no row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pandas as pd

from relrag_pipelines.graphrag.references import REFERENCES
from relrag_query.graphrag.index import Index

_UNIQUE = (
    ("documents", "id"),
    ("text_units", "id"),
    ("entities", "id"),
    ("entities", "human_readable_id"),
    ("entities", "title"),
    ("relationships", "id"),
    ("relationships", "human_readable_id"),
    ("communities", "community"),
    ("community_reports", "community"),
    ("covariates", "id"),
    ("covariates", "human_readable_id"),
)
_ADVICE = "answers may cite the wrong record, or none; build the index again"


def problems(index: Index) -> list[str]:
    """The problems of an index's ids; the messages contain no text of the index."""
    return [*_duplicates(index), *_dangling(index)]


def _duplicates(index: Index) -> Iterator[str]:
    for table, column in _UNIQUE:
        counts = Counter(_values(index, table, column))
        if repeated := sum(count > 1 for count in counts.values()):
            yield f"{table}: {repeated:,} values of {column} stand in several rows; {_ADVICE}"


def _dangling(index: Index) -> Iterator[str]:
    for table, column, target, key in REFERENCES:
        keys = set(_values(index, target, key))
        if not keys:  # the table is missing, which is a problem of its own
            continue
        if missing := len(set(_values(index, table, column)) - keys):
            yield f"{table}: {missing:,} values of {column} lead to no row of {target}; {_ADVICE}"


_NO_VALUE = ("", "-1", "nan")
"""what is written in place of a value"""


def _values(index: Index, table: str, column: str) -> Iterator[str]:
    """Every value of a column, of lists each element; -1 and empty ones stand for none."""
    rows = index.tables.get(table)
    if rows is None or column not in rows:
        return
    for value in rows[column].tolist():
        elements = value if isinstance(value, list | tuple) or hasattr(value, "tolist") else (value,)
        for element in elements:
            if not (element is None or element is pd.NA or str(element) in _NO_VALUE):
                yield str(element)
