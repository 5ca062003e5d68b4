"""Documents and text units: a text unit for each chunk, a document for each record or chat window."""

from __future__ import annotations

import hashlib
import math
from itertools import groupby
from typing import Any

import pandas as pd

from relrag_pipelines.graphrag.schema import frame
from relrag_pipelines.language_models.token_estimate import count_tokens


def text_units(chunks: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """The tables documents, text_units (without entities yet) and text_unit_chunks.

    `chunks` has the columns of records.Chunk. Rows are sorted by record and position; if several months or sources
    contain a chunk_id, its first chunk counts.
    """
    rows = sorted(map(_plain, chunks.to_dict("records")), key=lambda row: (row["asset_id"], row["chunk_index"]))
    rows = list({row["chunk_id"]: row for row in reversed(rows)}.values())[::-1]
    ids = [text_unit_id(row) for row in rows]
    document_ids = [document_id(row["asset_id"]) for row in rows]
    units = frame(
        "text_units",
        {
            "id": ids,
            "human_readable_id": range(len(rows)),
            "text": [row["text"] for row in rows],
            "n_tokens": [count_tokens(row["text"]) for row in rows],
            "document_id": document_ids,
            "entity_ids": [[] for _ in rows],
            "relationship_ids": [[] for _ in rows],
            "covariate_ids": [[] for _ in rows],
        },
    )
    origin = frame(
        "text_unit_chunks",
        {"text_unit_id": ids}
        | {
            name: [row[name] for row in rows]
            for name in ("chunk_id", "asset_id", "page_number", "last_page_number", "ts", "last_ts")
        },
    )
    return _documents(rows, ids), units, origin


def text_unit_id(chunk: dict[str, Any]) -> str:
    """The id of a chunk's text unit, from record, position and text: a hash of the text alone would repeat."""
    return _sha512(chunk["asset_id"], str(chunk["chunk_index"]), chunk["text"])


def document_id(asset_id: str) -> str:
    """The document of a record or chat window."""
    return _sha512(asset_id)


def _documents(rows: list[dict[str, Any]], ids: list[str]) -> pd.DataFrame:
    grouped = [list(group) for _, group in groupby(zip(rows, ids, strict=True), key=lambda pair: pair[0]["asset_id"])]
    first = [group[0][0] for group in grouped]
    return frame(
        "documents",
        {
            "id": [document_id(row["asset_id"]) for row in first],
            "human_readable_id": range(len(grouped)),
            "title": [_title(row) for row in first],
            "text": ["\n\n".join(row["text"] for row, _ in group) for group in grouped],
            "text_unit_ids": [[unit for _, unit in group] for group in grouped],
            "creation_date": [row["timestamp"] or "" for row in first],
            "raw_data": [None] * len(grouped),
        },
    )


def _title(row: dict[str, Any]) -> str:
    """The file's name, else the subject or sender with the day: a chat has many windows of one name."""
    if row["file_name"]:
        return str(row["file_name"])
    day = row["timestamp"][:10] if row["timestamp"] else ""
    name = row["subject"] or row["from"] or row["asset_id"]
    return f"{name}, {day}" if day else str(name)


def _plain(row: dict[Any, Any]) -> dict[str, Any]:
    """The row with missing values as None, which pandas may store as NaN, and whole numbers as int."""
    return {name: _value(value) for name, value in row.items()}


def _value(value: Any) -> Any:
    if isinstance(value, float):
        return None if math.isnan(value) else int(value) if value.is_integer() else value
    return None if value is pd.NA or value is None else value


def _sha512(*parts: str) -> str:
    return hashlib.sha512("\0".join(parts).encode()).hexdigest()
