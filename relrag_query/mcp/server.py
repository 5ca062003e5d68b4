"""The tools: what the service answers, each reply within a budget of tokens and labelled as data.

These only read; `writing_tools` are those that state things. What GraphRAG queries add is declared in `tools` too.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from typing import Annotated, Any, Literal

from mcp.server import MCPServer
from mcp_types import ToolAnnotations
from pydantic import BaseModel, Field

from relrag_query.exploration import DESCRIPTION
from relrag_query.mcp.reply_budget import DATA, MOST_BYTES, clip, compact, fit, size
from relrag_query.mcp.tool_replies import fields, seal_errors, to_json
from relrag_query.mcp.writing_tools import writing_tools
from relrag_query.retrieval.question_length import LONGEST
from relrag_query.service import Filters, Service
from relrag_query.service.cursors import cursor, offset_of
from relrag_query.service.graph_index_cache import ARCHIVE

INSTRUCTIONS = f"""An archive of one person's or team's chats, mail, documents, calls and code. Use `ask` for a
question, `search` for passages, `show` for what an id names, `neighbors` for what belongs together.
Cite ids of what you use. `confidence` says whether an answer is sure; say so where it is not. {DATA}"""
READ_ONLY = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
FOR_CLIENTS = frozenset({"search", "ask", "show", "thread", "neighbors"})
"""tools for those who see the records of some clients only"""
_SPARE = 200
"""bytes for the cursor and the marks around a text"""

Words = Annotated[str, Field(min_length=1, max_length=LONGEST)]
TracedAnswer = Annotated[str, Field(min_length=1, max_length=1_000_000)]
Ref = Annotated[str, Field(min_length=1, max_length=2000)]
Names = list[str] | None
PersonName = Annotated[str, Field(description="only what has to do with this person: a name, alias or number")]
Day = Annotated[str | None, Field(description="2024, 2024-03 or 2024-03-15", pattern=r"^\d{4}(-\d\d(-\d\d)?)?$")]
Cursor = Annotated[str | None, Field(description="`next_cursor` of the reply before")]
Limit = Annotated[int, Field(ge=1, le=100)]


def build(service: Service) -> MCPServer[Any]:
    """The server with its tools; what it logs says nothing of the archive."""
    server: MCPServer[Any] = MCPServer(
        "relrag", instructions=INSTRUCTIONS, version=version("relrag"), log_level="CRITICAL"
    )
    for tool in tools(service):
        if service.clients and tool.__name__ not in FOR_CLIENTS:
            continue
        server.tool(annotations=READ_ONLY, structured_output=False)(tool)
    for tool, hints in writing_tools(service):
        server.tool(annotations=hints, structured_output=False)(tool)
    return server


def tools(service: Service) -> list[Callable[..., str]]:
    """Each tool as a function, whose name, docstring and parameters describe it."""
    return [*_question_tools(service), *_record_tools(service), *_people_tools(service), *graph_tools(service)]


def _question_tools(service: Service) -> list[Callable[..., str]]:
    @seal_errors
    def search(
        query: Words,
        sources: Names = None,
        kinds: Names = None,
        person: PersonName = "",
        since: Day = None,
        until: Day = None,
        limit: Limit = 8,
        cursor: Cursor = None,
    ) -> str:
        """Find passages of the archive by words and by meaning, in any language, best first."""
        found = service.search(query, Filters(sources or (), kinds or (), since, until, person), limit, cursor)
        return _page(found, "hits", cursor)

    @seal_errors
    def ask(
        question: Words,
        sources: Names = None,
        kinds: Names = None,
        person: PersonName = "",
        since: Day = None,
        until: Day = None,
        follows: Names = None,
        cursor: Cursor = None,
    ) -> str:
        """Answer a question with sentences quoted from the archive; the numbers in brackets are those of `sources`.

        `confidence` is sure, unsure (what comes closest is quoted) or none. A cursor gives further sources.
        `follows` are the questions that this one follows up, the last one first.
        """
        found = service.ask(question, Filters(sources or (), kinds or (), since, until, person), follows=follows or ())
        found.answer = "" if found.quotes else found.answer  # not everything twice
        return _page(found, "sources" if found.sources else "closest", cursor)

    return [search, ask]


def _record_tools(service: Service) -> list[Callable[..., str]]:
    @seal_errors
    def show(ref: Ref, cursor: Cursor = None) -> str:
        """What an id names, whole: a record, passage (chunk:...), thread (thread:...) or person (person:...).

        With what it is related to.

        A long text comes in parts, by the cursor.
        """
        if ref.startswith("thread:"):
            return _page(service.thread(ref, 50, cursor), "members", cursor)
        if ref.startswith("person:") and (shown := service.show(ref).person):
            return _page(shown, "latest", cursor)
        return _shown(service, ref, cursor)

    @seal_errors
    def thread(thread_id: Ref, limit: Limit = 50, cursor: Cursor = None) -> str:
        """The records of a thread or chat, newest first, with the beginning of each."""
        return _page(service.thread(thread_id, limit, cursor), "members", cursor)

    @seal_errors
    def neighbors(
        ref: Ref,
        relation_types: Names = None,
        direction: Literal["out", "in", "both"] = "both",
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> str:
        """What a record, passage or thread is directly related to, how, and what says so.

        Relation types: thread_member, attachment_of, chunk_of, reply_to, references, transcript_of.
        """
        return _page(service.neighbors(ref, relation_types, direction, limit, cursor), "neighbors", cursor)

    return [show, thread, neighbors]


def _people_tools(service: Service) -> list[Callable[..., str]]:
    @seal_errors
    def explore(
        query: Words,
        search_relationships: bool = True,
        person: PersonName = "",
        limit: Limit = 5,
        cursor: Cursor = None,
    ) -> str:
        found = service.explore(query, search_relationships, person, limit)
        return _page(found, "nodes", cursor)

    explore.__doc__ = DESCRIPTION

    @seal_errors
    def person(name: Ref, cursor: Cursor = None) -> str:
        """What is known of a person, by a name, an alias or a number: facts and relationships with what says so."""
        return _page(service.person(name), "latest", cursor)

    return [explore, person]


def graph_tools(service: Service) -> list[Callable[..., str]]:
    """The tools of GraphRAG indexes; none where there is no index."""

    @seal_errors
    def graphrag(
        question: Words,
        method: Literal["global", "local", "basic"] = "global",
        collection: Ref = ARCHIVE,
        cursor: Cursor = None,
    ) -> str:
        """Answer from a GraphRAG index: global says what is talked about most, in themes; local is about one thing.

        Each sentence cites its records; `sources` are the documents and pages behind them, further ones by the cursor.
        """
        found = service.graphrag(question, collection, method)
        found.citations, found.references = [], []
        found.answer = "" if found.themes and not found.model else found.answer  # not everything twice
        return _page(found, "sources", cursor)

    @seal_errors
    def trace(answer: TracedAnswer, question: str = "", collection: str = "", cursor: Cursor = None) -> str:
        """The documents and pages behind the citations, such as [Data: Reports (2)], of a GraphRAG answer."""
        return _page(service.graphs.trace(answer, question, collection), "sources", cursor)

    named = service.graphs.collections().collections
    return [*([graphrag] if named else []), *([trace] if service.graphs.traces else [])]


def _page(reply: BaseModel, name: str, after: str | None) -> str:
    """A reply with as many entries of its list as fit. One that is not cut ends with the cursor that it has itself."""
    said = fields(reply)
    number = int(said.get("generation", 0))
    entries = said.pop(name, [])
    further = said.pop("next_cursor", None)
    # what is a page of the service begins where the cursor says; other lists are whole
    begun = offset_of(after, number)
    paged = "next_cursor" in type(reply).model_fields and name != "sources"
    entries = entries if paged else entries[begun:]
    about = {"note": DATA, **clip(said, MOST_BYTES // 2)}
    found, kept = fit(about, name, entries)
    if kept < len(entries):
        further = cursor(number, begun + kept)
    return to_json({**found, "next_cursor": further} if further else found)


def _shown(service: Service, ref: str, after: str | None) -> str:
    """What an id names: its text, in parts where it is long, and what it is related to, as far as there is room."""
    reply = service.show(ref)
    said = fields(reply)
    begun = offset_of(after, reply.generation)
    passages = said.pop("passages", [])
    about = {**said.pop("record", {}), **(passages[0] if passages else {})}
    text = "\n".join(one.get("text", "") for one in passages) or about.get("text", "")
    about.pop("text", None)
    own = {"relation_type": "chunk_of", "direction": "in"}
    related = [one for one in said.pop("related", []) if not own.items() <= one.items()]
    about = {"note": DATA, **clip({"ref": reply.ref, "generation": reply.generation, **about}, MOST_BYTES // 4)}
    about, _ = fit(about, "related", [] if begun else related, MOST_BYTES // 2)
    room = MOST_BYTES - size(about) - _SPARE
    part = _beginning(text[begun:], room) or text[begun : begun + 1]  # a cursor that stays would be followed forever
    found = {**about, "text": part}
    if begun + len(part) < len(text):
        found["next_cursor"] = cursor(reply.generation, begun + len(part))
    return to_json(compact(found))


def _beginning(text: str, room: int) -> str:
    """As much of a text as takes that many bytes as JSON."""
    while (taken := size(text)) > room and text:
        text = text[: max(0, min(len(text) - 1, len(text) * room // taken))]
    return text
