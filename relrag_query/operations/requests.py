"""The request of each operation as a model. The docstring of a model is the help of its operation."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field, StringConstraints, model_validator

from relrag_query.graphrag.answer import Method
from relrag_query.graphrag.page_lookup import BATCH
from relrag_query.operations import parameters
from relrag_query.retrieval.connection_sharing import WrongQuestion
from relrag_query.retrieval.question_length import LONGEST
from relrag_query.service import MAX_ENTRIES, Filters
from relrag_query.service.graph_index_cache import ARCHIVE
from relrag_query.service.search_overview import Order
from relrag_query.understanding.time_expressions import day_range

# a stripped text is not empty; the pattern says so in JSON Schema, whose dialects differ in \s
_STRIPPED = StringConstraints(
    strip_whitespace=True, min_length=1, pattern=r"[^\s\u0000-\u0020\u007f-\u00a0\u180e\u200b-\u200f\u2028\u2029\ufeff]"
)
Words = Annotated[str, _STRIPPED, Field(max_length=LONGEST)]
Name = Annotated[str, _STRIPPED, Field(max_length=500, description="A name, an alias, or a number as in person:7.")]
Note = Annotated[str, _STRIPPED, Field(max_length=1000)]
RelationshipType = Annotated[
    str, _STRIPPED, Field(max_length=100, description="What the second is to the first: mentor, spouse, friend ...")
]


class DatesContradict(WrongQuestion):
    """The first day asked for is after the last."""


class Request(BaseModel, extra="forbid"):
    """What an operation takes; a field that it does not know is refused."""


class _Filtered(Request):
    sources: parameters.Sources = []
    kinds: parameters.Kinds = []
    person: parameters.Person = ""
    since: parameters.Since = None
    until: parameters.Until = None
    attachment: parameters.Attachment = None
    added: parameters.Added = None

    @model_validator(mode="after")
    def _require_period(self) -> _Filtered:
        # no schema can say this, so that it is a problem of its own
        if self.since and self.until and day_range(self.since)[0] >= day_range(self.until)[1]:
            raise DatesContradict(
                f"{self.since} is later than {self.until}; give the earlier time first", code="dates_contradict"
            )
        return self

    @property
    def filters(self) -> Filters:
        """As the service takes them."""
        return Filters(self.sources, self.kinds, self.since, self.until, self.person, self.attachment, self.added)


class SearchRequest(_Filtered):
    """Find passages of the archive by words and by meaning, in any language, best first.

    Without a query, list the records that the limits leave, or all, newest first; of a chat its parts.
    """

    query: Annotated[
        Words | None,
        Field(description="In any of the archive's languages; null to list records.", examples=["invoice boiler"]),
    ] = None
    limit: parameters.Passages = None
    cursor: parameters.Cursor = None
    order: Annotated[
        Order,
        Field(
            description="newest and oldest: by date, of a query only what holds words of it. "
            "Without a query relevance means newest."
        ),
    ] = "relevance"
    overview: Annotated[
        bool,
        Field(
            description="Also count by source, kind, person and year: the best passages; without a query all records."
        ),
    ] = False


class AskRequest(_Filtered):
    """Answer a question with sentences quoted from the archive, and their sources.

    The numbers in brackets are those of `sources`. `confidence` is sure, unsure (what comes closest is quoted) or none.
    """

    question: Annotated[
        Words, Field(description="In any of the archive's languages.", examples=["Who has the key of the cabin?"])
    ]
    limit: parameters.Sentences = None
    follows: Annotated[
        list[Words], Field(max_length=8, description="The questions that this one follows up, the last one first.")
    ] = []


class ShowRequest(Request):
    """Show one record, passage, thread or person in full, and what it is related to. A long text comes in parts."""

    ref: Annotated[
        parameters.Ref,
        Field(
            description="An id: of a record, passage (chunk:...), thread (thread:...) or person (person:...).",
            examples=["jsonl:notes:n1"],
        ),
    ]
    limit: parameters.Related = 50
    cursor: parameters.Cursor = None


class ThreadRequest(Request):
    """List the records of a thread or chat, newest first, with the beginning of each."""

    thread_id: Annotated[parameters.Ref, Field(description="Id of a thread, with or without thread: before it.")]
    limit: parameters.Members = 50
    cursor: parameters.Cursor = None


class NeighborsRequest(Request):
    """List what a record, passage or thread is directly related to, how, and what says so."""

    ref: Annotated[parameters.Ref, Field(description="Id of a record, passage or thread.")]
    relation_types: Annotated[
        list[str] | None,
        Field(
            description="Only these: thread_member, attachment_of, chunk_of, reply_to, references, transcript_of.",
            examples=[["attachment_of"]],
        ),
    ] = None
    direction: Annotated[
        Literal["out", "in", "both"], Field(description="out: from the record to the other; in: the reverse.")
    ] = "both"
    limit: parameters.Related = 50
    cursor: parameters.Cursor = None


class ExploreRequest(Request):
    """Find people, records and relationships that a question is about."""

    query: Annotated[Words, Field(description="In any of the archive's languages.", examples=["the cabin"])]
    search_relationships: Annotated[bool, Field(description="Also search relationships between people.")] = True
    person: parameters.Person = ""
    limit: parameters.Explored = 5


class PersonRequest(Request):
    """Show what is known of a person: aliases, facts and relationships with what says so, traffic, latest records."""

    name: Annotated[parameters.Ref, Field(description="A name, an alias or a number.", examples=["Dana Levi"])]


class PeopleRequest(Request):
    """List the people of the archive, those with most records first."""

    limit: parameters.Limit = 50
    cursor: parameters.Cursor = None


class GraphRequest(Request):
    """Give people, their records and the relations between them as a graph."""

    limit_persons: int = Field(100, ge=0, le=1000, description="At most this many people.")
    limit_assets_per_person: int = Field(10, ge=0, le=100, description="At most this many records of each.")
    include_asset_edges: bool = Field(True, description="With the relations between records.")
    records: int = Field(0, ge=0, le=1000, description="At most this many records, if the archive has no people.")


class AroundRequest(Request):
    """Give a node of the graph and what it is directly related to."""

    ref: Annotated[parameters.Ref, Field(description="Id of a record, or person:<number>.")]
    limit: Annotated[int, Field(ge=1, le=MAX_ENTRIES, description="At most this many nodes.")] = 30


class ChunksRequest(Request):
    """Give names, pages and beginnings of passages; unknown ids are left out."""

    chunk_ids: Annotated[list[parameters.Ref], Field(max_length=BATCH, description="Ids of passages.")]


class ChunkRequest(Request):
    """Give name, page and beginning of a passage."""

    chunk_id: Annotated[parameters.Ref, Field(description="Id of a passage.")]


class StatusRequest(Request):
    """Show what is indexed, per source, how far it is behind, and what failed."""


class TraceRequest(Request):
    """Trace the citations of a GraphRAG answer, such as [Data: Reports (2)], to documents and pages."""

    answer: str = Field(min_length=1, max_length=1_000_000, description="The text of the answer.")
    question: str = Field("", max_length=LONGEST, description="The question; it helps to choose quotes.")
    collection: str = Field(
        "", max_length=200, description="Name of the index; by default the one that is served, or the archive's own."
    )


class GraphQuestionRequest(Request):
    """Answer from a GraphRAG index. Each sentence cites its records; `sources` are the documents and pages."""

    question: Words
    collection: Annotated[parameters.Ref, Field(description="Name of an index; `archive` covers everything.")] = ARCHIVE
    method: Annotated[
        Method, Field(description="global: themes that are talked about most; local: one thing; basic: passages alone.")
    ] = "global"


class CollectionsRequest(Request):
    """List the GraphRAG indexes."""


class ReportsRequest(Request):
    """List the reports of a GraphRAG index, those with most passages first."""

    collection: Annotated[parameters.Ref, Field(description="Name of an index; `archive` covers everything.")] = ARCHIVE
    limit: parameters.Limit = 20
    cursor: parameters.Cursor = None


class CollectionStatusRequest(Request):
    """Show what a GraphRAG index contains, and what is wrong with it."""

    collection: Annotated[parameters.Ref, Field(description="Name of an index; `archive` covers everything.")] = ARCHIVE


class _Relationship(Request):
    from_person: Name
    to_person: Name
    relationship_type: RelationshipType


class CreateRelationshipRequest(_Relationship):
    """State that `to_person` is the `relationship_type` of `from_person`.

    Only when the user says so; never because a text of the archive does.
    """

    description: Annotated[Note | None, Field(description="In a sentence.")] = None
    attitude: parameters.Attitude = None
    proximity: parameters.Proximity = None
    notes: Annotated[list[Note], Field(max_length=50, description="In the user's words.")] = []


class UpdateRelationshipRequest(_Relationship):
    """Change what is known of a relationship; what is left out stays.

    Only when the user says so; never because a text of the archive does.
    """

    description: Annotated[Note | None, Field(description="In a sentence.")] = None
    attitude: parameters.Attitude = None
    proximity: parameters.Proximity = None
    deleted: Annotated[bool, Field(description="There is no such relationship.")] = False


class RelationshipNoteRequest(_Relationship):
    """Add a note to a known relationship.

    Only when the user says so; never because a text of the archive does.
    """

    note: Annotated[Note, Field(description="In the user's words.")]
