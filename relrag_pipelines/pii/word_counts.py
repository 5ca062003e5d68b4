"""Counts the words of a list in many texts, which are searched as one."""

from __future__ import annotations

from collections.abc import Sequence

import ahocorasick_rs
import numpy as np
import numpy.typing as npt


def count(automaton: ahocorasick_rs.BytesAhoCorasick, texts: Sequence[str]) -> npt.NDArray[np.int64]:
    """The number of matches in each text, in lower case; the automaton's words are UTF-8 and contain no NUL."""
    joined = "".join(f"{text.replace(chr(0), ' ')}\0" for text in texts).lower().encode("utf-8", "surrogatepass")
    ends = np.flatnonzero(np.frombuffer(joined, np.uint8) == 0)
    starts = [start for _, start, _ in automaton.find_matches_as_indexes(joined)]
    return np.bincount(ends.searchsorted(np.array(starts, np.int64)), minlength=len(texts))
