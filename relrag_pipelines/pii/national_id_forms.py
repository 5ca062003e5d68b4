"""National ids of many countries: tax numbers, social insurance, identity cards. national_id_forms.toml lists them.

An id counts in every archive where a word announces it and its checksum is right. In an archive that is at home in its
country it also counts without a word, where it is written as only such ids are.
"""

from __future__ import annotations

import functools
import re
import tomllib
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import ahocorasick_rs

from relrag_pipelines.pii import context_words, national_id_checks
from relrag_pipelines.pii.national_ids import SEPARATOR
from relrag_pipelines.pii.normalized_text import normalize, plain_digits
from relrag_pipelines.pii.spans import Span, resolve_overlaps

ANNOUNCED, ALONE = 0.95, 0.8
"""scores, by how an id was recognised"""
_FAR = 40
"""characters between a label and its id"""
_BEHIND = 6
"""the same where the label stands behind"""
_LONGEST = 48
"""characters of an id with its separators"""
_CLASSES = {"n": "[0-9]", "a": "[A-Za-z]", "c": "[0-9A-Za-z]"}
_FIELD = re.compile(r"(\d+)!([nac])")
_DIGIT = re.compile(r"\d")
_NOT_ALNUM = re.compile(r"[^0-9A-Za-z]+")
_SPACED_SCRIPT = re.compile(r"[a-zа-яіїєґα-ω]")


class _Fold(dict[int, str]):
    """Lower case without accents, letter by letter, so that every letter stays at its place."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        plain = unicodedata.normalize("NFD", char.lower())[0]
        self[code] = plain if len(char.lower()) == 1 else char
        return self[code]


_FOLD = _Fold()


@dataclass(frozen=True)
class NationalId:
    """One kind of id."""

    region: str
    labels: tuple[str, ...]
    pattern: re.Pattern[str]
    """how it is written beside a label"""
    alone: re.Pattern[str] | None
    """how it is written where it needs no label"""
    check: str
    keeps_signs: bool
    """the signs between its characters are a part of it"""
    presidio: str
    """the entity as Presidio names it; empty where it has none"""

    def is_valid(self, written: str) -> bool:
        """Whether its checksum is right."""
        characters = "".join(written.split()) if self.keeps_signs else _NOT_ALNUM.sub("", written)
        return national_id_checks.check(self.check)(characters.upper())

    def unannounced(self, text: str) -> Iterator[re.Match[str]]:
        """Ids that no word announces, unless one says that the number is another."""
        for match in self.alone.finditer(text) if self.alone else ():
            if self.is_valid(match[0]) and not context_words.has_other_context(text, match.start()):
                yield match


@functools.cache
def load() -> tuple[NationalId, ...]:
    """Every kind of id in the table."""
    rows = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))["ids"]
    return tuple(
        NationalId(
            row["region"],
            tuple(label.translate(_FOLD) for label in row["labels"]),
            _bounded("|".join(map(_form, [row["form"]] if isinstance(row["form"], str) else row["form"]))),
            _bounded(row["alone"]) if "alone" in row else None,
            row["check"],
            row.get("keeps_signs", False),
            row.get("presidio", ""),
        )
        for row in rows
    )


def _form(form: str) -> str:
    fields = [_CLASSES[kind] for count, kind in _FIELD.findall(form) for _ in range(int(count))]
    return rf"{SEPARATOR}{{0,3}}".join(fields)


def _bounded(pattern: str) -> re.Pattern[str]:
    """The pattern where it is no part of a longer number or word."""
    return re.compile(rf"(?<![0-9A-Za-z])(?<!\d[.,/-])(?:{pattern})(?![0-9A-Za-z]|[.,/-]\d)")


def finder(regions: tuple[str, ...] = (), entity: str = "") -> Callable[[str], list[Span]]:
    """What finds ids in archives of these countries; of one of Presidio's entities alone where one is named."""
    kinds = [form for form in load() if not entity or form.presidio == entity]
    labels = _Labels(kinds)
    alone = [form for form in kinds if form.region in regions and form.alone]

    @normalize
    def find(text: str) -> list[Span]:
        if not _DIGIT.search(text):
            return []
        spans = [Span(*match.span(), ANNOUNCED) for match in labels.announced(text)]
        spans += [Span(*match.span(), ALONE) for kind in alone for match in kind.unannounced(text)]
        return resolve_overlaps(spans, text)

    return find


class _Labels:
    """The labels of some kinds of ids, looked for at once."""

    def __init__(self, kinds: list[NationalId]) -> None:
        self._kinds: dict[str, list[NationalId]] = {}
        for kind in kinds:
            for label in kind.labels:
                self._kinds.setdefault(label, []).append(kind)
        self._labels = list(self._kinds)
        self._search = ahocorasick_rs.AhoCorasick(self._labels, matchkind=ahocorasick_rs.MatchKind.LeftmostLongest)

    def announced(self, text: str) -> Iterator[re.Match[str]]:
        """Ids beside a label."""
        folded = text.lower() if text.isascii() else text.translate(_FOLD)
        for number, start, end in self._search.find_matches_as_indexes(folded):
            label = self._labels[number]
            if _is_word(folded, start, end):
                for kind in self._kinds[label]:
                    if match := _beside(text, start, end, kind):
                        yield match


def _is_word(text: str, start: int, end: int) -> bool:
    """Whether the label is a whole word; languages without blanks have none."""
    if not _SPACED_SCRIPT.match(text, start):
        return True
    return not (text[start - 1 : start].isalnum() or text[end : end + 1].isalpha())


def _beside(text: str, start: int, end: int, kind: NationalId) -> re.Match[str] | None:
    """The id behind the label, else the one in front of it; no other number stands between."""
    match = kind.pattern.search(text, end, end + _FAR + _LONGEST)
    if (
        match
        and match.start() <= end + _FAR
        and not _DIGIT.search(text, end, match.start())
        and kind.is_valid(match[0])
    ):
        return match
    first = max(0, start - _BEHIND - _LONGEST)
    for match in kind.pattern.finditer(text, first, start):
        if match.end() >= start - _BEHIND and kind.is_valid(match[0]):
            return match
    return None


def normalise(number: str) -> str:
    """Its letters and digits, in upper case."""
    return _NOT_ALNUM.sub("", plain_digits(number)).upper()
