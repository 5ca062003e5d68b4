"""Loads an index with Microsoft's own graphrag and builds the contexts of its local, basic and global search.

Run by `make interop` in an environment of its own, where graphrag is installed and this project is not: graphrag needs
older releases of what both use. Models are graphrag's own mocks, so nothing leaves the machine. Prints, as JSON, how
many records were loaded and which numbers each context shows.
"""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pandas as pd
from graphrag.config.models.graph_rag_config import GraphRagConfig
from graphrag.query import factory, indexer_adapters
from graphrag_vectors import VectorStore, VectorStoreDocument, VectorStoreSearchResult

LEVEL = 2
MODEL = {"type": "mock", "model_provider": "openai", "model": "gpt-4o", "api_key": "none"}
CONFIG = {
    "completion_models": {"default_completion_model": MODEL | {"mock_responses": ["nothing"]}},
    "embedding_models": {"default_embedding_model": MODEL | {"mock_responses": [0.5, 0.5]}},
}


class Everything(VectorStore):
    """A vector store that finds its ids in their order."""

    def __init__(self, ids: list[str]) -> None:
        super().__init__(index_name="everything")
        self._ids = ids

    def similarity_search_by_text(self, *_: Any, k: int = 10, **__: Any) -> list[VectorStoreSearchResult]:
        return [VectorStoreSearchResult(VectorStoreDocument(one, None), 1.0) for one in self._ids[:k]]

    def _unused(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError

    connect = create_index = load_documents = similarity_search_by_vector = search_by_id = _unused
    count = remove = update = _unused


def main(folder: Path) -> dict[str, Any]:
    tables = {path.stem: pd.read_parquet(path) for path in sorted(folder.glob("*.parquet"))}
    communities = indexer_adapters.read_indexer_communities(tables["communities"], tables["community_reports"])
    reports = indexer_adapters.read_indexer_reports(
        tables["community_reports"], tables["communities"], LEVEL, dynamic_community_selection=True
    )
    entities = indexer_adapters.read_indexer_entities(tables["entities"], tables["communities"], None)
    relationships = indexer_adapters.read_indexer_relationships(tables["relationships"])
    units = indexer_adapters.read_indexer_text_units(tables["text_units"])
    claims = indexer_adapters.read_indexer_covariates(tables["covariates"]) if "covariates" in tables else []
    config = GraphRagConfig(**CONFIG)
    local = factory.get_local_search_engine(
        config,
        reports=reports,
        text_units=units,
        entities=entities,
        relationships=relationships,
        covariates={"claims": claims} if claims else {},
        response_type="paragraph",
        description_embedding_store=Everything([one.id for one in entities]),
    )
    basic = factory.get_basic_search_engine(units, Everything([one.id for one in units]), config, "paragraph")
    world = factory.get_global_search_engine(config, reports, entities, communities, "paragraph")
    found = {
        "local": local.context_builder.build_context("what is it about?", **local.context_builder_params),
        "basic": basic.context_builder.build_context("what is it about?", **basic.context_builder_params),
        "global": asyncio.run(world.context_builder.build_context("what is it about?", **world.context_builder_params)),
    }
    return {
        "loaded": {
            "communities": len(communities),
            "reports": len(reports),
            "entities": len(entities),
            "in_a_community": sum("-1" not in (one.community_ids or ["-1"]) for one in entities),
            "relationships": len(relationships),
            "text_units": len(units),
            "claims": len(claims),
        },
        "contexts": {name: ids_by_table(one.context_records) for name, one in found.items()},
    }


def ids_by_table(records: dict[str, pd.DataFrame]) -> dict[str, list[int]]:
    """The numbers that a context prints, by table."""
    return {
        name.lower(): sorted({int(one) for one in frame["id"]})
        for name, frame in records.items()
        if "id" in frame and len(frame)
    }


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]))))
