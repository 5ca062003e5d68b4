"""The tools that state relationships, and the operations of the API that do: off by default, in the journal, undone."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

from relrag_pipelines import settings as settings_module
from relrag_query import statements
from relrag_query.mcp.reply_budget import DATA, MAX_BYTES
from relrag_query.mcp.server import build
from relrag_query.service import Service
from tests import archive
from tests.web_app import BEARER, client

TOOLS = ["create_relationship", "update_relationship", "add_note_to_relationship"]
ENDS = {"from_person": "Dana Levi", "to_person": "Petr Kolar", "relationship_type": "mentor"}


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    config = archive.make(tmp_path_factory.mktemp("writes"), "web_writes_enabled = true")
    archive.first_sync(config)
    return config


@pytest.fixture
def service(config: Path) -> Iterator[Service]:
    with Service.open(config) as opened:
        yield opened
    for number, _ in statements.list_statements(archive.workspace(config).settings):
        statements.undo(number, config=config)


def call(service: Service, name: str, **arguments: Any) -> tuple[bool, str]:
    """Whether it failed, and what was said."""

    async def called() -> Any:
        async with Client(build(service)) as client:
            return await client.call_tool(name, arguments)

    result: Any = anyio.run(called)
    return result.is_error, result.content[0].text


def listed(service: Service) -> dict[str, Any]:
    async def asked() -> Any:
        async with Client(build(service)) as client:
            return (await client.list_tools()).tools

    return {tool.name: tool for tool in anyio.run(asked)}


@pytest.mark.requirement("S2-28", "S2-32")
def test_a_model_states_changes_and_notes_a_relationship(service: Service) -> None:
    failed, said = call(service, TOOLS[0], **ENDS, description="from the choir", attitude=5, notes=["met in 2012"])
    assert not failed, said
    reply = json.loads(said)
    assert reply["note"] == DATA
    assert (reply["from_person"], reply["to_person"]) == ("Dana Levi", "Petr Kolar")
    (known,) = reply["relationships"]
    assert (known["relationship_type"], known["description"], known["attitude"]) == ("mentor", "from the choir", 5)
    by_id = {"from_person": f"person:{reply['from_person_id']}", "to_person": str(reply["to_person_id"])}
    failed, said = call(service, TOOLS[1], **{**ENDS, **by_id}, proximity=4)
    (known,) = json.loads(said)["relationships"]
    assert (known["description"], known["attitude"], known["proximity"]) == ("from the choir", 5, 4)
    _, said = call(service, TOOLS[2], **ENDS, note="lent her the cello")
    (known,) = json.loads(said)["relationships"]
    assert known["notes"] == ["met in 2012", "lent her the cello"]
    assert service.explore("mentor").edges[0].description == "from the choir"
    _, said = call(service, TOOLS[1], **ENDS, deleted=True)
    assert "relationships" not in json.loads(said)
    entries = [number for number, _ in statements.list_statements(service.settings)]
    assert json.loads(said)["entry"] in entries


@pytest.mark.requirement("S2-28")
@pytest.mark.parametrize("tool", TOOLS[:2])
@pytest.mark.parametrize("field", ["attitude", "proximity"])
def test_the_schema_of_a_tool_allows_one_to_five(service: Service, tool: str, field: str) -> None:
    schema = json.dumps(listed(service)[tool].input_schema["properties"][field])
    assert '"maximum": 5, "minimum": 1' in schema


def test_what_is_stated_wrongly_changes_nothing_and_says_why(service: Service) -> None:
    failed, said = call(service, TOOLS[1], **ENDS, description="never said")
    assert (failed, "is not known" in said) == (True, True)
    failed, said = call(service, TOOLS[0], **{**ENDS, "to_person": "Nobody At All"})
    assert failed
    for wrong in ({"attitude": 6}, {"proximity": 0}, {"relationship_type": ""}, {"description": "x" * 1001}):
        assert call(service, TOOLS[0], **{**ENDS, **wrong})[0]
    assert statements.list_statements(service.settings) == []


def test_fifty_long_notes_stay_within_the_budget(service: Service) -> None:
    failed, said = call(service, TOOLS[0], **ENDS, notes=[f"{number} " + "příliš " * 120 for number in range(50)])
    assert not failed
    assert len(said.encode()) <= MAX_BYTES


def test_errors_hold_no_private_text(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ValueError("Dana Levi has the key")

    monkeypatch.setattr(statements, "create_relationship", broken)
    failed, said = call(service, TOOLS[0], **ENDS)
    assert failed
    assert "unexpected ValueError" in said
    assert "Dana" not in said


def test_clients_are_told_what_a_call_does(service: Service) -> None:
    tools = listed(service)
    hints = {name: (tools[name].annotations.read_only_hint, tools[name].annotations.destructive_hint) for name in TOOLS}
    assert hints == {TOOLS[0]: (False, False), TOOLS[1]: (False, True), TOOLS[2]: (False, False)}
    assert all(tool.annotations.read_only_hint for name, tool in tools.items() if name not in TOOLS)


def test_nothing_is_stated_where_the_switch_is_off(config: Path) -> None:
    settings = settings_module.load(config).model_copy(update={"web_writes_enabled": False})
    with Service(settings) as service:
        assert not set(TOOLS) & listed(service).keys()
        assert call(service, TOOLS[0], **ENDS)[0]


def test_the_api_states_them_too(config: Path, service: Service) -> None:
    with client(config) as api:
        api.headers |= BEARER
        made = api.post("/api/v1/relationships", json={**ENDS, "attitude": 4})
        assert made.status_code == 200, made.text
        noted = api.post("/api/v1/relationships/notes", json={**ENDS, "note": "sings bass"}).json()
        assert noted["relationships"][0]["notes"] == ["sings bass"]
        changed = api.post("/api/v1/relationships/update", json={**ENDS, "deleted": True}).json()
        assert changed["relationships"] == []
        assert api.post("/api/v1/relationships", json={**ENDS, "attitude": 9}).status_code == 422
        assert api.post("/api/v1/relationships", json=ENDS, headers={"authorization": ""}).status_code == 401
        form = {"content-type": "application/x-www-form-urlencoded"}
        assert api.post("/api/v1/relationships", content=b"x", headers=form).status_code == 415


def test_the_api_only_reads_by_default(tmp_path: Path) -> None:
    config = archive.make(tmp_path)
    archive.first_sync(config)
    with client(config) as api:
        refused = api.post("/api/v1/relationships", json=ENDS, headers=BEARER)
    assert refused.status_code == 404
    assert "web_writes_enabled" in refused.json()["detail"]
    assert statements.list_statements(archive.workspace(config).settings) == []
