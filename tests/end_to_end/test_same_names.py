"""What is asked is asked by the same names in Python, on the command line, of the API, and of the tools of a model."""

import inspect
from typing import Any

import pytest
import typer

from relrag_query.archive import Archive
from relrag_query.cli import app
from relrag_query.graphrag.entity_exploration import explore
from relrag_query.http.api import OPERATIONS
from relrag_query.mcp.server import tools
from relrag_query.service import Filters, Service
from tests import archive

FILTERS = {"sources", "kinds", "person", "since", "until"}
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
    (request,) = (one.request for one in OPERATIONS if one.name == name)
    return set(request.model_fields)


@pytest.fixture(scope="module")
def tool(tmp_path_factory: pytest.TempPathFactory) -> Any:
    config = archive.make(tmp_path_factory.mktemp("names"))
    with Service.open(config) as service:
        return {one.__name__: parameters(one) for one in tools(service)}


def test_filters_have_one_name_each() -> None:
    assert set(Filters.__dataclass_fields__) == FILTERS
    for name, call in (("search", Archive.search), ("ask", Archive.ask)):
        assert parameters(call) >= FILTERS | {"limit"}
        assert of_operation(name) >= FILTERS | {"limit"}
        assert of_command(name) >= FILTERS | {"limit"}


def test_tools_take_what_the_api_takes(tool: dict[str, set[str]]) -> None:
    for name, asked in tool.items():
        assert asked - {"cursor"} <= of_operation(name), name
    assert tool["search"] == of_operation("search")
    assert tool["ask"] == of_operation("ask") - {"limit"} | {"cursor"}


@pytest.mark.parametrize("name", ["search", "ask"])
def test_the_command_line_takes_what_python_takes(name: str) -> None:
    call = getattr(Archive, name)
    assert of_command(name) - SHOWN <= parameters(call)


def test_explore_is_the_same_everywhere(tool: dict[str, set[str]]) -> None:
    names = {"query", "search_relationships", "person", "limit"}
    assert of_operation("explore") == parameters(Service.explore) == names
    assert tool["explore"] == names | {"cursor"}
    assert parameters(explore) == names | {"archive", "corpus"}
    assert of_command("explore") - SHOWN == names - {"search_relationships"}


def test_methods_of_the_service_are_the_operations() -> None:
    for name in ("show", "thread", "neighbors", "person", "people", "reports", "graphrag", "graph_around", "chunks"):
        asked = {"cursor" if one == "after" else one for one in parameters(getattr(Service, name))}
        in_parts = {"cursor"} if name == "show" else set()  # Python gives a long record whole, the API in parts
        assert asked | in_parts == of_operation(name), name
