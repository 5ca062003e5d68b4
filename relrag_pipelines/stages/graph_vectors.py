"""The vectors of an index's entities and relationships: one a text, made once, kept with those of passages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from pathlib import Path
from typing import TYPE_CHECKING

from relrag_pipelines import embedders
from relrag_pipelines.embedders import Vectors
from relrag_pipelines.embedders.embed_chunks import supports_language
from relrag_pipelines.embedders.protocol import ModelInfo
from relrag_pipelines.privacy.pseudonyms import to_entity_type
from relrag_pipelines.stores import archive_tables, graph_indexes, parquet_file, vector_cache
from relrag_pipelines.workspace import Workspace

if TYPE_CHECKING:
    from relrag_pipelines.graphrag.schema import Tables


def embed(workspace: Workspace, tables: Tables, report: str) -> dict[str, int]:
    """Fills record_texts and text_vectors, in place, and tells how many texts were embedded now, and their tokens.

    Nothing without an embedder. Each batch is kept as soon as it is embedded; EmbeddingError goes through.
    """
    from relrag_pipelines.graphrag.embedded_texts import embedded_texts
    from relrag_pipelines.graphrag.schema import frame

    model = embedders.model(workspace.settings)
    if model is None:
        return {}
    record_texts = ((record, to_entity_type(text)) for record, text in embedded_texts(tables))
    supported = [(record, text) for record, text in record_texts if supports_language(model, text, None)]
    hashes = [workspace.keys.content_hash(text.encode("utf-8", "surrogatepass")) for _, text in supported]
    texts = dict(zip(hashes, (text for _, text in supported), strict=True))
    vectors, counts = _vectors(workspace, model, texts, report)
    tables["record_texts"] = frame(
        "record_texts", {"record_id": [record for record, _ in supported], "text_hash": hashes}
    )
    ordered = sorted(texts)
    tables["text_vectors"] = frame(
        "text_vectors",
        {
            "text_hash": ordered,
            "model": [model.name] * len(ordered),
            "vector": [vectors[key] for key in ordered],
        },
    )
    return counts


def _vectors(
    workspace: Workspace, model: ModelInfo, texts: Mapping[str, str], report: str
) -> tuple[dict[str, Vectors], dict[str, int]]:
    tokens = 0
    with vector_cache.open(workspace.home) as cache:
        vectors = vector_cache.find(cache, model.name, list(texts))
        missing = sorted(texts.keys() - vectors.keys(), key=lambda key: (len(texts[key]), key))
        for start in range(0, len(missing), model.batch_texts):
            batch = missing[start : start + model.batch_texts]
            new_vectors, token_count = workspace.embedder.documents([texts[key] for key in batch])
            vector_cache.keep(cache, model.name, batch, new_vectors)
            vectors |= zip(batch, new_vectors, strict=True)
            tokens += token_count
            workspace.report(report, start + len(batch), len(missing))
    return vectors, {"embedded": len(missing), "embedding_tokens": tokens}


def hashes_to_keep(home: Path) -> Iterator[str]:
    """The hashes of texts of indexes that depend only on passages and people that the lake still has."""
    folders = [
        folder for name in graph_indexes.collections(home) if (folder := graph_indexes.current_folder(home, name))
    ]
    if not folders:
        return
    from relrag_pipelines.graphrag import parquet  # with pandas, which a forget mostly does without

    hashes = [parquet.read(folder, "record_texts") for folder in folders]
    if all(table is None or table.empty for table in hashes):
        return
    months = (home / "lake" / "chunks").glob("*/*.parquet")
    passage_texts = {text.as_py() for month in months for text in parquet_file.read(month, ["text"])[0]}
    names = {*_names(home)}
    for folder, table in zip(folders, hashes, strict=True):
        lasting = {*_lasting(folder, passage_texts, names)}
        if table is not None:
            rows = zip(table["record_id"], table["text_hash"], strict=True)
            yield from (text_hash for record, text_hash in rows if record in lasting)


def _names(home: Path) -> Iterator[str]:
    """What people are called by the tables of the whole archive."""
    for table, column in (("persons", "name"), ("person_aliases", "alias")):
        if archive_tables.path(home, table).exists():
            yield from archive_tables.read(home, table)[column].to_pylist()


def _lasting(folder: Path, passage_texts: Set[str], names: Set[str]) -> Iterator[str]:
    """The ids of records of an index whose text units all exist; a person's title must also be among the names."""
    from relrag_pipelines.graphrag import parquet
    from relrag_pipelines.graphrag.mention_graph import COOCCURRENCE

    read = [parquet.read(folder, name) for name in ("text_units", "entity_people", "entities", "relationships")]
    units, people, entities, links = (table for table in read if table is not None)
    present = {unit for unit, text in zip(units["id"], units["text"], strict=True) if text in passage_texts}
    titles = dict(zip(entities["id"], entities["title"], strict=True))
    lost = {titles[entity_id] for entity_id in people["entity_id"]} - names
    for record, title, units_ in zip(entities["id"], entities["title"], entities["text_unit_ids"], strict=True):
        if title not in lost and present.issuperset(units_):
            yield record
    columns = (links[name] for name in ("id", "source", "target", "description", "text_unit_ids"))
    for record, source, target, description, units_ in zip(*columns, strict=True):
        if present.issuperset(units_) and not (description.endswith(COOCCURRENCE) and {source, target} & lost):
            yield record
