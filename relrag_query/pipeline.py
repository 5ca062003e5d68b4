"""What a query gives back: the hits after its steps, or what is answered from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from zoneinfo import ZoneInfo

from relrag_pipelines.stores.vectors.protocol import ANYWHERE
from relrag_query.answering import excerpts, explanation, features, items, listing, quoted_places, ranker, superseded
from relrag_query.answering.candidates import Candidate, candidates
from relrag_query.answering.chat_model import AnswerError, WrittenAnswer
from relrag_query.answering.excerpts import Confidence, Excerpt, Excerpts
from relrag_query.answering.named_records import add_named_records
from relrag_query.answering.reader import budget, protocol
from relrag_query.answering.reader.protocol import Passage
from relrag_query.display.page_texts import page_texts
from relrag_query.people.knowledge import PeopleAnswer, PeopleKnowledge
from relrag_query.results import (
    Answer,
    CitedSource,
    Quote,
    Results,
    commit_in_answer,
    commit_quote,
    displayed_sources,
    join_answers,
    main_record,
    make_quotes,
    nearest_hits,
    people_sources,
    put_first,
    written_quotes,
    written_sources,
)
from relrag_query.retrieval import catalog_reader
from relrag_query.retrieval.context import QueryContext, run
from relrag_query.retrieval.hit import CONTEXT_EXPANSION, ENTITY_STORE, Hit, drop_context
from relrag_query.retrieval.missing_words import missing_words, telling_words, unmatched_terms
from relrag_query.retrieval.steps.matter import MOST
from relrag_query.steps import ASK, SEARCH
from relrag_query.understanding.intent import QueryIntent
from relrag_query.understanding.people_question import PeopleQuestion

Read = Callable[[str, Sequence[Passage], Callable[[str], None]], WrittenAnswer]
"""a language model's answer from passages, which calls its third argument with each piece; raises AnswerError"""
_PEOPLE = 3
"""people about whom a model reads at most, and whose facts join the passages"""


def search(context: QueryContext, shown: int) -> Results:
    """The passages that fit best, at most so many."""
    request = listing.parse_listing(context)
    hits = run(listing.listing_steps(request, shown) if request else SEARCH, context)[:shown]
    return Results(
        context.question.text,
        hits,
        context.question.time,
        context.question.intents,
        context.trace,
        language=context.question.language,
        head=explanation.explain_query(context, request, hits, _zone(context))
        + explanation.explain_semantic_only(context, hits),
        searched="" if hits else _scope(context, listed=request is not None),
        missing=[] if hits or request else missing_words(context, hits),
    )


def ask(
    context: QueryContext,
    limit: int | None,
    on_text: Callable[[str], None] | None,
    people: PeopleKnowledge | None = None,
    read: Read | None = None,
) -> Answer:
    """The excerpts that answer a question, or what a language model writes from them, with their sources.

    Without `people` nothing is known of people. With `read`, a language model answers.
    """
    request = _people_request(context)
    statement = _statement(request, context, people)
    context.people_hits = statement.hits if statement else _facts_of_named(context, people)
    passages = [] if listing.parse_listing(context) and not statement else answering_hits(context)
    stated = None
    if statement:
        stated = _ask_people(_notice_of_nobody(request, people, statement), statement, passages, context, limit)
        context.people_hits = ()  # passages are quoted as if nobody were known
    if read is None and stated and stated.people:
        return stated
    evidence = _gather(context, passages, limit)
    quoted = _join(stated, _ask_records(context, evidence, request, people))
    if read is None:
        return quoted
    return _written_or_quoted(context, quoted, _read_by_model(context, stated, evidence.closest)[:limit], read, on_text)


def _people_request(context: QueryContext) -> PeopleQuestion | None:
    """What the question asks of people, who are of all sources and times; None if something limits the search."""
    return context.question.people.request if context.limits == ANYWHERE else None


