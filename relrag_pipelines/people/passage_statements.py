"""The stage that has a language model read passages for facts of people and relationships, if the settings say so.

Only redacted passages are read, and pseudonyms in them are shown as their type. Each passage is read once, the latest
first, until the budget is used up; the next sync continues.
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
from relrag_pipelines.pii.redact_tables import channel_of
from relrag_pipelines.privacy.pseudonyms import to_entity_type
from relrag_pipelines.records import PassageStatement
from relrag_pipelines.sources import RECORD_TYPES
from relrag_pipelines.stores import catalog, model_answers, unread_passages
from relrag_pipelines.stores.table_schema import arrow_schema, to_table
from relrag_pipelines.workspace import Workspace

if TYPE_CHECKING:
    import duckdb
    from pyarrow.dataset import Dataset

CHANGING = frozenset({"lives_in", "works_at", "phone"})
"""predicates whose value changes over time: a value counts from the day of the record that states it"""
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


_Senders = Mapping[str, tuple[str | None, int | None]]
"""asset_id of a record -> its sender and Unix time"""


class Passage(NamedTuple):
    """A chunk for the model to read."""

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
    """The rows of passage_statements, and counts: tokens expected and used, passages left for the next sync."""
    if workspace.settings.people.method != "llm":
        unread_passages.save(workspace.home, 0)
        return {"passage_statements": arrow_schema(PassageStatement).empty_table()}, {}
    with catalog.scratch() as connection:
        for name in ("chunks", "records"):
            connection.register(name, inputs[name])
        passages = list(read_passages(connection))
        answered, tokens_expected = _answers(workspace, passages)
        rows, dropped = _rows(workspace, connection, passages, answered.answers)
    unread_passages.save(workspace.home, len(answered.pending), answered.reason)
    counts: dict[str, float] = {
        "passages": len(passages),
        "tokens_expected": tokens_expected,
        "tokens": answered.tokens,
        "statements": len(rows),
        "dropped": dropped,
        "failed": len(answered.failures),
        "pending": len(answered.pending),
    }
    return {"passage_statements": to_table(rows, PassageStatement)}, counts


def load_model(workspace: Workspace) -> JsonModel:
    """The configured model; if a key or package is missing, a model whose every answer is that error."""
    settings = workspace.settings.people
    name = settings.model or model.USUAL[settings.service]
    try:
        return model.load(settings.service, name, settings.url)
    except ModelError as error:
        message = str(error)

    def ask(*_: object) -> Reply:
        raise ModelError(message)

    return JsonModel(name, "", ask)


def read_passages(connection: duckdb.DuckDBPyConnection) -> Iterator[Passage]:
    """The passages to read, the latest first, from views of chunks and records.

    Cards, commits, code, quoted parts of mails and bulk mails are left out.
    """
    left_out = [type_.name for type_ in RECORD_TYPES.values() if type_.about_people or type_.details]
    bulk = {asset_id for asset_id, extra in connection.execute(_BULK).fetchall() if orjson.loads(extra).get("bulk")}
    for row in connection.execute(_PASSAGES, {"left_out": left_out}).fetchall():
        passage = Passage(*row)
        if passage.asset_id not in bulk:
            yield passage._replace(text=to_entity_type(passage.text))


def _answers(workspace: Workspace, passages: list[Passage]) -> tuple[Reading[PassageAnswer], int]:
    """The model's answers, and the estimated number of tokens of the new ones."""
    home, texts = workspace.home, [passage.text for passage in passages]
    cached = model_answers.load(home, model_answers.PEOPLE)
    client = load_model(workspace)
    new = reading.unread(texts, question(), client.name, cached)
    done = 0

    def keep(key: str, answer: str, about: Iterable[str]) -> None:
        nonlocal done
        model_answers.keep(home, model_answers.PEOPLE, key, answer, about)
        done += 1
        workspace.report("passages read for facts about people", done, len(new))

    budget = workspace.settings.people.token_budget
    answered = reading.read(texts, question(), client, cached, budget=budget, keep=keep)
    return answered, sum(map(question().cost, new))


def _answered(
    passages: Iterable[Passage], answers: Mapping[str, PassageAnswer]
) -> Iterator[tuple[Passage, PassageAnswer]]:
    """The passages of which a model found statements, with these."""
    for passage in passages:
        answer = answers.get(passage.text)
        if answer and (answer.facts or answer.relationships):
            yield passage, answer


def _rows(
    workspace: Workspace,
    connection: duckdb.DuckDBPyConnection,
    passages: list[Passage],
    answers: Mapping[str, PassageAnswer],
) -> tuple[list[PassageStatement], int]:
    """The rows, each once, and the number of statements that were left out."""
    read = list(_answered(passages, answers))
    ids = sorted({ref for passage, _ in read for ref in passage.members or [passage.asset_id]})
    senders = {ref: (name, ts) for ref, name, ts in connection.execute(_SENDERS, {"ids": ids}).fetchall()}
    zone = ZoneInfo(workspace.settings.timezone)
    is_clean = _PIICheck(workspace)
    rows: dict[tuple[Any, ...], PassageStatement] = {}
    dropped = 0
    for passage, answer in read:
        supported = supported_statements(answer, passage.text)
        statements = [statement for statement in supported if is_clean(statement, passage)]
        dropped += len(answer.facts) + len(answer.relationships) - len(statements)
        for statement in statements:
            row = _row(passage, statement, senders, zone)
            key = (row.chunk_id, row.asset_id, row.person, row.predicate, row.value, row.is_relationship)
            rows.setdefault(key, row)
    return list(rows.values()), dropped


def _row(passage: Passage, statement: SupportedStatement, senders: _Senders, zone: ZoneInfo) -> PassageStatement:
    record = _message(passage, statement.end, senders)
    _, ts = senders.get(record, (None, passage.ts))
    record_day = None if ts is None else datetime.fromtimestamp(ts, zone).date().isoformat()
    return PassageStatement(
        passage.chunk_id,
        record,
        *statement[:5],
        " ".join(passage.text[statement.start : statement.end].split()),
        statement.valid_from or (record_day if statement.predicate in CHANGING else None),
        statement.valid_to,
        passage.client_id,
        passage.members,
    )


def _message(passage: Passage, end: int, senders: _Senders) -> str:
    """The record that contains the code point before `end`: in a chat window, lines begin with their sender's name."""
    record, position = passage.members[0] if passage.members else passage.asset_id, 0
    for member in passage.members:
        sender = to_entity_type(senders.get(member, ("", None))[0] or "")
        line = re.compile(rf"^{re.escape(sender)}: ", re.MULTILINE).search(passage.text, position)
        if line is None or line.start() >= end:
            break
        record, position = member, line.end()
    return record


class _PIICheck:
    """Whether the values that a model wrote, and that its passage does not contain, are free of personal data."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._contains_pii = functools.cache(self._detect)
        self._channels = {source.name: workspace.channel(source) for source in workspace.settings.sources}

    def __call__(self, statement: SupportedStatement, passage: Passage) -> bool:
        if not self._workspace.settings.pii_redaction_enabled:
            return True
        channel = channel_of(passage.rag_source_type, self._channels.get(passage.source, "default"))
        foreign = [value for value in (statement.person, statement.value) if value not in passage.text]
        return not any(self._contains_pii(value, channel) for value in foreign)

    def _detect(self, value: str, channel: str) -> bool:
        return bool(self._workspace.redactor.detect(value, channel))
