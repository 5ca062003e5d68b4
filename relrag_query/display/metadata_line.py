"""The compact line of a passage's metadata: `type=email; from=...; subj=...; when=2025-01-15; related=1`.

Current field names are read first; if one is missing, the e-mail field of older indexes that it replaced.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from relrag_pipelines.sources import RecordType, record_type
from relrag_pipelines.text import citation_marks
from relrag_query.retrieval.hit import Hit

_SUBJECT_LENGTH = 50
_COMMIT_LENGTH = 8

_LEGACY_FIELDS = {
    "from": "emailFrom",
    "subject": "emailSubject",
    "timestamp": "emailReceivedAt",
    "total_siblings": "totalAttachments",
    "index_in_parent": "attachmentIndex",
    "file_name": "attachmentFileName",
}
_ADDRESS = re.compile(r"[^<]+<(.+)>\s*")
"""a commit's author, `Name <address>`; a redacted address is itself in angle brackets"""


def metadata_line(metadata: Mapping[str, Any]) -> dict[str, str]:
    """The parts of the line, in order.

    Field names are those of the chunks table, or their camelCase form in older indexes. An attachment's index and
    file are part of its type, and its mail shows the number of siblings, so they are not repeated.
    """
    kind = record_type(str(_field(metadata, "rag_source_type") or "").lower())
    attachment_parts = {
        "index": _number(_field(metadata, "index_in_parent")),
        "file": _field(metadata, "file_name") or "",
    }
    attachment = "{" in kind.label
    related = _number(_field(metadata, "total_siblings"))
    parts = {
        "type": kind.label.format(index=attachment_parts["index"] or "?", file=attachment_parts["file"] or "unknown")
        or kind.name,
        "from": citation_marks.disarm(_from(metadata, kind)),
        "subj": citation_marks.disarm((_field(metadata, "subject") or "")[:_SUBJECT_LENGTH]),
        "when": (_field(metadata, "timestamp") or "").partition("T")[0],
        "related": "" if attachment or related == "0" else related,
        "index": "" if attachment else attachment_parts["index"],
        "uri": _field(metadata, "source_uri"),
        "file": "" if attachment else attachment_parts["file"],
        "commit": (_field(metadata, "git_commit_hash") or "")[:_COMMIT_LENGTH],
        "class": _field(metadata, "class_name"),
        "method": _field(metadata, "method_name"),
    }
    return {name: value for name, value in parts.items() if value}


def line(metadata: Mapping[str, Any]) -> str:
    """The compact line of a passage with these fields."""
    return "; ".join(f"{name}={value}" for name, value in metadata_line(metadata).items())


def hit_line(hit: Hit) -> str:
    """The compact line of a hit."""
    chunk = hit.chunk
    return line(
        {**hit.extra}
        | {
            "rag_source_type": chunk.rag_source_type,
            "from": chunk.from_,
            "participants": chunk.participants,
            "subject": chunk.subject,
            "timestamp": chunk.timestamp,
            "total_siblings": chunk.total_siblings,
            "index_in_parent": chunk.index_in_parent,
            "source_uri": chunk.source_uri,
            "file_name": chunk.file_name,
        }
    )


def _from(metadata: Mapping[str, Any], kind: RecordType) -> str:
    participants = metadata.get("participants") or ()
    if participants and (kind.from_all or not _field(metadata, "from")):
        return ",".join(participants)
    sender = _field(metadata, "from") or ""
    address = _ADDRESS.fullmatch(sender) if kind.from_address else None
    return address[1] if address else sender


def _field(metadata: Mapping[str, Any], name: str) -> Any:
    head, *tail = name.split("_")
    camel = head + "".join(part.capitalize() for part in tail)
    for key in (name, camel, _LEGACY_FIELDS.get(name, name)):
        if metadata.get(key) not in (None, ""):
            return metadata[key]
    return None


def _number(value: Any) -> str:
    return "" if value is None else str(value)
