"""A small file in place of the store, which says where on a server a generation's vectors are."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from relrag_pipelines.files.atomic import write_text

NAME = "collection.json"
"""in the folder of the store; it is there before anything is on the server"""


@dataclass(frozen=True)
class CollectionRef:
    """A collection on a Qdrant server, as one generation sees it."""

    url: str
    """of the server, without key"""
    name: str
    generation: int
    """number of the generation: generations built on top of each other share a collection"""
    points: int | None = None
    """how many of its points belong to the generation; None until they are all there"""
    quantization: str = "none"
    shards: int = 1
    """parts that a cluster spreads over its nodes"""
    replicas: int = 1
    """nodes that hold each part"""

    @property
    def host(self) -> str:
        """The server, in words."""
        return urlsplit(self.url).netloc

    def __str__(self) -> str:
        return f"collection {self.name} on Qdrant at {self.host}"


def load(folder: Path) -> CollectionRef | None:
    """The reference in a folder's file; None if there is none. Raises ValueError if it is damaged."""
    try:
        fields = json.loads((folder / NAME).read_bytes())
    except FileNotFoundError:
        return None
    try:
        return CollectionRef(**fields)
    except TypeError:
        raise ValueError(f"{folder / NAME} is damaged") from None


def save(folder: Path, collection: CollectionRef, points: int | None = None) -> None:
    """Writes the file, with how many points there are once they are all there."""
    write_text(folder / NAME, json.dumps(asdict(replace(collection, points=points)), indent=1) + "\n")
