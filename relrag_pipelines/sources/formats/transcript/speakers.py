"""Tells speakers in lines such as `Name: text` from other words before a colon.

Zoom writes captions so, and people minutes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence

_LINE = re.compile(r"(?:(?:- ?)?+([^\W\d_][^:\n<>?!\[\]]{0,59}+): +(?=\S))?(.*)\n")
"""a name, if there may be one, and what follows it"""
_MOST_WORDS = 6
"""of a name; more are a sentence"""
_MOST_WORDS_ONCE = 4
"""of a name that begins a single line"""
_PLACEHOLDER = re.compile(r"(?:unknown[ _]?)?(?:speaker|sprecher|mluvčí|דובר)[ _-]*[\dA-Z]{0,3}|unknown", re.IGNORECASE)


def is_placeholder(name: str) -> bool:
    """Whether a name is a program's placeholder for an unknown speaker: `Speaker 1`, SPEAKER_00."""
    return _PLACEHOLDER.fullmatch(name) is not None


def may_be_same(one: str, other: str) -> bool:
    """Whether two names are equal, or one is only the given name of the other."""
    first, second = one.casefold().split(), other.casefold().split()
    return first == second or (first[:1] == second[:1] and 1 in (len(first), len(second)))


def split_names(
    lines: Sequence[str], known: Collection[str] = (), *, each_may_speak_once: bool = False
) -> tuple[list[str | None], list[str]]:
    """Speaker and text of each line; a name counts as a speaker's if it begins at least two lines.

    Once is enough for those in `known`, by their whole or given name; and in captions (`each_may_speak_once`) for
    everybody where half of the lines begin with what looks like a name.
    """
    found = _split_names(lines)
    counted = Counter([name for name, _ in found if name])
    once = _names_of_one_line(counted, len(lines)) if each_may_speak_once else frozenset()
    names = {
        name: name.strip()
        for name, count in counted.items()
        if _may_be_name(name) and (count > 1 or name in once or any(may_be_same(name, one) for one in known))
    }
    if not names:
        return [None] * len(lines), list(lines)
    return (
        [names.get(name) for name, _ in found],
        [text if name in names else line for (name, text), line in zip(found, lines, strict=True)],
    )


def _names_of_one_line(counted: Counter[str], lines: int) -> frozenset[str]:
    """The names that begin a single line, where half of all lines begin with names, of at least two people.

    Where full names recur, it takes two words: beside `Alex Rubin`, `Attention` is none.
    """
    if 1 not in counted.values():
        return frozenset()
    names = [name for name in counted if _looks_like_name(name)]
    if len(names) < 2 or sum(counted[name] for name in names) * 2 < lines:
        return frozenset()
    fewest = min((len(name.split()) for name in names if counted[name] > 1), default=1)
    return frozenset(name for name in names if len(name.split()) >= min(fewest, 2))


def _looks_like_name(text: str) -> bool:
    """Whether it is up to four words with capitals, or of a script that has none, and perhaps small ones between."""
    words = text.split()
    small = [word[:1].islower() for word in words]
    return 0 < len(words) <= _MOST_WORDS_ONCE and not (small[0] or small[-1])


def _split_names(lines: Sequence[str]) -> list[tuple[str, str]]:
    """What may be a name, empty where nothing may, and the text behind it."""
    found = _LINE.findall("\n".join([*lines, ""]))
    if len(found) == len(lines):
        return found
    # a dialogue has several lines in one; its first tells who speaks
    matches = [_LINE.match(f"{line}\n") for line in lines]
    return [
        (match[1] or "", line[match.start(2) :]) if match else ("", line)
        for match, line in zip(matches, lines, strict=True)
    ]


def _may_be_name(text: str) -> bool:
    return len(text.split()) <= _MOST_WORDS
