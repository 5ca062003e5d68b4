"""What an operation is: name, request, reply, and the function of the service that answers it."""

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
    """One thing that can be asked of the service."""

    name: str
    path: str
    request: type[Request]
    reply: type
    """a model or dataclass"""
    call: Callable[[Service, Any], Any]
    method: Literal["GET", "POST"] = "GET"
    description: str = ""
    """in place of the request's docstring"""
    tool: bool = False
    """is a tool of a language model too"""
    entries: str = ""
    """the field of the reply that holds a list, of which a tool gives as much as fits"""
    for_clients: bool = False
    """may be asked by those who see the records of some clients only"""
    streams: bool = False
    writes: Literal["", "adds", "changes"] = ""
    """what it does to the journal, where programs may write"""
    served: Callable[[Service], bool] = lambda service: True
    """whether a service has what it is about; asked of tools only"""

    @property
    def summary(self) -> str:
        """What it does, in a sentence or two."""
        return self.help.partition("\n\n")[0]

    @property
    def help(self) -> str:
        """What it does, in full."""
        return self.description or inspect.getdoc(self.request) or ""

    @property
    def adapter(self) -> TypeAdapter[Any]:
        """Serialises and describes the reply."""
        return TypeAdapter(self.reply)

    def parse(self, arguments: Any, service: Service, *, as_text: bool = False) -> Request:
        """The request of these arguments: values of JSON, or `as_text` those of a query string.

        Raises ValidationError where they do not fit, WrongQuestion for a source or kind that the archive does not have.
        """
        if not as_text and isinstance(arguments, dict):
            arguments = {name: _whole(value) for name, value in arguments.items()}
        request = self.request.model_validate(arguments, strict=not as_text)
        if "sources" in self.request.model_fields:
            _require_choices(request, choices(service))
        return request


def _require_choices(request: Request, names: Mapping[str, list[str]]) -> None:
    for field, values in names.items():
        if unknown := set(getattr(request, field)).difference(values):
            known = ", ".join(values)
            raise WrongQuestion(f'no {field[:-1]} is named "{min(unknown)}"; this archive has: {known}')


def _whole(value: Any) -> Any:
    """A number as JSON Schema counts it: 5.0 is an integer."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def choices(service: Service) -> dict[str, list[str]]:
    """Parameters that take names of the archive, with these names."""
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
