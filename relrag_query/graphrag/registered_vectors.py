"""The vectors of registered indexes' entities, stored with their registration and not in the owner's folder.

Texts of such an index were redacted for no export of this archive, so they are redacted before a model sees them. A
vector is known by the keyed hash of its text: an index that was written anew is embedded where its texts are new.
"""

from __future__ import annotations

import sqlite3
from contextlib import AbstractContextManager
from dataclasses import replace

import pandas as pd

from relrag_pipelines import embedders
from relrag_pipelines.embedders.embed_chunks import supports_language
from relrag_pipelines.graphrag.embedded_texts import entity_text
from relrag_pipelines.journal import registered_indexes
from relrag_pipelines.privacy.pseudonyms import to_entity_type
from relrag_pipelines.settings import Settings
from relrag_pipelines.stores import lock, vector_cache
from relrag_pipelines.workspace import Workspace
from relrag_query.graphrag.index import Index


def embed(workspace: Workspace, name: str, index: Index) -> int:
    """Embeds the entities of a redacted index, and tells how many have a vector; 0 without an embedder.

    Each batch is kept as soon as it is embedded, and vectors of other texts are removed. EmbeddingError and
    lock.LockedByOther go through.
    """
    model = embedders.model(workspace.settings)
    if model is None:
        registered_indexes.drop_vectors(workspace.home, name)
        return 0
    texts = {key: text for key, text in _texts(workspace, index).values() if supports_language(model, text, None)}
    with lock.writing(workspace.home, "relrag graphrag add"), _cache(workspace.settings, name) as cache:
        cached = vector_cache.find(cache, model.name, list(texts))
        missing = sorted(texts.keys() - cached.keys(), key=lambda key: (len(texts[key]), key))
        for start in range(0, len(missing), model.batch_texts):
            batch = missing[start : start + model.batch_texts]
            vectors, _ = workspace.embedder.documents([texts[key] for key in batch])
            vector_cache.keep(cache, model.name, batch, vectors)
            workspace.report("embedding entities", start + len(batch), len(missing))
        vector_cache.prune(cache, texts)
    return len(texts)


def attach(settings: Settings, name: str, index: Index) -> Index:
    """A redacted index with the vectors that its entities have, as an index of the archive holds them."""
    model = embedders.model(settings)
    if model is None or not vector_cache.path_of_registered(settings.home_path, name).exists():
        return index
    texts = {record: key for record, (key, _) in _texts(Workspace(settings), index).items()}
    try:
        with _cache(settings, name) as cache:
            vectors = vector_cache.find(cache, model.name, list(dict.fromkeys(texts.values())))
    except sqlite3.DatabaseError:  # damaged: `relrag verify` names it, and words find what they find
        return index
    tables = {
        "record_texts": pd.DataFrame(
            [(record, key) for record, key in texts.items() if key in vectors], columns=["record_id", "text_hash"]
        ),
        "text_vectors": pd.DataFrame(
            {"text_hash": list(vectors), "model": model.name, "vector": list(vectors.values())}
        ),
    }
    return replace(index, tables=index.tables | tables)


def _cache(settings: Settings, name: str) -> AbstractContextManager[sqlite3.Connection]:
    home = settings.home_path
    return vector_cache.open(home, vector_cache.path_of_registered(home, name))


def _texts(workspace: Workspace, index: Index) -> dict[str, tuple[str, str]]:
    """The keyed hash and the text of each entity."""
    table, texts = index.tables["entities"], dict[str, tuple[str, str]]()
    for record, title, description in zip(table["id"], table["title"], table["description"], strict=True):
        text = to_entity_type(entity_text(*(value if isinstance(value, str) else "" for value in (title, description))))
        texts[str(record)] = workspace.keys.content_hash(text.encode("utf-8", "surrogatepass")), text
    return texts
