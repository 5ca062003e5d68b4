"""The pages, and the parts that their scripts load.

A new page needs a route in `routes`, and an entry of the menu in templates/base.html.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Awaitable, Callable
from contextlib import suppress
from http import HTTPStatus
from typing import Any, TypeVar

from jinja2 import Environment
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from relrag_pipelines.records import Record
from relrag_pipelines.settings import Settings
from relrag_pipelines.sources import record_type
from relrag_pipelines.sources.document.page_picture import PagePicture
from relrag_pipelines.stores import generations
from relrag_query.archive import ArchiveError
from relrag_query.http.concurrency import RequestLimiter
from relrag_query.http.event_stream import event_stream
from relrag_query.owner import visits
from relrag_query.people.indexed_person import SeveralPeople
from relrag_query.retrieval import attachment_filter, record_list
from relrag_query.retrieval.question_length import LONGEST
from relrag_query.service import Filters, GraphLimits, Service, UnknownRef, original_file, record_replies, replies
from relrag_query.service.cursors import cursor, offset_of
from relrag_query.web import (
    archive_page,
    graph_cards,
    graphrag_page,
    originals,
    owner_pages,
    record_parts,
    reveal_page,
    search_page,
)
from relrag_query.web.home_page import HomePage
from relrag_query.web.originals import NoPicture
from relrag_query.web.page_errors import describe_on_page, described_choice, people_meant
from relrag_query.web.rendering import page_url, templates
from relrag_query.web.wording import preferred_wording

Reply = TypeVar("Reply")
_NO_PROBLEM: dict[str, Any] = {"problem": "", "choices": []}
_USER_ERRORS = (HTTPStatus.MULTIPLE_CHOICES, HTTPStatus.BAD_REQUEST, HTTPStatus.NOT_FOUND)
"""statuses of errors that the user can correct in the form, such as an invalid date or an unknown person"""
_MAX_QUESTION_CHARACTERS = LONGEST
_NO_PASSAGE = "the archive has no such passage; it was deleted, or made anew since: ask again"
_MAX_EARLIER_QUESTIONS = 4
"""earlier questions that a follow-up uses"""
_PAGE_SIZE = 20
"""hits, or records of a thread, on a page"""

FOR_CLIENTS = frozenset({"/", "/ask", "/search", "/record", "/thread", "/source", "/graph", "/ask/stream", "/page.png"})
"""pages for users who may see only the records of some clients"""
GRAPH = GraphLimits(records=300)
"""default limits of the page of the graph"""

Endpoint = Callable[[Request], Awaitable[Response]]


def routes(service: Service, limiter: RequestLimiter, *, for_owner: bool = False) -> tuple[list[Route], Endpoint]:
    """The routes of all pages, and the endpoint for all other addresses.

    With `for_owner`, a logged-in user is the owner, who may see redacted values and change the archive.
    """
    for_owner = for_owner and not service.clients
    reveals = for_owner and service.settings.pii_redaction_enabled
    pages = Pages(service, limiter, reveals, for_owner)
    page_endpoints: dict[str, Endpoint] = {
        "/": pages.ask,
        "/ask": pages.ask,
        "/search": pages.search,
        "/record": pages.record,
        "/thread": pages.thread,
        "/source": pages.source,
        "/people": pages.people,
        "/person": pages.person,
        "/graph": pages.graph,
        "/graphrag": pages.graphrag,
        "/archive": pages.archive,
    }
    part_endpoints: dict[str, Endpoint] = {"/ask/stream": pages.ask_stream, "/page.png": pages.page_picture}
    endpoints = {**page_endpoints, **part_endpoints}
    if for_owner:
        endpoints |= owner_pages.OwnerPages(service, limiter, pages.render).endpoints
    if service.clients:
        endpoints = {path: endpoint for path, endpoint in endpoints.items() if path in FOR_CLIENTS}
    pages.served = frozenset(endpoints)
    page_routes = [Route(path, pages.guard(endpoint)) for path, endpoint in endpoints.items()]
    if for_owner:
        page_routes += owner_pages.operation_routes(service, limiter)
    if reveals:
        reveal_endpoint = reveal_page.endpoint(service, limiter, pages.templates)
        page_routes.append(Route("/reveal", pages.guard(reveal_endpoint), methods=["POST"]))
    return page_routes, pages.guard(pages.nothing)


class Pages:
    """The endpoints, over one service."""

    def __init__(
        self, service: Service, limiter: RequestLimiter, reveals: bool = False, for_owner: bool = False
    ) -> None:
        self._service, self._limiter, self._reveals, self._for_owner = service, limiter, reveals, for_owner
        self._by_language: dict[str, Environment] = {}
        self._home_page = HomePage(service)
        self.served: frozenset[str] = frozenset()
        """paths that the menu may name"""

    def templates(self, request: Request) -> Environment:
        """The templates in the language that the browser prefers."""
        words = preferred_wording(request.headers.get("accept-language", ""))
        if words.code not in self._by_language:
            self._by_language[words.code] = templates(words, reveals=self._reveals)
        return self._by_language[words.code]

    def guard(self, endpoint: Endpoint) -> Endpoint:
        """The endpoint; its errors become a page without private text."""

        async def answer(request: Request) -> Response:
            try:
                return await endpoint(request)
            except Exception as error:  # noqa: BLE001  reported without private text
                status, message = describe_on_page(request, error)
                choices = await self._limiter.run(self._choices_of_people, request, error, "name")
                return self.render(request, "problem.html", status=status, message=message, choices=choices)

        return answer

    async def ask(self, request: Request) -> Response:
        """The form of a question, with the answer if there is a question."""
        question, filters = _question(request)
        if self._for_owner and not question and await self._limiter.run(self._is_new):
            return self.render(request, "start.html", **await self._limiter.run(self._start_context))
        follows = _earlier_questions(request)
        call = functools.partial(self._service.ask, question, filters, follows=follows)
        answer, problem, status = await self._answer(request, call) if question else (None, _NO_PROBLEM, 200)
        citations = _citation_context(answer, follows) if answer else {}
        home = await self._home() if self._for_owner and not question else {}
        more = {**problem, "home": home, **citations, **self._choices(filters)}
        if answer:
            await self._note(question, answer)
        return self.render(request, "ask.html", status, question=question, answer=answer, **more)

    async def _home(self) -> dict[str, Any]:
        """What the page shows the owner before a question; nothing while the archive cannot be read."""
        with suppress(ArchiveError):
            return await self._limiter.run(self._home_page.template_context)
        return {}

    async def _note(self, question: str, answer: replies.AnswerReply) -> None:
        """Remembers a question of the owner."""
        if self._for_owner:
            await self._limiter.run(visits.note_question, self._service, question, answer.generation)

    async def ask_stream(self, request: Request) -> Response:
        """The answer as events; the last event holds the whole answer as HTML."""
        question, filters = _question(request)
        follows = _earlier_questions(request)

        def ask(on_text: Callable[[str], None]) -> Any:
            try:
                answer = self._service.ask(question, filters, None, on_text, follows)
            except SeveralPeople as error:
                people = self._choices_of_people(request, error, "person")
                return self._html(
                    request, "choose_person.html", problem=describe_on_page(request, error)[1], choices=people
                )
            if self._for_owner:
                visits.note_question(self._service, question, answer.generation)
            return self._html(
                request, "answer.html", answer=answer, chosen=filters, **_citation_context(answer, follows)
            )

        return event_stream(self._limiter, ask, functools.partial(describe_on_page, request))

    async def search(self, request: Request) -> Response:
        """The form of a search, and the hits, or without words a list of records, with the links that narrow it."""
        query, filters = _question(request)
        after, order = request.query_params.get("cursor"), search_page.order_of(request.query_params.get("order", ""))
        call = functools.partial(self._service.search, query, filters, _PAGE_SIZE, after, order, overview=True)
        is_blank = not query and record_list.are_empty(filters)
        results, problem, status = (None, _NO_PROBLEM, 200) if is_blank else await self._answer(request, call)
        more = search_page.template_context(query, filters, order, results) | self._choices(filters) | problem
        return self.render(request, "search.html", status, question=query, results=results, **more)

    async def _answer(self, request: Request, call: Callable[[], Reply]) -> tuple[Reply | None, dict[str, Any], int]:
        """(reply, problem, status). A user error becomes a problem that the form shows; other errors are raised."""
        try:
            return await self._limiter.run(call), _NO_PROBLEM, 200
        except Exception as error:
            status, message = describe_on_page(request, error)
            if status not in _USER_ERRORS:
                raise
            return (
                None,
                {
                    "problem": message,
                    "choices": await self._limiter.run(self._choices_of_people, request, error, "person"),
                },
                status,
            )

    def _choices_of_people(self, request: Request, error: Exception, parameter: str) -> list[tuple[str, str, str]]:
        """(URL, name, what tells them apart) of the people whom a name may mean; the URL has a number instead."""
        words, path = preferred_wording(request.headers.get("accept-language", "")), request.url.path
        page = request.url.replace(scheme="", netloc="", path=path.removesuffix("/stream"))
        return [
            (
                str(page.include_query_params(**{parameter: choice.person_id})),
                choice.name,
                described_choice(choice, words),
            )
            for choice in people_meant(self._service, error)
        ]

    async def record(self, request: Request) -> Response:
        """A whole record with its relations."""
        ref = request.query_params.get("ref", "")
        if ref.startswith("thread:"):
            return RedirectResponse(request.url.replace(path="/thread", query="").include_query_params(id=ref[7:]), 303)
        if ref.startswith("person:"):
            person = request.url.replace(path="/person", query="")
            return RedirectResponse(person.include_query_params(name=ref.removeprefix("person:")), 303)
        reply = await self._limiter.run(self._service.show, ref)
        if reply.record is None and not reply.passages:
            return self.render(request, "related.html", reply=reply)
        more = record_parts.template_context(reply.record, request.query_params.get("part", ""))
        return self.render(
            request,
            "record.html",
            reply=reply,
            groups=_groups(reply.related),
            can_reveal=self._reveals,
            has_file=reply.record is not None and await self._limiter.run(self._may_have_file, ref),
            **more,
        )

    async def thread(self, request: Request) -> Response:
        """A page of a thread, newest first; with `at`, the page that holds that record, marked."""
        parameters = request.query_params
        thread_id, at, after = (parameters.get(name, "") for name in ("id", "at", "cursor"))
        if at and not after:
            after = await self._limiter.run(self._service.cursor_around, thread_id, at, _PAGE_SIZE)
        thread = await self._limiter.run(self._service.thread, thread_id, _PAGE_SIZE, after)
        newer = _cursor_before(after, thread.generation)
        attached = self._for_owner and any(record_type(member.rag_source_type).part_of for member in thread.members)
        return self.render(request, "thread.html", thread=thread, attached=attached, at=at, newer=newer)

    async def source(self, request: Request) -> Response:
        """The passage of a citation with its quote marked; with `part`, without the frame of the page."""
        parameters = request.query_params
        quote, page = parameters.get("quote", "")[:_MAX_QUESTION_CHARACTERS], parameters.get("page", "")
        context = await self._limiter.run(
            self._cited_passage, parameters.get("chunk", ""), parameters.get("of", ""), quote
        )
        passage = context["passage"]
        if page.isdecimal() and (passage.page_number or 0) <= int(page) <= (passage.last_page_number or 0):
            passage.page_number = int(page)
        name = "source_part.html" if "part" in parameters else "source.html"
        return self.render(request, name, quote=quote, **context)

    async def page_picture(self, request: Request) -> Response:
        """A page of an original as PNG with the quote marked; if there is no picture, the reason."""
        parameters = request.query_params
        number = parameters.get("page", "")
        try:
            if not number.isdecimal() or len(number) > 6:
                raise NoPicture("A page has a number.", code="page_absent")
            ref, quote = parameters.get("ref", ""), parameters.get("quote", "")[:_MAX_QUESTION_CHARACTERS]
            picture = await self._limiter.run(self._picture, ref, int(number), quote)
        except (NoPicture, UnknownRef) as error:
            return HTMLResponse(
                self._html(request, "no_picture.html", message=describe_on_page(request, error)[1]), 404
            )
        headers = {"X-Marked": f"{picture.matched_share:.2f}", "X-Covered": str(picture.covered_words)}
        return Response(picture.png, media_type="image/png", headers=headers)

    async def people(self, request: Request) -> Response:
        """The list of people."""
        listing = await self._limiter.run(self._service.people, 100, request.query_params.get("cursor"))
        return self.render(request, "people.html", listing=listing)

    async def person(self, request: Request) -> Response:
        """The page about a person; with `part`, without the frame of the page."""
        parameters = request.query_params
        person = await self._limiter.run(self._service.person, parameters.get("name", ""))
        return self.render(request, "person_part.html" if "part" in parameters else "person.html", person=person)

    async def graph(self, request: Request) -> Response:
        """The graph of people and records: drawn by a script, as cards, and as a table."""
        parameters = request.query_params
        persons, per_person = (
            _positive_number(parameters.get(name), most) for name, most in (("persons", 1000), ("each", 100))
        )
        limits = GraphLimits(
            persons or GRAPH.limit_persons, per_person or GRAPH.limit_assets_per_person, True, GRAPH.records
        )
        graph = await self._limiter.run(self._service.full_graph, limits)
        return self.render(
            request,
            "graph.html",
            graph=graph,
            cards=graph_cards.cards(graph),
            most=graph_cards.MAX_CARDS,
            limits=dataclasses.asdict(limits),
            focus=parameters.get("ref", ""),
            view="cards" if parameters.get("view") == "cards" else "graph",
        )

    async def graphrag(self, request: Request) -> Response:
        """Themes, reports, and the passages that they cite."""
        context = await self._limiter.run(graphrag_page.template_context, self._service, request)
        return self.render(request, "graphrag.html", **context)

    async def archive(self, request: Request) -> Response:
        """The state of the archive."""
        context = await self._limiter.run(archive_page.template_context, self._service)
        if self._for_owner:
            context |= await self._limiter.run(owner_pages.activity_context, self._service)
            context |= await self._limiter.run(owner_pages.upkeep_context, self._service)
        return self.render(request, "archive.html", **context)

    def _is_new(self) -> bool:
        """Whether nothing is published yet, so that the first page shows the first steps."""
        return generations.current_number(self._service.settings.home_path) is None

    def _start_context(self) -> dict[str, Any]:
        return {"sources": self._service.sources(), **owner_pages.activity_context(self._service)}

    async def nothing(self, _: Request) -> Response:
        """The endpoint of all other addresses."""
        raise UnknownRef("there is no such page", code="page_absent")

    def _cited_passage(self, chunk_id: str, asset_id: str, quote: str) -> dict[str, Any]:
        with self._service.reading() as archive:
            chunk = archive.cited_chunk(chunk_id, asset_id, quote)
            if chunk is None:
                if asset_id:
                    raise UnknownRef("what this link cites was deleted or forgotten since", code="cited_gone")
                raise UnknownRef(_NO_PASSAGE, code="passage_absent")
            record = archive.record(chunk.asset_id)
            passage = record_replies.passage_reply(chunk, self._service.zone, None)
            pictured = record is not None and chunk.page_number is not None and originals.has_pages(record)
            redacted = archive.settings.pii_redaction_enabled
            return {
                "passage": passage,
                "pictured": pictured,
                "redacted": redacted,
                "in_record": record is not None,
                "cited": archive.cited_record(chunk, quote),
            }

    def _picture(self, ref: str, page: int, quote: str) -> PagePicture:
        return originals.picture(*self._settings_and_record(ref), page, quote)

    def _may_have_file(self, ref: str) -> bool:
        return original_file.may_have(self._settings_and_record(ref)[1])

    def _settings_and_record(self, ref: str) -> tuple[Settings, Record]:
        with self._service.reading() as archive:
            if record := archive.record(ref):
                return archive.settings, record
        raise UnknownRef("the archive has no such record", code="record_absent")

    def _choices(self, filters: Filters) -> dict[str, Any]:
        """The choices and the current values of the filters."""
        choices = {"attachments": attachment_filter.TYPES}
        try:
            return {"sources": self._service.source_names(), "chosen": filters, **choices}
        except ArchiveError:  # nothing is published yet
            return {"sources": [], "chosen": filters, **choices}

    def render(self, request: Request, name: str, status: int = 200, **values: Any) -> Response:
        """A template as a page; `values` are its context."""
        html = self._html(request, name, status=status, **self._common(), **values)
        headers = {"Retry-After": "1"} if status == HTTPStatus.SERVICE_UNAVAILABLE else None
        return HTMLResponse(html, status, headers)

    def _common(self) -> dict[str, Any]:
        """What every page shows: the archive's name, the menu, and whether the page may change anything."""
        switch = {"writes": False, "asks_writes": False}
        if self._for_owner:
            with suppress(ArchiveError):  # relrag.toml is wrong now; the page itself says so
                switch = owner_pages.switch_context(self._service)
        return {"archive_name": self._service.name, "served": self.served, **switch}

    def _html(self, request: Request, name: str, **values: Any) -> str:
        return self.templates(request).get_template(name).render(values)


