"""Imports spaCy, which Presidio imports, without its command line.

The command line brings templates, a terminal and a client for downloads, a fifth of the time that Presidio's import
takes; nothing here uses it.
"""

from __future__ import annotations

import sys
from types import ModuleType

_COMMAND_LINE, _INFO = "spacy.cli", "spacy.cli.info"


def import_spacy() -> None:
    """Imports spaCy; its command line can still be imported afterwards."""
    if "spacy" in sys.modules:
        return
    info = ModuleType(_INFO)
    info.info = None  # type: ignore[attr-defined]  # spaCy exports this name
    sys.modules |= {_COMMAND_LINE: ModuleType(_COMMAND_LINE), _INFO: info}
    try:
        __import__("spacy")
    finally:
        for name in (_COMMAND_LINE, _INFO):
            del sys.modules[name]


import_spacy()
