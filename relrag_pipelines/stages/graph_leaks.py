"""Blanks texts of a GraphRAG index that contain a replaced value; none should."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from relrag_pipelines.stages.leak_rules import LeakRules

if TYPE_CHECKING:
    from relrag_pipelines.graphrag.schema import Tables

BLANK = "withheld"


def blank(tables: Tables, rules: LeakRules) -> int:
    """Blanks, in place, each string that holds a value which no channel shows; returns how many different ones.

    Equal strings become equal ones, so that what refers to a title still does.
    """
    from relrag_pipelines.graphrag.schema import to_arrow  # brings pandas, which a sync without an index does not need

    blanks: dict[str, str] = {}

    def clean(value: Any) -> Any:
        if isinstance(value, str) and value not in blanks and rules.hidden_everywhere(value):
            blanks[value] = f"{BLANK} {len(blanks) + 1}"
        if isinstance(value, str):
            return blanks.get(value, value)
        if isinstance(value, dict):
            return {name: clean(element) for name, element in value.items()}
        return [clean(element) for element in value] if isinstance(value, list | tuple) else value

    for name, table in tables.items():
        for row in rules.leaks(to_arrow(name, table)):
            for column in table.columns:
                table.at[table.index[row], column] = clean(table.at[table.index[row], column])
    return len(blanks)
