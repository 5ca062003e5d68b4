"""Tools called with random arguments: an answer that fits its schema, or a refusal that says what is wrong.

Half of the arguments follow the schema that the server lists; the others are wrong in one field or in all. No reply may
be an internal error or name a folder of this machine.
"""

from __future__ import annotations

import json
import random
import string
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from mcp_types import CallToolResult, Tool

from relrag_query.mcp.reply_budget import DATA, MAX_BYTES
from relrag_query.mcp.server import call_tool, list_tools
from relrag_query.service import Service
from tests import archive

CALLS = 25
"""of each tool"""
TEXTS = (
    "Who has the key of the cabin?", "Dana Levi", "boiler", "call me on 052-123-4567", "מי זו דנה?", "chat", "notes",
    "jsonl:notes:n1", "jsonl:notes:none", "person:0", "record:", "whatsapp:", "../../../etc/passwd", "/etc/passwd",
    "file:///etc/passwd", "'; DROP TABLE records; --", "\u202eabc", "\x00", "\ud800", "e\u0301" * 40, "a" * 300, " ",
    "2024", "2024-02-30", "9999-99", "%s%n", "{0.__class__}", "[[[[", "💥" * 20, "-1", "NaN", "\n\t", "*",
)  # fmt: skip
WRONG = (None, True, 0, -1, 1.5, 1e308, 2**63, "", "text", [], ["x", 1], {}, {"a": {"b": []}}, [[[]]])


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("calls")
    config = archive.make(folder)
    archive.sync(config)
    with Service.open(config) as opened:
        yield opened


def value(schema: dict[str, Any], root: dict[str, Any], chance: random.Random) -> Any:
    """A value that the schema allows, as far as its type, choices and limits go."""
    if "$ref" in schema:
        return value(root["$defs"][schema["$ref"].rsplit("/", 1)[1]], root, chance)
    if "enum" in schema:
        return chance.choice(schema["enum"])
    if "anyOf" in schema:
        return value(chance.choice(schema["anyOf"]), root, chance)
    return _BY_TYPE[schema.get("type", "string")](schema, root, chance)


def _text(schema: dict[str, Any], _: dict[str, Any], chance: random.Random) -> str:
    letters = "".join(chance.choices(string.printable + "אבגčřž", k=chance.randint(0, 40)))
    return chance.choice((letters, *TEXTS))[: schema.get("maxLength")]


def _integer(schema: dict[str, Any], _: dict[str, Any], chance: random.Random) -> int:
    return chance.randint(schema.get("minimum", 0), min(schema.get("maximum", 40), 40))


def _list(schema: dict[str, Any], root: dict[str, Any], chance: random.Random) -> list[Any]:
    return [value(schema.get("items", {}), root, chance) for _ in range(chance.randint(0, 3))]


def _object(schema: dict[str, Any], root: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    required = schema.get("required", [])
    chosen = {name: field for name, field in schema.get("properties", {}).items() if name in required or coin(chance)}
    return {name: value(field, root, chance) for name, field in chosen.items()}


_BY_TYPE: dict[str, Callable[[dict[str, Any], dict[str, Any], random.Random], Any]] = {
    "string": _text, "integer": _integer, "number": _integer, "array": _list, "object": _object,
    "boolean": lambda _schema, _root, chance: coin(chance), "null": lambda _schema, _root, _chance: None,
}  # fmt: skip


def coin(chance: random.Random) -> bool:
    return chance.random() < 0.5


def arguments(tool: Tool, chance: random.Random) -> dict[str, Any]:
    """Arguments by the schema of a tool; every other time with wrong, missing or unknown ones."""
    given: dict[str, Any] = value({**tool.input_schema, "type": "object"}, tool.input_schema, chance)
    if coin(chance):
        return given
    names = [*tool.input_schema["properties"], "unknown", "", "__class__"]
    for _ in range(chance.randint(1, 3)):
        given[chance.choice(names)] = chance.choice(WRONG)
    return {} if chance.random() < 0.1 else given


def faults(result: CallToolResult, tool: Tool, folder: Path) -> Iterator[str]:
    """What is wrong with a reply."""
    (content,) = result.content
    text = content.text  # type: ignore[union-attr]
    if str(folder) in text or str(Path(__file__).parents[2]) in text or "Traceback" in text:
        yield "names a folder or a traceback"
    if result.is_error:
        yield from ["an internal error"] * ("fault of relrag" in text) + ["no reason"] * (len(text) < 10)
        return
    if len(text.encode()) > MAX_BYTES or json.loads(text) != result.structured_content:
        yield "is too long, or two different replies"
    if result.structured_content["note"] != DATA:  # type: ignore[index]
        yield "is not labelled as data"
    assert tool.output_schema is not None
    yield from (
        error.message[:200]
        for error in jsonschema.Draft202012Validator(tool.output_schema).iter_errors(json.loads(text))
    )


def test_random_calls_are_answered_or_refused(service: Service) -> None:
    folder = Path(service.settings.folder)
    wrong: list[tuple[str, str, list[str]]] = []
    refused = 0
    for tool in list_tools(service):
        chance = random.Random(tool.name)
        for _ in range(CALLS):
            given = arguments(tool, chance)
            result = call_tool(service, tool.name, given)
            refused += bool(result.is_error)
            if found := list(faults(result, tool, folder)):
                wrong.append((tool.name, ascii(given), found))
    assert wrong == []
    assert 20 < refused < CALLS * 9 - 20  # both kinds of calls came about


@pytest.mark.parametrize("name", ["", "Search", "search ", "../search", "__init__", "forget", "\ud800", "a" * 5_000])
def test_an_unknown_tool_is_refused(service: Service, name: str) -> None:
    result = call_tool(service, name, {"query": "boiler"})
    assert result.is_error
    assert "there is no tool" in result.content[0].text  # type: ignore[union-attr]
