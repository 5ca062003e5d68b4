"""The tools, asked by the protocol's own client over both transports."""

import json
import re
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx2
import orjson
import pandas as pd
import pytest
import uvicorn
from mcp import Client, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from relrag_pipelines.errors import RelragError
from relrag_pipelines.ui.login import Login
from relrag_query.exploration import DESCRIPTION
from relrag_query.mcp import server as mcp_server
from relrag_query.mcp import tool_replies
from relrag_query.mcp.local_paths import FOLDER
from relrag_query.mcp.reply_budget import DATA, MAX_BYTES, clip, fit, size
from relrag_query.mcp.server import build
from relrag_query.service import Service
from relrag_query.service.cursors import offset_of
from relrag_query.service.person_replies import FactReply
from relrag_query.web.app import create_app
from tests import archive
from tests.cases import cases
from tests.web_app import KEY, TOKEN

TOOLS = ["search", "ask", "show", "thread", "neighbors", "explore", "person", "people", "status"]
LONG = "\n".join(f"Paragraph {number}: שלום, příliš žluťoučký kůň." for number in range(1500))


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mcp")
    config = archive.make(folder)
    notes = [{"id": f"m{number}", "text": f"Pane {number} " + "of the greenhouse " * 40} for number in range(60)]
    archive.write_notes(folder, {"id": "long", "text": LONG}, *notes)
    archive.first_sync(config)
    return config


@pytest.fixture
def service(config: Path) -> Iterator[Service]:
    with Service.open(config) as opened:
        yield opened


def call(target: Any, name: str, **arguments: Any) -> Any:
    async def called() -> Any:
        async with Client(target() if callable(target) else target) as client:
            return await client.call_tool(name, arguments)

    return anyio.run(called)


def told(target: Any, name: str, **arguments: Any) -> dict[str, Any]:
    result = call(target, name, **arguments)
    assert not result.is_error, result.content
    (content,) = result.content
    assert len(content.text.encode()) <= MAX_BYTES
    reply: dict[str, Any] = json.loads(content.text)
    assert result.structured_content == reply
    assert reply["note"] == DATA
    return reply


def conforms(transport: Any) -> None:
    """What both transports have to do."""

    async def asked() -> None:
        async with Client(transport()) as client:
            listed = (await client.list_tools()).tools
            assert [tool.name for tool in listed] == TOOLS
            for tool in listed:
                assert tool.description
                assert tool.annotations
                assert tool.annotations.read_only_hint
            answer = await client.call_tool("ask", {"question": "Who has the key of the cabin?"})
            reply = json.loads(answer.content[0].text)  # type: ignore[union-attr]
            assert reply["quotes"]
            assert "answer" not in reply
            unknown = await client.call_tool("show", {"ref": "jsonl:notes:none"})
            assert unknown.is_error
            assert 'nothing named "jsonl:notes:none"' in str(unknown.content)

    anyio.run(asked)


@pytest.mark.requirement("S0-76")
def test_a_policy_of_now_holds_for_what_was_indexed_under_another(tmp_path: Path) -> None:
    """Tools are read by a model: what a policy hides it never sees, whether or not the next sync has come."""
    loose = '[pii_policies.whatsapp]\nentities = ["EMAIL_ADDRESS"]\naction = "mask"\n'
    config = archive.make(tmp_path, loose)
    archive.first_sync(config)
    asked = {"search": {"query": "key of the cabin"}, "ask": {"question": "Who has the key of the cabin?"}}
    with Service.open(config) as service:
        for tool, arguments in asked.items():
            assert "052-123-4567" in json.dumps(told(build(service), tool, **arguments)), tool
    archive.configure(tmp_path)
    with Service.open(config) as service:
        for tool, arguments in asked.items():
            said = told(build(service), tool, **arguments)
            text = json.dumps(said)
            assert ("4567" in text, "<PHONE_NUMBER" in text) == (False, True), tool
            entries = said.get("hits") or said.get("sources") or said["closest"]
            for entry in entries:  # ids still lead somewhere
                assert told(build(service), "show", ref=entry["asset_id"])["ref"] == entry["asset_id"]


@pytest.mark.requirement("S0-76")
@pytest.mark.parametrize("place", range(7, 12))
def test_a_number_across_the_cut_of_a_reply_is_redacted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: int
) -> None:
    """Parts of a long text are cut when it is redacted: neither half of a number is one."""
    loose = '[pii_policies.default]\nentities = ["EMAIL_ADDRESS"]\naction = "mask"\n'
    config = archive.make(tmp_path, loose)
    archive.write_notes(tmp_path, {"id": "long", "text": f"{'x ' * 40}call 052-123-4567 tomorrow"})
    archive.first_sync(config)
    archive.configure(tmp_path)
    monkeypatch.setattr(tool_replies, "_prefix", lambda text, room: text[: 85 + place])
    with Service.open(config) as service:
        first = told(build(service), "show", ref="jsonl:notes:long")
        parts = [first["text"]]
        while "next_cursor" in first:
            first = told(build(service), "show", ref="jsonl:notes:long", cursor=first["next_cursor"])
            parts.append(first["text"])
    assert len(parts) > 1
    assert "052" not in "".join(parts) and "4567" not in "".join(parts) and "<PHONE_NUMBER" in "".join(parts)


