"""Whether two words spell one name: in one script in two ways, or in two scripts.

Hebrew leaves vowels out and has letters for several sounds, so a Hebrew word is a pattern of Latin spellings. Cyrillic
letters are replaced by Latin ones. Words are as `tables.plain` makes them.
"""

from __future__ import annotations

import functools
import re

from anyascii import anyascii

_HEBREW, _CYRILLIC, _LATIN = re.compile("[א-ת]"), re.compile("[\u0400-\u04ff]"), re.compile("[a-z]")

_VOWELS = "[aeiouy]{0,2}"
_SOUNDS = {
    "א": "", "ב": "(?:bb?|v|w)", "ג": "(?:gg?h?|j|dj)", "ד": "dd?", "ה": "h?", "ו": "(?:vv?|w|oo|ou|o|u)",
    "ז": "(?:zz?h?|s)", "ח": "(?:ch|kh|h|x)", "ט": "tt?h?", "י": "(?:y|j|ee|ie|ei|i|e)?", "כ": "(?:kh|ch|ck|kk?|c|h)",
    "ך": "(?:kh|ch|h|k)", "ל": "ll?", "מ": "mm?", "ם": "mm?", "נ": "nn?", "ן": "nn?", "ס": "(?:ss?|c)", "ע": "",
    "פ": "(?:ph|pp?|ff?)", "ף": "(?:ph|ff?|v|p)", "צ": "(?:tz|ts|tsch|tch|ch|cz|zz?|c)", "ץ": "(?:tz|ts|ch|z|c)",
    "ק": "(?:ck|kk?|c|q|g)", "ר": "rr?", "ש": "(?:sch|sh|ss?)", "ת": "tt?h?",
}  # fmt: skip

_SPELLINGS = (
    ("sch", "sh"), ("tsch", "ch"), ("tch", "ch"), ("kh", "h"), ("ch", "h"), ("ph", "f"), ("th", "t"), ("ck", "k"),
    ("tz", "c"), ("ts", "c"), ("cz", "c"), ("zh", "z"), ("sh", "s"), ("q", "k"), ("x", "ks"), ("w", "v"),
    ("ou", "u"), ("oo", "u"), ("ee", "i"), ("ie", "i"), ("ei", "i"), ("ey", "i"), ("ay", "ai"), ("y", "i"), ("j", "i"),
)  # fmt: skip
_SOFT_C = re.compile("c(?=[aou]|[^aeiouhc]|$)")
_NOT_LATIN = re.compile("[^a-z]")
_SILENT_END = re.compile("(?<=[^aeiou])e$|(?<=[aeiou])h$|(?<=i)[aei](?=[^aeiou]?$)")
_DOUBLE = re.compile(r"(.)\1+")


def script(text: str) -> str:
    """latin, hebrew or cyrillic: what most letters of a text are of; other, or empty where it holds no letters."""
    lower = text.lower()
    counts = {
        "latin": sum(char.isascii() or char < "\u0250" for char in lower if char.isalpha()),
        "hebrew": len(_HEBREW.findall(lower)),
        "cyrillic": len(_CYRILLIC.findall(lower)),
    }
    best = max(counts, key=lambda name: counts[name])
    if counts[best]:
        return best
    return "other" if any(map(str.isalpha, text)) else ""


def is_roman(text: str) -> bool:
    """Whether most letters of a text are of the script of the default language."""
    return script(text) == "latin"


@functools.lru_cache(1 << 17)
def same(word: str, other: str) -> bool:
    """Whether two words may spell one name."""
    if word == other:
        return True
    hebrew = [side for side in (word, other) if _HEBREW.search(side)]
    if len(hebrew) == 2:
        return _without_mothers(word) == _without_mothers(other)
    if hebrew:
        latin = romanise(other if hebrew[0] == word else word)
        return bool(latin) and _pattern(hebrew[0]).fullmatch(latin) is not None
    return spelling_key(word) == spelling_key(other) != ""


@functools.lru_cache(1 << 16)
def romanise(word: str) -> str:
    """A word in small Latin letters, those of other scripts replaced; only letters."""
    return _NOT_LATIN.sub("", word if word.isascii() else anyascii(word).lower())