def _question(request: Request) -> tuple[str, Filters]:
    parameters = request.query_params
    filters = Filters(
        [source for source in parameters.getlist("source") if source],
        [kind for kind in parameters.getlist("kind") if kind],
        parameters.get("from") or None,
        parameters.get("to") or None,
        parameters.get("person", "").strip()[:200],
        next((type_ for type_ in attachment_filter.TYPES if type_ == parameters.get("attachment")), None),
        parameters.get("added") or None,
    )
    return parameters.get("q", "").strip()[:_MAX_QUESTION_CHARACTERS], filters


def _cursor_before(after: str, generation: int) -> str:
    """The cursor of the page before that of a cursor; empty for the first page."""
    offset = offset_of(after, generation)
    return cursor(generation, max(0, offset - _PAGE_SIZE)) if offset else ""


def _earlier_questions(request: Request) -> list[str]:
    """The earlier questions that a follow-up uses, as the previous page sends them."""
    return [
        question[:_MAX_QUESTION_CHARACTERS]
        for question in request.query_params.get("after", "").splitlines()
        if question.strip()
    ][:_MAX_EARLIER_QUESTIONS]


def _citation_context(answer: replies.AnswerReply, follows: list[str]) -> dict[str, Any]:
    """Template context of an answer: sources by number, the URL of a citation, and the questions for a follow-up."""
    questions = "\n".join([answer.question, *follows][:_MAX_EARLIER_QUESTIONS])
    sources_by_number = {source.number: source for source in answer.sources}
    quotes = {number: quote for quote in reversed(answer.quotes) for number in quote.sources}

    def citation(number: int, quote: replies.QuoteReply | None = None) -> str:
        source, quote = sources_by_number[number], quote or quotes.get(number)
        cited = [*source.cited_chunk_ids, source.chunk_id][0]
        ref = cited if cited.startswith("person:") else f"chunk:{cited}"
        # a passage may span pages; the page of the quote is known only for its first source
        page = quote.page if quote and quote.sources[:1] == [number] else None
        return page_url(ref, quote.answering if quote else "", page, "" if ref == cited else source.asset_id)

    return {"numbered": sources_by_number, "citation": citation, "earlier": questions, "follows": follows}


