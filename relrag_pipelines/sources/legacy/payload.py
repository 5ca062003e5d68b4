"""Reads the payload of one point: ids, relations, universal fields, people and text. Pure.

Two older systems wrote such payloads. One has `source`, `source_id`, `chat_id`, `sender`, `message` and, for what is
cut into several points, `chunk_index`; its points come from LlamaIndex, with the text in `_node_content` too. The other
has names in camel case (`ragSourceType`, `emailMessageId`, `summary`). What is read here does not differ for a point
that the backfill has written its fields into, so a collection reads the same before and after.
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
"""what the points of a collection are told apart by: where they came from"""
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
"""vectors of relationships as they were before there was one of each: never read, and dropped by the backfill"""

MAIL, ATTACHMENT, MESSAGE, RELATIONSHIP, OTHER = "email", "email_attachment", "whatsapp", "relationship", "legacy"
WINDOW = "conversation_chunk"
"""content_type of a point that repeats several messages of a chat"""
_TYPES = {"gmail": MAIL, "whatsapp": MESSAGE, "paperless": "paperless", "call_recording": "call_recording"}
_KNOWN_TYPES = {
    *(MAIL, ATTACHMENT, MESSAGE, "paperless", "call_recording", RELATIONSHIP),
    *("git_history", "meeting_transcript", "code", "documentation"),
}
_CHANNEL_OF = {
    "email": "gmail",
    "email_attachment": "gmail",
    "call": "call_recording",
    "call_recordings": "call_recording",
}
_SYNTHETIC = ("system", "entity_store")
"""`source` of what the older system made for its own answers"""
_NOBODY = ("", "unknown", "none", "null")
_PART = re.compile(r"(?P<whole>.+?)(?:(?P<mark>[:#_-]chunk[:_-]?)|[:#])(?P<part>\d+)", re.DOTALL)
"""an id of the part of a document: `12:chunk:3`, `12_chunk_3`; and `12:3`, `12#3` where it is known to be one"""
_WHOLE = {"paperless": re.compile(r"\d+"), "call_recording": re.compile(r"[0-9a-f]{8,}")}
"""what an id of a whole looks like, so that a number behind it is that of a part"""
_ATTACHED = ":att:"
"""between the id of a mail and the name of a file that came with it"""
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
    """place among the points of its record"""
    is_window: bool = False
    ts: int | None = None
    date_quality: str = "exact"
    universal: Mapping[str, Any] = field(default_factory=dict)
    """UNIVERSAL_FIELDS that it has, but for the timestamp"""
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
    """The fields of a point; None for one that the older system made for its own use.

    Raises PayloadError where that cannot be told: whatever an older system stored, it costs one point at most.
    """
    try:
        return _parse(point_id, payload, timezone)
    except Exception:  # noqa: BLE001  the values are anybody's, and so are the faults; their text is private
        raise PayloadError from None


def _parse(point_id: int | str, payload: Mapping[str, Any], timezone: str) -> PointFields | None:
    said = in_snake_case(payload)
    source = str(said.get("source") or "").lower()
    if source in _SYNTHETIC:
        return None
    named = str(first_of(said, "rag_source_type", "source_type") or "").lower()
    channel = next((one for one in map(_channel, (source, named)) if one), "other")
    if channel == "other" and "relationship_type" in said:
        return _relationship(point_id, said)
    asset_id, position = _asset_id(point_id, said, channel, source)
    parent = _parent(said, asset_id, channel, named)
    type_ = _type(channel, named, parent)
    is_window = said.get("content_type") == WINDOW
    ts, quality = time_of(said, timezone)
    thread = first_of(said, *(("chat_id", "thread_id") if channel == "whatsapp" else ("thread_id",)))
    return PointFields(
        channel=channel,
        type=OTHER if is_window else type_,
        asset_id=asset_id,
        text=text_of(said),
        parent_asset_id=parent,
        thread_id=None if thread is None else str(thread),
        position=position,
        is_window=is_window,
        ts=ts,
        date_quality=quality,
        universal=_universal(said, type_, asset_id, parent),
        to=_names(said.get("to")),
        participants=_names(said.get("participants")),
        people=_people(said, channel),
        about=_context_fields(said),
        extra=_rest(said),
    )


def _channel(word: str) -> str:
    return word if word in CHANNELS else _CHANNEL_OF.get(word, "")


def _asset_id(point_id: int | str, said: Mapping[str, Any], channel: str, source: str) -> tuple[str, int]:
    """The record that a point belongs to, and its place in it."""
    given = first_of(said, "source_id", "email_message_id", "source_uri", "document_id", "doc_id", "ref_doc_id")
    native = str(point_id if given is None else given)
    if channel == "gmail":
        native = native.strip().removeprefix("<").removesuffix(">")
        if "source_id" not in said and (index := whole_number(said.get("attachment_index"))) is not None:
            native = f"{native}:{index}"  # as the parts of a mail are called that is read from a mailbox
    place = whole_number(first_of(said, "chunk_index", "chunk_id"))
    prefix = channel if channel != "other" else source if _WORD.fullmatch(source) else OTHER
    native = native.removeprefix(f"{prefix}:").removeprefix(f"{source}:")
    if channel not in ("gmail", "whatsapp") and (part := _PART.fullmatch(native)):
        known = channel in _WHOLE and _WHOLE[channel].fullmatch(part["whole"])
        number = whole_number(part["part"])
        if number is not None and (part["mark"] or known or number == place):
            native, place = part["whole"], number if place is None else place
    return f"{prefix}:{native}", place or 0


def _parent(said: Mapping[str, Any], asset_id: str, channel: str, named: str) -> str | None:
    if (given := first_of(said, "parent_source_id")) is not None:
        prefix = asset_id.partition(":")[0]
        return f"{prefix}:{str(given).removeprefix(f'{prefix}:')}"
    if channel == "gmail" and _ATTACHED in asset_id:
        return asset_id.partition(_ATTACHED)[0]
    if named == ATTACHMENT:
        return asset_id.rpartition(":")[0] if first_of(said, "email_message_id") else None
    return None


def _type(channel: str, named: str, parent: str | None) -> str:
    if channel == "gmail":
        return ATTACHMENT if parent or named == ATTACHMENT else MAIL
    return _TYPES.get(channel) or (named if named in _KNOWN_TYPES else OTHER)


def _universal(said: Mapping[str, Any], type_: str, asset_id: str, parent: str | None) -> dict[str, Any]:
    name = first_of(said, "file_name", "attachment_file_name", "attachment_name")
    subject = first_of(said, "subject", "email_subject", "title", "chat_name")
    if type_ == ATTACHMENT and subject and name:
        subject = str(subject).removesuffix(f" \u2014 {name}")
    mime = first_of(said, "mime_type", "attachment_mime_type", "audio_format", "file_type")
    written = said.get("content_type")
    is_mail = type_ in (MAIL, ATTACHMENT)
    found = {
        "from": _sender(said),
        "subject": subject,
        "parent_ref": first_of(said, "parent_ref") or ((parent or asset_id).partition(":")[2] if is_mail else None),
        "index_in_parent": whole_number(first_of(said, "index_in_parent", "attachment_index")),
        "total_siblings": whole_number(first_of(said, "total_siblings", "total_attachments")),
        "content_type": mime or (written if "/" in str(written) else None) or ("text/html" if type_ == MAIL else None),
        "file_name": name,
    }
    found |= {key: str(value) for key, value in found.items() if value is not None and not isinstance(value, int)}
    return {key: value for key, value in found.items() if value is not None}


def _sender(said: Mapping[str, Any]) -> str | None:
    sender = first_of(said, "from", "email_from", "sender", "author")
    if isinstance(sender, list):
        sender = ", ".join(map(str, sender))
    return None if sender is None or str(sender).strip().lower() in _NOBODY else str(sender)


def _people(said: Mapping[str, Any], channel: str) -> tuple[tuple[str, str], ...]:
    """Somebody whose number the point tells beside the name: the other party of a chat between two, or of a call."""
    sender = _sender(said)
    if channel == "whatsapp" and not said.get("is_group"):
        user, _, server = str(said.get("chat_id") or "").partition("@")
        if user.isdecimal() and server in ("c.us", "s.whatsapp.net") and sender and sender == said.get("chat_name"):
            return (("sender", f"{sender} +{user}"),)
    if channel == "call_recording" and sender and (phone := first_of(said, "phone_number")):
        return (("sender", f"{sender} {phone}"),)
    return ()


def _names(value: Any) -> tuple[str, ...]:
    listed = value if isinstance(value, list) else [value] if value else []
    return tuple(str(one) for one in listed if str(one).strip().lower() not in _NOBODY)


def _context_fields(said: Mapping[str, Any]) -> dict[str, str]:
    names = ("client_id", "project_id", "source_uri", "language")
    return {name: str(said[name]) for name in names if said.get(name) not in (None, "")}


_READ = {
    *GRAPH_FIELDS, *UNIVERSAL_FIELDS, *PEOPLE_FIELDS, *OLD_VECTORS,
    "source", "source_id", "source_type", "rag_source_type", "parent_source_id", "chat_id", "sender", "author", "to",
    "participants", "message", "text", "content", "summary", "created_at", "indexed_at", "date", "document_id",
    "doc_id", "ref_doc_id", "chunk_index", "chunk_total", "total_chunks", "chunk_id", "chunk_of", "title", "chat_name",
    "mime_type", "audio_format", "file_type", "attachment_name", "attachment_index", "attachment_file_name",
    "attachment_mime_type", "total_attachments", "email_message_id", "email_from", "email_subject",
    "email_received_at", "client_id", "project_id", "source_uri", "language", "phone_number", "vector_store_ids",
}  # fmt: skip


def _rest(said: Mapping[str, Any]) -> dict[str, Any]:
    """Values that have no field of their own."""
    return {
        name: value
        for name, value in sorted(said.items())
        if name not in _READ and not name.startswith("_") and name == snake_case(name)
        if value not in (None, "", [], {})
    }


def _relationship(point_id: int | str, said: Mapping[str, Any]) -> PointFields:
    """A relationship as a record that states one, from which people and relationships are made."""
    ends = {f"{end}_name": first_of(said, f"{end}_name", f"{end}_entity_name") for end in ("from", "to")}
    named = [("mentioned", str(name)) for name in ends.values() if name]
    kept = ("relationship_type", "description", "attitude", "proximity")
    told = ends | {name: said.get(name) for name in kept}
    notes = _names(said.get("notes"))
    parts = [str(one).rstrip(".") for one in (said.get("description"), *notes) if one]
    return PointFields(
        channel="other",
        type=RELATIONSHIP,
        asset_id=f"{OTHER}:{first_of(said, 'source_id') or point_id}",
        text="".join(f"{part}. " for part in parts).strip(),
        date_quality="none",
        universal={"subject": " - ".join(name for _, name in named)} if named else {},
        people=tuple(named),
        about=_context_fields(said),
        extra={"relationship": told | {"notes": list(notes)}},
    )
