"""The means of e5: of passages and of questions in each language of the archives, and of the tokens of both."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import orjson

from relrag_pipelines.embedders import e5
from relrag_pipelines.embedders.e5 import late_interaction
from relrag_pipelines.text import language
from tuning import archives

_PASSAGE = 4
"""lines of a file that are one passage"""
_MOST = 400
"""passages, or questions, of a language"""


def write(names: Sequence[str]) -> None:
    """Writes the means that e5 comes with."""
    model = e5.E5(e5.weights())
    questions: dict[str, list[str]] = {}
    passages: dict[str, list[str]] = {}
    for name in names:
        for one in archives.questions(name):
            questions.setdefault(one.language, []).append(one.question)
        for text in _passages(archives.ROOT / name):
            passages.setdefault(language.identify(text), []).append(text)
    made: dict[str, dict[str, list[float]]] = {}
    tokens = {}
    for of, prefix, texts in (("questions", "query: ", questions), ("passages", "passage: ", passages)):
        states = {name: _states(model, prefix, _some(texts[name])) for name in sorted(questions)}
        made[of] = {name: _mean(e5.mean(one) for one in some) for name, some in states.items()}
        own = (late_interaction.own(one, of) for some in states.values() for one in some)
        tokens[of] = _mean(one.mean(axis=0) for one in own if len(one))
    e5.MEANS.write_bytes(orjson.dumps(made, option=orjson.OPT_APPEND_NEWLINE))
    late_interaction.MEANS.write_bytes(orjson.dumps(tokens, option=orjson.OPT_APPEND_NEWLINE))


def _states(model: e5.E5, prefix: str, texts: Sequence[str]) -> list[np.ndarray]:
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        return [states for _, states in threads.map(lambda text: model.states(prefix + text), texts)]


def _passages(folder: Path) -> Iterable[str]:
    for file in sorted(one for kind in archives.KINDS for one in (folder / kind).iterdir()):
        lines = [line.rpartition(": ")[2] for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
        yield from ("\n".join(lines[start : start + _PASSAGE]) for start in range(0, len(lines), _PASSAGE))


def _some(texts: Sequence[str]) -> list[str]:
    return list(texts[:: max(1, len(texts) // _MOST)])


def _mean(vectors: Iterable[np.ndarray]) -> list[float]:
    return [round(float(value), 5) for value in np.mean(list(vectors), axis=0)]
