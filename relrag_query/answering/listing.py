"""What the archive holds of a time, a channel or a person, for questions that name nothing else to look for.

`What came in June?`, `mails from Dana`, `co bylo včera?` ask for a list, not for words: the newest record of each
thread first, then the next, what was sent to many and what is dated by its file last.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from relrag_pipelines.sources import RECORD_TYPES
from relrag_pipelines.stores.neighbors import neighbors
from relrag_pipelines.text.analyzer import only_function_words
from relrag_query.answering.excerpts import Excerpt, Excerpts
from relrag_query.answering.sentences import QuotableSpan, chat_turns, quotable_spans
from relrag_query.display.page_texts import PageTexts
from relrag_query.retrieval import catalog_reader
from relrag_query.retrieval.context import QueryContext, Step
from relrag_query.retrieval.hit import Hit, Message
from relrag_query.retrieval.steps.contents import load_dates, load_extra, match_messages, with_messages
from relrag_query.retrieval.steps.mail import bulk_hits
from relrag_query.retrieval.term_coverage import Term, tokens
from relrag_query.understanding.intent import QueryIntent, listed_types
from relrag_query.understanding.phrases import bare, load_phrases

_WRITTEN_BY = """
    SELECT asset_id FROM indexed_records
    WHERE asset_id IN (SELECT unnest($refs)) AND "from" IN (SELECT unnest($names))
"""
"""compared as they were indexed, as the names are: what is shown of a sender may be redacted since"""
_SPARE = 4
"""so many times the hits wanted are read, since messages of one window are one hit"""
_TURNS = 3
"""turns of a chat that are quoted together"""
_FULL = 25
"""characters from which a sentence says something by itself"""
_LONGEST = 600
"""characters of a quote"""
_NO_TEXT = "(no text)"
"""what is quoted of a picture or a recording that the export left out"""
_SPOKEN = frozenset(kind.name for kind in RECORD_TYPES.values() if kind.spoken)
_ATTACHED = frozenset(kind.name for kind in RECORD_TYPES.values() if kind.part_of)
"""types of records that come with another one, and are listed by themselves only where they are asked for"""
_OTHER_INTENTS = frozenset({QueryIntent.FAMILY_CONTEXT, QueryIntent.PERSON_FACTS, QueryIntent.CROSS_CHANNEL})

_FROM = """
    FROM indexed_records
    WHERE ($since IS NULL OR ts >= $since) AND ($until IS NULL OR ts < $until) AND ts IS NOT NULL
    AND (len($sources) = 0 OR list_contains($sources, source)) AND (len($kinds) = 0 OR list_contains($kinds, kind))
    AND (len($types) = 0 OR list_contains($types, rag_source_type))
    AND (len($people) = 0 OR asset_id IN (
        SELECT asset_ref FROM person_assets WHERE person_id IN (SELECT unnest($people))))
"""
_BY = """ AND (len($names) = 0 OR list_has_any($names, participants)
    OR CASE WHEN $received THEN list_has_any($names, "to") ELSE list_contains($names, "from") END)"""
_FROM_FILES = tuple(kind.name for kind in RECORD_TYPES.values() if kind.from_file)
"""types of records whose time is that of a file, which may just have been copied"""
_NAMES = f"""
    SELECT DISTINCT unnest(list_concat(participants, CASE WHEN $received THEN "to" ELSE ["from"] END)) {_FROM}
"""
_ALIASES = "SELECT alias FROM person_aliases WHERE person_id IN (SELECT unnest($ids)) AND kind = 'name'"
_COUNTS = f"SELECT rag_source_type, count(*) {_FROM} {_BY} GROUP BY 1"
_NEWEST = f"""
    SELECT asset_id, ts, list_contains($from_files, rag_source_type) AS by_file,
        row_number() OVER (PARTITION BY coalesce(thread_id, asset_id) ORDER BY ts DESC, asset_id) AS nth
    {_FROM} {_BY} AND (len($types) > 0 OR NOT list_contains($attached, rag_source_type))
    ORDER BY by_file, nth, ts DESC, asset_id LIMIT $limit
