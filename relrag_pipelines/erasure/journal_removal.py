"""Removes forgotten records from the owner's journal: entries about them, and their ids in the owner's own words.

person_removal.py handles statements about people; it has to run first.
"""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from relrag_pipelines.erasure.byte_search import SearchPatterns
from relrag_pipelines.erasure.record_selection import ErasureSelection, private_months
from relrag_pipelines.erasure.rule_matching import RuleMatcher, json_texts
from relrag_pipelines.journal import journal
from relrag_pipelines.journal.journal import JournalError
from relrag_pipelines.links.edge_rows import CHUNK, THREAD
from relrag_pipelines.stores import lake
from relrag_pipelines.workspace import Workspace

CUT = "[forgotten]"
"""replaces the id of a forgotten record in the owner's words"""
OWN_WORDS = frozenset({"value", "description", "note", "provenance"})
"""fields of entries that hold the owner's own words"""


def remove(workspace: Workspace, chosen: ErasureSelection, matcher: RuleMatcher) -> None:
    """Erases entries about the selected records or that name a forgotten person, except for their numbers.

    Other entries stay, without the records' ids in the owner's words. An unreadable journal stays; the search reports
    it.
    """
    refs = chosen.nowhere | _container_refs(workspace, chosen)

    def is_about(values: list[Any]) -> bool:
        texts = list(json_texts(values))
        parts = {part for text in texts for part in (text, *Path(text).parts)}
        return not refs.isdisjoint(parts) or any(map(matcher.names, texts))

    journal.forget(workspace.home, is_about)
    _cut_ids(workspace.home, refs)


def own_words(statement: object) -> list[str]:
    """The owner's own words in an entry."""
    if not is_dataclass(statement):
        return []
    texts = (getattr(statement, field.name) for field in fields(statement) if field.name in OWN_WORDS)
    return [text for text in texts if text]


def _container_refs(workspace: Workspace, chosen: ErasureSelection) -> set[str]:
    """The passages and threads that contain only selected records."""
    threads: set[str] = set()
    staying: set[str] = set()
    for source, _, table in private_months(workspace):
        goes = chosen.rows(source, table)
        threads.update(filter(None, table["thread_id"].filter(goes).to_pylist()))
        staying.update(filter(None, table["thread_id"].filter(pc.invert(goes)).to_pylist()))
    return {f"{THREAD}{thread}" for thread in threads - staying} | _passage_refs(workspace, chosen)


def _passage_refs(workspace: Workspace, chosen: ErasureSelection) -> set[str]:
    refs: set[str] = set()
    for source, months in chosen.months.items():
        manifest = lake.manifest(workspace.home, "chunks", source)
        for month in months:
            if month not in manifest or not manifest[month].rows:
                continue
            table = lake.read(workspace.home, "chunks", source, month).select(["chunk_id", "asset_id", "members"])
            for chunk in table.to_pylist():
                if chosen.nowhere.issuperset(chunk["members"] or [chunk["asset_id"]]):
                    refs |= {f"{CHUNK}{chunk['chunk_id']}", chunk["asset_id"]}
    return refs


def _cut_ids(home: Path, refs: AbstractSet[str]) -> None:
    ids = SearchPatterns(sorted(refs), plain=True)

    def without_ids(text: str) -> str:
        for ref in sorted(ids.values_in(text.encode()), key=len, reverse=True):
            text = re.sub(rf"(?<!\w){re.escape(ref)}(?![\w~])", CUT, text)
        return text

    def cut(statement: Any) -> Any:
        names = [field.name for field in fields(statement) if field.name in OWN_WORDS]
        texts = {name: getattr(statement, name) for name in names}
        return replace(statement, **{name: without_ids(text) for name, text in texts.items() if text})

    try:
        if any(ids.values_in(text.encode()) for entry in journal.entries(home) for text in own_words(entry.statement)):
            journal.rewrite(home, cut)
    except JournalError:
        return
