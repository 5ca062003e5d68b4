"""Words of everyday talk that say nothing of its subject: no entity is called so. A file is a language.

They stand beside the function words of `text/stopwords.py`, which search leaves out: these are found, but name nothing.
"""

from __future__ import annotations

from pathlib import Path

from relrag_pipelines.text.analyzer import PREFIXED, fold
from relrag_pipelines.text.stopwords import FINAL_LETTERS

_SHORT = 3
"""letters that a Hebrew word has more than where its first one may be a prefix"""
_COMMON = frozenset(
    fold(word).translate(FINAL_LETTERS)
    for file in Path(__file__).parent.glob("*.txt")
    for word in file.read_text(encoding="utf-8").split()
)


def is_common(word: str) -> bool:
    """Whether a word, folded, is one of these."""
    word = word.translate(FINAL_LETTERS)
    plain = word[1:] if word[0] in PREFIXED and len(word) > _SHORT else word
    return word in _COMMON or plain in _COMMON
