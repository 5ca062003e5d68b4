"""Empties the caches of functions (`functools.lru_cache`) that may hold text of a removed generation."""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator

_PACKAGES = ("relrag_pipelines", "relrag_query")


def clear() -> None:
    """Empties the caches of all functions of this program, so that deleted text does not stay in memory."""
    for cached in functions():
        cached.cache_clear()


def functions() -> Iterator[functools._lru_cache_wrapper[object]]:
    """The functions and methods of this program that cache results."""
    modules = [module for name, module in [*sys.modules.items()] if name.partition(".")[0] in _PACKAGES]
    for value in [value for module in modules for value in [*vars(module).values()]]:
        for member in [*vars(value).values()] if isinstance(value, type) else [value]:
            if isinstance(member, functools._lru_cache_wrapper):
                yield member
