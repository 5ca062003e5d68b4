"""Names of people and places, found by a local language model through Presidio's engines and recognisers.

Off unless the setting `pii_language_model` names a file, in the form of Presidio's configuration of NLP engines: spaCy,
Stanza, transformers, or GLiNER, which Presidio has as a recogniser. What a model needs beside spaCy is an extra of
presidio-analyzer. Nothing is downloaded: a model is a folder, or for spaCy an installed package.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import spacy.util
import yaml
from presidio_analyzer import EntityRecognizer
from presidio_analyzer.nlp_engine import (
    NerModelConfiguration,
    NlpEngine,
    SpacyNlpEngine,
    StanzaNlpEngine,
    TransformersNlpEngine,
)
from presidio_analyzer.predefined_recognizers import GLiNERRecognizer
from presidio_analyzer.predefined_recognizers.ner import gliner_recognizer

from relrag_pipelines.settings import SettingsError

_OFFLINE = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
"""environment variables that keep transformers and GLiNER from contacting huggingface.co"""


@dataclass(frozen=True)
class LanguageModel:
    """An NLP engine whose entities Presidio's recogniser reads, or a recogniser with its own model."""

    language: str
    nlp: NlpEngine | None = None
    recognizer: EntityRecognizer | None = None


def load(path: Path) -> LanguageModel:
    """Loads the model that a file describes. Raises SettingsError if the file or the model cannot be read.

    Model folders are relative to the file.
    """
    try:
        config = yaml.safe_load(path.read_text(encoding="utf-8"))
        if (name := config["nlp_engine_name"]) not in ENGINES:
            raise SettingsError(f'{path}: nlp_engine_name is "{name}"; known: {", ".join(ENGINES)}')
        if not _AVAILABLE[name]():
            raise SettingsError(f'{path}: "{name}" is not installed; pip install "presidio-analyzer[{name}]"')
        models = [{**model, "model_name": _local(path, model["model_name"], name)} for model in config["models"]]
        os.environ.update(dict.fromkeys(_OFFLINE, "1"))
        return ENGINES[name](models, config)
    except (OSError, UnicodeDecodeError, yaml.YAMLError, TypeError, KeyError, ValueError, ImportError) as error:
        fault = type(error).__name__
    raise SettingsError(f"{path} describes no language model ({fault}); docs/privacy.md shows its form")


def _engine(kind: Callable[..., NlpEngine], **options: Any) -> Callable[..., LanguageModel]:
    def load_model(models: list[dict[str, Any]], config: Mapping[str, Any]) -> LanguageModel:
        mapping = config.get("ner_model_configuration")
        # without a configuration Presidio's default applies, which ignores some entities and logs that
        configuration = NerModelConfiguration.from_dict(mapping) if mapping else None
        engine = kind(models=models, ner_model_configuration=configuration, **options)
        engine.load()
        return LanguageModel(engine.get_supported_languages()[0], nlp=engine)

    return load_model


def _gliner(models: list[dict[str, Any]], config: Mapping[str, Any]) -> LanguageModel:
    (model,) = models
    mapping = config.get("ner_model_configuration", {}).get("model_to_presidio_entity_mapping")
    options = {name: value for name, value in model.items() if name not in ("lang_code", "model_name")}
    recognizer = GLiNERRecognizer(
        model_name=model["model_name"], supported_language=model["lang_code"], entity_mapping=mapping, **options
    )
    return LanguageModel(model["lang_code"], recognizer=recognizer)


ENGINES: dict[str, Callable[[list[dict[str, Any]], Mapping[str, Any]], LanguageModel]] = {
    "spacy": _engine(SpacyNlpEngine),
    "stanza": _engine(StanzaNlpEngine, download_if_missing=False),
    "transformers": _engine(TransformersNlpEngine),
    "gliner": _gliner,
}
"""loaders by the engine's name in the file"""
_AVAILABLE: dict[str, Callable[[], bool]] = {
    "spacy": lambda: True,
    "stanza": lambda: bool(StanzaNlpEngine.is_available),
    "transformers": lambda: bool(TransformersNlpEngine.is_available),
    "gliner": lambda: vars(gliner_recognizer)["GLiNER"] is not None,
}


def _local(path: Path, model: Any, engine: str) -> Any:
    """The local model: a folder, or for spaCy an installed package; for Stanza also the name of a language."""
    if isinstance(model, dict):
        return {part: _local(path, name, part) for part, name in model.items()}
    folder = path.parent / str(model)
    if folder.is_dir():
        return str(folder)
    if engine != "stanza" and not (engine == "spacy" and spacy.util.is_package(str(model))):
        raise SettingsError(f'{path}: model_name is "{model}", neither an installed package nor a folder')
    return str(model)
