"""Collections as older systems left them in Qdrant, made with its own client."""

from __future__ import annotations

import json
import tempfile
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from qdrant_client import QdrantClient, models

from relrag_pipelines.settings import Source
from relrag_pipelines.stores import catalog, generations
from relrag_pipelines.workspace import Workspace
from tests import archive

NAME = "memory"
CONFIG = """
archive = "test"
keys_file = "test.keys"
owner = "Jonah Pickel"
pii_redaction_enabled = true
embedder = "none"

[[sources]]
name = "older"
kind = "legacy"
"""
"""relrag.toml of an archive of such a collection, without where that is"""
DANA = "972521234567@c.us"
HIKERS = "120363041234567890@g.us"

POINTS: list[dict[str, Any]] = [
    # a chat between two: the sender is the other party, whose number is the chat's id
    {"source": "whatsapp", "source_id": f"{DANA}:1708012800", "content_type": "text", "chat_id": DANA,
     "chat_name": "Dana Levi", "is_group": False, "sender": "Dana Levi", "timestamp": 1708012800,
     "message": "The walnut table goes to aunt Rivka", "thread_id": "session-77"},
    {"source": "whatsapp", "source_id": f"{DANA}:1708012860", "content_type": "text", "chat_id": DANA,
     "chat_name": "Dana Levi", "is_group": False, "sender": "Jonah Pickel", "timestamp": 1708012860,
     "message": "And who gets the piano?"},
    # two messages of one second
    {"source": "whatsapp", "source_id": f"{HIKERS}:1708099200", "content_type": "text", "chat_id": HIKERS,
     "chat_name": "Hikers", "is_group": True, "sender": "Petr Kolar", "timestamp": 1708099200,
     "message": "The hut on the saddle is closed until May"},
    {"source": "whatsapp", "source_id": f"{HIKERS}:1708099200", "content_type": "text", "chat_id": HIKERS,
     "chat_name": "Hikers", "is_group": True, "sender": "Dana Levi", "timestamp": 1708099200,
     "message": "Then we sleep in the valley"},
    # what repeats two messages, so that they are found together
    {"source": "whatsapp", "source_id": f"chunk:{DANA}:1708012800:1708012860", "content_type": "conversation_chunk",
     "chat_id": DANA, "chat_name": "Dana Levi", "sender": "Dana Levi, Jonah Pickel", "timestamp": 1708012860,
     "message": "Dana Levi: The walnut table goes to aunt Rivka\nJonah Pickel: And who gets the piano?"},
    # two mails of a thread, the first in two parts that overlap, with a file
    {"source": "gmail", "source_id": "gmail:18d1", "thread_id": "18d0", "chat_name": "Roof of the cabin",
     "sender": "Ota Kral <ota@roofs.example>", "to": ["jonah@pickel.example"], "timestamp": 1708423200,
     "message": "The roof of the cabin costs 84,000. We can begin on the third of June.", "chunk_index": "0",
     "chunk_total": "2", "content_type": "text"},
    {"source": "gmail", "source_id": "gmail:18d1", "thread_id": "18d0", "chat_name": "Roof of the cabin",
     "sender": "Ota Kral <ota@roofs.example>", "to": ["jonah@pickel.example"], "timestamp": 1708423200,
     "message": "We can begin on the third of June. Scaffolding is included.", "chunk_index": "1",
     "chunk_total": "2", "content_type": "text"},
    {"source": "gmail", "source_id": "gmail:18d2", "thread_id": "18d0", "chat_name": "Re: Roof of the cabin",
     "sender": "Jonah Pickel <jonah@pickel.example>", "timestamp": 1708426800, "message": "Agreed, the third of June.",
     "content_type": "text"},
    {"source": "gmail", "source_id": "gmail:18d1:att:offer.pdf", "parent_source_id": "gmail:18d1",
     "chat_name": "Roof of the cabin — offer.pdf", "attachment_name": "offer.pdf", "thread_id": "18d0",
     "sender": "Ota Kral <ota@roofs.example>", "timestamp": 1708423200, "content_type": "document",
     "message": "Offer 2024/117: larch shingles, gutters of copper."},
    # a scanned document in three points, without an order
    *({"source": "paperless", "source_id": "paperless:42", "chat_name": "Lease of the orchard", "sender": "Unknown",
       "timestamp": 1704067200, "message": text, "chunk_index": str(index), "chunk_total": "3", "file_type": "pdf"}
      for index, text in ((2, "The tenant prunes the pears."), (0, "Lease of the orchard at Lhota."),
                          (1, "Card 4111 1111 1111 1111 pays the deposit."))),
    # a call in two points, whose text stands in LlamaIndex's node alone
    *({"source": "call_recording", "source_id": f"call_recording:9f8e7d6c5b4a:{index}", "timestamp": 1709280000,
       "sender": "Alex Rubin", "participants": ["Alex Rubin", "Jonah Pickel"], "phone_number": "+420 601 234 567",
       "_node_content": json.dumps({"text": text})}
      for index, text in ((0, "The beekeeper comes on Monday."), (1, "Bring the smoker and the veils."))),
    # the other system: names in camel case, fields of mails
    {"ragSourceType": "EMAIL", "clientId": "c1", "summary": "The pump arrives in week 12.", "chunkId": 0, "chunkOf": 1,
     "emailMessageId": "<pump-1@firma.example>", "emailFrom": "dodavatel@firma.example",
     "emailSubject": "Sanitární čerpadlo", "emailReceivedAt": "2025-01-15T09:12:00Z", "totalAttachments": 1},
    {"ragSourceType": "EMAIL_ATTACHMENT", "clientId": "c1", "summary": "GRUNDFOS UP 20-30, 12.500 Kč",
     "emailMessageId": "<pump-1@firma.example>", "emailFrom": "dodavatel@firma.example",
     "emailSubject": "Sanitární čerpadlo", "emailReceivedAt": "2025-01-15T09:12:00Z", "attachmentIndex": 0,
     "attachmentFileName": "faktura.pdf", "attachmentMimeType": "application/pdf", "totalAttachments": 1},
    {"ragSourceType": "GIT_HISTORY", "clientId": "c1", "from": "Jan Novák", "subject": "Fix authorization",
     "sourceUri": "git://firma/web/a3b2c1d8", "gitCommitHash": "a3b2c1d8e4f7a90b5c6d1e2f3a4b8c9d0e1f2a3b",
     "timestamp": "2025-01-10T08:00:00Z", "summary": "Validates tokens before access."},
    # a relationship with the vectors that each of its texts once had
    {"relationship_type": "mentor", "from_name": "Jonah Pickel", "to_name": "Alex Rubin", "attitude": 5, "proximity": 4,
     "description": "Jonah's mentor from college", "notes": ["They meet monthly"],
     "relation_embedding": [0.1, 0.2], "notes_embedding": [0.3, 0.4]},
    # what the older system told itself
    {"source": "entity_store", "message": "Known facts: none"},
]  # fmt: skip


