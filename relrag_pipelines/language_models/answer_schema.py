"""JSON Schema of what a language model answers."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from relrag_pipelines.language_models.model import Schema


def schema_of(form: type[BaseModel]) -> Schema:
    """JSON Schema without references, which not every service follows."""
    whole = form.model_json_schema()
    parts = whole.pop("$defs", {})

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            if "$ref" in value:
                return plain(parts[value["$ref"].rpartition("/")[2]])
            return {name: plain(one) for name, one in value.items()}
        return [plain(one) for one in value] if isinstance(value, list) else value

    found: Schema = plain(whole)
    return found


def stands_in(name: str, lower: str) -> bool:
    """Whether a word of the name, or its first letters, stands in a text in small letters: models give names in their
    basic form.
    """
    words = [word for word in name.lower().split() if len(word) > 1]
    return any(word[: max(3, len(word) - 2)] in lower for word in words)
