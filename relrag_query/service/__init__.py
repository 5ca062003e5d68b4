"""One archive for many callers: what it is asked, and what it replies, as models."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relrag_query.retrieval.question_reader import Filters
    from relrag_query.service.cursors import MAX_ENTRIES
    from relrag_query.service.errors import NotServed, UnknownRef
    from relrag_query.service.graph_replies import GraphLimits, GraphReply
    from relrag_query.service.service import Service

__all__ = ["MAX_ENTRIES", "Filters", "GraphLimits", "GraphReply", "NotServed", "Service", "UnknownRef"]

_MODULES = {
    "relrag_query.retrieval.question_reader": ("Filters",),
    "relrag_query.service.cursors": ("MAX_ENTRIES",),
    "relrag_query.service.errors": ("NotServed", "UnknownRef"),
    "relrag_query.service.graph_replies": ("GraphLimits", "GraphReply"),
    "relrag_query.service.service": ("Service",),
}


def __getattr__(name: str) -> Any:
    """Imports the service when it is asked for: the command line needs its replies only, and starts sooner."""
    for module, names in _MODULES.items():
        if name in names:
            return getattr(importlib.import_module(module), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
