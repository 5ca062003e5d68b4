"""Reads the payload of one point: ids, relations, universal fields, people and text. Pure.

Two older systems wrote such payloads. One has `source`, `source_id`, `chat_id`, `sender`, `message` and, for documents
of several points, `chunk_index`; its points come from LlamaIndex, with the text in `_node_content` too. The other has
names in camel case (`ragSourceType`, `emailMessageId`, `summary`). The result ignores fields that the backfill has
added to a point, so a collection reads the same before and after.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from relrag_pipelines.sources.legacy.payload_values import (
    PayloadError,
    first_of,
    in_snake_case,
    snake_case,
    text_of,
    time_of,
    whole_number,
)

CHANNELS = ("gmail", "whatsapp", "paperless", "call_recording", "other")
"""origins by which the points of a collection are distinguished"""
GRAPH_FIELDS = ("asset_id", "parent_asset_id", "thread_id", "chunk_group_id")
UNIVERSAL_FIELDS = (
    "from",
    "subject",
    "timestamp",
    "parent_ref",
    "index_in_parent",
    "total_siblings",
    "content_type",
    "file_name",
)
PEOPLE_FIELDS = ("person_ids", "mentioned_person_ids")
OLD_VECTORS = ("relation_embedding", "notes_embedding", "description_embedding")
"""outdated vectors of relationships, one for each text: never read, and removed by the backfill"""

MAIL, ATTACHMENT, MESSAGE, RELATIONSHIP, OTHER = "email", "email_attachment", "whatsapp", "relationship", "legacy"
WINDOW = "conversation_chunk"
"""content_type of a point that repeats several messages of a chat"""
_TYPES = {"gmail": MAIL, "whatsapp": MESSAGE, "paperless": "paperless", "call_recording": "call_recording"}
_KNOWN_TYPES = {
    *(MAIL, ATTACHMENT, MESSAGE, "paperless", "call_recording", RELATIONSHIP),
    *("git_history", "meeting_transcript", "code", "documentation", "slack", "teams"),
}
_CHANNEL_OF = {
    "email": "gmail",
    "email_attachment": "gmail",
    "call": "call_recording",
    "call_recordings": "call_recording",
}
_SYNTHETIC = ("system", "entity_store")
"""`source` of points that the older system made for its own answers"""
_NOBODY = ("", "unknown", "none", "null")
_PART = re.compile(r"(?P<whole>.+?)(?:(?P<mark>[:#_-]chunk[:_-]?)|[:#])(?P<part>\d+)", re.DOTALL)
"""id of a part of a document: `12:chunk:3`, `12_chunk_3`; also `12:3`, `12#3` if it is known to be a part"""
_WHOLE = {"paperless": re.compile(r"\d+"), "call_recording": re.compile(r"[0-9a-f]{8,}")}
"""ids of whole documents, so that a number after one is a part's"""
_ATTACHED = ":att:"
"""separator between the id of a mail and the name of its attachment"""
_WORD = re.compile(r"[a-z][a-z_]*")


@dataclass(frozen=True)
class PointFields:
    """One point, in relrag's fields."""

    channel: str
    type: str
    """rag_source_type of its record"""
    asset_id: str
    text: str
    parent_asset_id: str | None = None
    thread_id: str | None = None
    position: int = 0
    """index among the points of its record"""
    is_window: bool = False
    ts: int | None = None
    date_quality: str = "exact"
    universal: Mapping[str, Any] = field(default_factory=dict)
    """its UNIVERSAL_FIELDS except the timestamp"""
    to: tuple[str, ...] = ()
    participants: tuple[str, ...] = ()
    people: tuple[tuple[str, str], ...] = ()
    """role and name"""
    about: Mapping[str, Any] = field(default_factory=dict)
    """client_id, project_id, source_uri and language"""
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def native_id(self) -> str:
        """The asset_id after its first colon."""
        return self.asset_id.partition(":")[2]


def parse(point_id: int | str, payload: Mapping[str, Any], timezone: str) -> PointFields | None:
    """The fields of a point; None for a point that the older system made for its own use.

    Raises PayloadError for an unreadable payload, so that it costs no more than its own point.
    """
    try:
        return _parse(point_id, payload, timezone)
    except Exception:  # noqa: BLE001  the values are anybody's, and so are the faults; their text is private
        raise PayloadError from None


