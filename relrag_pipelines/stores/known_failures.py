"""Failures that the last sync reported, so that the next one knows which are new: private/known_failures.json.

A failure is known by its source, unit, place in it and fault. They stand there as keyed hashes, so that nothing of a
path or member name stays when it is forgotten. Runs that the UI or the schedule launches tell nobody, and write
nothing here; neither does a sync that did not get to its end.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from relrag_pipelines.files import sealed_json
from relrag_pipelines.files.atomic import write_text
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.records import SCHEMA_VERSION, Failure

NAME = "private/known_failures.json"


def hash_of(failure: Failure, keys: Keys) -> str:
    """What stands for a failure; what its message says may be worded otherwise the next time."""
    return keys.id_hash("\0".join(("failure", failure.source, failure.unit, failure.location, failure.fault)))


def load(home: Path) -> set[str]:
    """Hashes of the failures that were told; none where nothing was, or the file is damaged."""
    try:
        return set(sealed_json.read(home / NAME)["failures"])
    except (FileNotFoundError, sealed_json.UnusableFile):
        return set()


def save(home: Path, hashes: Iterable[str]) -> None:
    """Stores the keys of the current failures, if they changed."""
    current = set(hashes)
    if current != load(home):
        write_text(home / NAME, sealed_json.seal({"schema_version": SCHEMA_VERSION, "failures": sorted(current)}))
