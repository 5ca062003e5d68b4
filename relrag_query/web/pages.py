"""The pages, each with an address of its own, and what their scripts load into them.

What is added has its routes in `routes`, and its place in templates/base.html.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from relrag_pipelines.records import Record
from relrag_pipelines.settings import Settings
from relrag_pipelines.sources.document.page_picture import PagePicture
from relrag_query.archive import ArchiveError
from relrag_query.http.event_stream import event_stream
from relrag_query.http.problems import describe
from relrag_query.http.turns import Turns
from relrag_query.retrieval.question_length import LONGEST
from relrag_query.service import Filters, GraphLimits, Service, UnknownRef, record_replies, replies
from relrag_query.web import archive_page, graph_cards, graphrag_page, originals, record_parts, reveal_page
from relrag_query.web.originals import NoPicture
from relrag_query.web.rendering import place, templates

Reply = TypeVar("Reply")
_TYPED_WRONG = (HTTPStatus.BAD_REQUEST, HTTPStatus.NOT_FOUND)
"""a date that is none, an unknown person: whoever typed it can change it"""
_LONGEST = LONGEST
_NO_PASSAGE = "the archive has no such passage; it was deleted, or made anew since: ask again"
_EARLIER = 4
"""questions that one goes on from"""
_PAGE = 20
"""hits, and records of a thread, on a page"""

FOR_CLIENTS = frozenset({"/", "/ask", "/search", "/record", "/thread", "/source", "/graph", "/ask/stream", "/page.png"})
"""pages for those who see the records of some clients only"""
GRAPH = GraphLimits(records=300)
"""what the page of the graph shows"""

Endpoint = Callable[[Request], Awaitable[Response]]


def routes(service: Service, turns: Turns, *, reveals: bool = False) -> tuple[list[Route], Endpoint]:
    """The routes of all pages, and what answers every other address.

    `reveals`: whoever is logged in may see what redaction replaced.
    """
    reveals = reveals and service.settings.pii_redaction_enabled and not service.clients
    pages = Pages(service, turns, reveals)
    shown: dict[str, Endpoint] = {
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
    loaded: dict[str, Endpoint] = {"/ask/stream": pages.ask_stream, "/page.png": pages.page_picture}
    every = {**shown, **loaded}
    if service.clients:
        every = {path: endpoint for path, endpoint in every.items() if path in FOR_CLIENTS}
    pages.served = frozenset(every)
    found = [Route(path, pages.guard(endpoint)) for path, endpoint in every.items()]
    if reveals:
        revealed = reveal_page.endpoint(service.settings, turns, pages.templates)
        found.append(Route("/reveal", pages.guard(revealed), methods=["POST"]))
    return found, pages.guard(pages.nothing)


class Pages:
    """The endpoints, over one service."""

    def __init__(self, service: Service, turns: Turns, reveals: bool = False) -> None:
        self._service, self._turns, self._reveals = service, turns, reveals
        self.templates = templates(reveals=reveals)
        self.served: frozenset[str] = frozenset()
        """paths that the menu may name"""

    def guard(self, endpoint: Endpoint) -> Endpoint:
        """The endpoint with its errors as a page that says nothing private."""

        async def answer(request: Request) -> Response:
            try:
                return await endpoint(request)
            except Exception as error:  # noqa: BLE001  said without private text
                status, said = describe(error)
                return self._page("problem.html", status=status, said=said, wanted=request.url.path)

        return answer

    async def ask(self, request: Request) -> Response:
        """The question, and the answer where there is one already."""
        question, filters = _question(request)
        follows = _follows(request)
        asked = functools.partial(self._service.ask, question, filters, follows=follows)
        answer, problem, status = await self._answer(asked) if question else (None, "", 200)
        told = _told(answer, follows) if answer else {}
        more = {"problem": problem, **told, **self._choices(filters)}
        return self._page("ask.html", status, question=question, answer=answer, **more)

    async def ask_stream(self, request: Request) -> Response:
        """The answer as events, of which the last holds it as HTML."""
        question, filters = _question(request)
        follows = _follows(request)

        def ask(tell: Callable[[str], None]) -> Any:
            answer = self._service.ask(question, filters, None, tell, follows)
            return self._html("answer.html", answer=answer, chosen=filters, **_told(answer, follows))

        return event_stream(self._turns, ask)

    async def search(self, request: Request) -> Response:
        """The passages that fit, and filters."""
        query, filters = _question(request)
        after = request.query_params.get("cursor")
        asked = functools.partial(self._service.search, query, filters, _PAGE, after)
        found, problem, status = await self._answer(asked) if query else (None, "", 200)
        more = {"problem": problem, **self._choices(filters)}
        return self._page("search.html", status, question=query, found=found, after=after, **more)

    async def _answer(self, asked: Callable[[], Reply]) -> tuple[Reply | None, str, int]:
        """The answer; or what is wrong with what was asked, which the form shows that it was typed into; the status."""
        try:
            return await self._turns.run(asked), "", 200
        except Exception as error:
            status, said = describe(error)
            if status not in _TYPED_WRONG:
                raise
            return None, said, status

    async def record(self, request: Request) -> Response:
        """A record, whole, with what relates to it."""
        ref = request.query_params.get("ref", "")
        if ref.startswith("thread:"):
            return RedirectResponse(request.url.replace(path="/thread", query="").include_query_params(id=ref[7:]), 303)
        if ref.startswith("person:"):
            person = request.url.replace(path="/person", query="")
            return RedirectResponse(person.include_query_params(name=ref.removeprefix("person:")), 303)
        shown = await self._turns.run(self._service.show, ref)
        if shown.record is None and not shown.passages:
            return self._page("related.html", shown=shown)
        more = record_parts.template_context(shown.record, request.query_params.get("part", ""))
        return self._page("record.html", shown=shown, groups=_groups(shown.related), revealed=self._reveals, **more)

    async def thread(self, request: Request) -> Response:
        """A thread, newest first."""
        asked = request.query_params
        found = await self._turns.run(self._service.thread, asked.get("id", ""), _PAGE, asked.get("cursor"))
        return self._page("thread.html", found=found, after=asked.get("cursor"))

    async def source(self, request: Request) -> Response:
        """The passage that a citation names, its quote marked; `part` gives it without the frame of a page."""
        asked = request.query_params
        quote, page = asked.get("quote", "")[:_LONGEST], asked.get("page", "")
        found = await self._turns.run(self._cited, asked.get("chunk", ""), asked.get("of", ""), quote)
        passage = found["passage"]
        if page.isdecimal() and (passage.page_number or 0) <= int(page) <= (passage.last_page_number or 0):
            passage.page_number = int(page)
        name = "source_part.html" if "part" in asked else "source.html"
        return self._page(name, quote=quote, **found)

    async def page_picture(self, request: Request) -> Response:
        """A page of an original as PNG, the quote marked; where there is none, why."""
        asked = request.query_params
        number = asked.get("page", "")
        try:
            if not number.isdecimal() or len(number) > 6:
                raise NoPicture("A page has a number.")
            ref, quote = asked.get("ref", ""), asked.get("quote", "")[:_LONGEST]
            picture = await self._turns.run(self._picture, ref, int(number), quote)
        except (NoPicture, UnknownRef) as error:
            return HTMLResponse(self._html("no_picture.html", said=str(error)), 404)
        told = {"X-Marked": f"{picture.matched_share:.2f}", "X-Covered": str(picture.covered_words)}
        return Response(picture.png, media_type="image/png", headers=told)

    async def people(self, request: Request) -> Response:
        """Who is in the archive."""
        found = await self._turns.run(self._service.people, 100, request.query_params.get("cursor"))
        return self._page("people.html", found=found)

    async def person(self, request: Request) -> Response:
        """What is known of one person; `part` gives it without the frame of a page."""
        asked = request.query_params
        found = await self._turns.run(self._service.person, asked.get("name", ""))
        return self._page("person_part.html" if "part" in asked else "person.html", person=found)

    async def graph(self, request: Request) -> Response:
        """People and records and what relates them: drawn by a script, as cards, and as a table."""
        asked = request.query_params
        persons, each = (_number(asked.get(name), most) for name, most in (("persons", 1000), ("each", 100)))
        limits = GraphLimits(persons or GRAPH.limit_persons, each or GRAPH.limit_assets_per_person, True, GRAPH.records)
        found = await self._turns.run(self._service.full_graph, limits)
        return self._page(
            "graph.html",
            graph=found,
            cards=graph_cards.cards(found),
            most=graph_cards.MOST,
            limits=dataclasses.asdict(limits),
            focus=asked.get("ref", ""),
        )

    async def graphrag(self, request: Request) -> Response:
        """What is talked about: themes, reports, and the passages behind them."""
        found = await self._turns.run(graphrag_page.template_context, self._service, request)
        return self._page("graphrag.html", **found)

    async def archive(self, request: Request) -> Response:
        """What is indexed, how fresh it is, what failed, and how well it has answered."""
        return self._page("archive.html", **await self._turns.run(archive_page.template_context, self._service))

    async def nothing(self, _: Request) -> Response:
        """What is served under no other address."""
        raise UnknownRef("there is no such page")

    def _cited(self, chunk_id: str, asset_id: str, quote: str) -> dict[str, Any]:
        with self._service.reading() as archive:
            chunk = archive.cited_chunk(chunk_id, asset_id, quote)
            if chunk is None:
                what = "what this link cites was deleted or forgotten since" if asset_id else _NO_PASSAGE
                raise UnknownRef(what)
            record = archive.record(chunk.asset_id)
            passage = record_replies.passage_reply(chunk, self._service.zone)
            pictured = record is not None and chunk.page_number is not None and originals.has_pages(record)
            redacted = archive.settings.pii_redaction_enabled
            return {"passage": passage, "pictured": pictured, "redacted": redacted, "in_record": record is not None}

    def _picture(self, ref: str, page: int, quote: str) -> PagePicture:
        return originals.picture(*self._known(ref), page, quote)

    def _known(self, ref: str) -> tuple[Settings, Record]:
        with self._service.reading() as archive:
            if record := archive.record(ref):
                return archive.settings, record
        raise UnknownRef("the archive has no such record")

    def _choices(self, filters: Filters) -> dict[str, Any]:
        """What the filters of a page offer, and what is chosen."""
        try:
            return {"sources": self._service.source_names(), "chosen": filters}
        except ArchiveError:  # nothing is published yet
            return {"sources": [], "chosen": filters}

    def _page(self, name: str, status: int = 200, **values: Any) -> Response:
        html = self._html(name, status=status, archive_name=self._service.name, served=self.served, **values)
        headers = {"Retry-After": "1"} if status == HTTPStatus.SERVICE_UNAVAILABLE else None
        return HTMLResponse(html, status, headers)

    def _html(self, name: str, **values: Any) -> str:
        return self.templates.get_template(name).render(values)


def _question(request: Request) -> tuple[str, Filters]:
    asked = request.query_params
    filters = Filters(
        [one for one in asked.getlist("source") if one],
        [one for one in asked.getlist("kind") if one],
        asked.get("from") or None,
        asked.get("to") or None,
        asked.get("person", "").strip()[:200],
    )
    return asked.get("q", "").strip()[:_LONGEST], filters


def _follows(request: Request) -> list[str]:
    """The questions that one goes on from, as the page of the last one put them together."""
    return [one[:_LONGEST] for one in request.query_params.get("after", "").splitlines() if one.strip()][:_EARLIER]


def _told(answer: replies.AnswerReply, follows: list[str]) -> dict[str, Any]:
    """Beside an answer its sources by number, where a citation leads, and what a question that goes on says before."""
    earlier = "\n".join([answer.question, *follows][:_EARLIER])
    numbered = {source.number: source for source in answer.sources}
    quotes = {number: quote for quote in reversed(answer.quotes) for number in quote.sources}

    def citation(number: int, quote: replies.QuoteReply | None = None) -> str:
        source, quote = numbered[number], quote or quotes.get(number)
        cited = [*source.cited_chunk_ids, source.chunk_id][0]
        ref = cited if cited.startswith("person:") else f"chunk:{cited}"
        # a passage may go on for pages; where the quote stands is known of its first source
        page = quote.page if quote and quote.sources[:1] == [number] else None
        return place(ref, quote.text if quote else "", page, "" if ref == cited else source.asset_id)

    return {"numbered": numbered, "citation": citation, "earlier": earlier, "follows": follows}


def _number(said: str | None, most: int) -> int:
    """A number of an address, 1 to `most`; 0 for what is none."""
    return min(int(said), most) if said and said.isdecimal() and len(said) < 7 else 0


def _groups(related: list[record_replies.NeighborReply]) -> dict[str, list[record_replies.NeighborReply]]:
    """What is related to a record, by what it is to it; its own passages are the record itself."""
    titles = {
        ("attachment_of", "in"): "Attachments",
        ("attachment_of", "out"): "Attached to",
        ("reply_to", "out"): "In reply to",
        ("reply_to", "in"): "Replies",
        ("references", "out"): "Refers to",
        ("references", "in"): "Referred to by",
        ("transcript_of", "out"): "Transcript of",
        ("thread_member", "out"): "Thread",
        ("chunk_of", "in"): "Conversation",
    }
    found: dict[str, list[record_replies.NeighborReply]] = {title: [] for title in titles.values()}
    for one in related:
        if one.relation_type == "chunk_of" and (one.ref.startswith("chunk:") or one.direction == "out"):
            continue
        found.setdefault(titles.get((one.relation_type, one.direction), one.relation_type), []).append(one)
    return {title: some for title, some in found.items() if some}