def test_over_standard_input_and_output(config: Path) -> None:
    relrag = str(Path(sys.executable).with_name("relrag"))
    conforms(lambda: stdio_client(StdioServerParameters(command=relrag, args=["mcp", "--config", str(config)])))


def test_over_http_with_the_token_only(service: Service) -> None:
    server = uvicorn.Server(uvicorn.Config("", host="127.0.0.1", port=0, log_level="critical"))
    listening = server.config.bind_socket()
    listening.listen()  # who connects before the server runs waits for it
    port = listening.getsockname()[1]
    server.config.app = create_app(service, Login(KEY), lambda: TOKEN, "127.0.0.1", port)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    url = f"http://127.0.0.1:{port}/mcp"
    try:
        shown = httpx2.AsyncClient(headers={"authorization": f"Bearer {TOKEN}"})
        conforms(lambda: streamable_http_client(url, http_client=shown))
        for headers in ({}, {"authorization": "Bearer other"}, {"authorization": TOKEN}):
            assert httpx2.post(url, json={}, headers=headers).status_code == 401
        named = {"authorization": f"Bearer {TOKEN}", "host": "evil.example"}
        assert httpx2.post(url, json={}, headers=named).status_code == 403
    finally:
        server.should_exit = True
        thread.join()


def test_explore_says_what_it_is_for_and_gives_people_and_records(service: Service) -> None:
    async def described() -> str | None:
        async with Client(build(service)) as client:
            listed = (await client.list_tools()).tools
            return next(tool.description for tool in listed if tool.name == "explore")

    assert anyio.run(described) == DESCRIPTION
    reply = told(build(service), "explore", query="What does Dana Levi say of the cabin?")
    assert (reply["nodes"][0]["kind"], reply["nodes"][0]["name"]) == ("person", "Dana Levi")
    assert "source" in {node["kind"] for node in reply["nodes"]}


@pytest.mark.requirement("S3-27")
def test_the_type_of_a_line_leads_to_the_conversation(service: Service) -> None:
    """A line says `type=whatsapp`; what the instructions say of messages of a chat fetches the rest."""
    (rule,) = (rule for rule in mcp_server.INSTRUCTIONS.split("\n- ") if "message of a chat" in rule)
    tool, field = re.findall(r"`(\w+)`", rule)[:2]
    hit = told(build(service), "search", query="key of the cabin", sources=["chat"])["hits"][0]
    assert hit["line"].startswith("type=whatsapp; ")
    members = told(build(service), tool, **{field: hit[field]})["members"]
    assert len(members) > len(hit["messages"])


@pytest.mark.requirement("S3-27")
def test_the_id_of_a_person_leads_to_what_is_known_of_them(service: Service) -> None:
    """The instructions say `person` with `asset_id`, which of a person is `person:` and the number."""
    (person_id,) = (person.person_id for person in service.people(9).people if person.name == "Dana Levi")
    reply = mcp_server.call_tool(service, "person", {"name": f"person:{person_id}"})
    assert reply.structured_content["name"] == "Dana Levi"


def test_a_long_record_comes_in_parts_that_make_up_the_whole(service: Service) -> None:
    server = build(service)
    parts, cursor = [], None
    while True:
        reply = told(server, "show", ref="jsonl:notes:long", **({"cursor": cursor} if cursor else {}))
        parts.append(reply["text"])
        if (cursor := reply.get("next_cursor")) is None:
            break
    assert len(parts) > 3
    assert "".join(parts) == LONG


def test_hits_that_do_not_fit_are_behind_the_cursor(service: Service) -> None:
    server = build(service)
    seen: list[str] = []
    cursor: dict[str, str] = {}
    for _ in range(12):
        reply = told(server, "search", query="pane greenhouse", limit=40, **cursor)
        assert 0 < len(reply["hits"]) < 40
        seen += [hit["chunk_id"] for hit in reply["hits"]]
        if "next_cursor" not in reply:
            break
        cursor = {"cursor": reply["next_cursor"]}
    assert len(seen) == len(set(seen))
    assert len(seen) > 50


