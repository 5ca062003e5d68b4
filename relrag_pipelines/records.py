"""Every table that the project writes, declared once.

A table is a dataclass. A field's annotation gives its type and its meaning; the Arrow schema, the DuckDB DDL
(stores/table_schema.py) and docs/records.md are derived from it. A trailing underscore in a Python name
(`from_`) is not part of the column's name. Times are UTC; `ts` is whole seconds since 1970-01-01.
"""

from __future__ import annotations

import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

SCHEMA_VERSION = 8
"""Raised when a stored table changes shape, and with it that table's `since`.

Of an older home the tables that have changed since are made again: those of the lake from private/, the private ones
from the exports. A newer home is refused. Before it is raised: `make home-fixture`.
"""

AUDIO_REF = "audio:"
"""how the `parent_ref` of a transcript begins: it names a recording"""

Json = dict[str, Any]
Float32 = typing.NewType("Float32", float)
"""a number of single precision"""


@dataclass(slots=True)
class Page:
    """Where one page of a record lies in its text."""

    number: Annotated[int, "page number as printed in a viewer, from 1"]
    start: Annotated[int, "offset of the page's first character in `text`, in code points"]
    end: Annotated[int, "offset behind the page's last character in `text`, in code points"]


@dataclass(slots=True)
class SpeechSegment:
    """When a stretch of a record's text is said."""

    start_second: Annotated[float, "where it begins in the recording, seconds"]
    end_second: Annotated[float, "where it ends in the recording, seconds"]
    start: Annotated[int, "offset of its first character in `text`, in code points"]
    end: Annotated[int, "offset behind its last character in `text`, in code points"]


@dataclass(slots=True)
class NamedPerson:
    """A person that the source itself names by id, or a name with a role."""

    role: Annotated[str, "sender, recipient, participant, mentioned or owner"]
    name: Annotated[str, "as written in the source"]
    person_id: Annotated[int | None, "the person's id, where the source pins one"] = None


@dataclass(slots=True)
class Record:
    """One thing in the archive: a mail, an attachment, a chat message, a document, a call, a commit.

    A connector fills `source_id` and what it knows; `asset_id`, `source`, `kind`, `rag_source_type` (when empty),
    `timestamp`, `locations` and `content_hash` are filled by the export step.
    """

    source_id: Annotated[str, "native id, unique within the kind; the part of asset_id behind the first colon"]
    text: Annotated[str, "the whole text; empty where the item has none"] = ""
    asset_id: Annotated[str, "`<kind>:<native id>`, the record's name everywhere"] = ""
    source: Annotated[str, "name of the source in relrag.toml"] = ""
    kind: Annotated[str, "the kind of connector that read it"] = ""
    rag_source_type: Annotated[str, "email, email_attachment, whatsapp, call_recording, meeting_transcript, ..."] = ""
    client_id: Annotated[str | None, "client scope"] = None
    project_id: Annotated[str | None, "project scope"] = None
    from_: Annotated[str | None, "author, sender or creator as written: a name, an address, or `Name <address>`"] = None
    to: Annotated[list[str], "recipients as written"] = field(default_factory=list)
    participants: Annotated[list[str], "everyone who took part, as written"] = field(default_factory=list)
    subject: Annotated[str | None, "subject, title, first line of a commit, name of a chat"] = None
    timestamp: Annotated[str | None, "ISO 8601, UTC, of `ts`"] = None
    ts: Annotated[int | None, "when it was sent, held or last changed; seconds, UTC"] = None
    date_quality: Annotated[
        str,
        "exact, day (no time of day), year (no more than that), modified (a file's time), "
        "received (when a server took a mail that has no readable date), separator (when a mailbox took it), "
        "outside (before the first month, or in future), none",
    ] = "exact"
    thread_id: Annotated[str | None, "mail thread or chat"] = None
    parent_asset_id: Annotated[str | None, "asset_id of the record that contains or is answered by this one"] = None
    parent_ref: Annotated[str | None, "what groups body and parts: a mail's own id, a commit hash, a class"] = None
    index_in_parent: Annotated[int | None, "position among the parts of the parent, from 0"] = None
    total_siblings: Annotated[int | None, "how many parts the parent has"] = None
    content_type: Annotated[str | None, "MIME type, or a language, or a file's suffix"] = None
    file_name: Annotated[str | None, "name or path of the file"] = None
    source_uri: Annotated[str | None, "where the original can be opened"] = None
    locations: Annotated[list[str], "every place that holds it: `<path>#<anchor>`"] = field(default_factory=list)
    language: Annotated[str | None, "ISO 639-1 code, where known"] = None
    pages: Annotated[list[Page], "pages of the text, where it has any"] = field(default_factory=list)
    numbers: Annotated[
        list[str], "invoice, order and account numbers, for lookup; of an account its pseudonym as well"
    ] = field(default_factory=list)
    people: Annotated[list[NamedPerson], "people named by the source itself"] = field(default_factory=list)
    extra: Annotated[Json, "what only this kind has, as JSON"] = field(default_factory=dict)
    content_hash: Annotated[str, "keyed hash of all fields but this one and locations, hex"] = ""
    spoken: Annotated[list[SpeechSegment] | None, "when each part of the text is said, for a transcript with times"] = (
        None
    )