def _unstated(request: PeopleQuestion | None) -> str:
    """The relationship that a question asks for and that nobody is stated to have; empty if there is none."""
    return request.unknown if request and request.asks == "who" else ""


def _statement(
    request: PeopleQuestion | None, context: QueryContext, people: PeopleKnowledge | None
) -> PeopleAnswer | None:
    """What is known of people that answers a question about them; None where nothing does."""
    if request is None or people is None or _unstated(request):
        return None
    settled = context.settle(request)
    return people.answer(settled, context) if settled else None


def _notice_of_nobody(
    request: PeopleQuestion | None, people: PeopleKnowledge | None, statement: PeopleAnswer
) -> list[str]:
    """The notice above an answer about people that nobody has a relationship that the question names."""
    if request is None or people is None or not request.unknown:
        return []
    return [people.notice_of_nobody(request.unknown, [line for line, _ in statement.lines])]


def _join(stated: Answer | None, records: Answer) -> Answer:
    """What is known of people and what the records say; of nobody, a passage says it, and others may say more."""
    if stated is None:
        return records
    return stated if stated.people else join_answers(stated, records)


def _facts_of_named(context: QueryContext, people: PeopleKnowledge | None) -> tuple[Hit, ...]:
    """What is known of the people, three at most, whom a question names that asks for something else."""
    if people is None or context.limits != ANYWHERE:
        return ()
    return people.fact_hits(context.question.people.named[:_PEOPLE])


@dataclass(frozen=True)
class _Evidence:
    """What the records say to a question."""

    excerpts: Excerpts
    closest: list[Excerpt]
    """the excerpts that come closest, for a model to read"""
    hits: list[Hit]
    """what sources are chosen from"""
    max_sources: int
    request: listing.ListingRequest | None
    """the list that the question asks for"""


def _gather(context: QueryContext, passages: list[Hit], limit: int | None) -> _Evidence:
    """The excerpts that answer from `passages`, the hits of the eight steps; a list has steps of its own."""
    most = 2 * context.settings.search_limit if limit is None else limit
    max_sources = min(most, context.settings.source_display_max_count)
    request = listing.parse_listing(context)
    if request:
        max_sources = limit or max_sources or most  # of a list so many are shown as are asked for
        hits = run(listing.listing_steps(request, max_sources), context)
        answer = listing.listing_answer(hits)
        closest = answer.excerpts
    else:
        answer, closest = _excerpts(context, passages, most)
        if context.question.form == "list":
            max_sources = limit or max(max_sources, items.MAX_ITEMS)
    context.note("answer", f"{answer.confidence}, {len(answer.excerpts)} excerpts")
    hits = hits if request else add_named_records(answer, passages, context)
    return _Evidence(answer, closest, hits, max_sources, request)


def _ask_records(
    context: QueryContext, evidence: _Evidence, request: PeopleQuestion | None, people: PeopleKnowledge | None
) -> Answer:
    """The answer from what the records say.

    It is not sure where the question asks of people, since others may be meant, or is not of the channel asked for.
    """
    answer = evidence.excerpts
    elsewhere = _is_elsewhere(answer, context)
    may_be_others = request is not None or context.question.people.about_somebody
    confidence = _confidence(answer, may_be_others=may_be_others or elsewhere)
    sources = _sources(context, evidence, people)
    sources, quotes = _with_commit_first(context, evidence, sources)
    writers = _name_writers(context, quotes, answer, people)
    closest = nearest_hits(evidence.hits) if confidence == "none" else []
    nobody = _notice_above(request, people, quotes, closest)
    about = [source.hit for source in sources if source.hit.source != ENTITY_STORE] or evidence.hits
    explained = explanation.explain_query(context, evidence.request, about, _zone(context), elsewhere=elsewhere)
    return Answer(
        question=context.question.text, confidence=confidence, quotes=quotes, sources=sources, closest=closest,
        searched=_scope(context, listed=evidence.request is not None),
        missing=_missing(context, evidence, quotes),
        intents=context.question.intents, when=context.question.time, trace=context.trace,
        form="list" if evidence.request else context.question.form, language=context.question.language,
        head=[*filter(None, (nobody, writers)), *explained],
    )  # fmt: skip


