"""The protocol of `morphology.py` in a folder of a language: functions for forms of words.

A module defines any of these functions under the same name; the defaults here apply to the others.
"""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TypeVar

Answer = TypeVar("Answer")


class Morphology:
    """The rules of one language."""

    def __init__(self, module: ModuleType | None = None) -> None:
        self._module = module

    def cases(self, word: str, gender: str = "") -> tuple[tuple[str, ...], ...]:
        """The forms of a name in five cases: genitive, dative and locative, accusative, vocative, instrumental.

        Empty if it is not inflected. `gender` is m, f, or empty if unknown.
        """
        return self._call("cases", (), word, gender)

    def possessives(self, word: str, gender: str = "") -> tuple[str, ...]:
        """The possessive forms of a name."""
        return self._call("possessives", (), word, gender)

    def plurals(self, word: str) -> tuple[str, ...]:
        """The plurals of a kin term."""
        return self._call("plurals", (), word)

    def gender(self, name: str) -> str:
        """Gender of a folded given name by its form: f, m, or empty if unclear."""
        return self._call("gender", "", name)

    def _call(self, name: str, default: Answer, *values: str) -> Answer:
        function: Callable[..., Answer] | None = getattr(self._module, name, None)
        return function(*values) if function else default


@functools.cache
def load_morphology(file: Path) -> Morphology:
    """The rules in a module; empty rules if the file does not exist."""
    if not file.is_file():
        return Morphology()
    spec = importlib.util.spec_from_file_location(f"{__package__}.{file.parent.name}.morphology", file)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return Morphology(module)