@dataclass(slots=True)
class PrivateRecord(Record):
    """A record as one unit holds it (private, unredacted). Equal asset_ids of several units are merged when read."""

    unit: Annotated[str, "path of the unit, relative to its source"] = ""


@dataclass(slots=True)
class Failure:
    """An item that could not be read: where and why, never its text."""

    location: Annotated[str, "where in the unit: line 12, page 3, member name; empty for the whole unit"]
    fault: Annotated[str, "which kind of fault, a short fixed word such as `encrypted`"]
    message: Annotated[str, "what was found and what to do, without any of the item's text"]
    source: Annotated[str, "name of the source"] = ""
    unit: Annotated[str, "path of the unit, relative to its source"] = ""
    whole_unit: Annotated[bool, "the unit was not read to its end, so what is missing from it is not deleted"] = False


@dataclass(slots=True)
class UnitMonth:
    """What one unit contributes to one month."""

    month: Annotated[str, "YYYY-MM"]
    rows: Annotated[int, "records"]
    hash: Annotated[str, "hash of the records' content hashes and locations, hex"]


@dataclass(slots=True)
class UnitState:
    """One thing that a connector opens, as it was when last read (private)."""

    path: Annotated[str, "relative to the source's path"]
    size: Annotated[int, "bytes"]
    mtime_ns: Annotated[int, "modification time, nanoseconds"]
    content_hash: Annotated[str, "hash of the bytes, hex"]
    reader: Annotated[str, "the kind's version and the options that change what it reads, each as a hash"]
    months: Annotated[list[UnitMonth], "months that it contributes to"]


@dataclass(slots=True)
class Identifier:
    """Who appears in a record, in what role."""

    asset_id: Annotated[str, "the record"]
    role: Annotated[str, "sender, recipient, participant, mentioned or owner"]
    kind: Annotated[str, "name, phone, email or whatsapp"]
    value: Annotated[str, "as the channel's policy allows"]
    keyed: Annotated[str, "keyed hash of the normalised value, so that channels join, hex"]
    person_id: Annotated[int | None, "the person's id, where the source pins one"] = None
    entry: Annotated[
        str, "what stands in one string, or on one card, is of one person: a keyed hash of it all, or the card's id"
    ] = ""
    shared: Annotated[bool, "an address of a role or a program, such as info@, which is nobody's own"] = False


@dataclass(slots=True)
class Person:
    """Somebody with a name, or without one who writes often."""

    person_id: Annotated[int, "never given to anybody else"]
    name: Annotated[str, "the fullest name, as the owner of the archive writes it where a card has one; may be empty"]
    is_owner: Annotated[bool, "whose archive it is"] = False


