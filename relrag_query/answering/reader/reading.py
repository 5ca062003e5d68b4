"""Has a language model read the excerpts and answer, and keeps what its quotes support.

A statement stands if its quote is in a passage, word for word; if each number, date, address and name of it is in the
quote or in the header of that passage; and if some of its words are of these or of the question. The others are
removed and counted. The source of a statement is the passage that holds its quote, whatever number the model gives.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from relrag_pipelines.text import citation_marks
from relrag_query.answering.chat_model import AnswerError, ChatModel, Statement, WrittenAnswer, cited_text
from relrag_query.answering.reader.json_reply import JsonReply
from relrag_query.answering.reader.protocol import INSTRUCTIONS, SCHEMA, Passage, build_prompt
from relrag_query.answering.reader.quotes import comparable, find_quote
from relrag_query.answering.reader.support import is_supported, speaks_of
from relrag_query.retrieval.hit import Hit

_MAX_STATEMENTS = 12
_MAX_CHARACTERS = 600
"""of a statement"""
_CITATION = re.compile(r"\s?\[\s*\d+(?:\s*[,;]\s*\d+)*\s*\]")
"""a source as the model names it"""


def read(
    model: ChatModel, question: str, passages: Sequence[Passage], on_text: Callable[[str], None] = lambda piece: None
) -> WrittenAnswer:
    """The model's answer to a question from passages, checked.

    `on_text` is given each statement as soon as it is whole and stands. Raises AnswerError where the reply cannot be
    read, or breaks off before anything stands.
    """
    answer = WrittenAnswer(model.model, model.host, usage=model.usage)
    checker = _Checker(question, passages, answer, on_text)
    reply = JsonReply()
    try:
        for piece in model.write(INSTRUCTIONS, build_prompt(question, passages), SCHEMA):
            for statement in reply.add(piece):
                checker.add(statement)
    except AnswerError as error:
        if not answer.statements:
            raise
        answer.broke_off = str(error)
        return answer
    for statement in reply.end():
        checker.add(statement)
    if not reply.is_readable:
        fault = "gave an answer that is no JSON" if reply.text.strip() else "gave an empty answer"
        raise AnswerError(f"{model.host} {fault}")
    answer.is_refusal = reply.is_refusal
    return answer


class _Checker:
    """Adds the statements of a reply that stand to an answer."""

    def __init__(
        self, question: str, passages: Sequence[Passage], answer: WrittenAnswer, on_text: Callable[[str], None]
    ) -> None:
        self._question, self._passages, self._answer, self._on_text = question, passages, answer, on_text
        self._people = frozenset(word for passage in passages for word in _words_of_names(passage.hit))

    def add(self, stated: Mapping[str, Any]) -> None:
        """Adds a statement, or counts it as removed; one that says the same again is dropped."""
        answer, text = self._answer, _plain_text(stated.get("text"))
        if len(answer.statements) >= _MAX_STATEMENTS or any(text == other.text for other in answer.statements):
            return
        quote = self._quote(stated) if text else None
        if quote is None or not self._supports(quote, text):
            answer.removed += 1
            return
        statement = Statement(text, self._number(quote[0].hit), replace(quote[0].unit, text=quote[1]))
        self._on_text(f"\n{cited_text(statement)}" if answer.statements else cited_text(statement))
        answer.statements.append(statement)

    def _quote(self, stated: Mapping[str, Any]) -> tuple[Passage, str] | None:
        """The passage that holds the quote, and the quote as it stands there; the passage that is named goes first."""
        number, quote = stated.get("passage"), stated.get("quote")
        if not isinstance(quote, str):
            return None
        named = [passage for position, passage in enumerate(self._passages, 1) if str(number) == str(position)]
        for passage in (*named, *self._passages):
            if span := find_quote(quote, passage.text):
                return passage, passage.text[slice(*span)]
        return None

    def _supports(self, quote: tuple[Passage, str], text: str) -> bool:
        passage, words = quote
        if not is_supported(text, words, passage.header, self._people):
            return False
        return speaks_of(text, f"{words}\n{passage.header}\n{self._question}")

    def _number(self, hit: Hit) -> int:
        """The number of the record that is quoted; passages of one record share it."""
        groups = [other.chunk.chunk_group_id for other in self._answer.cited]
        if hit.chunk.chunk_group_id not in groups:
            self._answer.cited.append(hit)
            return len(self._answer.cited)
        return groups.index(hit.chunk.chunk_group_id) + 1


def _plain_text(text: Any) -> str:
    """The text of a statement on one line, without the sources that the model names."""
    if not isinstance(text, str) or len(text) > _MAX_CHARACTERS:
        return ""
    return citation_marks.disarm(" ".join(_CITATION.sub("", comparable(text)).split()))


def _words_of_names(hit: Hit) -> list[str]:
    chunk = hit.chunk
    names = " ".join([chunk.from_ or "", *chunk.to, *chunk.participants])
    return [word for word in re.findall(r"[^\W\d_]{2,}", names) if word[0].isupper() or word.lower() == word.upper()]
