"""What a query gives back: the hits after its steps, or what is answered from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from zoneinfo import ZoneInfo

from relrag_pipelines import settings as settings_module
from relrag_pipelines.stores.generations import Generation
from relrag_pipelines.stores.vectors import ANYWHERE
from relrag_query.answering import excerpts, explanation, features, listing, llm, quoted_places, ranker, superseded
from relrag_query.answering.candidates import Candidate, candidates
from relrag_query.answering.excerpts import Confidence, Excerpt, Excerpts
from relrag_query.answering.named_records import add_named_records
from relrag_query.answering.reader import budget, protocol, reading
from relrag_query.answering.reader.protocol import Passage
from relrag_query.answering.reader.reading import WrittenAnswer
from relrag_query.people import answers, writers
from relrag_query.people.people import People
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
from relrag_query.steps import ASK, SEARCH
from relrag_query.understanding.intent import QueryIntent
from relrag_query.understanding.people_question import PeopleQuestion

_PEOPLE = 3
"""people about whom a model reads at most, and whose facts join the passages"""


def search(context: QueryContext, generation: Generation, shown: int) -> Results:
    """The passages that fit best, at most so many."""
    request = listing.parse_listing(context)
    hits = run(listing.listing_steps(request, shown) if request else SEARCH, context)[:shown]
    return Results(
        context.question.text,
        hits,
        context.question.time,
        context.question.intents,
        context.trace,
        head=explanation.explain_query(context, request, hits, _zone(context))
        + explanation.explain_semantic_only(context, hits),
        searched="" if hits else _scope(context, generation, listed=request is not None),
        missing=[] if hits or request else missing_words(context, hits),
    )


def ask(
    context: QueryContext,
    generation: Generation,
    limit: int | None,
    on_text: Callable[[str], None] | None,
    people: People | None = None,
) -> Answer:
    """The sentences that answer, or what a model writes, with the sources that say so.

    With `people`, questions about these are answered by what is known of them.
    """
    # what is known of people is of all sources and times
    request = context.question.people.request if context.limits == ANYWHERE else None
    unknown = request.unknown if request and request.asks == "who" else ""
    statement = _statement(request, context, people) if people and request and not unknown else None
    context.people_hits = statement.hits if statement else _facts_of_named(context, people)
    passages = [] if listing.parse_listing(context) and not statement else answering_hits(context)
    stated = None
    if statement and request:
        stated = _ask_people(request, statement, passages, context, generation, limit)
        context.people_hits = ()  # passages are quoted as if nobody were known
    has_model = context.settings.answerer != "extractive"
    answers_people = stated is not None and bool(stated.people)  # of nobody: a passage says it, others may too
    if stated and answers_people and not has_model:
        return stated
    others = request is not None or context.question.people.about_somebody
    records, closest = _ask_records(context, generation, passages, limit, unknown, people, may_be_others=others)
    quoted = stated if stated and answers_people else join_answers(stated, records) if stated else records
    if not has_model:
        return quoted
    return _written_or_quoted(context, quoted, _read_by_model(context, stated, closest)[:limit], on_text)


def _statement(request: PeopleQuestion, context: QueryContext, people: People) -> answers.PeopleAnswer | None:
    """What is known of people that answers a question about them; None where nothing does."""
    settled = context.settle(request)
    today = settings_module.now().astimezone(_zone(context)).date()
    return answers.answer(settled, people, context, today) if settled else None


def _facts_of_named(context: QueryContext, people: People | None) -> tuple[Hit, ...]:
    """What is known of the people, three at most, whom a question names that asks for something else."""
    if people is None or context.limits != ANYWHERE:
        return ()
    return answers.fact_hits(context.question.people.named[:_PEOPLE], people)


def _ask_records(
    context: QueryContext,
    generation: Generation,
    passages: list[Hit],
    limit: int | None,
    unknown: str,
    people: People | None,
    *,
    may_be_others: bool,
) -> tuple[Answer, list[Excerpt]]:
    """The answer from what the records say, and the excerpts that come closest, for a model to read.

    `passages` are the hits of the eight steps; a list has its own. It is not sure where it `may_be_others`, or is not
    of the channel asked for. `unknown` is a relationship that the question names and that nobody is stated to have.
    """
    most = 2 * context.settings.search_limit if limit is None else limit
    request = listing.parse_listing(context)
    at_most = min(most, context.settings.source_display_max_count)
    if request:
        at_most = limit or at_most or most  # of a list so many are shown as are asked for
        hits = run(listing.listing_steps(request, at_most), context)
        evidence = listing.listing_answer(hits)
        closest = evidence.excerpts
    else:
        hits = passages
        evidence, closest = _evidence(context, hits, most)
    context.note("answer", f"{evidence.confidence}, {len(evidence.excerpts)} excerpts")
    hits = hits if request else add_named_records(evidence, hits, context)
    elsewhere = _is_elsewhere(evidence, context)
    how_sure = _confidence(evidence, may_be_others=may_be_others or elsewhere)
    shown = _sources(context, [*hits, *context.people_hits], evidence, at_most, people)
    commit = None if request else commit_in_answer(shown, context.question.values)
    shown = put_first(commit, shown) if commit else shown
    quotes = _quotes(context, evidence, shown)
    quotes = [commit_quote(shown[0], _zone(context)), *quotes] if commit else quotes
    writers_line = _name_writers(context, quotes, evidence, people) if people else ""
    about = [source.hit for source in shown if source.hit.source != ENTITY_STORE] or hits
    explained = explanation.explain_query(context, request, about, _zone(context), elsewhere=elsewhere)
    near = [] if how_sure != "none" else nearest_hits(hits)
    read = [*(one.text for one in quotes), *(hit.chunk.text for hit in near)]
    missing = [] if request else telling_words(missing_words(context, hits), context.question.text, read[: len(quotes)])
    nobody = answers.stated_by_nobody(unknown, read) if unknown else ""
    answer = Answer(
        question=context.question.text, confidence=how_sure, quotes=quotes, sources=shown,
        closest=near,
        searched=_scope(context, generation, listed=request is not None),
        missing=missing,
        intents=context.question.intents, when=context.question.time, trace=context.trace,
        head=[*filter(None, (nobody, writers_line)), *explained],
    )  # fmt: skip
    return answer, closest


def _confidence(evidence: Excerpts, *, may_be_others: bool) -> Confidence:
    return "unsure" if may_be_others and evidence.confidence == "sure" else evidence.confidence


def _ask_people(
    request: PeopleQuestion,
    statement: answers.PeopleAnswer,
    passages: Sequence[Hit],
    context: QueryContext,
    generation: Generation,
    limit: int | None,
) -> Answer:
    """The answer to a question about people by what is known of them.

    `passages` are the hits of the steps before: the filter of sources leaves them out, unless it is off.
    """
    lines = statement.lines[:limit]
    text = "\n".join(line for line, _ in lines)
    hits = [*(hit for _, hit in lines), *statement.passages, *passages]
    sources = _add_locations(context, people_sources(hits, len(lines), text, context.settings, statement.people))
    return Answer(
        question=context.question.text,
        confidence="sure" if statement.sure else "unsure",
        quotes=[
            Quote(line, line, None, None, [number])
            for number, (line, _) in enumerate(lines, 1)
            if number <= len(sources)
        ],
        sources=sources,
        closest=[],
        searched=_scope(context, generation, listed=False),
        missing=[],
        intents=context.question.intents,
        when=context.question.time,
        trace=context.trace,
        people=statement.people,
        head=[answers.stated_by_nobody(request.unknown, [line for line, _ in lines])] if request.unknown else [],
    )


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


def _evidence(context: QueryContext, hits: list[Hit], limit: int) -> tuple[Excerpts, list[Excerpt]]:
    """The excerpts that answer; and those that come closest, whether they answer or not, where a model reads them."""
    quotes, absent = quotable(hits), unmatched_terms(context, hits)
    ranking = ranker.rank(quotes, context, len(absent))
    context.note(
        "rank", f"the best of {len(quotes)} candidates answers with a probability of {ranking.probability:.2f}"
    )
    scorer = features.SentenceScorer.of(context)
    evidence = excerpts.choose(
        ranking,
        quotes,
        scorer,
        limit,
        across=QueryIntent.CROSS_CHANNEL in context.question.intents,
        has_current_value=superseded.has_current_value(context.question),
    )
    if context.settings.answerer == "extractive":
        return evidence, []
    first = ranking.ranked[: budget.MAX_PASSAGES]
    return evidence, [excerpts.excerpt_of(option, quotes, scorer) for option in first]


def _is_elsewhere(evidence: Excerpts, context: QueryContext) -> bool:
    """Whether the question names a channel, and all that is quoted is of others."""
    quoted = {hit.chunk.rag_source_type for excerpt in evidence.excerpts for hit in excerpt.hits}
    return bool(context.question.channels and quoted) and quoted.isdisjoint(context.question.channels)


def _sources(
    context: QueryContext,
    hits: list[Hit],
    evidence: Excerpts,
    at_most: int,
    people: People | None,
) -> list[CitedSource]:
    """The sources that are listed: those that the sentences come from, and what belongs to them."""
    settings = context.settings.model_copy(update={"source_display_max_count": at_most})
    types = frozenset[str]() if _is_elsewhere(evidence, context) else context.question.channels
    fitting = [hit for hit in hits if hit.role or not types or hit.chunk.rag_source_type in types]
    if people is None:
        return _add_locations(context, displayed_sources(fitting, evidence, settings))
    quoted = [excerpt.unit.asset_id for excerpt in evidence.excerpts]
    named = writers.people_of(context.question.people.named, evidence.text, quoted, people, context.connection)
    with_writers = writers.with_writers(fitting, people, context.connection)
    return _add_locations(context, displayed_sources(with_writers, evidence, settings, named))


def _name_writers(context: QueryContext, quotes: list[Quote], evidence: Excerpts, people: People) -> str:
    """Gives quotes their senders' usual names where the question asks who said something, and says whose they are."""
    if not context.question.people.asks_who_said:
        return ""
    refs = {excerpt.text: excerpt.unit.asset_id for excerpt in evidence.excerpts}
    named = writers.names(refs, people, context.connection)
    for quote in quotes:
        quote.sender = ", ".join(named.get(quote.text, ())) or quote.sender
    writers_named = dict.fromkeys(name for quote in quotes for name in named.get(quote.text, ()))
    return f"Said by {', '.join(writers_named)}." if writers_named else ""


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
    context: QueryContext, quoted: Answer, passages: Sequence[Passage], on_text: Callable[[str], None] | None
) -> Answer:
    """The answer that the configured model writes from passages; the quoted one, with the reason, where none stands."""
    given = budget.fit_token_budget(passages, context.settings.answer_context_tokens)
    if not given:
        return quoted
    try:
        model = llm.writer(context.settings)
        answer = reading.read(model, context.question.redacted, given, on_text or (lambda piece: None))
    except llm.AnswerError as error:
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
    return make_quotes(evidence.excerpts, sources, quoted_places.locate(units, context.connection), _zone(context))


def _scope(context: QueryContext, generation: Generation, *, listed: bool) -> str:
    return explanation.describe_scope(context, generation.manifest["counts"]["chunks"], _zone(context), listed=listed)


def _zone(context: QueryContext) -> ZoneInfo:
    return ZoneInfo(context.settings.timezone)
