"""Stores the last questions and the ids of the last sources, for `ask --continue` and `show NUMBER`.

`private/conversation.json` holds the owner's questions and record ids, but no text of a record.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path

import orjson

from relrag_pipelines.stores import question_files
from relrag_query.results import Answer, Results, main_record

_MAX_QUESTIONS = 3
"""earlier questions that a follow-up can use"""


@dataclass(frozen=True)
class Conversation:
    """The questions so far, and the sources of the last answer."""

    questions: list[str] = field(default_factory=list)
    """newest first"""
    sources: list[str] = field(default_factory=list)
    """ids of the records that the last answer or search showed, in the order of their numbers"""


def load(home: Path) -> Conversation:
    """The conversation; an empty one if there is none, or its file is damaged."""
    try:
        data = orjson.loads((home / question_files.CONVERSATION).read_bytes())
        return Conversation(list(data["questions"]), list(data["sources"]))
    except (FileNotFoundError, orjson.JSONDecodeError, KeyError, TypeError):
        return Conversation()


def keep(home: Path, answer: Answer, earlier_questions: list[str], generation: int) -> None:
    """Stores a question with its sources."""
    questions = [answer.question, *earlier_questions][:_MAX_QUESTIONS]
    _store(home, Conversation(questions, [main_record(source) for source in answer.sources]), generation)


def keep_hits(home: Path, results: Results, generation: int) -> None:
    """Stores the records of a search; a follow-up still continues from the last question."""
    records = [hit.chunk.asset_id for hit in results.hits]
    with question_files.changing(home):
        _store(home, Conversation(load(home).questions, records), generation)


def _store(home: Path, conversation: Conversation, generation: int) -> None:
    question_files.write(home, question_files.CONVERSATION, asdict(conversation), generation)