"""


@dataclass(frozen=True)
class ListingRequest:
    """What a question asks to be listed."""

    values: dict[str, Any]
    """of the parameters of the queries"""
    names: frozenset[str]
    """people as records name them; empty for anybody"""
    counts: Counter[str]
    """records by type"""


def _content_terms(context: QueryContext, fillers: frozenset[str]) -> list[Term]:
    """The words of a question that say more than what is listed, and when."""
    if only_function_words(context.search_text):
        return []
    words = (term for term in context.question.terms if not (term.light or term.is_time))
    return [term for term in words if not (listed_types(term.word) or _is_filler(bare(term.word), fillers))]


def parse_listing(context: QueryContext) -> ListingRequest | None:
    """What the question asks to be listed; None where it asks for something else."""
    values = _values(context)
    phrases, plain = load_phrases().listing, context.question.plain
    limited = context.question.time or values["types"] or values["since"] is not None or values["until"] is not None
    if not (limited or phrases.newest.search(plain)) or _OTHER_INTENTS.intersection(context.question.intents):
        return None
    spoken = values["types"] and _SPOKEN.issuperset(values["types"])
    fillers = frozenset(phrases.fillers | phrases.held if spoken else phrases.fillers)
    rest = _content_terms(context, fillers)
    values |= {"received": any(_is_said_with(phrases.to, term, plain) for term in rest)}
    names: frozenset[str] | None = frozenset()
    if rest:
        names = _named(rest, values, context)
    elif phrases.own.search(plain) and context.settings.owner:
        names = _owner(values, context)
    if names is None or not (limited or names):  # `the latest` of nobody is of some matter
        return None
    values |= {"names": sorted(names)}
    counts = Counter(dict(context.connection.execute(_COUNTS, values).fetchall()))
    return ListingRequest(values, names, counts)


def listing_steps(request: ListingRequest, most: int) -> tuple[Step, ...]:
    """The steps of a query that lists at most so many passages."""

    def newest(hits: list[Hit], context: QueryContext) -> list[Hit]:
        return [*hits, *_newest(request, context, most)]

    dates = Step(1, "dates", lambda hits, _: load_dates(hits))
    return Step(1, "list", newest), Step(1, "details", load_extra), dates


def listing_answer(hits: Sequence[Hit]) -> Excerpts:
    """What each hit says first, in the order of the hits."""
    listed = [Excerpt(unit, unit.quote, 1.0) for hit in hits if (unit := _first_quote(hit))]
    return Excerpts(listed, "sure" if listed else "none")


def describe_listing(request: ListingRequest, hits: Sequence[Hit], texts: PageTexts) -> str:
    """How many records there are: `15 records: 12 mails, 3 calls; 8 of them listed, newest first.`"""
    most_first = sorted(request.counts.items(), key=lambda counted: (-counted[1], counted[0]))
    each = ", ".join(texts.count(name, count) for name, count in most_first)
    total, listed = request.counts.total(), sum(len(hit.matching) or 1 for hit in hits)
    form = texts.records_listed if listed < total else texts.records if total > 1 else texts.record
    return form.format(count=f"{total:,}", kinds=each, listed=listed)


def _values(context: QueryContext) -> dict[str, Any]:
    where = context.limits_in_time
    return {
        "since": where.ts_from,
        "until": where.ts_to,
        "sources": list(where.sources),
        "kinds": list(where.kinds),
        "people": list(where.person_ids),
        "types": sorted(context.question.listed or context.question.channels - _ATTACHED),
    }


def _named(rest: Sequence[Term], values: dict[str, Any], context: QueryContext) -> frozenset[str] | None:
    """The people of that time whose names hold all of these words; None where these are not just a name."""
    plain, about = context.question.plain, load_phrases().listing.about
    if not all(_may_be_name(term) and not _is_said_with(about, term, plain) for term in rest):
        return None
    in_scope = _people_in_scope(values, context)
    by_words = {name for name in in_scope if all(_name_matches(term, name) for term in rest)}
    return frozenset(by_words | _aliases(rest, context).intersection(in_scope)) or None


def _aliases(rest: Sequence[Term], context: QueryContext) -> frozenset[str]:
    """The names of the people in the question if they hold all words: records may know Matteo Ferrari as Teo."""
    ids = {"ids": list(context.question.people.in_index)}
    aliases = frozenset(alias for (alias,) in context.connection.execute(_ALIASES, ids).fetchall())
    return aliases if all(any(_name_matches(term, alias) for alias in aliases) for term in rest) else frozenset()


def _owner(values: dict[str, Any], context: QueryContext) -> frozenset[str] | None:
    """The owner as records of that time name them; None where none does."""
    own = set(_parts(context.settings.owner))
    return frozenset(name for name in _people_in_scope(values, context) if own.issubset(_parts(name))) or None


def _people_in_scope(values: dict[str, Any], context: QueryContext) -> list[str]:
    """Who wrote or took part in that time; who received, where that is asked for."""
    return [name for (name,) in context.connection.execute(_NAMES, values).fetchall() if name]


def _may_be_name(term: Term) -> bool:
    return term.word[:1].isupper() or re.match(load_phrases().intent.caseless, term.word) is not None


def _is_filler(word: str, fillers: frozenset[str]) -> bool:
    """Whether a word is none of what is looked for: it asks for the list, or says that the owner wrote."""
    patterns = load_phrases().listing.own, load_phrases().listing.newest
    return word.casefold() in fillers or any(pattern.search(word) for pattern in patterns)


def _is_said_with(before: str, term: Term, plain: str) -> bool:
    return re.search(rf"(?<!\w)(?:{before}){re.escape(bare(term.word))}", plain, re.IGNORECASE) is not None


def _name_matches(term: Term, name: str) -> bool:
    """Whether a name holds the word, or in Czech begins with all of it but for an ending: Jana, Petrovi."""
    if term.match(tokens(name)) > _SURE:
        return True
    word = bare(term.word).casefold()
    return any(len(part) > 2 and word.startswith(part) and len(word) - len(part) <= 3 for part in _parts(name))


_SURE = 0.8
"""how surely a name must hold a word of the question"""


def _parts(name: str) -> list[str]:
    return re.findall(r"\w+", bare(re.sub(r"<[^>]*>", "", name)).casefold())


def _newest(request: ListingRequest, context: QueryContext, most: int) -> list[Hit]:
    """The hits, newest first, with the messages that are meant."""
    parameters = {"limit": _SPARE * most, "from_files": list(_FROM_FILES), "attached": sorted(_ATTACHED)}
    rows = context.connection.execute(_NEWEST, request.values | parameters).fetchall()
    owners = {ref: _owner_of(ref, context) for ref, *_ in rows}
    passages = catalog_reader.asset_chunks(context.connection, list(set(owners.values())))
    firsts = {chunk.asset_id: chunk for chunk in passages if chunk.chunk_index == 0}
    hits: dict[str, Hit] = {}
    for ref, *_ in rows:
        owner = owners[ref]
        if owner in firsts and owner not in hits:
            hits[owner] = Hit(firsts[owner], 1.0, 1.0, in_time=True, members=tuple(firsts[owner].members))
    bulk = {hit.chunk.chunk_id for hit in bulk_hits(list(hits.values()), context)}
    chosen = sorted(hits.values(), key=lambda hit: hit.chunk.chunk_id in bulk)[:most]
    chosen = _read_messages(chosen, request, context)
    context.note("list", f"{sum(request.counts.values())} records, {len(chosen)} passages of them listed")
    return sorted(chosen, key=lambda hit: (hit.chunk.rag_source_type in _FROM_FILES, -_latest(hit)))


def _latest(hit: Hit) -> int:
    return max((hit.messages[position].ts or 0 for position in hit.matching), default=hit.chunk.ts or 0)


def _owner_of(ref: str, context: QueryContext) -> str:
    """The chat window that holds a message; another record itself."""
    windows = neighbors(context.connection, ref, ["chunk_of"], "in", 1)
    return windows[0].asset_ref if windows and not windows[0].asset_ref.startswith("chunk:") else ref


def _read_messages(hits: list[Hit], request: ListingRequest, context: QueryContext) -> list[Hit]:
    """The hits with their messages, of which those match that are of the time and the people asked about."""
    since, until = request.values["since"], request.values["until"]
    read = with_messages(hits, context.connection)
    refs = [message.asset_id for hit in read for message in hit.messages]
    parameters = {"refs": refs, "names": list(request.names or ())}
    theirs = {ref for (ref,) in context.connection.execute(_WRITTEN_BY, parameters).fetchall()}

    def is_asked_for(message: Message) -> bool:
        ts = message.ts or 0
        in_time = (since is None or ts >= since) and (until is None or ts < until)
        return in_time and (not request.names or message.asset_id in theirs)

    return [match_messages(hit, is_asked_for) for hit in read]


def _first_quote(hit: Hit) -> QuotableSpan | None:
    """The first full sentence; of a chat the first turns that are meant."""
    if not hit.messages:
        spans = quotable_spans(hit)
        return next((span for span in spans if len(span.text) >= _FULL), spans[0] if spans else None)
    meant = [hit.messages[position] for position in hit.matching]
    written = [message for message in meant if message.text.strip()]
    meant = written or meant  # of a picture without a word nothing can be quoted
    spoken = [[meant[position] for position in turn] for turn in list(chat_turns(meant))[:_TURNS]]
    text = "\n".join(
        f"{turn[0].sender or ''}: " + "\n".join(message.text or _NO_TEXT for message in turn) for turn in spoken
    )
    return QuotableSpan(text[:_LONGEST], hit, None, meant[0].ts, meant[0].asset_id) if meant else None
