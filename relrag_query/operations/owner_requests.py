"""The request of each operation of the owner's pages; its docstring says what the operation does."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from relrag_query.operations.requests import Name, Note, RelationshipType, Request
from relrag_query.owner.uploads import ID

Path = Annotated[str, Field(max_length=4096)]
SourceName = Annotated[str, Field(min_length=1, max_length=63)]
Ref = Annotated[str, Field(min_length=1, max_length=2000)]
UploadId = Annotated[str, Field(pattern=f"^{ID}$")]


class AllowWritesRequest(Request):
    """Answer whether the pages may change the archive. Only relrag.toml can take back a no."""

    allowed: bool


class AddSourceRequest(Request):
    """Add sources that were found in a folder to relrag.toml."""

    path: Path
    names: Annotated[list[SourceName], Field(min_length=1, max_length=100)]
    owner: Annotated[str, Field(max_length=200)] = ""


class PauseSourceRequest(Request):
    """Have syncs leave a source as it is, or no longer."""

    name: SourceName
    paused: bool


class ChangeSettingsRequest(Request):
    """Write settings to relrag.toml."""

    values: Annotated[dict[str, Annotated[str, Field(max_length=500)]], Field(min_length=1, max_length=50)]


class SyncRequest(Request):
    """Start a sync."""

    accept_deletions: bool = False


class BackupRequest(Request):
    """Start a backup of what cannot be rebuilt, into a new folder of `backup_folder`."""


class CancelRequest(Request):
    """Interrupt the command that the pages started."""


class RetryRequest(Request):
    """Read again what could not be read of a source; with `failure` one file."""

    source: SourceName
    failure: Annotated[str, Field(max_length=200)] = ""


class ForgetRequest(Request):
    """Forget records by their ids, or a whole source."""

    refs: Annotated[list[Ref], Field(max_length=100, default_factory=list)]
    source: Annotated[str, Field(max_length=63)] = ""


class CallsRequest(Request):
    """Approve recorded calls, or leave their transcripts out of the archive."""

    calls: Annotated[list[Ref], Field(min_length=1, max_length=100)]


class MergeRequest(Request):
    """State that these are one person, who keeps the number of the first."""

    into: Name
    others: Annotated[list[Name], Field(min_length=1, max_length=20)]


class SplitRequest(Request):
    """State that these aliases of a person are somebody else's."""

    person: Name
    aliases: Annotated[list[Name], Field(min_length=1, max_length=50)]


class UndoRequest(Request):
    """Take back a statement about people by its number."""

    entry: Annotated[int, Field(ge=1)]


class RefuseRequest(Request):
    """State that two people are not one."""

    person_id: Annotated[int, Field(ge=1)]
    other_id: Annotated[int, Field(ge=1)]


class AddFactRequest(Request):
    """State a fact of a person, since a year, month or day if one is given."""

    person: Name
    predicate: RelationshipType
    value: Note
    valid_from: Annotated[str, Field(max_length=10)] = ""


class RelateRequest(Request):
    """State what another person is to a person."""

    person: Name
    other: Name
    relationship_type: RelationshipType
    description: Annotated[str, Field(max_length=1000)] = ""


class UnrelateRequest(Request):
    """State that another person is not that to a person."""

    person: Name
    other: Name
    relationship_type: RelationshipType


class ClearQuestionsRequest(Request):
    """Forget the last questions."""


class UploadRequest(Request):
    """Ask how much of an upload is stored, or give it up."""

    upload: UploadId


class FinishUploadRequest(UploadRequest):
    """Check an upload, and store it in `incoming/`."""

    name: Annotated[str, Field(min_length=1, max_length=1000)]
    total: Annotated[int, Field(ge=0, description="bytes")]
