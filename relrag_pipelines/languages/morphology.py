"""The protocol of `morphology.py` in a folder of a language: functions for forms of words that only rules can give.

A module defines any of these functions under the same name; of what it leaves out, the answer here counts.
"""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TypeVar

Answer = TypeVar("Answer")
CASES = 5
"""of a name: genitive, dative and locative, accusative, vocative, instrumental"""


class Morphology:
    """The rules of one language."""

    def __init__(self, module: ModuleType | None = None) -> None:
        self._module = module

    def cases(self, word: str, gender: str = "") -> tuple[tuple[str, ...], ...]:
        """The forms of a name in CASES cases; none where it has none. `gender` is m, f, or empty if not known."""
        return self._call("cases", (), word, gender)

    def possessives(self, word: str, gender: str = "") -> tuple[str, ...]:
        """The forms of a name that say what belongs to its bearer."""
        return self._call("possessives", (), word, gender)

    def plurals(self, word: str) -> tuple[str, ...]:
        """The plurals of a word for a relative."""
        return self._call("plurals", (), word)

    def gender(self, name: str) -> str:
        """Whether a given name, folded, is of a woman (f) or a man (m) by its form; empty where that tells nothing."""
        return self._call("gender", "", name)

    def _call(self, name: str, default: Answer, *values: str) -> Answer:
        function: Callable[..., Answer] | None = getattr(self._module, name, None)
        return function(*values) if function else default


@functools.cache
def load_morphology(file: Path) -> Morphology:
    """The rules in a module; where there is none, those that change nothing."""
    if not file.is_file():
        return Morphology()
    spec = importlib.util.spec_from_file_location(f"{__package__}.{file.parent.name}.morphology", file)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return Morphology(module)
