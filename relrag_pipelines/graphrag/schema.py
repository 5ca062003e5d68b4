"""The tables of a GraphRAG index: names, columns and types exactly as Microsoft GraphRAG 3.x writes them.

Further tables, which its loaders ignore, store the chunks of text units, the entities that are people, the uses of
words, the drafts of reports, which the next build reuses, and the vectors of entities and relationships.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import pyarrow as pa

_TEXT, _NUMBER, _REAL = pa.string(), pa.int64(), pa.float64()


def _list(element: pa.DataType) -> pa.DataType:
    return pa.list_(pa.field("element", element))


_IDS = _list(_TEXT)
_FINDINGS = _list(pa.struct({"explanation": _TEXT, "summary": _TEXT}))

SCHEMAS = {
    "documents": pa.schema(
        {
            "id": _TEXT,
            "human_readable_id": _NUMBER,
            "title": _TEXT,
            "text": _TEXT,
            "text_unit_ids": _IDS,
            "creation_date": _TEXT,
            "raw_data": pa.null(),
        }
    ),
    "text_units": pa.schema(
        {
            "id": _TEXT,
            "human_readable_id": _NUMBER,
            "text": _TEXT,
            "n_tokens": _NUMBER,
            "document_id": _TEXT,
            "entity_ids": _IDS,
            "relationship_ids": _IDS,
            "covariate_ids": _IDS,
        }
    ),
    "entities": pa.schema(
        {
            "id": _TEXT,
            "human_readable_id": _NUMBER,
            "title": _TEXT,
            "type": _TEXT,
            "description": _TEXT,
            "text_unit_ids": _IDS,
            "frequency": _NUMBER,
            "degree": _NUMBER,
        }
    ),
    "relationships": pa.schema(
        {
            "id": _TEXT,
            "human_readable_id": _NUMBER,
            "source": _TEXT,
            "target": _TEXT,
            "description": _TEXT,
            "weight": _REAL,
            "combined_degree": _NUMBER,
            "text_unit_ids": _IDS,
        }
    ),
    "communities": pa.schema(
        {
            "id": _TEXT,
            "human_readable_id": _NUMBER,
            "community": _NUMBER,
            "level": _NUMBER,
            "parent": _NUMBER,
            "children": _list(_NUMBER),
            "title": _TEXT,
            "entity_ids": _IDS,
            "relationship_ids": _IDS,
            "text_unit_ids": _IDS,
            "period": _TEXT,
            "size": _NUMBER,
        }
    ),
    "community_reports": pa.schema(
        {
            "id": _TEXT,
            "human_readable_id": _NUMBER,
            "community": _NUMBER,
            "level": _NUMBER,
            "parent": _NUMBER,
            "children": _list(_NUMBER),
            "title": _TEXT,
            "summary": _TEXT,
            "full_content": _TEXT,
            "rank": _REAL,
            "rating_explanation": _TEXT,
            "findings": _FINDINGS,
            "full_content_json": _TEXT,
            "period": _TEXT,
            "size": _NUMBER,
        }
    ),
}
"""tables that Microsoft's loaders read"""

OPTIONAL = {
    "covariates": pa.schema(
        {
            "id": _TEXT,
            "human_readable_id": _NUMBER,
            "covariate_type": _TEXT,
            "type": _TEXT,
            "description": _TEXT,
            "subject_id": _TEXT,
            "object_id": _TEXT,
            "status": _TEXT,
            "start_date": _TEXT,
            "end_date": _TEXT,
            "source_text": _TEXT,
            "text_unit_id": _TEXT,
        }
    ),
}
"""table that exists only if a language model was asked for claims"""

EXTRA_TABLES = {
    "text_unit_chunks": pa.schema(
        {
            "text_unit_id": _TEXT,
            "chunk_id": _TEXT,
            "asset_id": _TEXT,
            "page_number": _NUMBER,
            "last_page_number": _NUMBER,
            "ts": _NUMBER,
            "last_ts": _NUMBER,
        }
    ),
    "entity_people": pa.schema({"entity_id": _TEXT, "person_id": _NUMBER}),
    "vocabulary": pa.schema({"word": _TEXT, "key": _TEXT, "noun": _REAL, "text_units": _NUMBER}),
    "report_drafts": pa.schema({"fingerprint": _TEXT, "draft": _TEXT}),
    "record_texts": pa.schema({"record_id": _TEXT, "text_hash": _TEXT}),
    "text_vectors": pa.schema({"text_hash": _TEXT, "model": _TEXT, "vector": _list(pa.float32())}),
}
"""further tables of this project"""

ALL = SCHEMAS | OPTIONAL | EXTRA_TABLES

Tables = dict[str, pd.DataFrame]
"""an index: every table of ALL by its name; those of OPTIONAL may be missing"""


def frame(name: str, columns: dict[str, Sequence[Any]]) -> pd.DataFrame:
    """A data frame with the columns of a table, in their order; texts, lists and missing values as Python objects."""
    assert columns.keys() == set(ALL[name].names), f"{name} has other columns"
    return pd.DataFrame({column: _series(ALL[name].field(column).type, columns[column]) for column in ALL[name].names})


def to_arrow(name: str, table: pd.DataFrame) -> pa.Table:
    """The table as it is stored. Raises pyarrow.ArrowInvalid or ArrowTypeError where a value is of another type."""
    return pa.Table.from_pandas(table, ALL[name], preserve_index=False).replace_schema_metadata(None)


def _series(kind: pa.DataType, values: Sequence[Any]) -> pd.Series[Any]:
    if kind == _NUMBER and all(value is not None for value in values):
        return pd.Series(list(values), dtype="int64")
    if kind == _REAL:
        return pd.Series(list(values), dtype="float64")
    return pd.Series(list(values), dtype=object)