@dataclass(slots=True)
class PersonAlias:
    """What a person is called or reached by."""

    person_id: Annotated[int, "the person"]
    alias: Annotated[str, "as written; phones and addresses as the channel's policy allows"]
    script: Annotated[str, "script of most of its letters, or other; empty for what holds no letters"]
    kind: Annotated[str, "name, phone, email or whatsapp"]
    keyed: Annotated[str, "as in identifiers; of a name the keyed hash of the name, hex"]
    stated: Annotated[bool, "a card or the owner says so"] = False


@dataclass(slots=True)
class PersonRedirect:
    """A former id of a person, from before two people were found to be one."""

    former_person_id: Annotated[int, "an id no longer in use"]
    person_id: Annotated[int, "who that is"]


@dataclass(slots=True)
class PersonName:
    """A form of a person's name, by which questions and texts find the person."""

    form: Annotated[str, "a name or a part of it, without accents and capitals"]
    person_id: Annotated[int, "the person"]
    rank: Annotated[str, "whole, given or family"]


@dataclass(slots=True)
class GivenForm:
    """Another form of a given name that somebody bears."""

    form: Annotated[str, "without accents and capitals; behind a ~ how it sounds, in any script"]
    given: Annotated[str, "the name, without accents and capitals"]
    rank: Annotated[str, "case (inflected, or a possessive), short (of the same full name), sound"]


@dataclass(slots=True)
class PersonEntry:
    """Which person a string or card of a source names."""

    source: Annotated[str, "name of the source"]
    entry: Annotated[str, "as in identifiers"]
    pinned_person_id: Annotated[int, "the id that the source pins; -1 where it pins none"]
    person_id: Annotated[int, "the person"]


@dataclass(slots=True)
class PersonMention:
    """Who is named in a record's text."""

    lake_month: Annotated[str, "<source>/<YYYY-MM> of the lake that holds the record"]
    asset_id: Annotated[str, "the record"]
    person_id: Annotated[int, "the person"]


@dataclass(slots=True)
class PersonMonth:
    """What is known of a month's people, so that only months that change are read again."""

    lake_month: Annotated[str, "<source>/<YYYY-MM> of the lake"]
    input: Annotated[str, "hash of its records and identifiers and of whom its entries are of, hex"]
    people: Annotated[str, "hash of who appears in it and is named in its texts, hex"]


@dataclass(slots=True)
class MonthWord:
    """A word of a month's texts that may begin a name."""

    lake_month: Annotated[str, "<source>/<YYYY-MM> of the lake"]
    word: Annotated[str, "without accents and capitals; of a word with a prefixed letter also what is left without it"]


@dataclass(slots=True)
class PersonFact:
    """What is known of a person. The surest one counts, then the latest; all are kept."""

    person_id: Annotated[int, "the person"]
    predicate: Annotated[str, "birthday, occupation, lives_in ..."]
    value: Annotated[str, "as said; dates in ISO 8601; never an age, which is worked out"]
    confidence: Annotated[float, "0 to 1"]
    source_ref: Annotated[str, "asset_id of the record that says so, or `journal:<entry>`"]
    source_quote: Annotated[str | None, "the words that say so, redacted"] = None
    valid_from: Annotated[str | None, "since when it holds, ISO 8601"] = None
    valid_to: Annotated[str | None, "until when it held, ISO 8601"] = None


@dataclass(slots=True)
class PersonAsset:
    """Who has to do with a record, and how."""

    person_id: Annotated[int, "the person"]
    asset_type: Annotated[str, "the record's rag_source_type"]
    asset_ref: Annotated[str, "the record's asset_id"]
    role: Annotated[str, "sender, recipient, mentioned, participant or owner"]
    confidence: Annotated[float, "0 to 1"] = 1.0


