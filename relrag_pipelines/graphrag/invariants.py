"""Checks an index: every id exists, titles and numbers are unique, every entity has a community."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pandas as pd
import pyarrow as pa

from relrag_pipelines.graphrag.references import OWN_REFERENCES, REFERENCES
from relrag_pipelines.graphrag.schema import ALL, OPTIONAL, SCHEMAS, Tables, frame, to_arrow

_SHOWN = 3
"""ids that a violation names"""
_CITED = re.compile(r"(Entities|Relationships|Sources) \(([0-9, ]+)")
_UNIQUE = (
    *((name, "id") for name in SCHEMAS | OPTIONAL),
    ("entities", "title"),
    ("communities", "title"),
    ("community_reports", "title"),
    ("community_reports", "community"),
    ("text_unit_chunks", "text_unit_id"),
    ("report_drafts", "fingerprint"),
    ("record_texts", "record_id"),
    ("text_vectors", "text_hash"),
)


def violations(tables: Tables) -> list[str]:
    """Every invariant that an index breaks, with the ids of some rows; never with text."""
    none = {name: frame(name, {key: [] for key in OPTIONAL[name].names}) for name in OPTIONAL if name not in tables}
    tables = {**tables, **none}
    wrong = [found for name in ALL for found in _of_type(name, tables)]
    if wrong:  # the others read columns that may be missing
        return wrong
    checks: tuple[Callable[[Tables], Iterator[str]], ...] = (
        _dangling_ids,
        _duplicates,
        _wrong_numbers,
        _homeless_entities,
        _mismatches,
        _tree,
        _citations,
    )
    return [found for check in checks for found in check(tables)]


def _of_type(name: str, tables: Tables) -> Iterator[str]:
    table = tables.get(name)
    if table is None:
        yield f"{name} is missing"
    elif list(table.columns) != ALL[name].names:
        yield f"{name} has the columns {', '.join(table.columns)}"
    else:
        try:
            to_arrow(name, table)
        except pa.ArrowException:
            yield f"{name} has values of another type"


def _dangling_ids(tables: Tables) -> Iterator[str]:
    for name, column, other, key in (*REFERENCES, *OWN_REFERENCES):
        known = set(tables[other][key])
        yield from _violation(
            f"{name}.{column} leads nowhere in {other}",
            (one for one in _flat(tables[name][column]) if one not in known),
        )
    records = {*tables["entities"]["id"], *tables["relationships"]["id"]}
    yield from _violation(
        "record_texts.record_id leads nowhere",
        (one for one in tables["record_texts"]["record_id"] if one not in records),
    )
    parents = set(tables["communities"]["community"]) | {-1}
    yield from _violation(
        "communities.parent is not a community", (one for one in tables["communities"]["parent"] if one not in parents)
    )


def _duplicates(tables: Tables) -> Iterator[str]:
    for name, column in _UNIQUE:
        values = tables[name][column]
        rows = tables[name].loc[values.duplicated()]
        yield from _violation(
            f"{name}.{column} is not unique", rows["id"] if "id" in rows else values[values.duplicated()]
        )


def _wrong_numbers(tables: Tables) -> Iterator[str]:
    """Sources are cited by row, so the number of every record is its row; that of communities is theirs."""
    for name in SCHEMAS | OPTIONAL:
        numbers = tables[name]["human_readable_id"].tolist()
        if numbers != list(range(len(numbers))):
            yield f"{name}.human_readable_id is not the row"
    for name in ("communities", "community_reports"):
        if not (tables[name]["human_readable_id"] == tables[name]["community"]).all():
            yield f"{name}.human_readable_id is not the community"


def _homeless_entities(tables: Tables) -> Iterator[str]:
    members = set(_flat(tables["communities"]["entity_ids"]))
    yield from _violation(
        "entities without a community", (one for one in tables["entities"]["id"] if one not in members)
    )


def _mismatches(tables: Tables) -> Iterator[str]:
    """Both directions of a reference say the same, and counts are those of the lists that they count."""
    for name, column in (("entities", "entity_ids"), ("relationships", "relationship_ids")):
        named = _pairs(tables[name], "id", "text_unit_ids")
        if named != {(record, unit) for unit, record in _pairs(tables["text_units"], "id", column)}:
            yield f"{name}.text_unit_ids and text_units.{column} differ"
    claimed = set(zip(tables["covariates"]["text_unit_id"], tables["covariates"]["id"], strict=True))
    if claimed != _pairs(tables["text_units"], "id", "covariate_ids"):
        yield "covariates.text_unit_id and text_units.covariate_ids differ"
    if _pairs(tables["documents"], "id", "text_unit_ids") != set(
        zip(tables["text_units"]["document_id"], tables["text_units"]["id"], strict=True)
    ):
        yield "documents.text_unit_ids and text_units.document_id differ"
    entities, relationships = tables["entities"], tables["relationships"]
    degrees = pd.concat([relationships["source"], relationships["target"]]).value_counts()
    if entities["degree"].tolist() != [int(degrees.get(title, 0)) for title in entities["title"]]:
        yield "entities.degree is not the number of relationships"
    for name, counted, column in (("entities", "frequency", "text_unit_ids"), ("communities", "size", "entity_ids")):
        if tables[name][counted].tolist() != list(map(len, tables[name][column])):
            yield f"{name}.{counted} is not the number of {column}"


def _tree(tables: Tables) -> Iterator[str]:
    """Children name their parent, stand one level below it, and hold none but its entities."""
    communities = tables["communities"].to_dict("records")
    children: dict[int, set[int]] = {one["community"]: set() for one in communities}
    by_number = {one["community"]: one for one in communities}
    for one in communities:
        if one["parent"] not in by_number:
            continue
        children[one["parent"]].add(one["community"])
        above = by_number[one["parent"]]
        if one["level"] != above["level"] + 1 or not set(one["entity_ids"]) <= set(above["entity_ids"]):
            yield f"community {one['community']} is not part of its parent"
    yield from _violation(
        "communities.children are others than those with this parent",
        (one["community"] for one in communities if set(one["children"]) != children[one["community"]]),
    )


def _citations(tables: Tables) -> Iterator[str]:
    counts = {"Entities": len(tables["entities"]), "Relationships": len(tables["relationships"])}
    counts["Sources"] = len(tables["text_units"])
    reports = tables["community_reports"]
    for number, content in zip(reports["community"], reports["full_content"], strict=True):
        for dataset, cited in _CITED.findall(content):
            if any(int(one) >= counts[dataset] for one in re.findall("[0-9]+", cited)):
                yield f"the report of community {number} cites {dataset} that do not exist"


def _pairs(table: pd.DataFrame, key: str, column: str) -> set[tuple[Any, Any]]:
    return {(one, other) for one, some in zip(table[key], table[column], strict=True) for other in some}


def _flat(values: pd.Series[Any]) -> Iterator[Any]:
    for value in values:
        if isinstance(value, str | int):
            yield value
        else:
            yield from value


def _violation(what: str, rows: Iterable[Any]) -> Iterator[str]:
    found = list(dict.fromkeys(map(str, rows)))
    if found:
        yield f"{what}: {', '.join(found[:_SHOWN])}" + (f" and {len(found) - _SHOWN} more" if found[_SHOWN:] else "")
