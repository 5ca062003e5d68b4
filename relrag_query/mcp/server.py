"""The operations as tools of a language model: replies within a budget of tokens, labelled as data.

Tools that write exist only if the archive's settings let programs write. A text that the model reads may tell it to
call them, so they are off by default, and each call is a journal entry that can be withdrawn.
"""

from __future__ import annotations

import logging
from importlib.metadata import version
from typing import Any

import anyio
from anyio import to_thread
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)
from pydantic import ValidationError

from relrag_pipelines.errors import RelragError
from relrag_query.http.problems import describe, wrong_fields
from relrag_query.mcp import schemas
from relrag_query.mcp.local_paths import hide_paths
from relrag_query.mcp.reply_budget import DATA, to_json
from relrag_query.mcp.tool_replies import reply_of
from relrag_query.operations.operation import Operation, choices
from relrag_query.operations.table import operations_of
from relrag_query.service import Service

INSTRUCTIONS = f"""An archive of one person's or team's chats, mail, documents, calls and code. Use `ask` for a
question, `search` for passages, `show` for what an id names, `neighbors` for what belongs together.
A line `type=...` says what a source is. Where its text is not enough, that type says which tool fetches the rest:
- any type: `show` with `asset_id`, the whole original; of type=code the whole definition.
- a mail (type=email) or a message of a chat: `thread` with `thread_id`, the conversation; `neighbors` with `asset_id`,
  what is attached and what it replies to.
- type=attachment[...]: `show` with `parent_asset_id`, its mail.
- type=commit: `neighbors` with `asset_id`, what refers to it.
- type=person: `person` with `asset_id`, facts, relationships and latest records.
Cite ids of what you use. `confidence` says whether an answer is sure; say so where it is not. {DATA}"""
_HINTS = {"": (True, False, True), "adds": (False, False, False), "changes": (False, True, True)}
"""(read-only, destructive, idempotent) by `Operation.writes`"""


class UnknownTool(RelragError):
    """A tool that the service does not have."""


def build(service: Service) -> Server[Any]:
    """The server with its tools."""
    logging.getLogger("mcp").setLevel(logging.CRITICAL)  # logs of the library may contain text of the archive

    async def on_list_tools(_: Any, params: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=await to_thread.run_sync(list_tools, service))

    async def on_call_tool(_: Any, params: CallToolRequestParams) -> CallToolResult:
        return await to_thread.run_sync(call_tool, service, params.name, params.arguments or {})

    return Server(
        "relrag",
        version=version("relrag"),
        instructions=INSTRUCTIONS,
        on_list_tools=on_list_tools,
        on_call_tool=on_call_tool,
    )


def serve_stdio(service: Service) -> None:
    """Serves the tools on standard input and output until the input ends."""
    server = build(service)

    async def serve() -> None:
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())

    anyio.run(serve)


def tools(service: Service) -> dict[str, Operation]:
    """The operations that are tools of a service, by name."""
    return {
        operation.name: operation
        for operation in operations_of(service)
        if operation.tool and operation.served(service) and (service.writes or not operation.writes)
    }


def list_tools(service: Service) -> list[Tool]:
    """The tools as a client lists them."""
    names = choices(service)
    return [
        Tool(
            name=operation.name,
            description=operation.help,
            input_schema=schemas.input_schema(operation, names),
            output_schema=schemas.output_schema(operation),
            annotations=_annotations(operation),
        )
        for operation in tools(service).values()
    ]


def _annotations(operation: Operation) -> ToolAnnotations:
    reads, destroys, repeats = _HINTS[operation.writes]
    return ToolAnnotations(
        read_only_hint=reads, destructive_hint=destroys, idempotent_hint=repeats, open_world_hint=False
    )


def call_tool(service: Service, name: str, arguments: dict[str, Any]) -> CallToolResult:
    """The reply of a tool, or its error without private text."""
    try:
        reply = hide_paths(_call(service, name, arguments), service)
    except ValidationError as error:
        faults = "; ".join(f"{fault['field']}: {fault['error']}" for fault in wrong_fields(error))
        return _error_result(f"the arguments do not fit: {faults}")
    except Exception as error:  # noqa: BLE001  the library would show and log its text
        return _error_result(hide_paths(describe(error)[1], service))
    return CallToolResult(content=[TextContent(type="text", text=to_json(reply))], structured_content=reply)


def _call(service: Service, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    operation = tools(service).get(name)
    if operation is None:
        raise UnknownTool(f'there is no tool "{name}"')
    cursor = schemas.CURSOR.validate_python(arguments.get("cursor"))
    if "cursor" not in operation.request.model_fields:
        arguments = {field: value for field, value in arguments.items() if field != "cursor"}
    return reply_of(operation, service, operation.parse(arguments, service), cursor)


def _error_result(text: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=True)
