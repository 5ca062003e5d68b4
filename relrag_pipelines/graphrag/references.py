"""Which columns of an index hold ids of rows of which tables; every check of an index reads them here.

The tables are those of Microsoft GraphRAG: https://microsoft.github.io/graphrag/index/outputs/
"""

from __future__ import annotations

Reference = tuple[str, str, str, str]
"""table and column -> table and column that contain every value of the first"""

REFERENCES: tuple[Reference, ...] = (
    ("text_units", "document_id", "documents", "id"),
    ("entities", "text_unit_ids", "text_units", "id"),
    ("relationships", "text_unit_ids", "text_units", "id"),
    ("relationships", "source", "entities", "title"),
    ("relationships", "target", "entities", "title"),
    ("communities", "entity_ids", "entities", "id"),
    ("communities", "relationship_ids", "relationships", "id"),
    ("communities", "text_unit_ids", "text_units", "id"),
    ("community_reports", "community", "communities", "community"),
    ("covariates", "text_unit_id", "text_units", "id"),
)
"""those of an index of any version"""

OWN_REFERENCES: tuple[Reference, ...] = (
    ("documents", "text_unit_ids", "text_units", "id"),
    ("text_units", "entity_ids", "entities", "id"),
    ("text_units", "relationship_ids", "relationships", "id"),
    ("communities", "children", "communities", "community"),
    ("communities", "community", "community_reports", "community"),
    ("text_unit_chunks", "text_unit_id", "text_units", "id"),
    ("text_units", "id", "text_unit_chunks", "text_unit_id"),
    ("entity_people", "entity_id", "entities", "id"),
    ("text_units", "covariate_ids", "covariates", "id"),
    ("covariates", "subject_id", "entities", "title"),
    ("record_texts", "text_hash", "text_vectors", "text_hash"),
    ("text_vectors", "text_hash", "record_texts", "text_hash"),
)
"""those that hold besides in an index that relrag made"""
