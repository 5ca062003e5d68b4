"""Make collections as an older system leaves them in Qdrant, with qdrant-client: samples/older and archive/older.

    python examples/make_collection.py

The results are committed; docs/sources.md shows what is read of the first, the second belongs to the demo archive.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from qdrant_client import QdrantClient, models

HERE = Path(__file__).resolve().parent
SAMPLES = [
    {
        "source": "telegram",
        "source_id": "telegram:71:4",
        "parent_source_id": "telegram:71:3",
        "thread_id": "71",
        "chat_name": "Garden",
        "sender": "Dana Levi",
        "to": ["Petr Kolar"],
        "participants": ["Dana Levi", "Petr Kolar"],
        "timestamp": 1715938200,
        "language": "en",
        "message": "The plums are ripe; the receipt of the ladder is INV-2044.",
    },
    {
        "source": "telegram",
        "source_id": "telegram:71:3",
        "thread_id": "71",
        "chat_name": "Garden",
        "sender": "Petr Kolar",
        "timestamp": 1715938140,
        "message": "Shall I bring the ladder?",
    },
]
DEMO = [
    {
        "source": "telegram",
        "source_id": "telegram:5:1",
        "thread_id": "5",
        "chat_name": "Birds of the Yarkon",
        "sender": "Yael Mor",
        "timestamp": 1709276400,
        "language": "en",
        "message": "Two kingfishers at the bridge this morning. Bring the long lens tomorrow?",
    },
    {
        "source": "telegram",
        "source_id": "telegram:5:2",
        "parent_source_id": "telegram:5:1",
        "thread_id": "5",
        "chat_name": "Birds of the Yarkon",
        "sender": "Jonah",
        "timestamp": 1709277000,
        "language": "en",
        "message": "Gladly. I can be at the mill by six, before the joggers wake the herons.",
    },
]
COLLECTIONS = {HERE / "samples" / "older": SAMPLES, HERE / "archive" / "older": DEMO}
"""folder -> payloads of its points"""


def main() -> None:
    for folder, payloads in COLLECTIONS.items():
        make(folder, payloads)


def make(folder: Path, payloads: list[dict[str, object]]) -> None:
    """Writes the folder anew, with one collection of a point for each payload."""
    shutil.rmtree(folder, ignore_errors=True)
    client = QdrantClient(path=str(folder))
    client.create_collection("memory", vectors_config=models.VectorParams(size=2, distance=models.Distance.COSINE))
    client.upsert(
        "memory",
        [models.PointStruct(id=number, vector=[0.6, 0.8], payload=one) for number, one in enumerate(payloads, 1)],
    )
    client.close()
    (folder / ".lock").unlink()


if __name__ == "__main__":
    main()
