"""What the owner has said of relations: private/links.jsonl, one line a word, appended and never rewritten.

Of each relation the last word counts. Nothing else holds it, so a backup must.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from relrag_pipelines.records import OwnerLink, columns
from relrag_pipelines.stores import appended

NAME = "links.jsonl"
_FIELDS = tuple(column.name for column in columns(OwnerLink))


def append(home: Path, words: Iterable[OwnerLink]) -> None:
    """Adds these words; they are on disk when this returns. The caller holds the writer's lock."""
    appended.append(home, NAME, map(asdict, words))


def load(home: Path) -> list[OwnerLink]:
    """The last word of each relation, in order of the relations."""
    said: dict[tuple[str, str, str], OwnerLink] = {}
    for line in appended.lines(home, NAME):
        word = OwnerLink(**{name: line[name] for name in _FIELDS})
        said[word.src_asset_ref, word.dst_asset_ref, word.relation_type] = word
    return [said[key] for key in sorted(said)]
