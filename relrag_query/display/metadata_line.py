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
_ATTACHMENT_PARTS = frozenset({"related", "index", "file"})
"""parts that the type of an attachment says, or the line of its mail"""
_ADDRESS = re.compile(r"[^<]+<(.+)>\s*")
"""a commit's author, `Name <address>`; a redacted address is itself in angle brackets"""


def metadata_line(metadata: Mapping[str, Any]) -> dict[str, str]:
    """The parts of the line, in order.

    Field names are those of the chunks table, or their camelCase form in older indexes. An attachment's index and
    file are part of its type, and its mail shows the number of siblings, so they are not repeated.
    """
    kind = record_type(_text(metadata, "rag_source_type").lower())
    index, file = _number(_field(metadata, "index_in_parent")), _text(metadata, "file_name")
    related = _number(_field(metadata, "total_siblings"))
    parts = {
        "type": kind.label.format(index=index or "?", file=file or "unknown") or kind.name,
        "from": citation_marks.disarm(_from(metadata, kind)),
        "subj": citation_marks.disarm(_text(metadata, "subject")[:_SUBJECT_LENGTH]),
        "when": _text(metadata, "timestamp").partition("T")[0],
        "related": "" if related == "0" else related,
        "index": index,
        "uri": _field(metadata, "source_uri"),
        "file": file,
        "commit": _text(metadata, "git_commit_hash")[:_COMMIT_LENGTH],
        "class": _field(metadata, "class_name"),
        "method": _field(metadata, "method_name"),
    }
    repeated = _ATTACHMENT_PARTS if "{" in kind.label else frozenset()
    return {name: value for name, value in parts.items() if value and name not in repeated}


def _text(metadata: Mapping[str, Any], name: str) -> str:
    return str(_field(metadata, name) or "")


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
