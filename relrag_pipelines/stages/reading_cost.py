"""An estimate of what it costs to have a language model read passages for facts about people, and who gets them."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow.dataset as datasets

from relrag_pipelines.language_models import model, reading
from relrag_pipelines.language_models.token_estimate import count_tokens
from relrag_pipelines.people import passage_statements
from relrag_pipelines.people.passage_question import INSTRUCTIONS, question
from relrag_pipelines.records import TABLES
from relrag_pipelines.stages.embedding_cost import BYTES_A_TOKEN, dollars
from relrag_pipelines.stages.plan_model import Plan
from relrag_pipelines.stores import catalog, lake, model_answers
from relrag_pipelines.stores.table_schema import arrow_schema
from relrag_pipelines.workspace import Workspace

STAGE = "passage_statements"


@dataclass(frozen=True)
class ReadingCost:
    """What a sync is going to ask a language model."""

    model: str
    passages: int
    """of the lake, about which nothing is known; those of files that are still to be read are not among them"""
    tokens: int
    """of these and of the files to be read, question and answer, estimated from their length"""
    usd: float | None
    """by the list price; None where that is not known"""
    host: str
    """where the passages are sent"""
    token_budget: int
    """that a sync spends at most"""
    redacted: bool

    @property
    def words(self) -> str:
        """The same in a sentence."""
        cost = "" if self.usd is None else f", for {dollars(self.usd)}"
        left = "" if self.tokens <= self.token_budget else f"; a sync spends at most {self.token_budget:,}"
        kind = "redacted text" if self.redacted else "text as it stands (pii_redaction_enabled is false)"
        lead = f"ask {self.model} for facts about people, about {self.tokens:,} tokens{cost}{left}"
        return f"{lead}: the {kind} of passages is sent to {self.host}"


def estimate_cost(workspace: Workspace, todo: Plan) -> ReadingCost | None:
    """The cost of the questions that the plan asks; None if no model is configured, or nothing is new."""
    settings = workspace.settings.people
    stale = STAGE in {stage.stage for stage in todo.archive} or STAGE in todo.unfinished
    if settings.method != "llm" or not (stale or todo.exports):
        return None
    name = settings.model or model.USUAL[settings.service]
    answers = model_answers.load(workspace.home, model_answers.PEOPLE)
    new = reading.unread(_texts(workspace), question(), name, answers)
    instruction_tokens, length = count_tokens(INSTRUCTIONS), sum(map(count_tokens, new))
    coming = sum(export.text_bytes for export in todo.exports) // BYTES_A_TOKEN
    passages = len(new) + -(-coming // workspace.settings.chunk_tokens)
    if not passages:
        return None
    read, written = passages * instruction_tokens + length + coming, length + coming
    price = None if settings.url else model.PRICES.get(name)
    usd = None if price is None else (read * price[0] + written * price[1]) / 1e6
    redacted = workspace.settings.pii_redaction_enabled
    host = model.host_of(settings.service, settings.url)
    return ReadingCost(name, len(new), read + written, usd, host, settings.token_budget, redacted)


def _texts(workspace: Workspace) -> list[str]:
    """The passages of the lake, as the model is shown them."""
    with catalog.scratch() as connection:
        for table in ("chunks", "records"):
            files = [
                path
                for source in workspace.settings.sources
                for path in lake.month_files(workspace.home, table, source.name).values()
            ]
            if not files:
                return []
            connection.register(table, datasets.dataset(files, arrow_schema(TABLES[table].row), "parquet"))
        return [passage.text for passage in passage_statements.read_passages(connection)]