@dataclass(slots=True)
class PersonRelationship:
    """What one person is to another: `to` is the `relationship_type` of `from`.

    What the owner says counts for more than what a card says, and that for more than what a text says.
    """

    from_person_id: Annotated[int, "whose mentor, child, spouse it is"]
    to_person_id: Annotated[int, "the mentor, child, spouse"]
    relationship_type: Annotated[str, "mentor, child, spouse, friend ..."]
    source_ref: Annotated[str, "asset_id of the record that says so, or `journal:<entry>`"]
    description: Annotated[str | None, "in the words of who states it"] = None
    attitude: Annotated[int | None, "1 (very negative) to 5 (very positive)"] = None
    proximity: Annotated[int | None, "1 (distant) to 5 (very close)"] = None
    notes: Annotated[list[str], "in the order in which they were added"] = field(default_factory=list)
    confidence: Annotated[float, "0 to 1"] = 1.0
    source_quote: Annotated[str | None, "the words that say so, redacted"] = None
    valid_from: Annotated[str | None, "since when it holds, ISO 8601"] = None
    valid_to: Annotated[str | None, "until when it held, ISO 8601"] = None
    client_id: Annotated[str | None, "client scope of the record that says so"] = None
    further_source_refs: Annotated[list[str], "what else says so"] = field(default_factory=list)
    text_hash: Annotated[str, "keyed hash of the text that is embedded, hex"] = ""


@dataclass(slots=True)
class TextRelationship:
    """What a text says one person is to another."""

    lake_month: Annotated[str, "<source>/<YYYY-MM> of the lake that holds the record"]
    from_person_id: Annotated[int, "as in person_relationships"]
    to_person_id: Annotated[int, "as in person_relationships"]
    relationship_type: Annotated[str, "as in person_relationships"]
    source_ref: Annotated[str, "asset_id of the record"]
    source_quote: Annotated[str, "the words that say so, redacted"]
    client_id: Annotated[str | None, "client scope of the record"] = None


@dataclass(slots=True)
class TextFact:
    """What a text states of a person."""

    lake_month: Annotated[str, "<source>/<YYYY-MM> of the lake that holds the record"]
    person_id: Annotated[int, "as in person_facts"]
    predicate: Annotated[str, "as in person_facts"]
    value: Annotated[str, "as in person_facts"]
    confidence: Annotated[float, "as in person_facts"]
    source_ref: Annotated[str, "asset_id of the record"]
    source_quote: Annotated[str, "the words that say so, redacted"]
    valid_from: Annotated[str | None, "day of the record, of what may change; ISO 8601"] = None


@dataclass(slots=True)
class PassageStatement:
    """What a language model found stated of a person in a passage; whom its names mean is decided later."""

    chunk_id: Annotated[str, "the passage"]
    asset_id: Annotated[str, "the record; of a chat window the message"]
    person: Annotated[str, "name, as the passage has it; `AUTHOR`: whoever wrote it"]
    predicate: Annotated[str, "as in person_facts; of a relationship its type"]
    value: Annotated[str, "as in person_facts; of a relationship the name of the other"]
    is_relationship: Annotated[bool, "`value` is the `predicate` of `person`"]
    confidence: Annotated[float, "as in person_facts"]
    source_quote: Annotated[str, "the words of the passage that say so, redacted"]
    valid_from: Annotated[str | None, "as in person_facts"] = None
    valid_to: Annotated[str | None, "as in person_facts"] = None
    client_id: Annotated[str | None, "client scope of the passage"] = None
    among: Annotated[list[str], "asset_ids of all messages of the chat window"] = field(default_factory=list)


@dataclass(slots=True)
class RelationshipEmbedding:
    """The one vector of a relationship; those whose texts are equal share it."""

    text_hash: Annotated[str, "as in person_relationships"]
    model: Annotated[str, "name and version of the model"]
    relationship_embedding: Annotated[list[Float32], "vector of that text, as the model gives it"]