def _with_commit_first(
    context: QueryContext, evidence: _Evidence, sources: list[CitedSource]
) -> tuple[list[CitedSource], list[Quote]]:
    """The sources and their quotes, a commit that the question asks for before the others."""
    commit = None if evidence.request else commit_in_answer(sources, context.question.values)
    if commit is None:
        return sources, _quotes(context, evidence.excerpts, sources)
    sources = put_first(commit, sources)
    return sources, [commit_quote(sources[0], _zone(context)), *_quotes(context, evidence.excerpts, sources)]


def _missing(context: QueryContext, evidence: _Evidence, quotes: Sequence[Quote]) -> list[str]:
    """The words of the question that no hit holds, as far as the quotes leave them open; none for a list."""
    if evidence.request:
        return []
    texts = [quote.text for quote in quotes]
    return telling_words(missing_words(context, evidence.hits), context.question.text, texts)


def _notice_above(
    request: PeopleQuestion | None, people: PeopleKnowledge | None, quotes: Sequence[Quote], closest: Sequence[Hit]
) -> str:
    """The notice above quotes and the closest hits that nobody is stated to have the relationship asked for."""
    unstated = _unstated(request)
    if people is None or not unstated:
        return ""
    return people.notice_of_nobody(unstated, [*(quote.text for quote in quotes), *(hit.chunk.text for hit in closest)])


def _confidence(evidence: Excerpts, *, may_be_others: bool) -> Confidence:
    return "unsure" if may_be_others and evidence.confidence == "sure" else evidence.confidence


def _ask_people(
    head: list[str],
    statement: PeopleAnswer,
    passages: Sequence[Hit],
    context: QueryContext,
    limit: int | None,
) -> Answer:
    """The answer to a question about people by what is known of them, below the lines of `head`.

    `passages` are the hits of the steps before: the filter of sources leaves them out, unless it is off.
    """
    lines = statement.lines[:limit]
    text = "\n".join(line for line, _ in lines)
    hits = [*(hit for _, hit in lines), *statement.passages, *passages]
    sources = _add_locations(context, people_sources(hits, len(lines), text, context.settings, statement.people))
    quotes = [Quote(line, line, None, None, [number]) for number, (line, _) in enumerate(lines[: len(sources)], 1)]
    return Answer(
        question=context.question.text,
        confidence="sure" if statement.sure else "unsure",
        quotes=quotes,
        sources=sources,
        closest=[],
        searched=_scope(context, listed=False),
        missing=[],
        intents=context.question.intents,
        when=context.question.time,
        trace=context.trace,
        language=context.question.language,
        people=statement.people,
        head=head,
    )


def matter(context: QueryContext) -> tuple[Hit, ...]:
    """The best hits of a question that another one follows up."""
    return tuple(run(SEARCH, context)[:MOST])


def answering_hits(context: QueryContext) -> list[Hit]:
    """The passages that may answer: those of the time that is asked for, and what was added to them.

    What step 7 adds about people is `context.people_hits`, which are not among them.
    """
    added = {id(hit) for hit in context.people_hits}
    hits = [hit for hit in run(ASK, context) if id(hit) not in added]
    return [hit for hit in hits if hit.in_time or hit.role] if context.question.time else hits


def quotable(hits: Sequence[Hit]) -> list[Candidate]:
    """What can be quoted of the hits that were searched for, and of the mails that reply to these."""
    hits_in_focus = drop_context(hits)
    return candidates([hit for hit in hits_in_focus if hit.hit_of is None and hit.role in (None, CONTEXT_EXPANSION)])


