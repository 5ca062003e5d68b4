"""What a search or a question gives back, and how it is put together from the hits."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from zoneinfo import ZoneInfo

from relrag_pipelines.languages import DEFAULT
from relrag_pipelines.text import citation_marks
from relrag_query.answering.chat_model import Usage, WrittenAnswer
from relrag_query.answering.excerpts import Confidence, Excerpt, Excerpts
from relrag_query.answering.sentences import QuotableSpan
from relrag_query.display.page_texts import PageTexts, page_texts
from relrag_query.display.source_filter import apply_source_filter
from relrag_query.retrieval.excerpts import plain
from relrag_query.retrieval.hit import Hit, QuotedPlace
from relrag_query.retrieval.query_settings import DisplaySettings
from relrag_query.retrieval.term_coverage import Term
from relrag_query.understanding.intent import Form, QueryIntent
from relrag_query.understanding.time_expressions import TimeRange

_CLOSEST = 3
_UNCITED = 2
"""sources that are shown though no sentence cites them and the question did not ask for them"""

_COMMIT_HASH = "git_commit_hash"
"""the field that a commit has"""
_OF_COMMIT = frozenset({"who", "when"})
"""what a question asks for that a commit says"""


@dataclass
class Results:
    """What a search found, best first."""

    query: str
    hits: list[Hit]
    when: TimeRange | None
    intents: list[QueryIntent]
    trace: list[str]
    language: str = DEFAULT
    """ISO 639-1, of the query"""
    head: list[str] = field(default_factory=list)
    """how the query was understood: the time, the channel, what is listed"""
    searched: str = ""
    """where was looked, in words"""
    missing: list[str] = field(default_factory=list)
    """words of the query that no passage holds"""
    terms: list[Term] = field(default_factory=list)
    """words of the query that are searched for"""


@dataclass
class CitedSource:
    """One record that is shown for an answer."""

    number: int
    hit: Hit
    """its best passage"""
    cited: list[Hit] = field(default_factory=list)
    """the passages that the answer quotes"""
    locations: list[str] = field(default_factory=list)
    """where the original lies: `<path>#<anchor>`"""
    places: list[QuotedPlace] = field(default_factory=list)
    """where in it the quotes of the answer stand, in the order of the answer"""


@dataclass
class Quote:
    """An excerpt of an answer."""

    text: str
    answering: str
    """the sentence or turn in it that answers"""
    sender: str | None
    ts: int | None
    sources: list[int]
    """numbers of the sources that say it"""
    place: QuotedPlace = field(default_factory=QuotedPlace)
    """where in the first of these it stands"""
    superseded_by: QuotableSpan | None = None
    """what gives another value; None where it holds"""
    superseded_on: str = ""
    """the day when that was said, by the owner's clock; empty where it holds, or only a file's time is known"""
    hit: Hit | None = None
    """what it stands in; None of what is known of people"""

    superseded_note: str = ""
    """the same in the words of the question's language"""

    @property
    def marked_text(self) -> str:
        """The sentence, which says so where a later record gives another value."""
        return f"{self.text.rstrip()} ({self.superseded_note})" if self.superseded_note else self.text

    @property
    def cited_text(self) -> str:
        """The same with its sources in brackets; marks of the record's own are told apart from these."""
        numbers = "".join(f"[{number}]" for number in self.sources)
        return f"{citation_marks.disarm(self.marked_text).rstrip()} {numbers}".rstrip()


@dataclass
class Answer:
    """An answer from the archive, or that it holds none."""

    question: str
    confidence: Confidence
    """whether what is quoted answers: `unsure` where it only comes closest, `none` where nothing is quoted"""
    quotes: list[Quote]
    sources: list[CitedSource]
    closest: list[Hit]
    """where nothing answers: what comes nearest"""
    searched: str
    """where was looked, in words"""
    missing: list[str]
    """words of the question that no passage holds"""
    intents: list[QueryIntent]
    when: TimeRange | None
    trace: list[str]
    form: Form = ""
    """whether the quotes are the items of a list or the course of a matter, the oldest first"""
    language: str = DEFAULT
    """ISO 639-1, of the question"""
    written: WrittenAnswer | None = None
    """what a language model wrote; `quotes` are then the words that it rests on. None where the answer is quoted"""
    head: list[str] = field(default_factory=list)
    """how the question was understood: the time, the channel, what is listed"""
    notice: str = ""
    """why the answer is quoted although a model should have written it, or what was removed"""
    usage: Usage | None = None
    """the tokens that a model took whose answer is not shown; None where no model answered"""
    people: list[int] = field(default_factory=list)
    """ids of the people whom it is about, where it is told by what is known of them"""

    @property
    def tokens(self) -> Usage:
        """The tokens that a model took, whether its answer is shown or not."""
        return self.written.usage if self.written else self.usage or Usage()

    @property
    def found(self) -> bool:
        """Whether the archive surely answers."""
        return self.confidence == "sure"

    @property
    def text(self) -> str:
        """The answer as one text, its sources in brackets."""
        if self.written:
            return self.written.text
        if self.confidence == "none":
            return page_texts(self.language).none
        return "\n".join(quote.cited_text for quote in self.quotes)


