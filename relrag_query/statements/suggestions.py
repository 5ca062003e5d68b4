"""Pairs of people who may be one, without those that the owner has refused."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from relrag_pipelines.identity.journal_statements import undone_numbers
from relrag_pipelines.identity.suggestions import Suggestion, suggest
from relrag_pipelines.journal import journal
from relrag_pipelines.journal.entry_kinds import DistinctPair
from relrag_query.people.indexed_person import IndexedPerson


def refused_pairs(home: Path) -> list[tuple[int, DistinctPair]]:
    """The pairs who are not one person by the owner's word, each with its number; without those taken back."""
    entries = journal.entries(home)
    undone = undone_numbers(entries)
    return [
        (entry.number, entry.statement)
        for entry in entries
        if isinstance(entry.statement, DistinctPair) and entry.number not in undone
    ]


def suggestions(home: Path, people: Mapping[int, IndexedPerson]) -> list[Suggestion]:
    """Suggested pairs, the surest first."""
    refused = {(pair.person_id, pair.other_id) for _, pair in refused_pairs(home)}
    pairs = suggest({person_id: person.resolved_person for person_id, person in people.items()})
    return [pair for pair in pairs if (pair.person_id, pair.other_id) not in refused]
