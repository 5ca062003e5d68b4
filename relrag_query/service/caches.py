"""Empties the caches of functions (`functools.lru_cache`) that may hold text of a generation that is gone."""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator

_OURS = ("relrag_pipelines", "relrag_query")


def clear() -> None:
    """Empties the caches of every function of ours, so that what was deleted stays in no memory."""
    for cached in functions():
        cached.cache_clear()


def functions() -> Iterator[functools._lru_cache_wrapper[object]]:
    """The functions and methods of ours that keep results."""
    modules = [module for name, module in [*sys.modules.items()] if name.partition(".")[0] in _OURS]
    for one in [one for module in modules for one in [*vars(module).values()]]:
        for member in [*vars(one).values()] if isinstance(one, type) else [one]:
            if isinstance(member, functools._lru_cache_wrapper):
                yield member
