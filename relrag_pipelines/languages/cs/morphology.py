"""The forms that a name has in Czech: seven cases and the possessive adjective, by how the name ends.

A name in -a of which it is not known whose it is has the forms of Honza and those of Jana. Forms that no grammar has
do no harm, since nobody writes them.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

_SOFT = tuple("cčďjňřšťžxsz")
_SOFTENED = {"k": "c", "g": "z", "h": "z", "r": "ř"}
_POSSESSIVE_STEM = {"k": "č", "g": "ž", "h": "ž", "r": "ř"}
_BEFORE_K = {"n": "ň", "d": "ď", "t": "ť"}
_HIS = ("ův", "ova", "ovo", "ově", "ovu", "ovou", "ovi", "ovy", "ových", "ovým", "ovými", "ově")
_HERS = ("in", "ina", "ino", "ině", "inu", "inou", "ini", "iny", "iných", "iným", "inými")
_ADJECTIVE = ("ého", "ému", "ém", "ým", "í", "ých", "ými")
_NO_FORMS = ("i", "y", "u", "ó", "é", "ů")


@functools.lru_cache(1 << 14)
def cases(word: str, gender: str = "") -> tuple[tuple[str, ...], ...]:
    """The forms of a name in five cases: genitive, dative and locative, accusative, vocative, instrumental.

    `gender` is m, f, or empty where it is not known.

    A name that is written in no Czech way has none.
    """
    if len(word) < 3 or not word[0].isalpha():
        return ()
    if word.endswith(("i", "y")):
        return ((f"{word}ho",), (f"{word}mu", f"{word}m"), (f"{word}ho",), (word,), (f"{word}m",))
    if word[-1].lower() in _NO_FORMS:
        return ()
    if word.endswith("ová"):
        return ((f"{word[:-1]}é",), (f"{word[:-1]}é",), (f"{word[:-1]}ou",), (word,), (f"{word[:-1]}ou",))
    stem = word[:-1]
    if word.endswith(("á",)):
        return ((f"{stem}é",), (f"{stem}é",), (f"{stem}ou",), (word,), (f"{stem}ou",))
    if word.endswith("ý"):
        return ((f"{stem}ého",), (f"{stem}ému", f"{stem}ém"), (f"{stem}ého",), (word,), (f"{stem}ým",))
    if word.endswith("í"):
        return ((f"{word}ho",), (f"{word}mu", f"{word}m"), (f"{word}ho",), (word,), (f"{word}m",))
    if word.endswith("a"):
        return _in_a(stem, gender)
    if word.endswith(("e", "ě")):
        return ((word,), (f"{stem}i", f"{word}ti"), (f"{stem}i",), (word,), (f"{stem}í",))
    if word.endswith("o"):
        return ((f"{stem}a",), (f"{stem}ovi", f"{stem}u"), (f"{stem}a",), (word,), (f"{stem}em",))
    return _hard_or_soft(word)


@functools.lru_cache(1 << 14)
def possessives(word: str, gender: str = "") -> tuple[str, ...]:
    """What belongs to the bearer: Petrova, Petrovou; Janina, Lenčin. `gender` is m, f, or empty."""
    if len(word) < 3 or word[-1].lower() in (*_NO_FORMS, "á", "ý", "í"):
        return ()
    stem = word[:-1]
    if word.endswith("a"):
        hers = stem[:-1] + _POSSESSIVE_STEM.get(stem[-1], stem[-1])
        his = tuple(f"{stem}{ending}" for ending in _HIS)
        hers_only = tuple(f"{hers}{ending}" for ending in _HERS)
        return {"m": his, "f": hers_only}.get(gender, his + hers_only)
    if word.endswith("e"):
        return tuple(f"{stem}{ending}" for ending in _HERS)
    if word.endswith("o"):
        return tuple(f"{stem}{ending}" for ending in _HIS)
    return tuple(f"{oblique_stem}{ending}" for oblique_stem in _oblique(word) for ending in _HIS)


def gender(name: str) -> str:
    """f or m, of any folded name that is Czech."""
    return "f" if name.endswith(("a", "e")) else "m"


def _in_a(stem: str, gender: str) -> tuple[tuple[str, ...], ...]:
    last = stem[-1]
    softened = f"{stem[:-1]}{_SOFTENED.get(last, last)}"
    if stem.endswith("ch"):
        softened = f"{stem[:-2]}š"
    his, hers = (f"{stem}ovi",), (f"{softened}e", f"{softened}ě", f"{stem}i")
    datives = {"m": his, "f": hers}.get(gender, his + hers)
    return ((f"{stem}y", f"{stem}i", f"{stem}e"), datives, (f"{stem}u",), (f"{stem}o",), (f"{stem}ou",))


def _hard_or_soft(word: str) -> tuple[tuple[str, ...], ...]:
    forms: list[tuple[str, ...]] = [(), (), (), (), ()]
    for stem in _oblique(word):
        soft = stem[-1] in _SOFT
        endings = (
            ("e", "a") if soft else ("a",),
            ("ovi", "i", "u") if soft else ("ovi", "u"),
            ("e", "a") if soft else ("a",),
            ("i", "e") if soft else ("e", "u"),
            ("em",),
        )
        for index, of_case in enumerate(endings):
            forms[index] += tuple(f"{stem}{ending}" for ending in of_case)
    if word.endswith("r"):
        forms[3] += (f"{word[:-1]}ře",)
    return tuple(forms)


def _oblique(word: str) -> Iterator[str]:
    """What endings are added to: of Karel karl-, of Marek mark-, of Zdeněk zdeňk-."""
    if word.endswith(("ek", "ec", "el", "eš")) and len(word) > 3:
        yield f"{word[:-2]}{word[-1]}"
    if word.endswith("ěk"):
        yield f"{word[:-3]}{_BEFORE_K.get(word[-3], word[-3])}k"
    if not word.endswith(("ek", "ěk")):
        yield word