@functools.lru_cache(1 << 16)
def spelling_key(word: str) -> str:
    """A key that common spellings of a name in Latin or Cyrillic letters share: `itai` for Itay and Ittai."""
    key = romanise(word)
    for written, sound in _SPELLINGS:
        key = key.replace(written, sound)
    key = _DOUBLE.sub(r"\1", _SOFT_C.sub("k", key) if "c" in romanise(word) else key)
    if len(key) > 3:
        key = _SILENT_END.sub("", key)
    return key


def _without_mothers(word: str) -> str:
    """Hebrew without the letters that stand for vowels in some spellings: אוסנת and אסנת are one."""
    return word[0] + re.sub("[ויאה]", "", word[1:])


@functools.lru_cache(1 << 16)
def _pattern(word: str) -> re.Pattern[str]:
    """The Latin spellings of a Hebrew word: vowels anywhere between its letters, at its ends only as it has them."""
    letters = [_SOUNDS.get(char, "") for char in word]
    if word[0] in "אע":
        letters[0] = "h?" if word[1:2] in tuple("וי") else "h?[aeiouy]{1,3}"
        if word[1:2] == "י":  # איתמר is no Tamar, and איימי is Amy
            letters[1] = "(?:a[iy]?|e[iy]?)" if word[2:3] == "י" else "(?:y|j|ee|ie|ei|i|e)"
    elif word[0] == "י":
        letters[0] = "(?:y|j|i|ie|ye)"
    if len(word) > 1 and word[-1] in _FINAL:
        letters[-1] = _FINAL[word[-1]]
    return re.compile(_VOWELS.join(letters) + ("" if word[-1] in "יה" else "(?:(?<![aeiouy])[ae]?h?)?"))


_FINAL = {"ב": "(?:bb?|v|w|ff?)", "ו": "(?:vv?|w|ff?|o|u|ou|ov)", "ה": "[aeo]h?", "י": "(?:y|i|j|ie|ee|ei|ai|ay|e)"}


@functools.lru_cache(1 << 16)
def skeletons(word: str) -> frozenset[str]:
    """Keys of a word's consonants; two words that may spell one name share at least one key."""
    if _HEBREW.search(word):
        options = [_HEBREW_KEYS.get(char, ("",)) for char in word]
    else:
        latin = romanise(word)
        options = [_LATIN_KEYS.get(part, ("",)) for part in _LATIN_PARTS.findall(latin)]
    keys = {""}
    for option in options:
        keys = {key + consonant for key in keys for consonant in option}
        if len(keys) > _MAX_KEYS:
            break
    return frozenset({_DOUBLE.sub(r"\1", key) for key in keys})


_MAX_KEYS = 64
_LATIN_PARTS = re.compile("tsch|sch|tch|ch|kh|sh|ph|th|ts|tz|cz|zh|dj|ck|[a-z]")
_LATIN_KEYS = {
    **dict.fromkeys(("f", "ph", "p"), ("P",)), **dict.fromkeys(("v", "w"), ("", "B", "P")), "b": ("B",),
    **dict.fromkeys(("k", "q", "ck"), ("K",)), "c": ("K", "S"), "g": ("G", "K"), "x": ("KS", ""),
    **dict.fromkeys(("ch", "kh"), ("", "K", "S")), **dict.fromkeys(("j", "dj"), ("", "G")),
    **dict.fromkeys(("s", "z", "sh", "sch", "ts", "tz", "cz", "zh", "tch", "tsch"), ("S",)),
    **dict.fromkeys(("t", "th"), ("T",)), "d": ("D",), "l": ("L",), "m": ("M",), "n": ("N",), "r": ("R",),
}  # fmt: skip
_HEBREW_KEYS = {
    "ב": ("B", ""), "ג": ("G", ""), "ד": ("D",), "ו": ("", "B"), "ז": ("S",), "ח": ("", "K"), "ט": ("T",),
    **dict.fromkeys("כך", ("K", "")), "ל": ("L",), **dict.fromkeys("מם", ("M",)), **dict.fromkeys("נן", ("N",)),
    "ס": ("S",), **dict.fromkeys("פף", ("P",)), **dict.fromkeys("צץ", ("S",)), "ק": ("K",), "ר": ("R",), "ש": ("S",),
    "ת": ("T",),
}  # fmt: skip
