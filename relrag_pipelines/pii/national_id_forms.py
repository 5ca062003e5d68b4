"""National ids of many countries: tax numbers, social insurance, identity cards. national_id_forms.toml lists them.

An id with a valid checksum is found after a word that announces it, in every archive. In an archive of its country it
is also found without such a word, if its form is distinctive.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ahocorasick_rs

from relrag_pipelines.pii import context_words, identity_documents, national_id_checks
from relrag_pipelines.pii.national_ids import SEPARATOR
from relrag_pipelines.pii.normalized_text import normalize, plain_digits
from relrag_pipelines.pii.number_words import labels
from relrag_pipelines.pii.number_words.matching import fold_in_place
from relrag_pipelines.pii.spans import Span, resolve_overlaps

_ANY = "any_number"
"""the check of ids without a checksum"""
ANNOUNCED, ALONE = 0.95, 0.8
"""scores, by how an id was recognised"""
_MAX_GAP_AFTER_LABEL = 40
"""largest number of characters between a label and the id after it"""
_MAX_GAP_BEFORE_LABEL = 6
"""largest number of characters between an id and the label after it"""
_MAX_CLAUSE = 28
"""the same where words stand between them: `38603142711 is my personal code`"""
_MAX_WORDS_BEFORE_LABEL = 4
"""largest number of these words"""
_MAX_CHARS = 48
"""longest id in characters, with separators"""
_MAX_GAP_UNCHECKED = 24
"""largest number of characters between a label and an id whose checksum is invalid, or which has none"""
_MAX_WORDS_UNCHECKED = 3
"""largest number of words there"""
_HOLDER_CHARS = 60
"""characters on either side of an id that are searched for its holder"""
_CLASSES = {"n": "[0-9]", "a": "[A-Za-z]", "c": "[0-9A-Za-z]"}
_FIELD = re.compile(r"(\d+)!([nac])")
_DIGIT = re.compile(r"\d")
_ENDS_CLAUSE = re.compile(r"[\d\n;!?:]|[.,] ")
_NOT_ALNUM = re.compile(r"[^0-9A-Za-z]+")
_SPACED_SCRIPT = re.compile(r"[a-zа-яіїєґα-ω]")


@dataclass(frozen=True)
class NationalId:
    """One kind of id."""

    region: str
    labels: tuple[str, ...]
    form: str
    """pattern of its characters next to a label"""
    distinctive_form: str
    """pattern of a form that needs no label; empty if it has none"""
    check: str
    keeps_signs: bool
    """whether the signs between its characters are part of the checked value"""
    presidio: str
    """the name of Presidio's entity; empty if it has none"""
    sure: tuple[str, ...] = ()
    """labels beside which the checksum does not count, in archives of the country"""
    holder: tuple[str, ...] = ()
    """words of which one must stand near; empty if none is needed"""
    at_home: bool = False
    """whether it counts only in archives of its country, since its labels are everyday words of other languages"""

    @property
    def has_checksum(self) -> bool:
        """Whether a number can be invalid."""
        return self.check != _ANY

    # compiled when first needed: all of them take longer to compile than most archives to search

    @functools.cached_property
    def pattern(self) -> re.Pattern[str]:
        """Its form, not within a longer number, perhaps with the code of the country."""
        return _bounded(f"(?:(?i:{self.region})[ -]?)?{self.form}")

    @functools.cached_property
    def alone(self) -> re.Pattern[str] | None:
        """Its distinctive form, not within a longer number; None if it has none."""
        return _bounded(self.distinctive_form) if self.distinctive_form else None

    def is_valid(self, written: str) -> bool:
        """Whether the checksum is valid; the code of the country before the id does not count."""
        written = self.country.sub("", written, count=1)
        characters = "".join(written.split()) if self.keeps_signs else _NOT_ALNUM.sub("", written)
        return national_id_checks.check(self.check)(characters.upper())

    @functools.cached_property
    def country(self) -> re.Pattern[str]:
        """The code of the country before an id: `ES 48615307T`."""
        return re.compile(rf"^{self.region}[ -]?(?={self.form})", re.IGNORECASE)

    def unannounced(self, text: str) -> Iterator[re.Match[str]]:
        """Ids without a label, except after words that announce another kind of number."""
        for match in self.alone.finditer(text) if self.alone else ():
            if self.is_valid(match[0]) and not context_words.has_other_context(text, match.start()):
                yield match


@functools.cache
def load() -> tuple[NationalId, ...]:
    """Every kind of id in the table."""
    rows = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))["ids"]
    return tuple(map(_national_id, rows))


def _national_id(row: dict[str, Any]) -> NationalId:
    forms = [row["form"]] if isinstance(row["form"], str) else row["form"]
    form = f"(?:{'|'.join(map(_form, forms))})"
    return NationalId(
        row["region"],
        _folded(row["labels"]),
        form,
        row.get("alone", ""),
        row["check"],
        row.get("keeps_signs", False),
        row.get("presidio", ""),
        _folded(row.get("sure", ())),
        _folded(row.get("holder", ())),
        row.get("at_home", False),
    )


