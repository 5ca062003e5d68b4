"""The page of a search: its order, and the links that narrow and widen it. All of it works without JavaScript."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, get_args

from relrag_query.service import Filters
from relrag_query.service.replies import SearchReply
from relrag_query.service.search_overview import FacetValue, Order
from relrag_query.web.rendering import url

_LIST_ORDERS: tuple[Order, ...] = ("newest", "oldest")
"""of records that are listed without words, the usual one first"""


class Link(NamedTuple):
    """A search that differs in one filter."""

    name: str
    url: str
    passages: int = 0
    """0 where they are not counted"""
    first: str = ""
    last: str = ""
    """the days of a period"""


class Facet(NamedTuple):
    """A filter: the values that narrow the search, and the chosen ones, whose links take them away."""

    name: str
    """source, kind, person, year, attachment or added"""
    values: list[Link]
    chosen: list[Link]


def order_of(text: str) -> Order:
    """The order that a URL names; the best first for anything else."""
    return next((order for order in get_args(Order) if order == text), "relevance")


def template_context(query: str, filters: Filters, order: Order, results: SearchReply | None) -> dict[str, Any]:
    """`facets`, `orders` and `more_url` of the template, for a search and its reply."""
    now = {
        "q": query,
        "source": list(filters.sources),
        "kind": list(filters.kinds),
        "person": filters.person,
        "from": filters.since,
        "to": filters.until,
        "attachment": filters.attachment,
        "added": filters.added,
        "order": "" if order == "relevance" else order,
    }
    usual, *others = get_args(Order) if query else _LIST_ORDERS
    chosen = order if order in others else usual
    cursor = results.next_cursor if results else None
    return {
        "order": order,
        "more_to_choose": chosen != usual,
        "orders": [(name, _order_url(name, chosen, usual, now)) for name in (usual, *others)],
        "facets": _facets(now, results) if results and results.overview else [],
        "more_url": url("/search", **now, cursor=cursor) if cursor else "",
    }


def _order_url(name: Order, chosen: Order, usual: Order, now: dict[str, Any]) -> str:
    """URL of the search in another order; empty for the chosen one."""
    return "" if name == chosen else url("/search", **now | {"order": "" if name == usual else name})


def _facets(now: dict[str, Any], results: SearchReply) -> list[Facet]:
    """The filters that have something to choose, or to take away."""
    assert results.overview
    overview = results.overview
    values = {
        "source": (("source",), overview.sources),
        "kind": (("kind",), overview.kinds),
        "person": (("person",), overview.people),
        "year": (("from", "to"), overview.years),
        "attachment": (("attachment",), []),
        "added": (("added",), []),
    }
    facets = [
        _facet(name, now, names, [value for value in counted if value.count < overview.passages])
        for name, (names, counted) in values.items()
    ]
    return [facet for facet in facets if facet.values or facet.chosen]


def _facet(name: str, now: dict[str, Any], names: tuple[str, ...], values: list[FacetValue]) -> Facet:
    """A filter with the parameters `names`, and the values that some passages have: what all have narrows nothing."""
    without = url("/search", **now | dict.fromkeys(names, ""))
    chosen = _period(now, without) if "from" in names else Link(", ".join(_as_list(now[names[0]])), without)
    links = [
        Link(value.name, url("/search", **now | dict.fromkeys(names, value.value)), value.count) for value in values
    ]
    return Facet(name, links, [chosen] if chosen.name else [])


def _period(now: Mapping[str, Any], without: str) -> Link:
    """The chosen days, of which either may be missing."""
    first, last = now["from"] or "", now["to"] or ""
    return Link(first or last, without, first=first, last=last)


def _as_list(value: Any) -> list[str]:
    return value if isinstance(value, list) else [value] if value else []
