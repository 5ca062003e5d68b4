"""How a given name is written in other scripts: Nadav is נדב by the lists; Tomáš, which they lack, תומאש or טומש."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Mapping

from relrag_pipelines.text.names import tables
from relrag_pipelines.text.names.spelling import is_roman, romanise, same, script, skeletons

_MAX_SPELLINGS = 128
"""spellings of one name; a longer name gets none"""
_MAX_LISTED = 2
"""names of the lists that sound alike; of more, most are other names"""
_SOUNDS = {
    "sch": "ש", "tch": "צ", "sh": "ש", "ch": "חכצ", "kh": "חכ", "ck": "ק", "ph": "פ", "th": "ת", "tz": "צ", "ts": "צ",
    "ou": "ו", "oo": "ו", "ee": "י", "ie": "י", "ei": "י", "ey": "י", "b": "ב", "c": "קצ", "d": "ד", "f": "פ",
    "g": "ג", "h": "הח", "j": "יג", "k": "ק", "l": "ל", "m": "מ", "n": "נ", "o": "ו", "p": "פ", "q": "ק", "r": "ר",
    "s": "סש", "t": "טת", "u": "ו", "v": "וב", "w": "ו", "y": "י", "z": "ז",
}  # fmt: skip
_PARTS = re.compile("sch|tch|sh|ch|kh|ck|ph|th|tz|ts|ou|oo|ee|ie|ei|ey|(.)\\1|[a-z]")
_VOWELS = frozenset("aeiou")
_AT_BEGIN = {"a": ("א", "ע"), "e": ("א", "ע"), "i": ("אי", "עי"), "o": ("או", "עו"), "u": ("או",), "ei": ("אי", "עי")}
_WITHIN = {"a": ("", "א"), "e": ("",), "i": ("י", "")}
_AT_END = {"a": ("ה", "א"), "e": ("ה",), "i": ("י",)}
_BEHIND_VOWEL = {"a": ("ע", "א", ""), "e": ("א", "ע", "")}
_FINAL = str.maketrans("כמנפצ", "ךםןףץ")


@functools.lru_cache(1 << 12)
def to_hebrew(word: str) -> frozenset[str]:
    """The likely Hebrew spellings of a name in Latin letters; none of a long one, which has too many."""
    latin = romanise(word.lower()).replace("x", "ks")
    parts = [match[1] or match[0] for match in _PARTS.finditer(latin)]
    ends = {0: _AT_BEGIN, len(parts) - 1: _AT_END}
    options = [
        _letters(part, ends.get(position, _WITHIN), behind_vowel=parts[max(0, position - 1)][-1] in _VOWELS)
        for position, part in enumerate(parts)
    ]
    combinations = list(itertools.islice(itertools.product(*options), _MAX_SPELLINGS + 1))
    if not parts or len(combinations) > _MAX_SPELLINGS:
        return frozenset()
    spellings = map("".join, combinations)
    with_finals = (spelling[:-1] + spelling[-1].translate(_FINAL) for spelling in spellings if len(spelling) > 1)
    return frozenset(spelling for spelling in with_finals if same(spelling, latin))


def _letters(part: str, vowels: Mapping[str, tuple[str, ...]], *, behind_vowel: bool) -> tuple[str, ...]:
    """The letters for a sound at a position in a word."""
    letters = vowels.get(part) or _WITHIN.get(part) or tuple(_SOUNDS.get(part, ""))
    if behind_vowel and vowels is _AT_END and part in _BEHIND_VOWEL:
        return (*letters, *(f"ע{letter}" for letter in letters))
    return _BEHIND_VOWEL.get(part, letters) if behind_vowel and vowels is _WITHIN else letters


def other_scripts(word: str) -> frozenset[str]:
    """The spellings of a given name in other scripts, made plain by `tables.plain`: from the lists, else by sound."""
    name = tables.plain(word)
    by_sound = to_hebrew(name) if is_roman(name) else frozenset[str]()
    listed = _listed_in_other_scripts(name)
    if script(name) == "hebrew":
        confirmed = {other for other in listed if not is_roman(other) or name in to_hebrew(other)}
        return frozenset(confirmed or _few(listed))
    return frozenset(listed & by_sound or _few(listed) | (by_sound - tables.common()))


def _listed_in_other_scripts(name: str) -> set[str]:
    """Names of the lists that may be the same name in another script."""
    similar = (other for key in skeletons(name) for other in _by_skeleton().get(key, ()))
    return {other for other in similar if same(other, name) and script(other) != script(name)}


def _few(names: set[str]) -> set[str]:
    """The names, or none if there are many: then most of them are other names."""
    return names if len(names) <= _MAX_LISTED else set()


@functools.cache
def _by_skeleton() -> Mapping[str, frozenset[str]]:
    by_skeleton: dict[str, set[str]] = {}
    for name in tables.given_names():
        for key in skeletons(name):
            by_skeleton.setdefault(key, set()).add(name)
    return {key: frozenset(names) for key, names in by_skeleton.items()}
