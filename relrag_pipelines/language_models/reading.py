"""Texts read by a language model: each is asked about once, within a budget, and never again.

An answer is known by the hash of all that it depends on: the text, the model, what it is asked. Where the budget ends
or the service fails, what was found so far is kept, and the next run goes on there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Generic, TypeVar

import orjson
from pydantic import BaseModel, ValidationError

from relrag_pipelines.language_models.model import JsonModel, Message, ModelError, Schema, TextRefused
from relrag_pipelines.language_models.token_estimate import count_tokens

Answer = TypeVar("Answer", bound=BaseModel)
Keep = Callable[[str, str, Sequence[str]], None]
"""called with each new answer as soon as it is there: its key, the answer, the texts that it is about"""

_IN_A_ROW = 5
"""texts that fail one after another: then it is not the texts"""


class Conversation:
    """Questions to a model about one passage, which it is told is data."""

    def __init__(self, model: JsonModel, instructions: str, text: str) -> None:
        self.text = text
        self.tokens = 0
        """that it took so far, as the service counted"""
        self._model = model
        passage = text.replace("</passage", "< /passage")
        self._messages: list[Message] = [("system", instructions), ("user", f"<passage>\n{passage}\n</passage>")]

    def ask(self, schema: Schema, form: type[Answer], further: str = "") -> Answer:
        """What it says to the instructions, or to something further.

        Raises ModelError, or ValidationError where the answer is not of the form.
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
    again: str = ""
    """what it is asked for what is missing"""
    gleanings: int = 0
    """how often it is asked that, at most"""

    def key(self, model: str, text: str) -> str:
        """The hash of all that an answer depends on, hex."""
        told = [self.instructions, self.again, model, self.gleanings, text]
        return blake2b(orjson.dumps(told), digest_size=20).hexdigest()

    def cost(self, text: str) -> int:
        """About how many tokens a text costs: each question repeats what was said; answers are as long as it."""
        passage, told = count_tokens(text), count_tokens(self.instructions)
        return sum(told + passage + (asked + 1) * passage for asked in range(self.gleanings + 1))


@dataclass(frozen=True)
class Reading(Generic[Answer]):
    """What is known of some texts after a run."""

    answers: dict[str, Answer] = field(default_factory=dict)
    """by text"""
    cache: dict[str, str] = field(default_factory=dict)
    """to be given to the next run: only what these texts need, so what was deleted is not in it"""
    tokens: int = 0
    """that this run cost, as the service counted"""
    failures: tuple[str, ...] = ()
    """texts that the model could not answer about; they are asked about again in the next run"""
    pending: tuple[str, ...] = ()
    """texts that were not reached"""
    reason: str = ""
    """why they were not; holds no text"""


def read(
    texts: Iterable[str],
    question: Question[Answer],
    model: JsonModel,
    cache: Mapping[str, str],
    *,
    budget: int,
    keep: Keep = lambda key, answer, texts: None,
) -> Reading[Answer]:
    """What the model answers about each text. `cache` is what an earlier run returned, or kept.

    No text is begun whose estimated cost would exceed the `budget` of tokens.
    """
    found, kept = dict[str, Answer](), dict[str, str]()
    failed, pending = list[str](), list[str]()
    tokens, stopped, in_a_row = 0, "", 0
    for text in dict.fromkeys(text for text in texts if text.strip()):
        one = question.key(model.name, text)
        if known := _read_stored(question.form, cache.get(one)):
            found[text], kept[one] = known, cache[one]
            continue
        if not stopped and tokens + question.cost(text) > budget:
            stopped = f"the budget of {budget} tokens is used up"
        if stopped:
            pending.append(text)
            continue
        asked = Conversation(model, question.instructions, text)
        try:
            answer = question.answer(asked)
        except (TextRefused, ValidationError) as error:
            failed.append(text)
            in_a_row += 1
            stopped = _failing(model, error) if in_a_row == _IN_A_ROW else ""
        except ModelError as error:
            stopped = str(error)
            pending.append(text)
        else:
            found[text], kept[one] = answer, orjson.dumps(answer.model_dump(exclude_defaults=True)).decode()
            keep(one, kept[one], [text])
            in_a_row = 0
        tokens += asked.tokens
    return Reading(found, dict(sorted(kept.items())), tokens, tuple(failed), tuple(pending), stopped)


def estimate(texts: Iterable[str], question: Question[Answer], model: str, cache: Mapping[str, str]) -> int:
    """About how many tokens a run will cost; texts that are known cost nothing."""
    return sum(map(question.cost, unread(texts, question, model, cache)))


def unread(texts: Iterable[str], question: Question[Answer], model: str, cache: Mapping[str, str]) -> list[str]:
    """The texts, each once, about which nothing is known yet."""
    different = dict.fromkeys(text for text in texts if text.strip())
    return [text for text in different if question.key(model, text) not in cache]


def _failing(model: JsonModel, error: TextRefused | ValidationError) -> str:
    """Why no further text is begun."""
    why = str(error) if isinstance(error, TextRefused) else "its answers are not of the schema"
    return f"{model.host} failed for {_IN_A_ROW} texts in a row: {why}"


def _read_stored(form: type[Answer], cache: str | None) -> Answer | None:
    """What an earlier run stored; None where it did not, or where it cannot be read."""
    try:
        return form.model_validate_json(cache) if cache else None
    except ValidationError:
        return None
