"""What is said around an answer: how the question was understood, and where was looked."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from relrag_pipelines.stores.vectors.protocol import ANYWHERE
from relrag_query.answering import listing
from relrag_query.retrieval.context import QueryContext
from relrag_query.retrieval.hit import Hit
from relrag_query.understanding.intent import CHANNEL_NAMES
from relrag_query.understanding.time_expressions import TimeRange


def explain_query(
    context: QueryContext,
    request: listing.ListingRequest | None,
    hits: Sequence[Hit],
    zone: ZoneInfo,
    *,
    elsewhere: bool = False,
) -> list[str]:
    """How a question was understood: which days, what is listed, that nothing is said in the channel it names."""
    when = context.question.time
    lines = [_explain_time(when, zone)] if when and _counts_as_time(when, hits) else []
    if request and hits:
        lines.append(listing.describe_listing(request, hits))
    if elsewhere:
        lines.append(f"No {CHANNEL_NAMES[context.question.channels]} answers this; what follows is from elsewhere.")
    return lines


def _counts_as_time(when: TimeRange, hits: Sequence[Hit]) -> bool:
    """Whether the question means that time; a month or a day may be a word of the text, of another time."""
    return when.newest is not None or when.relative or not hits or any(hit.in_time for hit in hits)


def _explain_time(when: TimeRange, zone: ZoneInfo) -> str:
    """Which days are meant, and why not those of this year."""
    days = f'"{when.phrase}": {_days(when.since, when.until, zone)}'
    if when.newest is None:
        return f"{days}."
    return f"{days}, since the newest record searched is of {datetime.fromtimestamp(when.newest, zone).date()}."


def explain_semantic_only(context: QueryContext, hits: Sequence[Hit]) -> list[str]:
    """That only the meaning of the query led to the hits, where no hit holds a word of it."""
    if not hits or any(hit.display_score > 0 for hit in hits):
        return []
    words = ", ".join(term.word for term in context.question.terms if not term.light)
    return [f"No passage holds {words or 'a word of this'}; what follows is only near in meaning."]


def _sources_of_kinds(context: QueryContext, kinds: Sequence[str]) -> tuple[str, ...]:
    """The names of the sources of some kinds; of all sources if no kind is given."""
    return tuple(source.name for source in context.settings.sources if not kinds or source.kind in kinds)


def describe_scope(context: QueryContext, zone: ZoneInfo, *, listed: bool) -> str:
    """Where was looked, with the number of passages that the limits leave."""
    timed = context.question.time is not None and (listed or context.question.time.relative)
    where = context.limits_in_time if timed else context.limits
    names = where.sources or _sources_of_kinds(context, where.kinds)
    count = context.passage_count if where == ANYWHERE else context.vectors.count(where)
    kinds = f" of kind {', '.join(where.kinds)}" if where.kinds else ""
    about = " that have to do with the person" if where.person_ids else ""
    scope = f"{count} passage{'s' * (count != 1)}{kinds}{about}" + (f" in {', '.join(names)}" if names else "")
    if where.ts_from is not None or where.ts_to is not None:
        scope += f", {_days(where.ts_from, where.ts_to, zone)}"
    return scope


def _days(since: int | None, until: int | None, zone: ZoneInfo) -> str:
    """First and last day of a range, by the owner's calendar."""
    first = None if since is None else datetime.fromtimestamp(since, zone).date()
    last = None if until is None else datetime.fromtimestamp(until - 1, zone).date()
    if first == last:
        return str(first)
    if first is None:
        return f"until {last}"
    return f"from {first} to {last}" if last else f"from {first}"