@dataclass(slots=True)
class Chunk:
    """A passage that is indexed and cited (redacted)."""

    chunk_id: Annotated[str, "UUIDv5 of asset_id and position"]
    asset_id: Annotated[str, "its record; a chat window has an asset_id of its own"]
    chunk_group_id: Annotated[str, "groups the chunks of one record; a chat window is its own group"]
    chunk_index: Annotated[int, "position within the group, from 0"]
    chunk_count: Annotated[int, "chunks in the group"]
    text: Annotated[str, "the passage, redacted"]
    text_hash: Annotated[str, "hash of the text with pseudonyms reduced to their type, hex"]
    source: Annotated[str, "name of the source"]
    kind: Annotated[str, "kind of connector"]
    rag_source_type: Annotated[str, "as in records"]
    section: Annotated[
        str | None, "quoted, forwarded, forward_headers, signature, disclaimer: the part of `extra.apart` it is of"
    ] = None
    start: Annotated[int, "offset of the passage in its record's text (or section), code points; 0 in a window"] = 0
    end: Annotated[int, "offset behind the passage in its record's text (or section), code points"] = 0
    page_number: Annotated[int | None, "page on which the passage begins"] = None
    last_page_number: Annotated[int | None, "page on which it ends"] = None
    members: Annotated[list[str], "asset_ids of the messages in a chat window, in order"] = field(default_factory=list)
    source_id: Annotated[str | None, "native id of the record, or of the chat window"] = None
    client_id: Annotated[str | None, "client scope"] = None
    project_id: Annotated[str | None, "project scope"] = None
    from_: Annotated[str | None, "as in records; the senders of a chat window, joined"] = None
    to: Annotated[list[str], "as in records"] = field(default_factory=list)
    participants: Annotated[list[str], "as in records; the senders of a chat window"] = field(default_factory=list)
    subject: Annotated[str | None, "as in records"] = None
    timestamp: Annotated[str | None, "as in records; the first message of a chat window"] = None
    ts: Annotated[int | None, "as in records; the first message of a chat window"] = None
    last_ts: Annotated[int | None, "the last message of a chat window, else as ts; seconds, UTC"] = None
    thread_id: Annotated[str | None, "as in records"] = None
    parent_asset_id: Annotated[str | None, "as in records"] = None
    parent_ref: Annotated[str | None, "as in records"] = None
    index_in_parent: Annotated[int | None, "as in records"] = None
    total_siblings: Annotated[int | None, "as in records"] = None
    content_type: Annotated[str | None, "as in records"] = None
    file_name: Annotated[str | None, "as in records"] = None
    source_uri: Annotated[str | None, "as in records"] = None
    language: Annotated[str | None, "as in records"] = None
    start_second: Annotated[float | None, "of a transcript: where the passage begins in the recording, seconds"] = None
    end_second: Annotated[float | None, "of a transcript: where the passage ends in the recording, seconds"] = None
    date_quality: Annotated[str | None, "as in records; empty in a chat window"] = None


@dataclass(slots=True)
class Embedding:
    """The vectors of a passage under a model."""

    chunk_id: Annotated[str, "the chunk"]
    text_hash: Annotated[str, "keyed hash of the embedded text, in which a pseudonym stands as its type, hex"]
    model: Annotated[str, "name and version of the model"]
    vector: Annotated[list[Float32], "as the model gives it"]
    span_hashes: Annotated[list[str], "keyed hashes of the texts of its spans, hex; empty where it is one"] = field(
        default_factory=list
    )
    span_vectors: Annotated[list[Float32], "their vectors, one behind the other"] = field(default_factory=list)


RELATION_TYPES = ("thread_member", "attachment_of", "chunk_of", "reply_to", "references", "transcript_of")


@dataclass(slots=True)
class Edge:
    """A relation between two assets, unique on its first three fields.

    In the lake a claim, in the catalog a fact, and among the pending edges a claim of which an end is not there yet.
    """

    src_asset_ref: Annotated[str, "the member, attachment, chunk, reply"]
    dst_asset_ref: Annotated[str, "the thread, container, record, message answered"]
    relation_type: Annotated[str, "thread_member, attachment_of, chunk_of, reply_to, references, transcript_of"]
    confidence: Annotated[float, "0 to 1"] = 1.0
    provenance: Annotated[str, "what it was read from"] = ""


