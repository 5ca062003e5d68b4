"""Reads texts with a language model, each text once, within a budget of tokens.

The cache key of an answer is a hash of the text, the model and the question. When the budget is used up or the service
fails, the answers so far are cached, and the next run continues from there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Generic, TypeVar

import orjson
from pydantic import BaseModel, ValidationError

from relrag_pipelines.language_models.answer_schema import Schema
from relrag_pipelines.language_models.model import JsonModel, Message, ModelError, TextRefused
from relrag_pipelines.language_models.token_estimate import count_tokens

Answer = TypeVar("Answer", bound=BaseModel)
Keep = Callable[[str, str, Sequence[str]], None]
"""called with each new answer as soon as it arrives: its key, the answer, the texts that it is about"""

_MAX_FAILURES_IN_A_ROW = 5
"""after so many failures in a row the fault lies with the model, not with the texts"""


class Conversation:
    """Questions to a model about one passage, which the prompt marks as data."""

    def __init__(self, model: JsonModel, instructions: str, text: str) -> None:
        self.text = text
        self.tokens = 0
        """used so far, as counted by the service"""
        self._model = model
        passage = text.replace("</passage", "< /passage")
        self._messages: list[Message] = [("system", instructions), ("user", f"<passage>\n{passage}\n</passage>")]

    def ask(self, schema: Schema, form: type[Answer], further: str = "") -> Answer:
        """The model's answer to the instructions, or to a `further` message.

        Raises ModelError, or ValidationError if the answer does not fit the form.
        """
        if further:
            self._messages.append(("user", further))
        reply = self._model.ask(self._messages, schema)
        self.tokens += reply.tokens or sum(count_tokens(content) for _, content in self._messages)
        self._messages.append(("assistant", reply.text))
        return form.model_validate_json(reply.text)


@dataclass(frozen=True)
class Question(Generic[Answer]):
    """What a model is asked about each text."""

    instructions: str
    form: type[Answer]
    answer: Callable[[Conversation], Answer]
    """may raise ModelError, or ValidationError"""
    gleaning_prompt: str = ""
    """asks the model for what its answer missed"""
    gleanings: int = 0
    """how often the gleaning prompt is sent, at most"""

    def key(self, model: str, text: str) -> str:
        """The hash of all that an answer depends on, hex."""
        parameters = [self.instructions, self.gleaning_prompt, model, self.gleanings, text]
        return blake2b(orjson.dumps(parameters), digest_size=20).hexdigest()

    def cost(self, text: str) -> int:
        """Estimated tokens for a text: each question repeats the conversation; an answer is as long as the text."""
        passage, instructions = count_tokens(text), count_tokens(self.instructions)
        return sum(instructions + passage + (round_number + 1) * passage for round_number in range(self.gleanings + 1))


@dataclass(frozen=True)
class Reading(Generic[Answer]):
    """The answers about some texts after a run."""

    answers: dict[str, Answer] = field(default_factory=dict)
    """by text"""
    cache: dict[str, str] = field(default_factory=dict)
    """the cache for the next run; it has only these texts, so answers about deleted texts are dropped"""
    tokens: int = 0
    """used by this run, as counted by the service"""
    failures: tuple[str, ...] = ()
    """texts that the model could not answer about; the next run asks again"""
    pending: tuple[str, ...] = ()
    """texts that were not reached"""
    reason: str = ""
    """why the pending texts were not reached; contains no text of theirs"""


def read(
    texts: Iterable[str],
    question: Question[Answer],
    model: JsonModel,
    cache: Mapping[str, str],
    *,
    budget: int,
    keep: Keep = lambda key, answer, texts: None,
) -> Reading[Answer]:
    """Asks the model about each text. `cache` is what an earlier run returned or passed to `keep`.

    No text is begun whose estimated cost would exceed the `budget` of tokens.
    """
    answers, stored = dict[str, Answer](), dict[str, str]()
    failed, pending = list[str](), list[str]()
    tokens, stopped, in_a_row = 0, "", 0
    for text in _distinct(texts):
        key = question.key(model.name, text)
        if earlier := _read_stored(question.form, cache.get(key)):
            answers[text], stored[key] = earlier, cache[key]
            continue
        if not stopped and tokens + question.cost(text) > budget:
            stopped = f"the budget of {budget} tokens is used up"
        if stopped:
            pending.append(text)
            continue
        conversation = Conversation(model, question.instructions, text)
        try:
            answer = question.answer(conversation)
        except (TextRefused, ValidationError) as error:
            failed.append(text)
            in_a_row += 1
            stopped = _failing(model, error) if in_a_row == _MAX_FAILURES_IN_A_ROW else ""
        except ModelError as error:
            stopped = str(error)
            pending.append(text)
        else:
            answers[text] = answer
            stored[key] = orjson.dumps(answer.model_dump(exclude_defaults=True)).decode()
            keep(key, stored[key], [text])
            in_a_row = 0
        tokens += conversation.tokens
    return Reading(answers, dict(sorted(stored.items())), tokens, tuple(failed), tuple(pending), stopped)


def estimate(texts: Iterable[str], question: Question[Answer], model: str, cache: Mapping[str, str]) -> int:
    """Estimated tokens of a run; texts with a cached answer cost nothing."""
    return sum(map(question.cost, unread(texts, question, model, cache)))


def unread(texts: Iterable[str], question: Question[Answer], model: str, cache: Mapping[str, str]) -> list[str]:
    """The distinct texts without a cached answer."""
    return [text for text in _distinct(texts) if question.key(model, text) not in cache]


def _distinct(texts: Iterable[str]) -> dict[str, None]:
    """The texts that are not blank, each once, in order."""
    return dict.fromkeys(text for text in texts if text.strip())


def _failing(model: JsonModel, error: TextRefused | ValidationError) -> str:
    """Why the run stops after repeated failures."""
    why = str(error) if isinstance(error, TextRefused) else "its answers are not of the schema"
    return f"{model.host} failed for {_MAX_FAILURES_IN_A_ROW} texts in a row: {why}"


def _read_stored(form: type[Answer], cache: str | None) -> Answer | None:
    """The answer in the cache; None if there is none, or if it does not fit the form."""
    try:
        return form.model_validate_json(cache) if cache else None
    except ValidationError:
        return None
