"""What the owner says, laid over what is read."""

from __future__ import annotations

from relrag_pipelines.identity import statement_overlay
from relrag_pipelines.identity.journal_statements import Entry, RelationshipNote
from relrag_pipelines.records import PersonRelationship


def test_a_relationship_that_the_owner_notes_something_on_is_no_clients() -> None:
    rows = [PersonRelationship(1, 2, kind, "jsonl:x", client_id="clinic") for kind in ("doctor", "friend")]
    said = [Entry(5, RelationshipNote(1, 2, "doctor", "privately: be wary"))]
    found = statement_overlay.relationships(rows, said, lambda one: one)
    assert [(one.relationship_type, one.notes, one.client_id) for one in found] == [
        ("doctor", ["privately: be wary"], None),
        ("friend", [], "clinic"),
    ]