@dataclass(slots=True)
class Shared:
    """A record or chat window that several months or sources of the lake hold, of which one is published."""

    asset_id: Annotated[str, "the record or chat window"]
    lake_month: Annotated[str, "<source>/<YYYY-MM> of the lake that holds it"]


@dataclass(slots=True)
class SharedKey:
    """Something of a record that another one may share, which relates the two: a number, an event, a file's bytes."""

    asset_id: Annotated[str, "the record"]
    handle: Annotated[str, "number, short, personal, commit, event, bytes or text, and behind a colon which one"]
    whole: Annotated[str, "thread_id, else parent_asset_id, else asset_id; records of one whole are related anyway"]
    ts: Annotated[int | None, "as in records"] = None


@dataclass(slots=True)
class ManualLink:
    """What the owner last said of one relation; it counts for more than what was read."""

    src_asset_ref: Annotated[str, "as in asset_asset_edges"]
    dst_asset_ref: Annotated[str, "as in asset_asset_edges"]
    relation_type: Annotated[str, "as in asset_asset_edges"]
    deleted: Annotated[bool, "there is no such relation, whatever else says so"] = False
    confidence: Annotated[float, "0 to 1"] = 1.0
    provenance: Annotated[str, "why, in the owner's words"] = ""


@dataclass(slots=True)
class ReplacedMonth:
    """A month of a source that a catalog on top of another holds itself; what the other has of it no longer counts."""

    lake_month: Annotated[
        str, "<source>/<YYYY-MM>, or with a * a part of the edges that follow from all months together"
    ]


@dataclass(slots=True)
class TermFrequency:
    """How common a word is, so that an answer can tell the words of a question that matter."""

    term: Annotated[str, "a token of sparse search; the empty one stands for all passages that were counted"]
    documents: Annotated[int, "passages that hold it, of those counted; words of a single passage are left out"]


@dataclass(frozen=True)
class Table:
    """One stored table: its row type, its key (also its sort order) and where it lives."""

    name: str
    row: type
    key: tuple[str, ...]
    place: str
    """where its rows are kept, in a home or in the catalog, with commas between"""
    indexes: Mapping[str, str] = field(default_factory=dict)
    """name of an index in the catalog -> its column"""
    since: int = 1
    """the schema version that gave the table the shape it has"""
    uncompressed: tuple[str, ...] = ()
    """columns that the catalog stores as they are: they differ from row to row, and a query reads a few rows of many"""


JOINED = "joined when publishing"
"""the place of a table of the whole archive that decides what other tables of a generation hold"""


def _archive(table: str, *further: str) -> str:
    """The places of a table of the whole archive."""
    return ", ".join([f"lake/{table}/archive.parquet", *further])


_OF_A_CHUNK = (
    *("chunk_id", "asset_id", "chunk_group_id", "text_hash", "source_id", "from", "subject", "timestamp"),
    *("thread_id", "parent_asset_id", "parent_ref", "file_name", "source_uri"),
)