def _folded(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(map(fold_in_place, words))


def _form(form: str) -> str:
    fields = [_CLASSES[kind] for count, kind in _FIELD.findall(form) for _ in range(int(count))]
    return rf"{SEPARATOR}{{0,3}}".join(fields)


def _bounded(pattern: str) -> re.Pattern[str]:
    """The pattern, not within a longer number or word."""
    return re.compile(rf"(?<![0-9A-Za-z])(?<!\d[.,/-])(?:{pattern})(?![0-9A-Za-z]|[.,/-]\d)")


def finder(regions: tuple[str, ...] = (), entity: str = "") -> Callable[[str], list[Span]]:
    """A finder of ids for archives of these countries; `entity` limits it to one of Presidio's entities."""
    kinds = [form for form in load() if not entity or form.presidio == entity]
    kinds = [form for form in kinds if not form.at_home or form.region in regions]
    announced = _Labels(kinds, regions)
    cards = identity_documents.finder(identity_documents.ID_CARD)
    alone = [form for form in kinds if form.region in regions and form.distinctive_form]

    @normalize
    def find(text: str) -> list[Span]:
        if not _DIGIT.search(text):
            return []
        spans = [Span(*match.span(), ANNOUNCED) for match in announced.announced(text)]
        spans += [] if entity else cards(text)
        spans += [Span(*match.span(), ALONE) for kind in alone for match in kind.unannounced(text)]
        return resolve_overlaps(spans, text)

    return find


class _Labels:
    """Searches the labels of several kinds of ids in one pass."""

    def __init__(self, kinds: list[NationalId], regions: tuple[str, ...]) -> None:
        self._regions = regions
        self._kinds: dict[str, list[NationalId]] = {}
        for kind in kinds:
            for label in kind.labels:
                self._kinds.setdefault(label, []).append(kind)
        self._labels = list(self._kinds)
        self._search = ahocorasick_rs.AhoCorasick(self._labels, matchkind=ahocorasick_rs.MatchKind.LeftmostLongest)

    def announced(self, text: str) -> Iterator[re.Match[str]]:
        """Valid ids next to a label."""
        folded = fold_in_place(text)
        for number, start, end in self._search.find_matches_as_indexes(folded):
            if _is_word(folded, start, end):
                yield from self._beside(text, folded, self._labels[number], start, end)

    def _beside(self, text: str, folded: str, label: str, start: int, end: int) -> Iterator[re.Match[str]]:
        for kind in self._kinds[label]:
            match = _id_near_label(text, start, end, kind)
            if match is None and label in kind.sure and kind.region in self._regions:
                match = _unchecked_id(text, end, kind)
            if match and _has_holder(folded, match, kind):
                yield match


def _is_word(text: str, start: int, end: int) -> bool:
    """Whether the label is a whole word; in scripts without spaces every label counts."""
    if not _SPACED_SCRIPT.match(text, start):
        return True
    return not (text[start - 1 : start].isalnum() or text[end : end + 1].isalpha())


def _id_near_label(text: str, start: int, end: int, kind: NationalId) -> re.Match[str] | None:
    """The id after the label, with no other number between them, else the one before it."""
    if not kind.has_checksum:
        return _unchecked_id(text, end, kind)
    match = kind.pattern.search(text, end, end + _MAX_GAP_AFTER_LABEL + _MAX_CHARS)
    if match and _is_next_number(text, end, match, _MAX_GAP_AFTER_LABEL) and kind.is_valid(match[0]):
        return match
    first = max(0, start - _MAX_CLAUSE - _MAX_CHARS)
    for match in kind.pattern.finditer(text, first, start):
        if _belongs_to_label_behind(text, match, start) and kind.is_valid(match[0]):
            return match
    return None


def _belongs_to_label_behind(text: str, match: re.Match[str], label: int) -> bool:
    """Whether the label at an offset behind the id is about it: right behind, or in the same clause."""
    gap = text[match.end() : label]
    if len(gap) <= _MAX_GAP_BEFORE_LABEL:
        return True
    if len(gap) > _MAX_CLAUSE or len(gap.split()) > _MAX_WORDS_BEFORE_LABEL or _ENDS_CLAUSE.search(gap):
        return False
    return not context_words.has_other_context(text, match.start())


def _unchecked_id(text: str, end: int, kind: NationalId) -> re.Match[str] | None:
    """The id right after the label, whatever its checksum, unless a word between them announces another number."""
    match = kind.pattern.search(text, end, end + _MAX_GAP_UNCHECKED + _MAX_CHARS)
    if match is None or not _is_next_number(text, end, match, _MAX_GAP_UNCHECKED):
        return None
    gap = text[end : match.start()]
    if "\n" in gap or len(gap.split()) > _MAX_WORDS_UNCHECKED or labels.phone_in_front(gap):
        return None
    return match if _NOT_ALNUM.sub("", match[0]).strip("0") else None


def _is_next_number(text: str, end: int, match: re.Match[str], gap: int) -> bool:
    """Whether the match is near the end of the label, with no other number between them."""
    return match.start() <= end + gap and not _DIGIT.search(text, end, match.start())


def _has_holder(folded: str, match: re.Match[str], kind: NationalId) -> bool:
    near = folded[max(0, match.start() - _HOLDER_CHARS) : match.end() + _HOLDER_CHARS] if kind.holder else ""
    return not kind.holder or any(word in near for word in kind.holder)


def normalise(number: str) -> str:
    """Letters and digits, in upper case."""
    return _NOT_ALNUM.sub("", plain_digits(number)).upper()
