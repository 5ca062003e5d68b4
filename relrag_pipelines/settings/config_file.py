"""Reads relrag.toml and the environment into settings, and says what is wrong with them."""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from relrag_pipelines.privacy.key_stores import VARIABLE
from relrag_pipelines.settings.models import (
    BUILT_IN,
    CONFIG_NAME,
    STRUCTURED,
    Collection,
    GraphRAG,
    People,
    Settings,
    SettingsError,
    Source,
)
from relrag_pipelines.settings.policy_presets import Policy

ENVIRONMENT_ONLY = {
    "RELRAG_CONFIG": "path of relrag.toml; else it is looked for in the current folder and those above it",
    VARIABLE: "the archive's keys, where keys_store is environment; `relrag pii new-keys` prints some",
    "OPENAI_API_KEY": "key of embedder openai; keys stand in no file of relrag",
    "COHERE_API_KEY": "key of embedder cohere",
    "QDRANT_API_KEY": "key of the server that qdrant_url names",
    "QDRANT_SOURCE_API_KEY": "key of the server that `url` of a source of kind legacy names",
    "DAGSTER_POSTGRES_URL": "where dagster_storage postgres keeps runs and events, "
    "as postgresql+psycopg2://user:password@host:5432/database",
    "RELRAG_LANGUAGES": "folders of further languages, separated as in PATH; see CONTRIBUTING.md",
    "RELRAG_NOW": "fixes the clock (ISO 8601), for tests and the demo",
    "QDRANT_URL": "a Qdrant server that some tests and measurements use; they do without where it is not set",
    "RELRAG_SHARED_DATA": "folder of real exports that some tests read; they are skipped without it",
}
"""Variables that are no settings of an archive."""


def now(environ: Mapping[str, str] = os.environ) -> datetime:
    """The current time in UTC, or what RELRAG_NOW says."""
    if fixed := environ.get("RELRAG_NOW"):
        try:
            moment = datetime.fromisoformat(fixed)
        except ValueError:
            raise SettingsError(f'RELRAG_NOW is "{fixed}"; write a time as 2025-01-20T12:00:00+00:00') from None
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    return datetime.now(UTC)


def find_config(start: Path | None = None, environ: Mapping[str, str] = os.environ) -> Path:
    """The relrag.toml in charge: RELRAG_CONFIG, else the nearest at or above `start`."""
    if named := environ.get("RELRAG_CONFIG"):
        path = Path(named).expanduser().resolve()
        if not path.is_file():
            raise SettingsError(f"RELRAG_CONFIG names {path}, which is not a file")
        return path
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        if (folder / CONFIG_NAME).is_file():
            return folder / CONFIG_NAME
    raise SettingsError(f"no {CONFIG_NAME} in {here} or above it; `relrag init FOLDER` writes one")


def load(config: Path | None = None, environ: Mapping[str, str] = os.environ) -> Settings:
    """Settings of the archive whose relrag.toml is `config` (looked for when None).

    Raises SettingsError with the key, what was found and what to write.
    """
    path = (config or find_config(environ=environ)).resolve()
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise SettingsError(f"{path} does not exist; `relrag init FOLDER` writes one") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"{path} cannot be read: {error}") from None
    if "folder" in values:
        raise SettingsError(f"{CONFIG_NAME}: folder is not known; known: {', '.join(_known_keys(Settings))}")
    given = _from_environment(environ)
    try:
        found = Settings.model_validate({**values, **given, "folder": path.parent})
    except ValidationError as error:
        # told outside of this block: as an exception's context pydantic's error could never be freed
        wrong = [_explain(problem, given) for problem in error.errors(include_context=False)]
    else:
        named = "embedder" in found.model_fields_set
        return found if named else found.model_copy(update={"embedder": default_embedder(found.home_path)})
    raise SettingsError("\n".join(wrong))


def default_embedder(home: Path) -> str:
    """The embedder of an archive whose relrag.toml names none: the one that was usual when it was first published.

    A version with another default must not embed a whole archive again, which its owner did not ask for. Archives of
    before that was recorded had minilm.
    """
    # imported only here: it needs the engine of vectors, and no settings
    from relrag_pipelines.stores import generations

    usual: str = Settings.model_fields["embedder"].default
    try:
        published = generations.current_manifest(home)
    except (generations.GenerationError, OSError):  # said by whoever reads more of it than this
        return usual
    recorded: str = published.get("default_embedder", "minilm") if published else usual
    return recorded if recorded in BUILT_IN else usual


def _from_environment(environ: Mapping[str, str]) -> dict[str, str]:
    settable = {f"RELRAG_{name.upper()}": name for name in Settings.model_fields if name not in STRUCTURED}
    found: dict[str, str] = {}
    for variable in sorted(name for name in environ if name.startswith("RELRAG_")):
        if variable in settable:
            if environ[variable]:
                found[settable[variable]] = environ[variable]
        elif variable not in ENVIRONMENT_ONLY:
            known = sorted([*settable, *ENVIRONMENT_ONLY])
            raise SettingsError(f"{variable} is not known{_nearest(variable, known)}; known: {', '.join(known)}")
    return found


def _explain(problem: Any, environment: Mapping[str, str]) -> str:
    """One problem in words; `environment` are the settings that were read from it."""
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in problem["loc"]).lstrip(".")
    origin = f"{CONFIG_NAME}: {place} "
    if place in environment:
        origin = f"RELRAG_{place.upper()} "
    if problem["type"] == "extra_forbidden":
        model = _model(problem["loc"])
        known = _known_keys(model)
        return f"{origin}is not known{_nearest(str(problem['loc'][-1]), known)}; known: {', '.join(known)}"
    if problem["type"] == "missing":
        return f"{origin}is missing"
    if problem["type"] == "value_error":
        return f"{origin if place else f'{CONFIG_NAME}: '}{problem['msg'].removeprefix('Value error, ')}"
    return f'{origin}is "{problem["input"]}": {problem["msg"]}'


def _model(place: Sequence[str | int]) -> type[BaseModel]:
    """Whose key it is that stands at a place of relrag.toml."""
    if place[0] == "graphrag" and len(place) > 1:
        return Collection if place[1] == "collections" else GraphRAG
    if place[0] == "people" and len(place) > 1:
        return People
    return Source if place[0] == "sources" else Policy if len(place) > 1 else Settings


def _known_keys(model: type[BaseModel]) -> list[str]:
    return sorted(name for name in model.model_fields if name != "folder")


def _nearest(word: str, known: list[str]) -> str:
    close = difflib.get_close_matches(word, known, 1)
    return f" (did you mean {close[0]}?)" if close else ""
