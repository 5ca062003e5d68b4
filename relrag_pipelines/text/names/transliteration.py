"""How a given name is written in other scripts: Nadav is נדב by the lists; Tomáš, which they lack, תומאש or טומש."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Mapping

from relrag_pipelines.text.names import tables
from relrag_pipelines.text.names.spelling import same, script, skeletons, to_latin

_MOST = 128
"""spellings of one name; of a longer one none are made"""
_FEW = 2
"""names of a list that sound like one and of which all may be it"""
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
    latin = to_latin(word.lower()).replace("x", "ks")
    parts = [one[1] or one[0] for one in _PARTS.finditer(latin)]
    ends = {0: _AT_BEGIN, len(parts) - 1: _AT_END}
    options = [
        _letters(part, ends.get(place, _WITHIN), behind_vowel=parts[max(0, place - 1)][-1] in _VOWELS)
        for place, part in enumerate(parts)
    ]
    made = list(itertools.islice(itertools.product(*options), _MOST + 1))
    if not parts or len(made) > _MOST:
        return frozenset()
    written = ("".join(one) for one in made)
    ended = (one[:-1] + one[-1].translate(_FINAL) for one in written if len(one) > 1)
    return frozenset(one for one in ended if same(one, latin))


def _letters(part: str, vowels: Mapping[str, tuple[str, ...]], *, behind_vowel: bool) -> tuple[str, ...]:
    """What stands for a sound at its place in a word."""
    written = vowels.get(part) or _WITHIN.get(part) or tuple(_SOUNDS.get(part, ""))
    if behind_vowel and vowels is _AT_END and part in _BEHIND_VOWEL:
        return (*written, *(f"ע{one}" for one in written))
    return _BEHIND_VOWEL.get(part, written) if behind_vowel and vowels is _WITHIN else written


def other_scripts(word: str) -> frozenset[str]:
    """How a given name is written in other scripts, as `tables.plain` makes it: as lists have it, else as it sounds."""
    name = tables.plain(word)
    made = to_hebrew(name) if script(name) == "latin" else frozenset[str]()
    alike = {one for key in skeletons(name) for one in _by_skeleton().get(key, ()) if same(one, name)}
    listed = {one for one in alike if script(one) != script(name)}
    if script(name) == "hebrew":
        return frozenset({one for one in listed if script(one) != "latin" or name in to_hebrew(one)} or _few(listed))
    return frozenset(listed & made or _few(listed) | (made - tables.common()))


def _few(names: set[str]) -> set[str]:
    """Names that sound alike, unless they are many: then most of them are other names."""
    return names if len(names) <= _FEW else set()


@functools.cache
def _by_skeleton() -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for name in tables.given_names():
        for key in skeletons(name):
            found.setdefault(key, set()).add(name)
    return {key: frozenset(some) for key, some in found.items()}
