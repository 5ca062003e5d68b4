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
    """Stored answers of models by the key of the question; `name` is one of FILES."""
    return {row["key"]: row["answer"] for row in _answers(home / name)}


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


def prune(home: Path, text_hashes: Set[str]) -> int:
    """Removes answers about a text whose `text_hash` is not among these; returns how many."""
    return sum(_prune(home / name, text_hashes) for name in FILES)


def _prune(path: Path, text_hashes: Set[str]) -> int:
    if not path.exists():
        return 0
    rows = list(_answers(path))
    retained = [row for row in rows if text_hashes >= {*row["texts"]}]
    if len(retained) < len(path.read_bytes().splitlines()):
        with replace_file(path) as temporary:
            temporary.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in retained))
    return len(rows) - len(retained)


def _answers(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_bytes().splitlines() if path.exists() else ():
        try:
            row = orjson.loads(line)
        except orjson.JSONDecodeError:  # torn by a kill
            continue
        if isinstance(row, dict) and {"key", "texts", "answer"} <= row.keys():
            yield row