def test_errors_hold_no_private_text(
    service: Service, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> None:
        raise ValueError("Dana Levi has the key")

    monkeypatch.setattr(Service, "search", broken)
    result = call(build(service), "search", query="key")
    assert result.is_error
    assert "unexpected ValueError" in result.content[0].text
    written = capfd.readouterr()
    assert "Dana" not in result.content[0].text + written.out + written.err


@pytest.mark.parametrize("text", ["x" * 50_000, "שלום " * 9000, '\\"\n' * 20_000, "🎈" * 9000])
def test_a_text_is_clipped_to_what_fits(text: str) -> None:
    about, kept = fit({"note": "n"}, "hits", [{"text": text, "id": 1}, {"text": "second" * 50}])
    assert kept == 1
    assert len(orjson.dumps(about)) <= MAX_BYTES
    assert about["hits"][0]["id"] == 1
    assert about["hits"][0]["text"].startswith(text[:500])
    assert clip({"a": "short"}, 1000) == {"a": "short"}
    assert size(clip({"a": ["x" * 900, "y" * 800]}, 1000)) <= 1000


def test_a_mail_to_hundreds_and_a_person_of_hundreds_of_facts_fit(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    everyone = [f"somebody.number{number}@example.org" for number in range(600)]
    show = Service.show

    def shown(self: Service, ref: str, limit: int = 50) -> Any:
        reply = show(self, ref, limit)
        if reply.record:
            reply.record.to = everyone
        if reply.person:
            fact = FactReply(
                predicate="note", value="has a boat", years=None, confidence=1.0, source_ref="jsonl:notes:m1",
                source_quote="She has a boat.", valid_from=None, valid_to=None,
            )  # fmt: skip
            reply.person.facts = [fact] * 400
        return reply

    monkeypatch.setattr(Service, "show", shown)
    first = told(build(service), "show", ref="jsonl:notes:long")
    *named, more = first["to"]
    assert named == everyone[: len(named)]
    assert more == f"and {600 - len(named)} more"
    assert LONG.startswith(first["text"])
    assert len(first["text"]) > 1000
    number = service.person("Dana Levi").person_id
    person = told(build(service), "show", ref=f"person:{number}")
    assert person["facts"][-1] == f"and {400 - len(person['facts']) + 1} more"
    assert person["name"] == "Dana Levi"
    assert len(person["facts"]) > 10


def test_a_part_is_never_empty(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relrag_query.mcp.tool_replies.MAX_BYTES", 100)
    reply = json.loads(call(build(service), "show", ref="jsonl:notes:long").content[0].text)
    assert reply["text"] == LONG[0]
    assert offset_of(reply["next_cursor"], reply["generation"]) == 1


def test_a_list_of_lists_is_shortened_to_what_fits() -> None:
    value = {"a": [{"b": [str(number) for number in range(500)]}], "c": list(range(3000))}
    fits = clip(value, 2000)
    assert size(fits) <= 2000
    assert fits["c"][-1] == f"and {3000 - len(fits['c']) + 1} more"
    assert clip({"a": [["x"], "and 4 more"]}, 5) == {"a": [["x"], "and 4 more"]}


def test_a_long_answer_is_traced(service: Service, tmp_path: Path) -> None:
    pd.DataFrame({"id": ["e1"], "human_readable_id": [1], "title": ["Ota"], "text_unit_ids": [["u1"]]}).to_parquet(
        tmp_path / "entities.parquet"
    )
    with Service(service.settings, tmp_path) as indexed:
        reply = told(build(indexed), "trace", answer="He owns it [Data: Entities (1)]. " * 300)
        assert reply["citations"]


@pytest.mark.parametrize(*cases(__file__, "what_does_not_fit_is_refused"))
def test_what_does_not_fit_is_refused(service: Service, name: str, arguments: dict[str, Any], fault: str) -> None:
    result = call(build(service), name, **arguments)
    assert result.is_error
    assert fault in result.content[0].text
    assert result.structured_content is None


def test_tools_name_the_sources_and_kinds_of_the_archive(service: Service) -> None:
    listed = {tool.name: tool for tool in mcp_server.list_tools(service)}
    for name in ("search", "ask"):
        properties = listed[name].input_schema["properties"]
        assert properties["sources"]["items"]["enum"] == ["chat", "papers", "notes"]
        assert properties["kinds"]["items"]["enum"] == ["document", "jsonl", "whatsapp"]
    assert {tool.input_schema["additionalProperties"] for tool in listed.values()} == {False}
    assert all(tool.output_schema and tool.output_schema["properties"] for tool in listed.values())


def test_status_and_people_name_no_path_of_this_machine(service: Service, config: Path) -> None:
    status = told(build(service), "status")
    assert [(source["name"], source["kind"]) for source in status["sources"]] == [
        ("chat", "whatsapp"),
        ("papers", "document"),
        ("notes", "jsonl"),
    ]
    assert status["generation"]["number"] == 1
    people = told(build(service), "people", limit=2)
    assert len(people["people"]) == 2
    assert people["next_cursor"]
    assert str(config.parent) not in json.dumps([status, people])


@pytest.mark.parametrize(
    "text",
    [
        "{folder}/notes.jsonl: no such file",
        "the index {folder}/index is not there",
        'cannot read "{folder}"',
        "{folder}/.relrag/private/journal.jsonl, line 3",
    ],
)
def test_errors_name_no_path_of_this_machine(
    service: Service, config: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    def broken(*_: object) -> None:
        raise RelragError(text.format(folder=config.parent))

    monkeypatch.setattr(Service, "search", broken)
    result = call(build(service), "search", query="key")
    assert result.is_error
    assert str(config.parent) not in result.content[0].text
    assert FOLDER in result.content[0].text
