"""Reads relrag.toml and the environment into settings, and reports errors in them."""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError

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
from relrag_pipelines.sources.remote import secrets

ENVIRONMENT_ONLY = {
    "RELRAG_CONFIG": "path of relrag.toml; else it is looked for in the current folder and those above it",
    VARIABLE: "the archive's keys, where keys_store is environment; `relrag pii new-keys` prints some",
    "OPENAI_API_KEY": "key of embedder openai; keys stand in no file of relrag",
    "COHERE_API_KEY": "key of embedder cohere",
    "LOCAL_API_KEY": "key of the server of answerer local, where it wants one",
    "RELRAG_LOCAL_PORTS": "ports of this machine at which `init` and `doctor` look for a local model, separated by "
    "commas; empty for none",
    "QDRANT_API_KEY": "key of the server that qdrant_url names",
    "QDRANT_SOURCE_API_KEY": "key of the server that `url` of a source of kind legacy names",
    f"{secrets.WEBHOOK_PREFIX}<SOURCE>": "key with which a WAHA server signs the messages that it sends to "
    "`relrag serve`; else it is read from a file of mode 0600 beside the keys, `<archive>.<source>.webhook`",
    f"{secrets.PREFIX}<SOURCE>": "password or token for the server of a source, its name in capitals; else it is read "
    "from a file of mode 0600 beside the keys, `<archive>.<source>.secret`",
    "DAGSTER_POSTGRES_URL": "where dagster_storage postgres keeps runs and events, "
    "as postgresql+psycopg2://user:password@host:5432/database",
    "RELRAG_LANGUAGES": "folders of further languages, separated as in PATH; see CONTRIBUTING.md",
    "RELRAG_NOW": "fixes the clock (ISO 8601), for tests and the demo",
    "QDRANT_URL": "a Qdrant server that some tests and measurements use; they do without where it is not set",
    "RELRAG_SHARED_DATA": "folder of real exports that some tests read; they are skipped without it",
}
"""variables that are not settings of an archive"""


def now(environ: Mapping[str, str] = os.environ) -> datetime:
    """The current time in UTC, or that of RELRAG_NOW."""
    if fixed := environ.get("RELRAG_NOW"):
        try:
            moment = datetime.fromisoformat(fixed)
        except ValueError:
            raise SettingsError(f'RELRAG_NOW is "{fixed}"; write a time as 2025-01-20T12:00:00+00:00') from None
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    return datetime.now(UTC)


def find_config(start: Path | None = None, environ: Mapping[str, str] = os.environ) -> Path:
    """The path of relrag.toml: RELRAG_CONFIG, else the nearest file at or above `start`."""
    if variable := environ.get("RELRAG_CONFIG"):
        path = Path(variable).expanduser().resolve()
        if not path.is_file():
            raise SettingsError(f"RELRAG_CONFIG names {path}, which is not a file")
        return path
    directory = (start or Path.cwd()).resolve()
    for folder in (directory, *directory.parents):
        if (folder / CONFIG_NAME).is_file():
            return folder / CONFIG_NAME
    raise SettingsError(f"no {CONFIG_NAME} in {directory} or above it; `relrag init FOLDER` writes one")


def load(config: Path | None = None, environ: Mapping[str, str] = os.environ) -> Settings:
    """Settings of the archive whose relrag.toml is `config`; None searches for the file.

    Raises SettingsError with the key, its value and what to write; `values["settings"]` is the first wrong setting.
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
    environment = _from_environment(environ)
    try:
        settings = Settings.model_validate({**values, **environment, "folder": path.parent})
    except ValidationError as error:
        # raised outside this block: as an exception's context, pydantic's error could never be freed
        problems = error.errors(include_context=False)
    else:
        if "embedder" in settings.model_fields_set:
            return settings
        return settings.model_copy(update={"embedder": default_embedder(settings.home_path)})
    name, lines = next(iter(problems[0]["loc"]), ""), [_explain(problem, environment) for problem in problems]
    raise SettingsError("\n".join(lines), settings=str(name))


def default_embedder(home: Path) -> str:
    """The embedder of an archive whose relrag.toml names none: the default when it was first published.

    Another default must not embed a whole archive again unasked. Archives from before this was recorded used minilm.
    """
    from relrag_pipelines.stores import generations  # only here: it needs the engine of vectors

    usual: str = Settings.model_fields["embedder"].default
    try:
        published = generations.current_manifest(home)
    except (generations.GenerationError, OSError):  # reported by code that reads more of the manifest
        return usual
    recorded: str = published.get("default_embedder", "minilm") if published else usual
    return recorded if recorded in BUILT_IN else usual


def _from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    settable = {f"RELRAG_{name.upper()}": name for name in Settings.model_fields if name not in STRUCTURED}
    values: dict[str, Any] = {}
    for variable in sorted(name for name in environ if name.startswith("RELRAG_")):
        if variable in settable and environ[variable]:
            values[settable[variable]] = _parse(variable, settable[variable], environ[variable])
        elif variable not in {*settable, *ENVIRONMENT_ONLY} and not variable.startswith(secrets.PREFIX):
            names = sorted([*settable, *ENVIRONMENT_ONLY])
            raise SettingsError(f"{variable} is not known{_nearest(variable, names)}; known: {', '.join(names)}")
    return values


def _parse(variable: str, name: str, text: str) -> Any:
    """A variable's value; several are a JSON list. An error does not repeat the text: addresses hold passwords."""
    if Settings.model_fields[name].annotation != list[str]:
        return text
    with suppress(ValueError):
        return TypeAdapter(list[str]).validate_json(text)
    raise SettingsError(f'{variable} is no JSON list of texts; write it as ["first", "second"]')


def _explain(problem: Any, environment: Mapping[str, str]) -> str:
    """A validation problem as a message; `environment` has the settings from environment variables."""
    location = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in problem["loc"]).lstrip(".")
    origin = f"RELRAG_{location.upper()} " if location in environment else f"{CONFIG_NAME}: {location} "
    if problem["type"] == "extra_forbidden":
        model = _model(problem["loc"])
        keys = _known_keys(model)
        return f"{origin}is not known{_nearest(str(problem['loc'][-1]), keys)}; known: {', '.join(keys)}"
    if problem["type"] == "missing":
        return f"{origin}is missing"
    if problem["type"] == "value_error":
        return f"{origin if location else f'{CONFIG_NAME}: '}{problem['msg'].removeprefix('Value error, ')}"
    return f'{origin}is "{problem["input"]}": {problem["msg"]}'


def _model(location: Sequence[str | int]) -> type[BaseModel]:
    """The model that declares the key at a location in relrag.toml."""
    if location[0] == "graphrag" and len(location) > 1:
        return Collection if location[1] == "collections" else GraphRAG
    if location[0] == "people" and len(location) > 1:
        return People
    return Source if location[0] == "sources" else Policy if len(location) > 1 else Settings


def _known_keys(model: type[BaseModel]) -> list[str]:
    return sorted(name for name in model.model_fields if name != "folder")


def _nearest(word: str, candidates: list[str]) -> str:
    close = difflib.get_close_matches(word, candidates, 1)
    return f" (did you mean {close[0]}?)" if close else ""
