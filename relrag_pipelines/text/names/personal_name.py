"""A name as somebody wrote it: its words in order, without titles, marks and remarks, and names borne before.

`"Rubin, Alex (work)"` is alex rubin, `MUDr. Eva Jelínková, Ph.D.` eva jelinkova, `Lucie Veselá (roz. Horáková)` lucie
vesela, once horakova.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from typing import NamedTuple

from relrag_pipelines.text.names import tables

_BRACKETS = re.compile(r"\(([^()]*)(?:\)|$)|\[([^\][]*)(?:\]|$)|<[^<>]*>")
_REMARK = re.compile(r"\s+(?:via|@)\s.*|\s*[|•·].*|\s+[-–—]\s.*", re.IGNORECASE)
_HYPHENS = re.compile("[-\u2010-\u2015\u05be/]+")
_MAX_WORDS = 6
"""longer ones are no names of people"""


class WrittenName(NamedTuple):
    """A written name in its normal form."""

    words: tuple[str, ...]
    """given names first, each as `tables.plain`; none where it was no name"""
    former: tuple[str, ...] = ()
    """words of a family name borne before"""

    @property
    def full(self) -> str:
        """The words joined: equal for all ways to write one name in one script."""
        return " ".join(self.words)

    @property
    def is_kin(self) -> bool:
        """Whether it consists of kin terms: `Mom`, `סבתא`."""
        return bool(self.words) and all(word in tables.kin() for word in self.words)

    @property
    def is_organisation(self) -> bool:
        """Whether it is the name of a company, a club or an office."""
        return not tables.organisations().isdisjoint(self.words)


@functools.lru_cache(1 << 16)
def parse(text: str) -> WrittenName:
    """The name that a text consists of; no words if the text is too long for a name, or has no letters."""
    name = "".join(" " if unicodedata.category(char) in _NO_LETTERS else char for char in text.translate(_INVISIBLE))
    former: list[str] = []

    def take_former(brackets: re.Match[str]) -> str:
        if match := _former().match((brackets[1] or brackets[2] or "").strip()):
            former.extend(_words(match[1]))
        return " "

    name = _BRACKETS.sub(take_former, name)
    name = _REMARK.sub("", name)
    if match := _former_within().search(name):
        former.extend(_words(match[1]))
        name = name[: match.start()]
    words = _words_in_order(name)
    if len(words) > _MAX_WORDS or not any(map(str.isalpha, "".join(words))):
        return WrittenName(())
    return WrittenName(tuple(words), tuple(former))


_NO_LETTERS = ("So", "Sk", "Cs", "Co", "Cn")
_INVISIBLE = dict.fromkeys(
    (*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0xFE0F, 0xFEFF, 0x00AD)
)


def _words_in_order(name: str) -> list[str]:
    """The words, given names first: a part behind a comma is a title, a given name, or a remark."""
    parts = [(len(part.split()), words) for part in name.split(",") if (words := _words(part))]
    if not parts:
        return []
    (length, first), given = parts[0], tables.short_forms()
    if len(parts) > 1 and (length == 1 or (first[0] not in given and parts[1][1][0] in given)):
        return parts[1][1] + first
    return first


def _words(name: str) -> list[str]:
    """The plain words of a name that contain letters, without titles."""
    words = [tables.plain(word) for word in _HYPHENS.sub(" ", name).split()]
    return [word for word in words if any(map(str.isalpha, word)) and word not in tables.titles()]


@functools.cache
def _former() -> re.Pattern[str]:
    words = "|".join(re.escape(word) for word in tables.former())
    return re.compile(rf"(?:{words})\s+(.+)", re.IGNORECASE)


@functools.cache
def _former_within() -> re.Pattern[str]:
    words = "|".join(re.escape(word) for word in tables.former())
    return re.compile(rf"\s(?:{words})\s+(\S+)\s*$", re.IGNORECASE)
