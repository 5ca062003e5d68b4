"""Finding and replacing personal data.

`PIIRedactor` is what the rest of the project uses. What is looked for stands in entities.py; one module each finds
e-mail addresses, phone numbers and numbers with a checksum. They are plain functions, quick to import and to run;
presidio.py registers them in Presidio's engine, and lends from it every kind that has no function here.

The redactor is imported when it is first asked for: a sync that finds nothing to do needs the version alone.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relrag_pipelines.pii.redactor import (
        PIIEntity,
        PIIRedactor,
        PolicyError,
        RedactionError,
        Replacement,
        apply,
        flexible_pattern,
        present_candidates,
    )

__all__ = [
    "VERSION",
    "PIIEntity",
    "PIIRedactor",
    "PolicyError",
    "RedactionError",
    "Replacement",
    "apply",
    "flexible_pattern",
    "present_candidates",
]

VERSION = 4
"""raised when anything is found, replaced or normalised otherwise: every month is redacted again then"""


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.redactor"), name)
