"""What is asked is asked by the same names in Python, on the command line, of the API, and of the tools of a model."""

import inspect
from typing import Any

import pytest
import typer

from relrag_query.archive import Archive
from relrag_query.cli import app
from relrag_query.graphrag.entity_exploration import explore
from relrag_query.mcp.schemas import input_schema
from relrag_query.operations.table import BY_NAME
from relrag_query.service import Filters, Service

FILTERS = {"sources", "kinds", "person", "since", "until", "attachment", "added"}
OF_LISTS = {"source": "sources", "kind": "kinds"}
"""an option that is given once for each of its values is named by one of them"""
SHOWN = {"as_json", "trace", "show_sources", "config", "relationships", "follow_up", "reveal", "who", "why"}
"""options of the command line alone: how it is printed, where the archive is, that it goes on from the last question"""


def parameters(call: Any) -> set[str]:
    return set(inspect.signature(call).parameters) - {"self"}


def of_command(name: str) -> set[str]:
    command = typer.main.get_command(app).commands[name]  # type: ignore[attr-defined]
    return {OF_LISTS.get(str(one.name), str(one.name)) for one in command.params}


def of_operation(name: str) -> set[str]:
    return set(BY_NAME[name].request.model_fields)


def of_tool(name: str) -> set[str]:
    return set(input_schema(BY_NAME[name], {})["properties"])


def test_filters_have_one_name_each() -> None:
    assert set(Filters.__dataclass_fields__) == FILTERS
    for name, call in (("search", Archive.search), ("ask", Archive.ask)):
        assert parameters(call) >= FILTERS | {"limit"}
        assert of_operation(name) >= FILTERS | {"limit"}
        assert of_command(name) >= FILTERS | {"limit"}


@pytest.mark.parametrize("name", [name for name, operation in BY_NAME.items() if operation.tool])
def test_tools_take_what_the_api_takes_and_a_cursor(name: str) -> None:
    assert of_tool(name) == of_operation(name) | {"cursor"}


@pytest.mark.parametrize("name", ["search", "ask"])
def test_the_command_line_takes_what_python_takes(name: str) -> None:
    call = getattr(Archive, name)
    assert of_command(name) - SHOWN <= parameters(call)


def test_explore_is_the_same_everywhere() -> None:
    names = {"query", "search_relationships", "person", "limit"}
    assert of_operation("explore") == parameters(Service.explore) == names
    assert parameters(explore) == names | {"archive", "corpus"}
    assert of_command("explore") - SHOWN == names - {"search_relationships"}


def test_methods_of_the_service_are_the_operations() -> None:
    for name in ("show", "thread", "neighbors", "person", "people", "reports", "graphrag", "graph_around", "chunks"):
        asked = {"cursor" if one == "after" else one for one in parameters(getattr(Service, name))}
        in_parts = {"cursor"} if name == "show" else set()  # Python gives a long record whole, the API in parts
        assert asked | in_parts == of_operation(name), name
