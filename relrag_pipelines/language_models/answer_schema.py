"""JSON Schema of what a language model answers."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

Schema = dict[str, Any]
"""a JSON Schema"""


def schema_of(form: type[BaseModel]) -> Schema:
    """The JSON Schema of a model with references inlined; not every service resolves them."""
    whole = form.model_json_schema()
    parts = whole.pop("$defs", {})

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            if "$ref" in value:
                return plain(parts[value["$ref"].rpartition("/")[2]])
            return {name: plain(member) for name, member in value.items()}
        return [plain(member) for member in value] if isinstance(value, list) else value

    schema: Schema = plain(whole)
    return schema


def stands_in(name: str, lower: str) -> bool:
    """Whether a word of the name, or its stem, occurs in a lower-case text; models return names uninflected."""
    words = [word for word in name.lower().split() if len(word) > 1]
    return any(word[: max(3, len(word) - 2)] in lower for word in words)
