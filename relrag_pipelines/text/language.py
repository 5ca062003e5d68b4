"""The language of a text.

`identify` asks py3langid (BSD), whose model of many languages comes with it. `in_default_language` decides which texts
a model of English is given, and which questions have words of many forms. It asks only for function words and letters:
what holds none, such as a code or a name, is taken for English.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection
from typing import TYPE_CHECKING

from relrag_pipelines.text.analyzer import foreign_signs

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

_ENOUGH = 400
"""characters by which a language is told; more take longer and change nothing"""

_WORD = re.compile(r"[^\W\d_]+")
_ROMAN = re.compile(r"[A-Za-z\u00c0-\u024f]")


def identify(text: str) -> str:
    """The ISO 639-1 code of the language that a text is most likely in; "" for no letters."""
    words = " ".join(_WORD.findall(text[:_ENOUGH]))
    code: str = _identifier().classify(words)[0] if words else ""
    return code


def likeliest(text: str, languages: Collection[str]) -> str:
    """Which of some languages, ISO 639-1, a text is most likely in; "" for no letters.

    Rare languages that are close to a common one win short texts too often where all are asked for.
    """
    words = " ".join(_WORD.findall(text[:_ENOUGH]))
    ranked = _identifier().rank(words) if words else []
    return next((code for name, _ in ranked if (code := _ALIASES.get(name, name)) in languages), "")


_ALIASES = {"nb": "no", "nn": "no"}
"""the two ways to write Norwegian"""


@functools.cache
def _identifier() -> LanguageIdentifier:
    # imported only here: loading its model takes most of a second
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE)


def in_default_language(text: str) -> bool:
    """Whether a text is in the default language, English, or nothing in it speaks against it."""
    words = _WORD.findall(text)
    if not text.isascii():
        letters = "".join(words)
        if 2 * len(_ROMAN.findall(letters)) < len(letters):
            return False
    return foreign_signs(text) <= 0