def _parse(point_id: int | str, payload: Mapping[str, Any], timezone: str) -> PointFields | None:
    fields = in_snake_case(payload)
    source = str(fields.get("source") or "").lower()
    if source in _SYNTHETIC:
        return None
    type_name = str(first_of(fields, "rag_source_type", "source_type") or "").lower()
    channel = _channel(source) or _channel(type_name) or "other"
    if channel == "other" and "relationship_type" in fields:
        return _relationship(point_id, fields)
    asset_id, position = _asset_id(point_id, fields, channel, source)
    parent = _parent(fields, asset_id, channel, type_name)
    type_ = _type(channel, type_name, parent)
    is_window = fields.get("content_type") == WINDOW
    ts, quality = time_of(fields, timezone)
    thread = first_of(fields, *(("chat_id", "thread_id") if channel == "whatsapp" else ("thread_id",)))
    return PointFields(
        channel=channel,
        type=OTHER if is_window else type_,
        asset_id=asset_id,
        text=text_of(fields),
        parent_asset_id=parent,
        thread_id=None if thread is None else str(thread),
        position=position,
        is_window=is_window,
        ts=ts,
        date_quality=quality,
        universal=_universal(fields, type_, asset_id, parent),
        to=_names(fields.get("to")),
        participants=_names(fields.get("participants")),
        people=_people(fields, channel),
        about=_context_fields(fields),
        extra=_rest(fields),
    )


def _channel(word: str) -> str:
    return word if word in CHANNELS else _CHANNEL_OF.get(word, "")


def _asset_id(point_id: int | str, fields: Mapping[str, Any], channel: str, source: str) -> tuple[str, int]:
    """The id of the record that a point belongs to, and the point's index in it."""
    stored_id = first_of(fields, "source_id", "email_message_id", "source_uri", "document_id", "doc_id", "ref_doc_id")
    native = str(point_id if stored_id is None else stored_id)
    if channel == "gmail":
        native = native.strip().removeprefix("<").removesuffix(">")
        if "source_id" not in fields and (index := whole_number(fields.get("attachment_index"))) is not None:
            native = f"{native}:{index}"  # as for the parts of a mail in a mailbox
    position = whole_number(first_of(fields, "chunk_index", "chunk_id"))
    prefix = channel if channel != "other" else source if _WORD.fullmatch(source) else OTHER
    native = native.removeprefix(f"{prefix}:").removeprefix(f"{source}:")
    if channel not in ("gmail", "whatsapp"):
        native, position = _split_part(native, channel, position)
    return f"{prefix}:{native}", position or 0


def _split_part(native: str, channel: str, position: int | None) -> tuple[str, int | None]:
    """Splits the id of a part into the document's id and the index; other ids are returned with `position`."""
    part = _PART.fullmatch(native)
    if not part:
        return native, position
    number = whole_number(part["part"])
    follows_whole_id = channel in _WHOLE and _WHOLE[channel].fullmatch(part["whole"])
    if number is None or not (part["mark"] or follows_whole_id or number == position):
        return native, position
    return part["whole"], number if position is None else position


def _parent(fields: Mapping[str, Any], asset_id: str, channel: str, type_name: str) -> str | None:
    if (parent := first_of(fields, "parent_source_id")) is not None:
        prefix = asset_id.partition(":")[0]
        return f"{prefix}:{str(parent).removeprefix(f'{prefix}:')}"
    if channel == "gmail" and _ATTACHED in asset_id:
        return asset_id.partition(_ATTACHED)[0]
    if type_name == ATTACHMENT:
        return asset_id.rpartition(":")[0] if first_of(fields, "email_message_id") else None
    return None


def _type(channel: str, type_name: str, parent: str | None) -> str:
    if channel == "gmail":
        return ATTACHMENT if parent or type_name == ATTACHMENT else MAIL
    return _TYPES.get(channel) or (type_name if type_name in _KNOWN_TYPES else OTHER)


def _universal(fields: Mapping[str, Any], type_: str, asset_id: str, parent: str | None) -> dict[str, Any]:
    name = first_of(fields, "file_name", "attachment_file_name", "attachment_name")
    subject = first_of(fields, "subject", "email_subject", "title", "chat_name")
    if type_ == ATTACHMENT and subject and name:
        subject = str(subject).removesuffix(f" \u2014 {name}")
    is_mail = type_ in (MAIL, ATTACHMENT)
    values = {
        "from": _sender(fields),
        "subject": subject,
        "parent_ref": first_of(fields, "parent_ref") or ((parent or asset_id).partition(":")[2] if is_mail else None),
        "index_in_parent": whole_number(first_of(fields, "index_in_parent", "attachment_index")),
        "total_siblings": whole_number(first_of(fields, "total_siblings", "total_attachments")),
        "content_type": _content_type(fields, type_),
        "file_name": name,
    }
    present = {key: value for key, value in values.items() if value is not None}
    return {key: value if isinstance(value, int) else str(value) for key, value in present.items()}