TABLES = {
    table.name: table
    for table in (
        Table(
            "private_records",
            PrivateRecord,
            ("asset_id", "unit"),
            "private/records/<source>/<YYYY-MM>.parquet",
            since=2,
        ),
        Table("units", UnitState, ("path",), "private/units/<source>.parquet"),
        Table(
            "failures",
            Failure,
            ("source", "unit", "location", "fault"),
            "private/failures/<source>.parquet, lake/failures/<source>/<YYYY-MM>.parquet, catalog",
        ),
        Table(
            "records",
            Record,
            ("asset_id",),
            "lake/records/<source>/<YYYY-MM>.parquet, catalog",
            {"idx_records_thread": "thread_id"},
            since=2,
            uncompressed=("asset_id",),
        ),
        Table(
            "identifiers",
            Identifier,
            ("asset_id", "role", "kind", "keyed", "entry"),
            "lake/identifiers/<source>/<YYYY-MM>.parquet, catalog",
            since=4,
        ),
        Table("persons", Person, ("person_id",), _archive("persons", "catalog"), since=5),
        Table(
            "person_aliases",
            PersonAlias,
            ("person_id", "kind", "keyed", "alias"),
            _archive("person_aliases", "catalog"),
            since=5,
        ),
        Table(
            "person_redirects",
            PersonRedirect,
            ("former_person_id",),
            _archive("person_redirects", "catalog"),
            since=5,
        ),
        Table(
            "person_names",
            PersonName,
            ("form", "person_id", "rank"),
            _archive("person_names", "catalog"),
            {"idx_person_names_form": "form"},
            since=5,
        ),
        Table(
            "given_forms",
            GivenForm,
            ("form", "given", "rank"),
            _archive("given_forms", "catalog"),
            {"idx_given_forms_form": "form"},
            since=5,
        ),
        Table(
            "person_facts",
            PersonFact,
            ("person_id", "predicate", "value", "source_ref"),
            _archive("person_facts", "catalog"),
            since=5,
        ),
        Table(
            "person_relationships",
            PersonRelationship,
            ("from_person_id", "to_person_id", "relationship_type"),
            _archive("person_relationships", "catalog"),
            {"idx_relationships_to": "to_person_id"},
            since=5,
        ),
        Table(
            "relationship_embeddings",
            RelationshipEmbedding,
            ("text_hash",),
            _archive("relationship_embeddings", "catalog"),
            since=5,
        ),
        Table(
            "person_entries",
            PersonEntry,
            ("source", "entry", "pinned_person_id"),
            _archive("person_entries", JOINED),
            since=5,
        ),
        Table(
            "person_mentions",
            PersonMention,
            ("lake_month", "asset_id", "person_id"),
            _archive("person_mentions", JOINED),
            since=5,
        ),
        Table("person_months", PersonMonth, ("lake_month",), _archive("person_months", JOINED), since=5),
        Table(
            "text_relationships",
            TextRelationship,
            ("lake_month", "source_ref", "from_person_id", "to_person_id", "relationship_type"),
            _archive("text_relationships"),
            since=5,
        ),
        Table(
            "text_facts",
            TextFact,
            ("lake_month", "source_ref", "person_id", "predicate", "value"),
            _archive("text_facts"),
            since=5,
        ),
        Table(
            "passage_statements",
            PassageStatement,
            ("chunk_id", "asset_id", "person", "predicate", "value", "is_relationship"),
            _archive("passage_statements"),
            since=5,
        ),
        Table("month_words", MonthWord, ("lake_month", "word"), _archive("month_words"), since=5),
        Table(
            "person_assets",
            PersonAsset,
            ("person_id", "asset_ref", "role"),
            "catalog",
            {"idx_person_assets_ref": "asset_ref"},
            since=8,
        ),
        Table(
            "chunks",
            Chunk,
            ("chunk_id",),
            "lake/chunks/<source>/<YYYY-MM>.parquet, catalog",
            {"idx_chunks_asset": "asset_id", "idx_chunks_group": "chunk_group_id"},
            since=6,
            uncompressed=_OF_A_CHUNK,
        ),
        Table("embeddings", Embedding, ("chunk_id",), "lake/embeddings/<source>/<YYYY-MM>.parquet", since=7),
        Table(
            "asset_asset_edges",
            Edge,
            ("src_asset_ref", "dst_asset_ref", "relation_type"),
            "lake/asset_asset_edges/<source>/<YYYY-MM>.parquet, catalog",
            {"idx_aae_src": "src_asset_ref", "idx_aae_dst": "dst_asset_ref", "idx_aae_type": "relation_type"},
        ),
        Table("pending_edges", Edge, ("src_asset_ref", "dst_asset_ref", "relation_type"), "catalog", since=2),
        Table("shared", Shared, ("asset_id", "lake_month"), "catalog", since=3),
        Table("shared_handles", SharedKey, ("asset_id", "handle"), "catalog", since=2),
        Table("replaced", ReplacedMonth, ("lake_month",), "catalog", since=2),
        Table("terms", TermFrequency, ("term",), "catalog"),
    )
}
