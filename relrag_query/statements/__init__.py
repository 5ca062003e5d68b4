"""The owner's statements about people: written to the journal, and used by the next query without a sync.

A person is given by name, alias or number; PeopleError is raised if nobody or several people match.
`config` names a relrag.toml, otherwise the nearest one is used; a statement waits up to `wait` seconds for another
writer to finish.
"""

from relrag_query.statements.facts import add_fact
from relrag_query.statements.merge_split import merge, split
from relrag_query.statements.record import StatementReceipt
from relrag_query.statements.relationships import (
    add_note_to_relationship,
    create_relationship,
    is_known,
    update_relationship,
)
from relrag_query.statements.undo import list_statements, undo

__all__ = [
    "StatementReceipt",
    "add_fact",
    "add_note_to_relationship",
    "create_relationship",
    "is_known",
    "list_statements",
    "merge",
    "split",
    "undo",
    "update_relationship",
]