def _positive_number(text: str | None, maximum: int) -> int:
    """A number in a URL, from 1 to `maximum`; 0 for anything else."""
    return min(int(text), maximum) if text and text.isdecimal() and len(text) < 7 else 0


def _groups(related: list[record_replies.NeighborReply]) -> dict[str, list[record_replies.NeighborReply]]:
    """Related records by the key of their heading, without the record's own passages."""
    titles = {
        ("attachment_of", "in"): "attachments",
        ("attachment_of", "out"): "attached_to",
        ("reply_to", "out"): "in_reply_to",
        ("reply_to", "in"): "replies",
        ("references", "out"): "refers_to",
        ("references", "in"): "referred_to_by",
        ("transcript_of", "out"): "transcript_of",
        ("thread_member", "out"): "thread",
        ("chunk_of", "in"): "conversation",
    }
    groups: dict[str, list[record_replies.NeighborReply]] = {title: [] for title in titles.values()}
    for neighbor in related:
        if neighbor.relation_type == "chunk_of" and (neighbor.ref.startswith("chunk:") or neighbor.direction == "out"):
            continue
        groups.setdefault(titles.get((neighbor.relation_type, neighbor.direction), neighbor.relation_type), []).append(
            neighbor
        )
    return {title: neighbors for title, neighbors in groups.items() if neighbors}
