"""Czech forms of a name by its ending: cases and the possessive adjective.

A name in -a whose gender is unknown gets the forms of both Honza and Jana. Ungrammatical forms do no harm, since nobody
writes them.
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
_NO_FORMS = ("i", "y", "u", "ó", "é", "ů")
_DECLENSIONS = {
    "i": (("iho",), ("imu", "im"), ("iho",), ("i",), ("im",)),
    "y": (("yho",), ("ymu", "ym"), ("yho",), ("y",), ("ym",)),
    "í": (("ího",), ("ímu", "ím"), ("ího",), ("í",), ("ím",)),
    "á": (("é",), ("é",), ("ou",), ("á",), ("ou",)),
    "ý": (("ého",), ("ému", "ém"), ("ého",), ("ý",), ("ým",)),
    "e": (("e",), ("i", "eti"), ("i",), ("e",), ("í",)),
    "ě": (("ě",), ("i", "ěti"), ("i",), ("ě",), ("í",)),
    "o": (("a",), ("ovi", "u"), ("a",), ("o",), ("em",)),
}
"""last letter of a name -> what replaces it in each of the five cases of `cases`"""


@functools.lru_cache(1 << 14)
def cases(word: str, gender: str = "") -> tuple[tuple[str, ...], ...]:
    """The forms of a name in five cases: genitive, dative and locative, accusative, vocative, instrumental.

    `gender` is m, f, or empty if unknown. A name that is not inflected in Czech has no forms.
    """
    if len(word) < 3 or not word[0].isalpha():
        return ()
    stem = word[:-1]
    if word[-1] in _DECLENSIONS:
        return tuple(tuple(f"{stem}{ending}" for ending in endings) for endings in _DECLENSIONS[word[-1]])
    if word.endswith("a"):
        return _in_a(stem, gender)
    if word[-1].lower() in _NO_FORMS:
        return ()
    return _hard_or_soft(word)


@functools.lru_cache(1 << 14)
def possessives(word: str, gender: str = "") -> tuple[str, ...]:
    """Forms of the possessive adjective: Petrova, Petrovou; Janina, Lenčin. `gender` is m, f, or empty."""
    if len(word) < 3 or word[-1].lower() in (*_NO_FORMS, "á", "ý", "í"):
        return ()
    stem = word[:-1]
    if word.endswith("a"):
        softened = stem[:-1] + _POSSESSIVE_STEM.get(stem[-1], stem[-1])
        his, hers = _with_endings(stem, _HIS), _with_endings(softened, _HERS)
        return {"m": his, "f": hers}.get(gender, his + hers)
    if word.endswith("e"):
        return _with_endings(stem, _HERS)
    if word.endswith("o"):
        return _with_endings(stem, _HIS)
    return tuple(form for oblique_stem in _oblique(word) for form in _with_endings(oblique_stem, _HIS))


def plurals(word: str) -> tuple[str, ...]:
    """The nominative and genitive plurals of a word for people: mentoři, mentorů. Irregular ones are in a table."""
    if word.endswith("a"):
        return _plurals_in_a(word[:-1])
    if word[-1] in "eěéíý":
        return ()
    forms: list[str] = []
    for stem in _oblique(word):
        softened = f"{stem[:-2]}š" if stem.endswith("ch") else f"{stem[:-1]}{_SOFTENED.get(stem[-1], stem[-1])}"
        forms += [f"{softened}i", f"{stem}ové", f"{stem}é", f"{stem}ů"]
    return tuple(forms)


def _plurals_in_a(stem: str) -> tuple[str, ...]:
    """Plurals of a word in -a of either gender: kamarádky, kamarádek, kolegové, kolegů."""
    genitive = f"{stem[:-1]}e{stem[-1]}" if stem.endswith("k") else stem
    return f"{stem}y", genitive, f"{stem}ové", f"{stem}ů"


def gender(name: str) -> str:
    """The gender of a folded Czech name by its ending, f or m."""
    return "f" if name.endswith(("a", "e")) else "m"


def _with_endings(stem: str, endings: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{stem}{ending}" for ending in endings)


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
    """The stems that endings are added to: karl- for Karel, mark- for Marek, zdeňk- for Zdeněk."""
    if word.endswith(("ek", "ec", "el", "eš")) and len(word) > 3:
        yield f"{word[:-2]}{word[-1]}"
    if word.endswith("ěk"):
        yield f"{word[:-3]}{_BEFORE_K.get(word[-3], word[-3])}k"
    if not word.endswith(("ek", "ěk")):
        yield word
