"""Make samples/older, a collection as an older system leaves it in Qdrant, with qdrant-client.

    python examples/make_collection.py

The result is committed; docs/sources.md shows what is read of it.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from qdrant_client import QdrantClient, models

FOLDER = Path(__file__).resolve().parent / "samples" / "older"
POINTS = [
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


def main() -> None:
    shutil.rmtree(FOLDER, ignore_errors=True)
    client = QdrantClient(path=str(FOLDER))
    client.create_collection("memory", vectors_config=models.VectorParams(size=2, distance=models.Distance.COSINE))
    client.upsert(
        "memory",
        [models.PointStruct(id=number, vector=[0.6, 0.8], payload=one) for number, one in enumerate(POINTS, 1)],
    )
    client.close()
    (FOLDER / ".lock").unlink()


if __name__ == "__main__":
    main()
