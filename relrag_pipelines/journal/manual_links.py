"""Links that the owner added or removed, as the journal has them; the last entry about a link counts."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from relrag_pipelines.journal import journal
from relrag_pipelines.records import ManualLink


def append(home: Path, words: Iterable[ManualLink]) -> None:
    """Appends these statements; they are on disk when this returns."""
    journal.append(home, words)


def load(home: Path) -> list[ManualLink]:
    """The last statement about each relation, in order of the relations."""
    said = {
        (word.src_asset_ref, word.dst_asset_ref, word.relation_type): word
        for word in journal.statements(home, ManualLink)
    }
    return [said[key] for key in sorted(said)]