def main_record(source: CitedSource) -> str:
    """The record itself; of a chat window the first message that holds words of the question."""
    hit = source.hit
    if not hit.chunk.members:
        return hit.chunk.asset_id
    return hit.messages[hit.matching[0]].asset_id if hit.matching else hit.chunk.members[0]


def nearest_hits(hits: list[Hit]) -> list[Hit]:
    """What comes nearest where nothing answers."""
    return [hit for hit in hits if hit.hit_of is None and not hit.role][:_CLOSEST]


def make_quotes(
    sentences: Sequence[Excerpt],
    sources: Sequence[CitedSource],
    places: Sequence[QuotedPlace],
    zone: ZoneInfo,
    texts: PageTexts,
) -> list[Quote]:
    """The sentences with the numbers of the sources that say them; tells each source where it is quoted.

    `places` are those of all units of all sentences. A sentence whose source has no room is left out with it, unless
    none has.
    """
    numbered = {source.hit.chunk.chunk_group_id: source for source in sources}
    remaining = iter(places)
    quotes: list[Quote] = []
    for sentence in sentences:
        cited = [(numbered.get(hit.chunk.chunk_group_id), next(remaining)) for hit in sentence.hits]
        _note_places(cited)
        numbers = list(dict.fromkeys(source.number for source, _ in cited if source))
        unit = sentence.unit
        newer = sentence.superseded
        day = _day_of(newer, zone) if newer else ""
        text, answering = (plain(part, unit.hit.chunk.rag_source_type) for part in (sentence.text, unit.text))
        note = _superseded_note(newer, day, texts) if newer else ""
        quote = Quote(text, answering, unit.sender, unit.ts, numbers, cited[0][1], newer, day, unit.hit, note)
        quotes.append(quote)
    unique = _without_repeats(quotes)
    return [quote for quote in unique if quote.sources] or unique


def _note_places(cited: Iterable[tuple[CitedSource | None, QuotedPlace]]) -> None:
    """Tells each source where it is quoted."""
    for source, location in cited:
        if source and location not in source.places:
            source.places.append(location)


def _day_of(span: QuotableSpan, zone: ZoneInfo) -> str:
    """The day of a record that is dated; empty for others."""
    return str(datetime.fromtimestamp(span.ts, zone).date()) if span.ts and not span.hit.is_undated else ""


def _superseded_note(newer: QuotableSpan, day: str, texts: PageTexts) -> str:
    """That another value stands in a later record, of that day or in that file."""
    chunk = newer.hit.chunk
    file = chunk.file_name or chunk.subject or chunk.asset_id
    return texts.superseded_on.format(day=day) if day else texts.superseded_in.format(file=file)


def _without_repeats(quotes: Iterable[Quote]) -> list[Quote]:
    """The quotes, each once: two items of a list are quoted with the whole list."""
    unique: dict[tuple[str, tuple[int, ...]], Quote] = {}
    for quote in quotes:
        unique.setdefault((quote.text, tuple(quote.sources)), quote)
    return list(unique.values())


def written_sources(written: WrittenAnswer, places: Sequence[QuotedPlace]) -> list[CitedSource]:
    """One source for each record that a written answer quotes, by its number. `places` are those of its quotes."""
    sources = [CitedSource(number, replace(hit, promoted=True)) for number, hit in enumerate(written.cited, 1)]
    for statement, location in zip(written.statements, places, strict=True):
        source = sources[statement.source - 1]
        if all(statement.quote.hit is not hit for hit in source.cited):
            source.cited.append(statement.quote.hit)
        if location not in source.places:
            source.places.append(location)
    return sources


def written_quotes(written: WrittenAnswer, places: Sequence[QuotedPlace]) -> list[Quote]:
    """The words that each statement of a written answer rests on, in the order of the statements."""
    return [
        Quote(quote.text, quote.text, quote.sender, quote.ts, [statement.source], location, hit=quote.hit)
        for statement, location in zip(written.statements, places, strict=True)
        for quote in (statement.quote,)
    ]