def _excerpts(context: QueryContext, hits: list[Hit], limit: int) -> tuple[Excerpts, list[Excerpt]]:
    """The excerpts that answer; and those that come closest, whether they answer or not, where a model reads them."""
    quotes, absent = quotable(hits), unmatched_terms(context, hits)
    form = context.question.form
    ranking = ranker.rank(quotes, context, len(absent), each=form == "list")
    context.note(
        "rank", f"the best of {len(quotes)} candidates answers with a probability of {ranking.probability:.2f}"
    )
    scorer = features.SentenceScorer.of(context)
    if form == "list":
        evidence = items.choose_items(ranking, quotes, scorer, limit)
    else:
        evidence = excerpts.choose(
            ranking,
            quotes,
            scorer,
            limit,
            form=form,
            across=QueryIntent.CROSS_CHANNEL in context.question.intents,
            has_current_value=superseded.has_current_value(context.question),
        )
    if context.settings.answerer == "extractive":
        return evidence, []
    first = ranking.by_passage[: budget.MAX_PASSAGES]
    return evidence, [excerpts.excerpt_of(option, quotes, scorer) for option in first]


def _is_elsewhere(evidence: Excerpts, context: QueryContext) -> bool:
    """Whether the question names a channel, and all that is quoted is of others."""
    quoted = {hit.chunk.rag_source_type for excerpt in evidence.excerpts for hit in excerpt.hits}
    return bool(context.question.channels and quoted) and quoted.isdisjoint(context.question.channels)


def _sources(context: QueryContext, evidence: _Evidence, people: PeopleKnowledge | None) -> list[CitedSource]:
    """The sources that are listed: those that the sentences come from, and what belongs to them."""
    answer = evidence.excerpts
    types = frozenset[str]() if _is_elsewhere(answer, context) else context.question.channels
    hits = [*evidence.hits, *context.people_hits]
    fitting = [hit for hit in hits if hit.role or not types or hit.chunk.rag_source_type in types]
    named = set[int]()
    if people:
        quoted = [excerpt.unit.asset_id for excerpt in answer.excerpts]
        named = people.people_of(context.question.people.named, answer.text, quoted)
        fitting = people.with_writers(fitting)
    return _add_locations(context, displayed_sources(fitting, answer, context.settings, evidence.max_sources, named))


def _name_writers(
    context: QueryContext, quotes: list[Quote], evidence: Excerpts, people: PeopleKnowledge | None
) -> str:
    """Gives quotes their senders' usual names where the question asks who said something, and says whose they are."""
    if people is None or not context.question.people.asks_who_said:
        return ""
    named = people.writer_names({excerpt.text: excerpt.unit.asset_id for excerpt in evidence.excerpts})
    for quote in quotes:
        quote.sender = ", ".join(named.get(quote.text, ())) or quote.sender
    writers_named = dict.fromkeys(name for quote in quotes for name in named.get(quote.text, ()))
    said_by = page_texts(context.question.language).said_by
    return said_by.format(names=", ".join(writers_named)) if writers_named else ""


def _read_by_model(context: QueryContext, stated: Answer | None, closest: Sequence[Excerpt]) -> list[Passage]:
    """What a model reads: lines that answer about people, else excerpts and, last, facts about people named."""
    records = [protocol.passage_of(excerpt, _zone(context)) for excerpt in closest]
    if stated:
        return [*_people_passages(context, _lines_of(stated)), *records]
    facts = _people_passages(context, [(hit.text, hit) for hit in context.people_hits])
    return [*records[: budget.MAX_PASSAGES - len(facts)], *facts]


def _lines_of(stated: Answer) -> list[tuple[str, Hit]]:
    hits = {source.number: source.hit for source in stated.sources}
    return [(quote.text, hits[number]) for quote in stated.quotes for number in quote.sources]


