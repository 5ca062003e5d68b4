"""`relrag graphrag`: what GraphRAG indexes say, and where they have it from."""

from __future__ import annotations

import sys
from pathlib import Path

from relrag_pipelines.errors import RelragError
from relrag_query.cli import source_references
from relrag_query.cli.exit_codes import DONE
from relrag_query.graphrag.index import open_index
from relrag_query.graphrag.trace import trace as trace_citations
from relrag_query.graphrag.trace_reply import trace_reply

_LONGEST_ANSWER = 10_000_000
"""bytes; no model writes as much"""


class AnswerUnreadable(RelragError):
    """The text to be traced could not be read."""


def trace(
    answer: Path, index: Path, question: str = "", *, documents: bool = False, limit: int = 10, as_json: bool = False
) -> int:
    """Prints the documents and pages that an answer cites; returns the exit code."""
    text = _read(answer)
    opened = open_index(index)
    found = trace_citations(text, opened, question)
    if as_json:
        print(trace_reply(found, opened).model_dump_json(indent=1, exclude={"next_cursor"}))
    else:
        print(source_references.as_text(found, opened, documents=documents, limit=limit))
    return DONE


def _read(answer: Path) -> str:
    try:
        if str(answer) == "-":
            return sys.stdin.read()
        if answer.stat().st_size > _LONGEST_ANSWER:
            raise AnswerUnreadable(f"{answer}: larger than 10 MB; give the text of one answer")
        return answer.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise AnswerUnreadable(f"{answer}: not UTF-8 text; save the answer as plain text") from error
    except OSError as error:
        raise AnswerUnreadable(
            f"{answer}: {error.strerror or 'cannot be read'}; name a file, or - for input"
        ) from error
