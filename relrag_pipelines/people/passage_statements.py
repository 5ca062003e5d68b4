"""The stage that has a language model read passages for facts of people and relationships, where it is asked for.

Only redacted passages are read, and pseudonyms in them are shown as their type. Each passage is asked about once, the
latest first, as long as the budget lasts; the next sync goes on.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple
from zoneinfo import ZoneInfo

import orjson
import pyarrow as pa

from relrag_pipelines.language_models import model, reading
from relrag_pipelines.language_models.model import JsonModel, ModelError, Reply
from relrag_pipelines.language_models.reading import Reading
from relrag_pipelines.people.passage_question import PassageAnswer, SupportedStatement, question, supported_statements
from relrag_pipelines.pii.pseudonyms import to_entity_type
from relrag_pipelines.pii.redact_tables import channel_of
from relrag_pipelines.records import PassageStatement
from relrag_pipelines.sources import RECORD_TYPES
from relrag_pipelines.stores import catalog, model_answers, unread_passages
from relrag_pipelines.stores.table_schema import arrow_schema, to_table
from relrag_pipelines.workspace import Workspace

if TYPE_CHECKING:
    import duckdb
    from pyarrow.dataset import Dataset

VERSION = 1
"""raised when equal passages give other statements"""
CHANGING = frozenset({"lives_in", "works_at", "phone"})
"""predicates whose value is another one later: it is known to hold from the day on which it was said"""
_PASSAGES = """
    SELECT chunk_id, asset_id, text, source, rag_source_type, members, client_id, ts
    FROM chunks WHERE section IS NULL AND NOT list_contains($left_out, rag_source_type)
    QUALIFY row_number() OVER (PARTITION BY chunk_id ORDER BY source) = 1
    ORDER BY ts DESC NULLS LAST, chunk_id
"""
_BULK = """SELECT asset_id, extra FROM records WHERE contains(extra, '"bulk"')"""
_SENDERS = """
    SELECT asset_id, min("from"), min(ts) FROM records
    SEMI JOIN (SELECT unnest($ids) AS asset_id) USING (asset_id) GROUP BY asset_id
