"""Errors that end what was asked for have one base, and a message that may be stored."""

import importlib
import inspect
import pkgutil

import pytest

import relrag_pipelines
import relrag_query
from relrag_pipelines.errors import RelragError
from relrag_pipelines.ingest.units import SourceNotFound
from relrag_pipelines.settings import SettingsError
from relrag_query.archive import ArchiveError

WITHIN_A_UNIT = ("relrag_pipelines.sources.", "relrag_pipelines.workers.sandbox")
"""what these raise is caught where a unit is read, and becomes a row in failures"""

OF_EXTRAS = ("relrag_query.langchain", "relrag_query.llama_index")
"""what cannot be imported without libraries that are not installed with the rest"""


def public_errors() -> list[type[Exception]]:
    found: dict[str, type[Exception]] = {}
    for package in (relrag_pipelines, relrag_query):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if module.name.startswith((*WITHIN_A_UNIT, *OF_EXTRAS)):
                continue
            for name, one in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
                if one.__module__ == module.name and issubclass(one, Exception) and not name.startswith("_"):
                    found[name] = one
    return list(found.values())


def test_every_error_has_the_one_base() -> None:
    errors = public_errors()
    assert len(errors) > 15
    # one about a file is an OSError, as those of the system are
    assert [one.__name__ for one in errors if not issubclass(one, RelragError)] == ["RefusedFile"]


@pytest.mark.parametrize(
    ("error", "safe"),
    [
        (SettingsError("relrag.toml: no sources"), "relrag.toml: no sources"),
        (
            ArchiveError("golden.jsonl: Where does Petra live?"),
            "relrag could not go on; the command line says why",
        ),
        (
            SourceNotFound("/home/petra/letters is not there"),
            "the path of the source is missing or cannot be listed; `relrag plan` says which",
        ),
    ],
    ids=["settings", "question", "path"],
)
def test_what_is_stored_names_no_path(error: RelragError, safe: str) -> None:
    assert error.safe_message == safe
