"""The steps of a query, declared: what search runs, and what ask runs before it answers."""

from __future__ import annotations

from relrag_query.answering.reader.budget import note_budget
from relrag_query.answering.reply_expansion import attach_replies
from relrag_query.retrieval.context import Step
from relrag_query.retrieval.steps.chat_context import expand_context, supplement_recent
from relrag_query.retrieval.steps.contents import load_dates, load_extra, load_messages
from relrag_query.retrieval.steps.document_chunks import add_siblings
from relrag_query.retrieval.steps.hybrid_search import hybrid_search
from relrag_query.retrieval.steps.matter import keep_matter
from relrag_query.retrieval.steps.named_entities import expand_named_entities
from relrag_query.retrieval.steps.neighborhood import expand_step
from relrag_query.retrieval.steps.people import add_people, search_people
from relrag_query.retrieval.steps.rerank import boost_channel, boost_time, demote_bulk, rerank, score_coverage

SEARCH = (
    Step(1, "hybrid search", hybrid_search),
    Step(1, "person search", search_people),
    Step(1, "named entities", expand_named_entities),
    Step(1, "matter", keep_matter),
    Step(1, "dates", lambda hits, _: load_dates(hits)),
    Step(2, "rerank", rerank),
    Step(2, "bulk mail", demote_bulk),
    Step(2, "time", boost_time),
    Step(2, "channel", boost_channel),
    Step(2, "coverage", score_coverage),
    Step(2, "messages", load_messages),
    Step(2, "details", load_extra),
)
"""what `relrag search` runs"""
ASK = (
    *SEARCH,
    Step(3, "replies", attach_replies),
    Step(3, "time window", expand_context),
    Step(4, "document chunks", add_siblings),
    Step(5, "neighborhood", expand_step),
    Step(5, "dates", lambda hits, _: load_dates(hits)),
    Step(6, "recency", supplement_recent),
    Step(7, "people", add_people),
    Step(8, "token budget", note_budget),
)
"""what `relrag ask` runs for every question but one for a list, which has steps of its own"""
