"""Names of people and places, by a language model that lies on this machine: Presidio's own spaCy engine.

Off unless the setting `pii_language_model` names a file, in the form of Presidio's configuration of NLP engines.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import spacy.util
import yaml
from presidio_analyzer.nlp_engine import NlpEngine, NlpEngineProvider

from relrag_pipelines.settings import SettingsError


def load(path: Path) -> NlpEngine:
    """The engine that the file describes, loaded. Raises SettingsError where it or its model cannot be read.

    A model is the name of an installed package or a folder, relative to the file; none is downloaded.
    """
    try:
        given = yaml.safe_load(path.read_text(encoding="utf-8"))
        models = [{**one, "model_name": _local(path, one["model_name"])} for one in given["models"]]
        if (name := given["nlp_engine_name"]) != "spacy":
            raise SettingsError(f'{path}: nlp_engine_name is "{name}"; known: spacy')
        # Presidio says on its logger which entities it leaves out by default; this names none to leave out
        engine = NlpEngineProvider(nlp_configuration={**given, "models": models}).create_engine()
    except (OSError, UnicodeDecodeError, yaml.YAMLError, TypeError, KeyError, ValueError) as error:
        fault = type(error).__name__
    else:
        if not engine.is_loaded():
            engine.load()
        return engine
    raise SettingsError(f"{path} describes no language model ({fault}); docs/privacy.md shows its form")


def _local(path: Path, model: Any) -> str:
    folder = path.parent / str(model)
    if folder.is_dir():
        return str(folder)
    if not spacy.util.is_package(str(model)):
        raise SettingsError(f'{path}: model_name is "{model}", neither an installed package nor a folder')
    return str(model)
