"""Answers of language models about passages, so that none is paid for twice: a file per purpose, a line per answer.

Each line has the hashes of the texts that it is about, so that the answers about what was deleted can go. A last line
that a kill tore counts for nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Set
from hashlib import blake2b
from pathlib import Path
from typing import Any

import orjson

from relrag_pipelines.files.atomic import make_private, replace_file
from relrag_pipelines.files.failpoints import failpoint

GRAPHRAG = "graphrag/model_answers.jsonl"
PEOPLE = "private/people_answers.jsonl"
FILES = (GRAPHRAG, PEOPLE)
"""within the home"""


def text_hash(text: str) -> str:
    """By which an answer names the texts that it is about."""
    return blake2b(text.encode(), digest_size=16).hexdigest()


def load(home: Path, name: str) -> dict[str, str]:
    """What models have answered, by the key of the question; `name` is one of FILES."""
    return {one["key"]: one["answer"] for one in _answers(home / name)}


def keep(home: Path, name: str, key: str, answer: str, texts: Iterable[str]) -> None:
    """Adds an answer; it is in the file when this returns, so that a kill costs nothing that was paid for."""
    line = orjson.dumps({"key": key, "texts": sorted({text_hash(text) for text in texts}), "answer": answer}) + b"\n"
    path = home / name
    make_private(path.parent)
    failpoint("model_answers.keep", path)
    path.touch(mode=0o600)
    with path.open("ab+") as file:
        if end := file.seek(0, os.SEEK_END):
            file.seek(end - 1)
            line = line if file.read(1) == b"\n" else b"\n" + line
        file.write(line)


def prune(home: Path, known: Set[str]) -> int:
    """Removes the answers about texts of which one is not known, by `text_hash`; returns how many."""
    return sum(_prune(home / name, known) for name in FILES)


def _prune(path: Path, known: Set[str]) -> int:
    if not path.exists():
        return 0
    every = list(_answers(path))
    kept = [one for one in every if known >= {*one["texts"]}]
    if len(kept) < len(path.read_bytes().splitlines()):
        with replace_file(path) as beside:
            beside.write_bytes(b"".join(orjson.dumps(one) + b"\n" for one in kept))
    return len(every) - len(kept)


def _answers(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_bytes().splitlines() if path.exists() else ():
        try:
            one = orjson.loads(line)
        except orjson.JSONDecodeError:  # torn by a kill
            continue
        if isinstance(one, dict) and {"key", "texts", "answer"} <= one.keys():
            yield one
