"""Recognises speakers in lines such as `Name: text`, as opposed to other words before a colon.

Captions by Zoom and minutes by people have such lines.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence

from relrag_pipelines import languages
from relrag_pipelines.text.names import tables

_LINE = re.compile(r"(?:(?:- ?)?+([^\W\d_][^:\n<>?!\[\]]{0,59}+): +(?=\S))?(.*)\n")
"""a possible name, and the text after it"""
_MAX_WORDS = 6
"""words of a name; more are a sentence"""
_MAX_WORDS_ONCE = 4
"""words of a name that begins a single line"""
_SPEAKER = languages.patterns("exports", "speaker")
_PLACEHOLDER = re.compile(rf"(?:unknown[ _]?)?(?:{_SPEAKER})[ _-]*[\dA-Z]{{0,3}}|unknown", re.IGNORECASE)


def is_placeholder(name: str) -> bool:
    """Whether a name is a program's placeholder for an unknown speaker: `Speaker 1`, SPEAKER_00."""
    return _PLACEHOLDER.fullmatch(name) is not None


def may_be_same(name: str, other: str) -> bool:
    """Whether two names are equal, or one is only the given name of the other."""
    first, second = name.casefold().split(), other.casefold().split()
    return first == second or (first[:1] == second[:1] and 1 in (len(first), len(second)))


def split_names(
    lines: Sequence[str], known_names: Collection[str] = (), *, each_may_speak_once: bool = False
) -> tuple[list[str | None], list[str]]:
    """Speaker and text of each line; a name counts as a speaker's if it begins at least two lines.

    Once is enough for `known_names`, by their full or given name, and for the names of people who speak with others;
    and for all names in captions (`each_may_speak_once`) if half of the lines begin with a likely name.
    """
    pairs = _split_names(lines)
    counts = Counter([name for name, _ in pairs if name])
    sure = {
        name
        for name, count in counts.items()
        if _may_be_name(name) and (count > 1 or any(may_be_same(name, known_name) for known_name in known_names))
    }
    written = sum(map(bool, lines))
    once = _names_of_one_line(counts, len(lines)) if each_may_speak_once else _people_of_one_line(counts, sure, written)
    names = {name: name.strip() for name in counts if name in sure or name in once}
    if not names:
        return [None] * len(lines), list(lines)
    return (
        [names.get(name) for name, _ in pairs],
        [text if name in names else line for (name, text), line in zip(pairs, lines, strict=True)],
    )


def _names_of_one_line(counts: Counter[str], lines: int) -> frozenset[str]:
    """Names that may begin a single line, if half of all lines begin with names of at least two people.

    Where full names recur, two words are needed: beside `Alex Rubin`, `Attention` isn't a name.
    """
    if 1 not in counts.values():
        return frozenset()
    names = [name for name in counts if _looks_like_name(name)]
    if len(names) < 2 or sum(counts[name] for name in names) * 2 < lines:
        return frozenset()
    fewest = min((len(name.split()) for name in names if counts[name] > 1), default=1)
    return frozenset(name for name in names if len(name.split()) >= min(fewest, 2))


def _people_of_one_line(counts: Counter[str], sure: set[str], lines: int) -> set[str]:
    """People who may begin a single line of a text, beside those who are `sure`.

    A given name tells a person. Beside a sure speaker, or where all lines begin with a person, one counts; and
    where all sure names have two words, so does any other such name in a text of which half is speech.
    """
    likely = {name for name in counts.keys() - sure if _looks_like_name(name)}
    people = set(filter(_has_given_name, likely))
    if not sure:
        return people if len(people) > 1 and len(people) == lines else set()
    is_speech = sum(map(counts.__getitem__, likely.union(sure))) * 2 >= lines
    return people | set(filter(_is_full, likely)) if is_speech and all(map(_is_full, sure)) else people


def _is_full(name: str) -> bool:
    return " " in name.strip()


def _has_given_name(name: str) -> bool:
    words = name.split()
    return any(word not in tables.common() and tables.plain(word) in tables.given_names() for word in words)


def _looks_like_name(text: str) -> bool:
    """Whether it is up to four capitalised words (or of a script without capitals), with small words between."""
    words = text.split()
    small = [word[:1].islower() for word in words]
    return 0 < len(words) <= _MAX_WORDS_ONCE and not (small[0] or small[-1])


def _split_names(lines: Sequence[str]) -> list[tuple[str, str]]:
    """For each line a possible name, or an empty string, and the text after it."""
    pairs = _LINE.findall("\n".join([*lines, ""]))
    if len(pairs) == len(lines):
        return pairs
    # a caption may be a dialogue of several lines; the first line determines the speaker
    matches = [_LINE.match(f"{line}\n") for line in lines]
    return [
        (match[1] or "", line[match.start(2) :]) if match else ("", line)
        for match, line in zip(matches, lines, strict=True)
    ]


def _may_be_name(text: str) -> bool:
    return len(text.split()) <= _MAX_WORDS
