"""What a request of the API may say, as models: OpenAPI is derived from them, and what does not fit is refused."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field, StringConstraints

from relrag_query.graphrag.answer import Method
from relrag_query.graphrag.page_lookup import BATCH
from relrag_query.retrieval.question_length import LONGEST
from relrag_query.service import MOST, Filters
from relrag_query.service.graph_index_cache import ARCHIVE

Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=LONGEST)]
Ref = Annotated[str, StringConstraints(min_length=1, max_length=2000)]
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]
Note = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1000)]
Cursor = Annotated[str | None, Field(description="`next_cursor` of the page before")]
_DATE = r"^\d{4}(-\d\d(-\d\d)?)?$"


class _Filtered(BaseModel, extra="forbid"):
    sources: list[str] = Field(default_factory=list, description="only these sources")
    kinds: list[str] = Field(default_factory=list, description="only these kinds")
    person: str = Field("", max_length=200, description="only what has to do with this person: a name, alias or number")
    since: str | None = Field(None, pattern=_DATE, description="nothing earlier: 2024, 2024-03 or 2024-03-15")
    until: str | None = Field(None, pattern=_DATE, description="nothing later: 2024, 2024-03 or 2024-03-15")

    @property
    def filters(self) -> Filters:
        """As the service takes them."""
        return Filters(self.sources, self.kinds, self.since, self.until, self.person)


class SearchRequest(_Filtered):
    """Find the passages that fit best."""

    query: Words
    limit: int | None = Field(None, ge=1, le=MOST, description="passages of a page")
    cursor: Cursor = None


class AskRequest(_Filtered):
    """Answer a question with sentences of the archive and their sources."""

    question: Words
    limit: int | None = Field(None, ge=1, le=MOST, description="sentences and sources at most")
    follows: list[Words] = Field(
        default_factory=list, max_length=8, description="the questions that it follows up, the last one first"
    )


class ShowRequest(BaseModel, extra="forbid"):
    """One record, passage, chat window or thread, and what it is related to."""

    ref: Ref = Field(
        description="an id: of a record, a passage (chunk:...), a thread (thread:...) or a person (person:...)"
    )
    limit: int = Field(50, ge=1, le=MOST, description="related records at most")
    cursor: Cursor = None


class ThreadRequest(BaseModel, extra="forbid"):
    """The records of a thread, newest first."""

    thread_id: Ref
    limit: int = Field(50, ge=1, le=MOST)
    cursor: Cursor = None


class NeighborsRequest(BaseModel, extra="forbid"):
    """What a record, passage or thread is directly related to."""

    ref: Ref
    relation_types: list[str] | None = Field(None, description="only these, such as attachment_of or references")
    direction: Literal["out", "in", "both"] = "both"
    limit: int = Field(50, ge=1, le=MOST)
    cursor: Cursor = None


class ExploreRequest(BaseModel, extra="forbid"):
    """People, records and relationships that a question is about."""

    query: Words
    search_relationships: bool = True
    person: str = Field("", max_length=200, description="only what has to do with this person: a name, alias or number")
    limit: int = Field(5, ge=1, le=MOST, description="records and relationships at most")


class PersonRequest(BaseModel, extra="forbid"):
    """What is known of a person: aliases, facts, relationships, traffic, latest records."""

    name: Ref = Field(description="a name, an alias or a number")


class PeopleRequest(BaseModel, extra="forbid"):
    """The people of the archive, those of most records first."""

    limit: int = Field(50, ge=1, le=MOST)
    cursor: Cursor = None


class GraphRequest(BaseModel, extra="forbid"):
    """People, their records, and what relates any of them."""

    limit_persons: int = Field(100, ge=0, le=1000)
    limit_assets_per_person: int = Field(10, ge=0, le=100)
    include_asset_edges: bool = True
    records: int = Field(0, ge=0, le=1000, description="others that come in where there are no people")


class AroundRequest(BaseModel, extra="forbid"):
    """What a node of the graph is directly related to."""

    ref: Ref = Field(description="a record, or person:<id>")
    limit: int = Field(30, ge=1, le=MOST)


class ChunksRequest(BaseModel, extra="forbid"):
    """Names, pages and beginnings of passages; ids that are not known are left out."""

    chunk_ids: list[Ref] = Field(max_length=BATCH)


class StatusRequest(BaseModel, extra="forbid"):
    """What is indexed, and what could not be read."""


class TraceRequest(BaseModel, extra="forbid"):
    """The documents and pages behind the citations of a GraphRAG answer."""

    answer: str = Field(min_length=1, max_length=1_000_000)
    question: str = Field("", max_length=LONGEST)
    collection: str = Field("", max_length=200, description="the index; else the one that is served, or the archive's")


class GraphQuestionRequest(BaseModel, extra="forbid"):
    """Answer a question from a GraphRAG index, with the documents and pages behind its citations."""

    question: Words
    collection: Ref = Field(ARCHIVE, description="name of an index")
    method: Method = Field(
        "global", description="global: what is talked about; local: one thing; basic: passages alone"
    )


class CollectionsRequest(BaseModel, extra="forbid"):
    """The GraphRAG indexes that can be asked."""


class ReportsRequest(BaseModel, extra="forbid"):
    """The reports of a GraphRAG index, those of most passages first."""

    collection: Ref = ARCHIVE
    limit: int = Field(20, ge=1, le=MOST)
    cursor: Cursor = None


class _Relationship(BaseModel, extra="forbid"):
    from_person: Name
    to_person: Name
    relationship_type: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100)]


class CreateRelationshipRequest(_Relationship):
    """State that `to_person` is the `relationship_type` of `from_person`; where programs may write."""

    description: Note | None = None
    attitude: int | None = Field(None, ge=1, le=5, description="1 (very negative) to 5 (very positive)")
    proximity: int | None = Field(None, ge=1, le=5, description="1 (distant) to 5 (very close)")
    notes: list[Note] = Field(default_factory=list, max_length=50)


class UpdateRelationshipRequest(_Relationship):
    """Change what is known of a relationship; what is left out stays; where programs may write."""

    description: Note | None = None
    attitude: int | None = Field(None, ge=1, le=5, description="1 (very negative) to 5 (very positive)")
    proximity: int | None = Field(None, ge=1, le=5, description="1 (distant) to 5 (very close)")
    deleted: bool = Field(False, description="there is no such relationship")


class RelationshipNoteRequest(_Relationship):
    """Add a note to a relationship that is known; where programs may write."""

    note: Note


class ChunkRow(BaseModel):
    """One passage of a batch."""

    id: str
    document: dict[str, str]
    chunk_metadata: dict[str, str | int | None]
    chunk_text: str


class ChunksReply(BaseModel):
    """The passages of a batch that are known."""

    chunks: list[ChunkRow]
    count: int
