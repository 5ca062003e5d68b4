"""What the definitions work with, as Dagster's resources: lake, keys, embedder, Qdrant and DuckDB.

Their values are those of relrag.toml; `build_defs(resource_overrides=...)` puts others in their place, as a test does.
They are applied when the definitions are loaded: plan, sensors, checks and assets then work with the same archive, and
what a run would be given alone the plan would call stale. A secret is shown as the name of its variable only.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

import dagster as dg

from relrag_pipelines import embedders
from relrag_pipelines.embedders import Embedder, cohere, openai
from relrag_pipelines.settings import Settings
from relrag_pipelines.stores import catalog
from relrag_pipelines.workspace import Workspace

_QDRANT_KEY = "QDRANT_API_KEY"
"""as in stores/vectors/server_connection.py, which takes a second to import"""
_KEY_OF_SERVICE = {"openai": openai.KEY, "cohere": cohere.KEY}


@runtime_checkable
class _Applicable(Protocol):
    def apply(self, workspace: Workspace) -> Workspace:
        """The workspace with this part."""


class LakeResource(dg.ConfigurableResource[Any]):
    """The folder of everything that is derived, by month and source."""

    folder: str = ""
    """empty: `home` of the settings; its path is not shown"""

    def apply(self, workspace: Workspace) -> Workspace:
        """The workspace with that lake."""
        return _with_settings(workspace, home=workspace.settings.folder / self.folder) if self.folder else workspace


class KeysResource(dg.ConfigurableResource[Any]):
    """The archive's keys, which name records and make pseudonyms."""

    store: str = "file"
    """as `keys_store`"""

    def apply(self, workspace: Workspace) -> Workspace:
        """The workspace with keys from that store."""
        return _with_settings(workspace, keys_store=self.store)


class EmbedderResource(dg.ConfigurableResource[Any]):
    """The model that makes dense vectors."""

    name: str = embedders.NONE
    """as `embedder`"""
    model: str = ""
    url: str = ""
    dimension: int = 0
    api_key: str = ""

    def load(self, settings: Settings) -> Embedder:
        """The model, ready; EmbeddingError where it cannot be loaded. A test's own resource returns a stand-in."""
        return embedders.load(settings)

    def apply(self, workspace: Workspace) -> Workspace:
        """The workspace with that model."""
        _set_key(_KEY_OF_SERVICE.get(self.name), self.api_key)
        changed = _with_settings(
            workspace,
            embedder=self.name,
            embedding_model=self.model,
            embedding_url=self.url,
            embedding_dimension=self.dimension,
        )
        if type(self).load is EmbedderResource.load:
            return changed
        changed = replace(changed)
        vars(changed)["embedder"] = self.load(changed.settings)  # its cached property, ahead of its first use
        return changed


class QdrantResource(dg.ConfigurableResource[Any]):
    """The vectors that are searched: in the home, or on a server."""

    url: str = ""
    """empty: in the home"""
    quantization: str = "none"
    shards: int = 1
    replicas: int = 1
    api_key: str = ""

    def apply(self, workspace: Workspace) -> Workspace:
        """The workspace with vectors on that server."""
        _set_key(_QDRANT_KEY, self.api_key)
        return _with_settings(
            workspace,
            qdrant_url=self.url,
            qdrant_quantization=self.quantization,
            qdrant_shards=self.shards,
            qdrant_replicas=self.replicas,
        )


class DuckDBResource(dg.ConfigurableResource[Any]):
    """The database of the catalog."""

    threads: int = 0
    """that a connection may use; 0: as many as the machine has"""

    def apply(self, workspace: Workspace) -> Workspace:
        """The workspace; connections of this process use that many threads."""
        catalog.CONFIG.pop("threads", None)
        catalog.CONFIG.update({"threads": self.threads} if self.threads else {})
        return workspace


def resources(settings: Settings) -> dict[str, Any]:
    """The resources of an archive, by name."""
    return {
        "lake": LakeResource(),
        "archive_keys": KeysResource(store=settings.keys_store),
        "embedder": EmbedderResource(
            name=settings.embedder,
            model=settings.embedding_model,
            url=settings.embedding_url,
            dimension=settings.embedding_dimension,
            api_key=_secret(_KEY_OF_SERVICE.get(settings.embedder)),
        ),
        "qdrant": QdrantResource(
            url=settings.qdrant_url,
            quantization=settings.qdrant_quantization,
            shards=settings.qdrant_shards,
            replicas=settings.qdrant_replicas,
            api_key=_secret(_QDRANT_KEY if settings.qdrant_url else None),
        ),
        "duckdb": DuckDBResource(),
    }


def with_resources(workspace: Workspace, parts: Mapping[str, Any]) -> Workspace:
    """The workspace with these parts; those that are no resources of relrag, which other assets may use, are ignored.

    It is the same workspace if nothing changes: it keeps what it has loaded.
    """
    for part in parts.values():
        if isinstance(part, _Applicable):
            workspace = part.apply(workspace)
    return workspace


def _with_settings(workspace: Workspace, **values: Any) -> Workspace:
    settings = workspace.settings
    if all(getattr(settings, name) == value for name, value in values.items()):
        return workspace
    Settings.model_validate({**settings.model_dump(exclude_unset=True), **values})  # refuses what no setting can be
    return replace(workspace, settings=settings.model_copy(update=values))


def _secret(variable: str | None) -> Any:
    """A reference to the variable, which Dagster shows by name; empty where it is not set."""
    return dg.EnvVar(variable) if variable and os.environ.get(variable) else ""


def _set_key(variable: str | None, key: str) -> None:
    """The libraries that use a key read it from the environment, so that no text of relrag's holds it."""
    value = key.get_value() if isinstance(key, dg.EnvVar) else key
    if variable and value:
        os.environ[variable] = value
