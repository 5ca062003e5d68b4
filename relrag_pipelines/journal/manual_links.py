"""What the owner has said of relations: private/links.jsonl, one line a word, appended and never rewritten.

Of each relation the last word counts. Nothing else holds it, so a backup must.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from relrag_pipelines.journal import journal
from relrag_pipelines.records import ManualLink, columns

NAME = "links.jsonl"
_FIELDS = tuple(column.name for column in columns(ManualLink))


def append(home: Path, words: Iterable[ManualLink]) -> None:
    """Adds these words; they are on disk when this returns. The caller holds the writer's lock."""
    journal.append(home, NAME, map(asdict, words))


def load(home: Path) -> list[ManualLink]:
    """The last word of each relation, in order of the relations."""
    said: dict[tuple[str, str, str], ManualLink] = {}
    for line in journal.lines(home, NAME):
        word = ManualLink(**{name: line[name] for name in _FIELDS})
        said[word.src_asset_ref, word.dst_asset_ref, word.relation_type] = word
    return [said[key] for key in sorted(said)]