"""


class Passage(NamedTuple):
    """A chunk that is asked about."""

    chunk_id: str
    asset_id: str
    text: str
    """as the model is shown it"""
    source: str
    rag_source_type: str
    members: list[str]
    client_id: str | None
    ts: int | None


def make(workspace: Workspace, inputs: Mapping[str, Dataset]) -> tuple[dict[str, pa.Table], dict[str, float]]:
    """The rows of passage_statements, and what they took: tokens before and after, what is left for the next sync."""
    if workspace.settings.people.method != "llm":
        unread_passages.save(workspace.home, 0)
        return {"passage_statements": arrow_schema(PassageStatement).empty_table()}, {}
    with catalog.scratch() as connection:
        for name in ("chunks", "records"):
            connection.register(name, inputs[name])
        passages = list(read_passages(connection))
        answered, ahead = _answers(workspace, passages)
        rows, dropped = _rows(workspace, connection, passages, answered.answers)
    unread_passages.save(workspace.home, len(answered.pending), answered.reason)
    told: dict[str, float] = {
        "passages": len(passages),
        "tokens_expected": ahead,
        "tokens": answered.tokens,
        "statements": len(rows),
        "dropped": dropped,
        "failed": len(answered.failures),
        "pending": len(answered.pending),
    }
    return {"passage_statements": to_table(rows, PassageStatement)}, told


def load_model(workspace: Workspace) -> JsonModel:
    """The configured model; where a key or package is missing, one that answers nothing and says so."""
    asked = workspace.settings.people
    name = asked.model or model.USUAL[asked.service]
    try:
        return model.load(asked.service, name, asked.url)
    except ModelError as error:
        said = str(error)

    def ask(*_: object) -> Reply:
        raise ModelError(said)

    return JsonModel(name, "", ask)


def read_passages(connection: duckdb.DuckDBPyConnection) -> Iterator[Passage]:
    """What is asked about, the latest first, from views of chunks and records.

    Left out are cards, commits and code, what a mail quotes, and mails that were sent to many.
    """
    left_out = [one.name for one in RECORD_TYPES.values() if one.about_people or one.details]
    bulk = {asset_id for asset_id, extra in connection.execute(_BULK).fetchall() if orjson.loads(extra).get("bulk")}
    for row in connection.execute(_PASSAGES, {"left_out": left_out}).fetchall():
        passage = Passage(*row)
        if passage.asset_id not in bulk:
            yield passage._replace(text=to_entity_type(passage.text))


def _answers(workspace: Workspace, passages: list[Passage]) -> tuple[Reading[PassageAnswer], int]:
    """What the model answers, and about how many tokens that was to take."""
    home, texts = workspace.home, [one.text for one in passages]
    known = model_answers.load(home, model_answers.PEOPLE)
    client = load_model(workspace)
    new = reading.unread(texts, question(), client.name, known)
    done = 0

    def keep(key: str, answer: str, about: Iterable[str]) -> None:
        nonlocal done
        model_answers.keep(home, model_answers.PEOPLE, key, answer, about)
        done += 1
        workspace.report("passages read for facts about people", done, len(new))

    budget = workspace.settings.people.token_budget
    found = reading.read(texts, question(), client, known, budget=budget, keep=keep)
    return found, sum(map(question().cost, new))


def _rows(
    workspace: Workspace,
    connection: duckdb.DuckDBPyConnection,
    passages: list[Passage],
    answers: Mapping[str, PassageAnswer],
) -> tuple[list[PassageStatement], int]:
    """The rows, each once, and how many statements were left out."""
    telling = [one for one in passages if (said := answers.get(one.text)) and (said.facts or said.relationships)]
    ids = sorted({ref for one in telling for ref in one.members or [one.asset_id]})
    told = {ref: (name, ts) for ref, name, ts in connection.execute(_SENDERS, {"ids": ids}).fetchall()}
    zone = ZoneInfo(workspace.settings.timezone)
    is_clean = _Cleanness(workspace)
    found: dict[tuple[Any, ...], PassageStatement] = {}
    dropped = 0
    for passage in telling:
        answer = answers[passage.text]
        kept = [one for one in supported_statements(answer, passage.text) if is_clean(one, passage)]
        dropped += len(answer.facts) + len(answer.relationships) - len(kept)
        for one in kept:
            record = _message(passage, one.end, told)
            _, ts = told.get(record, (None, passage.ts))
            said_on = None if ts is None else datetime.fromtimestamp(ts, zone).date().isoformat()
            row = PassageStatement(
                passage.chunk_id,
                record,
                *one[:5],
                " ".join(passage.text[one.start : one.end].split()),
                one.valid_from or (said_on if one.predicate in CHANGING else None),
                one.valid_to,
                passage.client_id,
                passage.members,
            )
            key = (passage.chunk_id, record, one.person, one.predicate, one.value, one.is_relationship)
            found.setdefault(key, row)
    return list(found.values()), dropped


def _message(passage: Passage, end: int, told: Mapping[str, tuple[str | None, int | None]]) -> str:
    """The record whose words end there: of a chat window the message, whose line begins with its sender's name."""
    found, place = passage.members[0] if passage.members else passage.asset_id, 0
    for member in passage.members:
        sender = to_entity_type(told.get(member, ("", None))[0] or "")
        line = re.compile(rf"^{re.escape(sender)}: ", re.MULTILINE).search(passage.text, place)
        if line is None or line.start() >= end:
            break
        found, place = member, line.end()
    return found


class _Cleanness:
    """Whether a value that the passage does not hold itself may stand in the lake: a model writes what it likes."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._found = functools.cache(self._detect)
        self._channels = {one.name: workspace.channel(one) for one in workspace.settings.sources}

    def __call__(self, one: SupportedStatement, passage: Passage) -> bool:
        if not self._workspace.settings.pii_redaction_enabled:
            return True
        channel = channel_of(passage.rag_source_type, self._channels.get(passage.source, "default"))
        foreign = [said for said in (one.person, one.value) if said not in passage.text]
        return not any(self._found(said, channel) for said in foreign)

    def _detect(self, said: str, channel: str) -> bool:
        return bool(self._workspace.redactor.detect(said, channel))
