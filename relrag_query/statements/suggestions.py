"""Pairs of people who may be one, without those that the owner has refused."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from relrag_pipelines.identity.suggestions import Suggestion, suggest
from relrag_pipelines.journal import journal
from relrag_pipelines.journal.entry_kinds import DistinctPair
from relrag_query.people.indexed_person import IndexedPerson


def suggestions(home: Path, people: Mapping[int, IndexedPerson]) -> list[Suggestion]:
    """Suggested pairs, the surest first."""
    refused = {(pair.person_id, pair.other_id) for pair in journal.statements(home, DistinctPair)}
    pairs = suggest({person_id: person.resolved_person for person_id, person in people.items()})
    return [pair for pair in pairs if (pair.person_id, pair.other_id) not in refused]