def _people_passages(context: QueryContext, lines: Sequence[tuple[str, Hit]]) -> list[Passage]:
    """What is known of people, as passages for a model: redacted once more, since the owner may have stated it."""
    passages = [protocol.passage_of_person(line, hit, _zone(context)) for line, hit in lines[:_PEOPLE]]
    return [replace(passage, text=context.redact(passage.text)) for passage in passages]


def _written_or_quoted(
    context: QueryContext,
    quoted: Answer,
    passages: Sequence[Passage],
    read: Read,
    on_text: Callable[[str], None] | None,
) -> Answer:
    """The answer that the configured model writes from passages; the quoted one, with the reason, where none stands."""
    given = budget.fit_token_budget(passages, context.settings.answer_context_tokens)
    if not given:
        return quoted
    try:
        answer = read(context.question.redacted, given, on_text or (lambda piece: None))
    except AnswerError as error:
        context.note("read", str(error))
        return replace(quoted, notice=f"No answer was written: {error}.")
    counts = f"{len(answer.statements)} statements stand, {answer.removed} removed"
    context.note(
        "read",
        f"{answer.model} at {answer.host} was given {len(given)} of {len(passages)} excerpts; {counts}; {answer.usage}",
    )
    return _written(context, quoted, answer) if answer.statements else _unwritten(quoted, answer)


def _written(context: QueryContext, quoted: Answer, answer: WrittenAnswer) -> Answer:
    """A written answer, which stands alone with its sources."""
    places = quoted_places.locate([statement.quote for statement in answer.statements], context.connection)
    sources = _add_locations(context, written_sources(answer, places))
    cut = f"{answer.broke_off}; what stands is whole." if answer.broke_off else ""
    return replace(
        quoted,
        confidence="sure",
        quotes=written_quotes(answer, places),
        sources=sources,
        closest=[],
        missing=[],
        head=[],
        written=answer,
        notice=" ".join(filter(None, (_removed(answer), cut))),
    )


def _unwritten(quoted: Answer, answer: WrittenAnswer) -> Answer:
    """The quoted answer where nothing of a model's stands: it finds none, or its quotes are not in the passages."""
    if answer.removed:
        return replace(quoted, notice=f"No answer was written: {_removed(answer)}", usage=answer.usage)
    confidence: Confidence = "unsure" if quoted.confidence == "sure" else quoted.confidence
    finding = f"{answer.model} finds no answer in what it read; this comes closest."
    return replace(quoted, confidence=confidence, head=[finding, *quoted.head], usage=answer.usage)


def _removed(answer: WrittenAnswer) -> str:
    """What was removed of an answer, in words."""
    if not answer.removed:
        return ""
    were = "statement was" if answer.removed == 1 else "statements were"
    return f"{answer.removed} {were} removed, since no passage says so word for word."


def _add_locations(context: QueryContext, listed: list[CitedSource]) -> list[CitedSource]:
    """The sources with where their originals lie; of a person, the records that state what is known."""
    people = [source for source in listed if source.hit.source == ENTITY_STORE]
    for source in people:
        source.locations = source.locations or list(source.hit.extra.get("source_refs", ()))
    records = {source.number: main_record(source) for source in listed if source.hit.source != ENTITY_STORE}
    locations = catalog_reader.locations(context.connection, list(records.values())) if records else {}
    for source in listed:
        if source.number in records:
            source.locations = locations.get(records[source.number], [])
    return listed


def _quotes(context: QueryContext, evidence: Excerpts, sources: list[CitedSource]) -> list[Quote]:
    units = [unit for sentence in evidence.excerpts for unit in (sentence.unit, *sentence.also)]
    return make_quotes(
        evidence.excerpts,
        sources,
        quoted_places.locate(units, context.connection),
        _zone(context),
        page_texts(context.question.language),
    )


def _scope(context: QueryContext, *, listed: bool) -> str:
    return explanation.describe_scope(context, _zone(context), listed=listed)


def _zone(context: QueryContext) -> ZoneInfo:
    return ZoneInfo(context.settings.timezone)
