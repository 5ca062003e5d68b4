"""Checks an index: every id exists, titles and numbers are unique, every entity has a community."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
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
    """Every invariant that an index violates, with the ids of some rows; never with text."""
    missing = [name for name in OPTIONAL if name not in tables]
    tables = {**tables, **{name: frame(name, {key: [] for key in OPTIONAL[name].names}) for name in missing}}
    type_violations = list(chain.from_iterable(_type_violations(name, tables) for name in ALL))
    if type_violations:  # the other checks read columns that may be missing
        return type_violations
    checks: tuple[Callable[[Tables], Iterator[str]], ...] = (
        _dangling_ids,
        _duplicates,
        _wrong_numbers,
        _homeless_entities,
        _mismatches,
        _tree,
        _citations,
    )
    return list(chain.from_iterable(check(tables) for check in checks))


def _type_violations(name: str, tables: Tables) -> Iterator[str]:
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
        ids = set(tables[other][key])
        missing = [value for value in _flat(tables[name][column]) if value not in ids]
        yield from _violation(f"{name}.{column} leads nowhere in {other}", missing)
    records = {*tables["entities"]["id"], *tables["relationships"]["id"]}
    missing = [record_id for record_id in tables["record_texts"]["record_id"] if record_id not in records]
    yield from _violation("record_texts.record_id leads nowhere", missing)
    parents = set(tables["communities"]["community"]) | {-1}
    missing = [parent for parent in tables["communities"]["parent"] if parent not in parents]
    yield from _violation("communities.parent is not a community", missing)


def _duplicates(tables: Tables) -> Iterator[str]:
    for name, column in _UNIQUE:
        values = tables[name][column]
        rows = tables[name].loc[values.duplicated()]
        yield from _violation(
            f"{name}.{column} is not unique", rows["id"] if "id" in rows else values[values.duplicated()]
        )


def _wrong_numbers(tables: Tables) -> Iterator[str]:
    """Sources are cited by row, so the number of every record is its row, and that of a community its own."""
    for name in SCHEMAS | OPTIONAL:
        numbers = tables[name]["human_readable_id"].tolist()
        if numbers != list(range(len(numbers))):
            yield f"{name}.human_readable_id is not the row"
    for name in ("communities", "community_reports"):
        if not (tables[name]["human_readable_id"] == tables[name]["community"]).all():
            yield f"{name}.human_readable_id is not the community"


def _homeless_entities(tables: Tables) -> Iterator[str]:
    members = set(_flat(tables["communities"]["entity_ids"]))
    homeless = [entity_id for entity_id in tables["entities"]["id"] if entity_id not in members]
    yield from _violation("entities without a community", homeless)


def _mismatches(tables: Tables) -> Iterator[str]:
    """References agree in both directions, and counts with the lists that they count."""
    yield from _unit_mismatches(tables)
    entities, relationships = tables["entities"], tables["relationships"]
    degrees = pd.concat([relationships["source"], relationships["target"]]).value_counts()
    if entities["degree"].tolist() != [int(degrees.get(title, 0)) for title in entities["title"]]:
        yield "entities.degree is not the number of relationships"
    for name, count_column, column in (
        ("entities", "frequency", "text_unit_ids"),
        ("communities", "size", "entity_ids"),
    ):
        if tables[name][count_column].tolist() != list(map(len, tables[name][column])):
            yield f"{name}.{count_column} is not the number of {column}"


def _unit_mismatches(tables: Tables) -> Iterator[str]:
    """References between text units and entities, relationships, claims and documents."""
    units = tables["text_units"]
    for name, column in (("entities", "entity_ids"), ("relationships", "relationship_ids")):
        record_units = _pairs(tables[name], "id", "text_unit_ids")
        if record_units != {(record, unit) for unit, record in _pairs(units, "id", column)}:
            yield f"{name}.text_unit_ids and text_units.{column} differ"
    claim_units = set(zip(tables["covariates"]["text_unit_id"], tables["covariates"]["id"], strict=True))
    if claim_units != _pairs(units, "id", "covariate_ids"):
        yield "covariates.text_unit_id and text_units.covariate_ids differ"
    document_units = _pairs(tables["documents"], "id", "text_unit_ids")
    if document_units != set(zip(units["document_id"], units["id"], strict=True)):
        yield "documents.text_unit_ids and text_units.document_id differ"


def _tree(tables: Tables) -> Iterator[str]:
    """Children name their parent, are one level below it, and contain only its entities."""
    communities = tables["communities"].to_dict("records")
    children: dict[int, set[int]] = {community["community"]: set() for community in communities}
    by_number = {community["community"]: community for community in communities}
    for community in communities:
        if community["parent"] not in by_number:
            continue
        children[community["parent"]].add(community["community"])
        parent = by_number[community["parent"]]
        is_subset = set(community["entity_ids"]) <= set(parent["entity_ids"])
        if community["level"] != parent["level"] + 1 or not is_subset:
            yield f"community {community['community']} is not part of its parent"
    wrong = [
        community["community"]
        for community in communities
        if set(community["children"]) != children[community["community"]]
    ]
    yield from _violation("communities.children are others than those with this parent", wrong)


def _citations(tables: Tables) -> Iterator[str]:
    counts = {"Entities": len(tables["entities"]), "Relationships": len(tables["relationships"])}
    counts["Sources"] = len(tables["text_units"])
    reports = tables["community_reports"]
    for number, content in zip(reports["community"], reports["full_content"], strict=True):
        for dataset, numbers in _CITED.findall(content):
            if any(int(number_) >= counts[dataset] for number_ in re.findall("[0-9]+", numbers)):
                yield f"the report of community {number} cites {dataset} that do not exist"


def _pairs(table: pd.DataFrame, key: str, column: str) -> set[tuple[Any, Any]]:
    """Pairs of a row's key and each value of its list."""
    return {(row_key, value) for row_key, values in zip(table[key], table[column], strict=True) for value in values}


def _flat(values: pd.Series[Any]) -> Iterator[Any]:
    for value in values:
        if isinstance(value, str | int):
            yield value
        else:
            yield from value


def _violation(message: str, rows: Iterable[Any]) -> Iterator[str]:
    ids = list(dict.fromkeys(map(str, rows)))
    if ids:
        yield f"{message}: {', '.join(ids[:_SHOWN])}" + (f" and {len(ids) - _SHOWN} more" if ids[_SHOWN:] else "")
