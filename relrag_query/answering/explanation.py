"""What is said around an answer: how the question was understood, and where was looked."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from relrag_pipelines.stores.vectors.protocol import ANYWHERE
from relrag_query.answering import listing
from relrag_query.display.page_texts import PageTexts, page_texts
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
    texts = page_texts(context.question.language)
    lines = [_explain_time(when, zone, texts)] if when and _counts_as_time(when, hits) else []
    if request and hits:
        lines.append(listing.describe_listing(request, hits, texts))
    if elsewhere:
        channel = texts.nouns.get(CHANNEL_NAMES[context.question.channels], CHANNEL_NAMES[context.question.channels])
        lines.append(texts.elsewhere.format(channel=channel))
    return lines


def _counts_as_time(when: TimeRange, hits: Sequence[Hit]) -> bool:
    """Whether the question means that time; a month or a day may be a word of the text, of another time."""
    return when.newest is not None or when.relative or not hits or any(hit.in_time for hit in hits)


def _explain_time(when: TimeRange, zone: ZoneInfo, texts: PageTexts) -> str:
    """Which days are meant, and why not those of this year."""
    days = _days(when.since, when.until, zone, texts)
    if when.newest is None:
        return texts.time.format(phrase=when.phrase, days=days)
    day = datetime.fromtimestamp(when.newest, zone).date()
    return texts.time_reached.format(phrase=when.phrase, days=days, day=day)


def explain_semantic_only(context: QueryContext, hits: Sequence[Hit]) -> list[str]:
    """That only the meaning of the query led to the hits, where no hit holds a word of it."""
    if not hits or any(hit.display_score > 0 for hit in hits):
        return []
    words = ", ".join(term.word for term in context.question.terms if not term.light)
    return [page_texts(context.question.language).near_only.format(words=words)] if words else []


def _sources_of_kinds(context: QueryContext, kinds: Sequence[str]) -> tuple[str, ...]:
    """The names of the sources of some kinds; of all sources if no kind is given."""
    return tuple(source.name for source in context.settings.sources if not kinds or source.kind in kinds)


def describe_scope(context: QueryContext, zone: ZoneInfo, *, listed: bool) -> str:
    """Where was looked, with the number of passages that the limits leave."""
    timed = context.question.time is not None and (listed or context.question.time.relative)
    where = context.limits_in_time if timed else context.limits
    names = where.sources or _sources_of_kinds(context, where.kinds)
    count = context.passage_count if where == ANYWHERE else context.vectors.count(where)
    texts = page_texts(context.question.language)
    kinds = texts.of_kind.format(kinds=", ".join(where.kinds)) if where.kinds else ""
    about = texts.about_person if where.person_ids else ""
    sources = texts.in_sources.format(names=", ".join(names)) if names else ""
    is_timed = where.ts_from is not None or where.ts_to is not None
    days = f", {_days(where.ts_from, where.ts_to, zone, texts)}" if is_timed else ""
    passages = (texts.passage if count == 1 else texts.passages).format(count=count)
    return f"{passages}{kinds}{about}{sources}{days}"


def _days(since: int | None, until: int | None, zone: ZoneInfo, texts: PageTexts) -> str:
    """First and last day of a range, by the owner's calendar."""
    first = None if since is None else datetime.fromtimestamp(since, zone).date()
    last = None if until is None else datetime.fromtimestamp(until - 1, zone).date()
    if first == last:
        return texts.day.format(first=first)
    if first is None:
        return texts.until.format(last=last)
    return (texts.from_to if last else texts.since).format(first=first, last=last)
