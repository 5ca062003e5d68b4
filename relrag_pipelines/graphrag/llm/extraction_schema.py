"""The answer expected of a language model that extracts entities: its models, and their JSON Schema."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from relrag_pipelines.language_models.answer_schema import Schema, schema_of

NONE = "NONE"
"""value in Microsoft's tables for a claim without an object or day"""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class FoundEntity(_Strict):
    """An entity as a model gives it."""

    name: str
    type: str
    description: str


class FoundRelationship(_Strict):
    """A relationship as a model gives it; its ends are names of entities."""

    source: str
    target: str
    description: str
    strength: int


class FoundClaim(_Strict):
    """A claim as a model gives it, with the fields of Microsoft's covariates."""

    subject: str
    object: str
    type: str
    status: str
    start_date: str
    end_date: str
    description: str
    source_text: str


class Extraction(_Strict):
    """The results of a model for one text."""

    entities: list[FoundEntity]
    relationships: list[FoundRelationship]
    claims: list[FoundClaim] = []
    """empty unless asked for"""


def schema(*, claims: bool = False) -> Schema:
    """JSON Schema of an Extraction."""
    schema_ = schema_of(Extraction)
    if claims:
        schema_["required"].append("claims")
        del schema_["properties"]["claims"]["default"]
    else:
        del schema_["properties"]["claims"]
    return schema_
