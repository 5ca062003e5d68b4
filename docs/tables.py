"""The pages on stored tables and on the journal, from their declarations."""

import pyarrow as pa

from relrag_pipelines.journal import entry_kinds
from relrag_pipelines.records import TABLES, NamedPerson, Page, SpeechSegment, UnitMonth
from relrag_pipelines.stores.catalog import EXTRA_COLUMNS
from relrag_pipelines.stores.table_schema import columns

_ABOUT = """\
`private/journal.jsonl` holds what the owner states. Nothing else does, so it is in every backup. Each line is an entry:
`{"entry": number, "at": time, "kind": name, "said": fields}`. Entries are appended under the writer's lock and are on
disk before a command ends; a last line that a power cut tore counts for nothing. Numbers rise and are never given
twice: of an entry that was forgotten the number stays, with the kind `forgotten`. A generation's MANIFEST names the
last entry that it was made with (`journal`), so that a reader can lay later ones over it.
"""


def records() -> str:
    """docs/records.md."""
    lines = ["# Tables", "", "Generated from `relrag_pipelines/records.py` by `make docs`; do not edit.", ""]
    lines += [
        "Times are UTC. A field without `null` always has a value, if only an empty one. `created_at` is when a row"
    ]
    lines += [
        "with that key was first published; `lake_month` is `<source>/<YYYY-MM>` of the lake that it comes from.",
        "",
    ]
    for table in TABLES.values():
        lines += [f"## {table.name}", "", " ".join((table.row.__doc__ or "").split()), ""]
        places = ", ".join(place if place == "catalog" else f"`{place}`" for place in table.place.split(", "))
        key = ", ".join(f"`{name}`" for name in table.key)
        lines += [f"Where: {places}. One row for each {key}; sorted by them.", ""]
        lines += _fields(table.row)
        if extra := EXTRA_COLUMNS.get(table.name):
            lines += [f"In the catalog also: {', '.join(f'`{_column_name(column)}`' for column in extra)}.", ""]
    lines += ["## Parts of rows", ""]
    for part in (Page, SpeechSegment, NamedPerson, UnitMonth):
        lines += [f"### {part.__name__}", "", (part.__doc__ or "").strip(), "", *_fields(part)]
    return "\n".join(lines)


def journal() -> str:
    """docs/journal.md."""
    lines = ["# The journal", "", "Generated from `relrag_pipelines/journal/` by `make docs`; do not edit.", ""]
    lines += [_ABOUT]
    for name, row in entry_kinds.KINDS.items():
        lines += [f"## {name}", "", " ".join((row.__doc__ or "").split()), "", *_fields(row)]
    return "\n".join(lines)


def _fields(row: type) -> list[str]:
    """The fields of a row type as lines of a Markdown table."""
    lines = ["| field | type | meaning |", "|---|---|---|"]
    for column in columns(row):
        kind = "JSON" if column.json else _type_name(column.type)
        lines.append(f"| `{column.name}` | {kind}{' or null' if column.nullable else ''} | {column.meaning} |")
    return [*lines, ""]


def _column_name(column: str) -> str:
    """The name of a column that is written as in DDL."""
    return column.split('"')[1]


def _type_name(kind: pa.DataType) -> str:
    if pa.types.is_list(kind):
        return f"list of {_type_name(kind.value_type)}"
    return ", ".join(part.name for part in kind) if pa.types.is_struct(kind) else str(kind)