def displayed_sources(
    hits: list[Hit], evidence: Excerpts, settings: DisplaySettings, max_count: int, people: Collection[int] = ()
) -> list[CitedSource]:
    """One source a record: those that the answer cites in its order, then the others that may be shown.

    Where not all have room, each sentence comes to its first source before any comes to a second. Of what no sentence
    cites only what the question asked for, such as an attachment, and a few that come near the best are shown.
    `max_count` are shown at most where the sources are filtered. `people` are whom question and answer are about.
    """
    cited = _cited_hits(evidence)
    room = max_count if settings.source_display_filter_enabled else len(cited)
    mains = [excerpt.unit.hit.chunk.chunk_group_id for excerpt in evidence.excerpts]
    chosen_groups = set(list(dict.fromkeys([*mains, *cited]))[:room])
    records = {group: replace(quoted[0], promoted=True) for group, quoted in cited.items() if group in chosen_groups}
    for hit in hits:
        if hit.chunk.chunk_group_id not in cited:
            records.setdefault(hit.chunk.chunk_group_id, hit)
    chosen = apply_source_filter(list(records.values()), evidence.text, settings, people, max_count)
    if settings.source_display_filter_enabled:
        chosen = _promoted_or_near(chosen, itertools.chain.from_iterable(cited.values()), evidence.near)
    return [CitedSource(number, hit, cited.get(hit.chunk.chunk_group_id, [])) for number, hit in enumerate(chosen, 1)]


def _cited_hits(evidence: Excerpts) -> dict[str, list[Hit]]:
    """Record -> the hits of it that sentences cite."""
    cited: dict[str, list[Hit]] = {}
    for sentence in evidence.excerpts:
        for hit in sentence.hits:
            cited.setdefault(hit.chunk.chunk_group_id, []).append(hit)
    return cited


def _promoted_or_near(hits: list[Hit], cited: Iterable[Hit], near: Collection[str]) -> list[Hit]:
    """The hits that are cited or asked for, and a few of the others."""
    uncited = {id(hit) for hit in _uncited(hits, {hit.chunk.asset_id for hit in cited}, near)}
    return [hit for hit in hits if hit.promoted or id(hit) in uncited]


def people_sources(
    hits: Sequence[Hit], lines: int, text: str, settings: DisplaySettings, people: Collection[int]
) -> list[CitedSource]:
    """The sources of an answer about people: a hit for each of its lines, which come first, then each record once.

    The filter leaves what is known of the people and passages about them; without it every hit is a source.
    """
    records: dict[str, Hit] = {}
    for hit in hits[lines:]:
        records.setdefault(hit.chunk.chunk_group_id, hit)
    chosen = apply_source_filter([*hits[:lines], *records.values()], text, settings, people)
    if settings.source_display_filter_enabled:
        chosen = [hit for hit in chosen if hit.promoted]  # the lines quote no other
    return [CitedSource(number, hit, [hit] if number <= lines else []) for number, hit in enumerate(chosen, 1)]


def _uncited(hits: Sequence[Hit], cited: Collection[str], near: Collection[str]) -> list[Hit]:
    """The hits that are shown though no sentence cites them: attachments of cited records first, then those `near`."""
    rest = [hit for hit in hits if not hit.promoted]
    attached = [hit for hit in rest if hit.chunk.parent_asset_id in cited]
    others = [hit for hit in rest if hit.chunk.parent_asset_id not in cited and hit.chunk.chunk_group_id in near]
    return [*attached, *others][:_UNCITED]


def join_answers(first: Answer, second: Answer) -> Answer:
    """The first answer, and behind it what the second quotes, each source once."""
    numbers = {source.hit.chunk.chunk_id: source.number for source in first.sources}
    sources, renumbered = list(first.sources), {}
    for source in second.sources:
        number_in_first = numbers.get(source.hit.chunk.chunk_id)
        renumbered[source.number] = number_in_first or len(sources) + 1
        if number_in_first is None:
            sources.append(replace(source, number=len(sources) + 1))
    quotes = [replace(quote, sources=[renumbered[number] for number in quote.sources]) for quote in second.quotes]
    return replace(first, sources=sources, quotes=[*first.quotes, *quotes], missing=second.missing)


def commit_in_answer(sources: Sequence[CitedSource], values: Collection[str]) -> CitedSource | None:
    """The only commit among the sources that an answer names but does not quote, where who or when is asked for."""
    commits = [source for source in sources if _COMMIT_HASH in source.hit.extra]
    is_sought = not _OF_COMMIT.isdisjoint(values)
    return commits[0] if is_sought and len(commits) == 1 and commits[0].hit.promoted and not commits[0].cited else None


def put_first(first: CitedSource, sources: Sequence[CitedSource]) -> list[CitedSource]:
    """The sources with that one first, as one that is quoted."""
    cited = replace(first, cited=[first.hit])
    ordered = [cited, *(source for source in sources if source is not first)]
    return [replace(source, number=number) for number, source in enumerate(ordered, 1)]


def commit_quote(source: CitedSource, zone: ZoneInfo) -> Quote:
    """Who made a commit, when, and its subject, since a mail about it says `I` and `today`."""
    chunk = source.hit.chunk
    author = re.sub(r"\s*<[^>]*>$", "", chunk.from_ or "")
    day = f"{datetime.fromtimestamp(chunk.ts, zone):%Y-%m-%d}" if chunk.ts is not None else ""
    text = f"{', '.join(filter(None, (author, day)))}: {chunk.subject or chunk.text}"
    return Quote(text, text, None, chunk.ts, [source.number], hit=source.hit)
