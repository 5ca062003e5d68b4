"""Finding and replacing personal data.

`PIIRedactor` is what the rest of the project uses. Presidio decides what is found, and replaces it: engine.py gives its
engine the recognisers. What is looked for stands in entities.py: functions for what needs a checksum or a look around,
one module a kind, and patterns with context words in recognizers.yaml.

The redactor is imported when it is first asked for: a sync that finds nothing to do needs the version alone.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relrag_pipelines.pii.phones.value_search import flexible_pattern, present_candidates
    from relrag_pipelines.pii.policies import PolicyError, RedactionError
    from relrag_pipelines.pii.redactor import PIIEntity, PIIRedactor, Replacement, apply

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

_MODULES = {
    "PolicyError": "policies",
    "RedactionError": "policies",
    "flexible_pattern": "phones.value_search",
    "present_candidates": "phones.value_search",
}
"""where a name is, if not in redactor.py"""

VERSION = 19
"""raised when anything is found, replaced or normalised otherwise: every month is redacted again then"""


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES.get(name, 'redactor')}"), name)
