"""The page of a search: its order, and the links that narrow and widen it. All of it works without JavaScript."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, get_args

from relrag_query.service import Filters
from relrag_query.service.replies import SearchReply
from relrag_query.service.search_overview import FacetValue, Order
from relrag_query.web.rendering import url

ORDERS: Mapping[Order, str] = {"relevance": "Best first", "newest": "Newest first", "oldest": "Oldest first"}


class Link(NamedTuple):
    """A search that differs in one filter."""

    name: str
    url: str
    passages: int = 0
    """0 where they are not counted"""


class Facet(NamedTuple):
    """A filter: the values that narrow the search, and the chosen ones, whose links take them away."""

    title: str
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
        "order": "" if order == "relevance" else order,
    }
    orders = [
        (title, "" if name == order else url("/search", **now | {"order": "" if name == "relevance" else name}))
        for name, title in ORDERS.items()
    ]
    cursor = results.next_cursor if results else None
    return {
        "order": order,
        "orders": orders,
        "facets": _facets(now, results) if results and results.overview else [],
        "more_url": url("/search", **now, cursor=cursor) if cursor else "",
    }


def _facets(now: dict[str, Any], results: SearchReply) -> list[Facet]:
    """The filters that have something to choose, or to take away."""
    assert results.overview
    overview = results.overview
    values = {
        "Source": (("source",), overview.sources),
        "Kind": (("kind",), overview.kinds),
        "Person": (("person",), overview.people),
        "Year": (("from", "to"), overview.years),
    }
    facets = [
        _facet(title, now, names, [value for value in counted if value.count < overview.passages])
        for title, (names, counted) in values.items()
    ]
    return [facet for facet in facets if facet.values or facet.chosen]


def _facet(title: str, now: dict[str, Any], names: tuple[str, ...], values: list[FacetValue]) -> Facet:
    """A filter with the parameters `names`, and the values that some passages have: what all have narrows nothing."""
    chosen = _period(now["from"], now["to"]) if "from" in names else ", ".join(_as_list(now[names[0]]))
    without = url("/search", **now | dict.fromkeys(names, ""))
    links = [
        Link(value.name, url("/search", **now | dict.fromkeys(names, value.value)), value.count) for value in values
    ]
    return Facet(title, links, [Link(chosen, without)] if chosen else [])


def _period(first: Any, last: Any) -> str:
    """Days from one to another in words; either may be missing."""
    if first and first == last:
        return str(first)
    return " ".join([*(["from", str(first)] if first else []), *(["to", str(last)] if last else [])])


def _as_list(value: Any) -> list[str]:
    return value if isinstance(value, list) else [value] if value else []
