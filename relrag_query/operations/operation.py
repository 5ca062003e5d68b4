"""The declaration of an operation: name, request, reply, and the function of the service that answers it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, TypeAdapter

from relrag_query.operations.requests import Request
from relrag_query.retrieval.connection_sharing import WrongQuestion
from relrag_query.service import Service


@dataclass(frozen=True)
class Operation:
    """An operation of the service."""

    name: str
    path: str
    request: type[Request]
    reply: type
    """a model or dataclass"""
    call: Callable[[Service, Any], Any]
    method: Literal["GET", "POST"] = "GET"
    description: str = ""
    """used instead of the request's docstring"""
    tool: bool = False
    """whether it is also a tool of a language model"""
    entries: str = ""
    """the list field of the reply, which a tool cuts to its budget"""
    for_clients: bool = False
    """whether users limited to some clients may call it"""
    streams: bool = False
    envelope: bool = False
    """whether its reply is `data` and `error`, of which one is null, in problems too"""
    writes: Literal["", "adds", "changes"] = ""
    """how it changes the journal, if programs may write"""
    served: Callable[[Service], bool] = lambda service: True
    """whether a service has the data for it; checked for tools only"""

    @property
    def summary(self) -> str:
        """The first paragraph of the help."""
        return self.help.partition("\n\n")[0]

    @property
    def help(self) -> str:
        """The full description."""
        return self.description or inspect.getdoc(self.request) or ""

    @property
    def adapter(self) -> TypeAdapter[Any]:
        """Serialises and describes the reply."""
        return TypeAdapter(self.reply)

    def parse(self, arguments: Any, service: Service, *, as_text: bool = False) -> Request:
        """The request with these arguments: JSON values, or with `as_text` those of a query string.

        Raises ValidationError for invalid arguments, WrongQuestion for an unknown source or kind.
        """
        if not as_text and isinstance(arguments, dict):
            arguments = {name: _as_integer(value) for name, value in arguments.items()}
        request = self.request.model_validate(arguments, strict=not as_text)
        if "sources" in self.request.model_fields:
            _require_choices(request, choices(service))
        return request


def _require_choices(request: Request, names: Mapping[str, list[str]]) -> None:
    for field, values in names.items():
        if unknown := set(getattr(request, field)).difference(values):
            values_text = ", ".join(values)
            raise WrongQuestion(f'no {field[:-1]} is named "{min(unknown)}"; this archive has: {values_text}')


def _as_integer(value: Any) -> Any:
    """The integer for a whole float: in JSON Schema, 5.0 is an integer."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def choices(service: Service) -> dict[str, list[str]]:
    """Parameters that accept only names of the archive, with these names."""
    sources = service.sources()
    return {"sources": [source.name for source in sources], "kinds": sorted({source.kind for source in sources})}


def add_choices(schema: dict[str, Any], names: Mapping[str, list[str]]) -> dict[str, Any]:
    """The JSON schema of a request with the names of the archive as enums."""
    for field, values in names.items():
        if field in schema.get("properties", {}) and values:
            schema["properties"][field]["items"] = {"type": "string", "enum": values}
    return schema


def is_model(kind: Any) -> bool:
    """Whether a reply is a pydantic model."""
    return isinstance(kind, type) and issubclass(kind, BaseModel)