def _content_type(fields: Mapping[str, Any], type_: str) -> Any:
    """The MIME type that a point states, or what one with a rag_source_type states; HTML for a mail without one."""
    if mime := first_of(fields, "mime_type", "attachment_mime_type", "audio_format", "file_type"):
        return mime
    content_type = fields.get("content_type")
    if content_type and ("/" in str(content_type) or first_of(fields, "rag_source_type")):
        return content_type
    return "text/html" if type_ == MAIL else None


def _sender(fields: Mapping[str, Any]) -> str | None:
    sender = first_of(fields, "from", "email_from", "sender", "author")
    if isinstance(sender, list):
        sender = ", ".join(map(str, sender))
    return None if sender is None or str(sender).strip().lower() in _NOBODY else str(sender)


def _people(fields: Mapping[str, Any], channel: str) -> tuple[tuple[str, str], ...]:
    """A sender whose phone number the point states: the other party of a call or of a chat between two."""
    sender = _sender(fields)
    if not sender:
        return ()
    if channel == "whatsapp" and not fields.get("is_group"):
        user, _, server = str(fields.get("chat_id") or "").partition("@")
        if user.isdecimal() and server in ("c.us", "s.whatsapp.net") and sender == fields.get("chat_name"):
            return (("sender", f"{sender} +{user}"),)
    if channel == "call_recording" and (phone := first_of(fields, "phone_number")):
        return (("sender", f"{sender} {phone}"),)
    return ()


def _names(value: Any) -> tuple[str, ...]:
    values = value if isinstance(value, list) else [value] if value else []
    return tuple(str(name) for name in values if str(name).strip().lower() not in _NOBODY)


def _notes(value: Any) -> tuple[str, ...]:
    """The texts of notes: older systems store each as text, or as an object with its text and when it was written."""
    values = value if isinstance(value, list) else [value]
    texts = (first_of(note, "content", "text", "note") if isinstance(note, dict) else note for note in values)
    return _names([text for text in texts if isinstance(text, str)])


def _context_fields(fields: Mapping[str, Any]) -> dict[str, str]:
    names = ("client_id", "project_id", "source_uri", "language")
    return {name: str(fields[name]) for name in names if fields.get(name) not in (None, "")}


_READ = {
    *GRAPH_FIELDS, *UNIVERSAL_FIELDS, *PEOPLE_FIELDS, *OLD_VECTORS,
    "source", "source_id", "source_type", "rag_source_type", "parent_source_id", "chat_id", "sender", "author", "to",
    "participants", "message", "text", "content", "summary", "created_at", "indexed_at", "date", "document_id",
    "doc_id", "ref_doc_id", "chunk_index", "chunk_total", "total_chunks", "chunk_id", "chunk_of", "title", "chat_name",
    "mime_type", "audio_format", "file_type", "attachment_name", "attachment_index", "attachment_file_name",
    "attachment_mime_type", "total_attachments", "email_message_id", "email_from", "email_subject",
    "email_received_at", "client_id", "project_id", "source_uri", "language", "phone_number", "vector_store_ids",
}  # fmt: skip


def _rest(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Values that have no field of their own."""
    return {
        name: value
        for name, value in sorted(fields.items())
        if name not in _READ and not name.startswith("_") and name == snake_case(name)
        if value not in (None, "", [], {})
    }


def _relationship(point_id: int | str, fields: Mapping[str, Any]) -> PointFields:
    """A relationship as a record that states one, from which people and relationships are made."""
    ends = {f"{end}_name": first_of(fields, f"{end}_name", f"{end}_entity_name") for end in ("from", "to")}
    people = [("mentioned", str(name)) for name in ends.values() if name]
    properties = ("relationship_type", "description", "attitude", "proximity")
    relationship = ends | {name: fields.get(name) for name in properties}
    notes = _notes(fields.get("notes"))
    parts = [str(part).rstrip(".") for part in (fields.get("description"), *notes) if part]
    return PointFields(
        channel="other",
        type=RELATIONSHIP,
        asset_id=f"{OTHER}:{first_of(fields, 'source_id') or point_id}",
        text="".join(f"{part}. " for part in parts).strip(),
        date_quality="none",
        universal={"subject": " - ".join(name for _, name in people)} if people else {},
        people=tuple(people),
        about=_context_fields(fields),
        extra={"relationship": relationship | {"notes": list(notes)}},
    )
