"""Raw bytes of items that could not be read completely: private/raw/<source>/.

A file is named by the keyed hashes of the item's unit and place, and by the hash of its bytes: its name reveals nothing
that it does not hold itself, equal runs write equal files, and each can be checked without a list of all.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from relrag_pipelines.files.atomic import replace_file
from relrag_pipelines.files.sealed_json import file_hash
from relrag_pipelines.privacy.keys import Keys


def store(home: Path, source: str, keys: Keys, unit: str, location: str, data: bytes) -> None:
    """Stores the bytes of the item at a location in a unit."""
    name = f"{keys.id_hash(location)}.{hashlib.sha256(data).hexdigest()}"
    with replace_file(_folder(home, source) / keys.id_hash(unit) / name) as temporary:
        temporary.write_bytes(data)


def list_items(home: Path, source: str, keys: Keys, unit: str | None = None, location: str | None = None) -> list[Path]:
    """The files of a source, of one of its units, or of an item."""
    pattern = "*" if unit is None else keys.id_hash(unit)
    return sorted(_folder(home, source).glob(f"{pattern}/{'*' if location is None else keys.id_hash(location)}.*"))


def drop_units(home: Path, source: str, keys: Keys, units: Iterable[str]) -> None:
    """Removes what is kept of those units: they are read again, or gone."""
    for unit in units:
        shutil.rmtree(_folder(home, source) / keys.id_hash(unit), ignore_errors=True)


def erase(home: Path, source: str, keys: Keys, locations: Iterable[str]) -> None:
    """Removes the stored items at the `locations` of records: `<unit>#<location>`, or a unit that is one record."""
    if _folder(home, source).exists():
        for location in locations:
            unit, _, item = location.rpartition("#")
            for file in (*list_items(home, source, keys, unit, item), *list_items(home, source, keys, location, "")):
                file.unlink()


def damage(home: Path) -> Iterator[tuple[str, str]]:
    """(path within the home, what is wrong with it) of every file whose bytes are not those that it is named by."""
    for file in sorted((home / "private" / "raw").glob("*/*/*.*")):
        if not file.name.startswith(".") and file.suffix[1:] != file_hash(file):
            yield file.relative_to(home).as_posix(), "is not as it was written"


def unit_of(path: str, units: Iterable[str], keys: Keys) -> str | None:
    """Which of those units the file at that path within the home is of."""
    return next((unit for unit in units if keys.id_hash(unit) == Path(path).parent.name), None)


def _folder(home: Path, source: str) -> Path:
    return home / "private" / "raw" / source
