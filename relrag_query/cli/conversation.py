"""Remembers the last questions and the records shown last, for `ask --continue` and `show NUMBER`.

`private/conversation.json` holds the owner's words and ids of records, nothing that a record says.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path

import orjson

from relrag_pipelines.files import atomic
from relrag_pipelines.stores import generations
from relrag_query.results import Answer, Results, main_record

_PLACE = "private/conversation.json"
_QUESTIONS = 3
"""questions that a follow-up looks back to"""


@dataclass(frozen=True)
class Conversation:
    """The questions so far, and the sources of the last answer."""

    questions: list[str] = field(default_factory=list)
    """the last one first"""
    sources: list[str] = field(default_factory=list)
    """ids of the records that the last answer or search showed, in the order of their numbers"""


def load(home: Path) -> Conversation:
    """The conversation; an empty one if there is none, or its file is damaged."""
    try:
        found = orjson.loads((home / _PLACE).read_bytes())
        return Conversation(list(found["questions"]), list(found["sources"]))
    except (FileNotFoundError, orjson.JSONDecodeError, KeyError, TypeError):
        return Conversation()


def keep(home: Path, answer: Answer, earlier: list[str], generation: int) -> None:
    """Stores a question with its sources."""
    questions = [answer.question, *earlier][:_QUESTIONS]
    _store(home, Conversation(questions, [main_record(source) for source in answer.sources]), generation)


def keep_hits(home: Path, results: Results, generation: int) -> None:
    """Stores the records of a search; a follow-up still continues from the last question."""
    records = [hit.chunk.asset_id for hit in results.hits]
    _store(home, Conversation(load(home).questions, records), generation)


def _store(home: Path, conversation: Conversation, generation: int) -> None:
    """Stores what was shown; does nothing if the home is read-only.

    Nor where the generation that answered is no longer the current one: what it showed may have been forgotten.
    """
    if generations.current_number(home) != generation:
        return
    try:
        atomic.write_text(home / _PLACE, orjson.dumps(asdict(conversation)).decode())
    except OSError:  # an archive on a disk that is read-only answers as well
        return
    if generations.current_number(home) != generation:  # published between the two
        drop(home)


def drop(home: Path) -> None:
    """Removes the conversation."""
    (home / _PLACE).unlink(missing_ok=True)