def make(folder: Path, payloads: Iterable[dict[str, Any]] = POINTS, *, old_vectors: bool = False) -> Path:
    """A collection of local mode in that folder, its points numbered from 1; returns the folder."""
    client = QdrantClient(path=str(folder))
    fill(client, payloads, old_vectors=old_vectors)
    client.close()
    return folder


def storage(payloads: Iterable[dict[str, Any]]) -> bytes:
    """The file in which such a collection lies."""
    with tempfile.TemporaryDirectory() as folder:
        return (make(Path(folder), payloads) / "collection" / NAME / "storage.sqlite").read_bytes()


def fill(client: QdrantClient, payloads: Iterable[dict[str, Any]] = POINTS, *, old_vectors: bool = False) -> None:
    """Makes the collection."""
    size = models.VectorParams(size=2, distance=models.Distance.COSINE)
    named = {"dense": size} | ({"relation_embedding": size} if old_vectors else {})
    client.create_collection(NAME, vectors_config=named)
    vectors: Any = {name: [0.6, 0.8] for name in named}
    points = [models.PointStruct(id=number, vector=vectors, payload=one) for number, one in enumerate(payloads, 1)]
    if points:
        client.upsert(NAME, points)


def payloads(folder: Path) -> dict[int, dict[str, Any]]:
    """What the points hold, by their numbers, as qdrant-client reads it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        client = QdrantClient(path=str(folder))
        try:
            return of(client)
        finally:
            client.close()


def of(client: QdrantClient) -> dict[int, dict[str, Any]]:
    """The same of a client."""
    found, _ = client.scroll(NAME, limit=100_000)
    return {int(one.id): one.payload or {} for one in found}


def archived(config: Path) -> tuple[Workspace, Source]:
    """The archive, and its source of an older system."""
    workspace = archive.workspace(config)
    return workspace, workspace.settings.source("older")


def edges(config: Path) -> list[tuple[str, str, str]]:
    """What the catalog says belongs together."""
    with (
        generations.open_current(archive.home(config.parent)) as current,
        catalog.open(current.path / catalog.NAME) as opened,
    ):
        query = "SELECT src_asset_ref, relation_type, dst_asset_ref FROM asset_asset_edges ORDER BY ALL"
        return opened.sql(query).fetchall()
