"""Card numbers: 12 to 19 digits that pass the Luhn checksum, in groups as people write them or in cells."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

from relrag_pipelines.pii import card_issuers, context_words, ibans
from relrag_pipelines.pii.national_ids import SEPARATOR, digits_of, luhn, passes_luhn, strip_html_references
from relrag_pipelines.pii.normalized_text import WRAP, normalize
from relrag_pipelines.pii.spans import Span, resolve_overlaps

_GROUPS = re.compile(rf"\d+(?:(?:{SEPARATOR}|[ \u00a0][-\u2010-\u2015][ \u00a0]|\u00a0 | \u00a0|[-.]{WRAP})\d+)*")
_GROUP = re.compile(r"\d+")
_ODD_SEPARATOR = re.compile(f"[_/\u00b7{WRAP}]")
_USUAL_GROUPS = ([4, 4, 4, 4], [4, 6, 5])
"""the only groupings accepted with an unusual separator"""
_TWO_LINES = [8, 8]
"""the groups of a card over two lines"""
_MAX_LINE_CHARS = 200
"""characters of a neighbouring line that are searched for signs of a table"""
_MAX_GROUPS = 7
"""largest number of groups of at least three digits in nineteen digits, plus one"""
_CELL = r" ?[^\w\s]{1,2} ?|\t|[ \u00a0]{2}|[ \t]*\r?\n[> \t]*"
_IN_CELLS = re.compile(
    rf"\d{{4}}(?<!\d{{5}})(?:(?P<gap>{_CELL})(?:\d{{4}}(?P=gap)){{2}}\d{{4}}"
    rf"|(?P<amex>{_CELL})\d{{6}}(?P=amex)\d{{5}})(?!\d)"
)
_DICTATED = re.compile(
    rf"(?<!\d)(?:\d(?!\d)(?:{SEPARATOR}{{1,3}}\d(?!\d))+|\d\d(?!\d)(?:{SEPARATOR}{{1,3}}\d\d(?!\d))+)"
)
"""digits one by one or in pairs, as dictated"""
_NEXT_CELL = re.compile(r" ?[|\t]")
_USUAL = (14, 15, 16)
"""lengths of most cards"""
_NEEDS_WORD = (12, 13)
"""lengths that many other numbers have; the last cards with them were issued in the nineties"""
_MIN_DICTATED = 14
"""digits of the shortest dictated card"""
_PAIR = re.compile(r"\d\d")
_CODE_LETTERS = re.compile("[A-Z]{2}")
_TABLE = re.compile(r"\d(?: ?[,;|] ?|\t|[ \u00a0]{2,})-?[\d$€£₪]|\||\t")
"""signs of a line of a table"""


@normalize
def find(text: str) -> list[Span]:
    """Card numbers: 13 to 19 digits in groups of three or more that pass the Luhn checksum.

    Twelve, which Maestro cards may have, only after words for a card.
    """
    spans: list[Span] = []
    for run in _GROUPS.finditer(text):
        if len(run[0]) >= 12:
            spans += _cards_in_run(text, run)
    spans += _dictated_cards(text)
    lines = text.replace(WRAP, "\n") if WRAP in text else text
    for match in _IN_CELLS.finditer(lines):
        if _is_card_in_cells(lines, match):
            spans.append(Span(*match.span(), 0.9))
    return resolve_overlaps((span for span in spans if not ibans.is_shaped(text, span.start, span.end)), text)


def _is_part_of_code(text: str, card: Span, groups: list[tuple[int, int]]) -> bool:
    """Whether two letters precede the digits, as in an IBAN, and the card is only a part of them."""
    if not _CODE_LETTERS.match(text, max(0, groups[0][0] - 2), groups[0][0]):
        return False
    return (card.start, card.end) not in (
        (groups[0][0], groups[-1][1]),
        (groups[min(1, len(groups) - 1)][0], groups[-1][1]),
    )


def _dictated_cards(text: str) -> Iterator[Span]:
    """Dictated cards, digit by digit; in pairs, which tables have too, only after words for a card."""
    for match in _DICTATED.finditer(text):
        digits = digits_of(match[0])
        if (
            card_issuers.is_issued(digits)
            and len(digits) >= _MIN_DICTATED
            and passes_luhn(digits)
            and (context_words.says_card(text, match.start()) or _is_spelt(text, match))
        ):
            yield Span(*match.span(), 0.9)


def _is_spelt(text: str, match: re.Match[str]) -> bool:
    """Whether the digits are written one by one, and no word announces another kind of number."""
    return not _PAIR.search(match[0]) and not context_words.has_other_context(text, match.start())


def _is_card_in_cells(text: str, match: re.Match[str]) -> bool:
    """Whether four groups with a comma, a tab or a line's end between them are a card, and no row of a table.

    One row of figures in ten passes the checksum. So it must be the whole row, in no table, with no amount beside it;
    where words announce a card it is one anyway, unless the row goes on.
    """
    start, end = match.span()
    gap = match["gap"] or match["amex"]
    digits = digits_of(match[0])
    if not card_issuers.is_issued(digits) or not passes_luhn(digits) or _continues(text, start, end, gap):
        return False
    if context_words.says_card(text, start):
        return True
    if (
        _NEXT_CELL.match(text, end)
        or _is_cell(text[max(0, start - 2) : start], gap)
        or context_words.is_amount(text, end)
    ):
        return False
    if "\n" not in gap and text.startswith(gap, end):
        return False
    line, close = text.rfind("\n", 0, start), text.find("\n", end)
    above = text[max(0, text.rfind("\n", 0, max(0, line)) + 1, line - _MAX_LINE_CHARS) : max(0, line)]
    below = text[close + 1 : close + _MAX_LINE_CHARS].partition("\n")[0] if close >= 0 else ""
    return not (context_words.has_other_context(text, start) or _TABLE.search(above) or _TABLE.search(below))


def _is_cell(before: str, gap: str) -> bool:
    """Whether the text before the groups marks them as cells of a row."""
    return before.rstrip(" ").endswith(("|", "\t")) or ("\n" not in gap and before.endswith(gap))


def _continues(text: str, start: int, end: int, gap: str) -> bool:
    before, behind = start - len(gap), end + len(gap)
    return (text.endswith(gap, 0, start) and text[max(0, before - 1) : before].isdigit()) or (
        text.startswith(gap, end) and text[behind : behind + 1].isdigit()
    )


def _cards_in_run(text: str, run: re.Match[str]) -> Iterator[Span]:
    """Cards in a run of groups of digits, except parts of longer codes."""
    groups = [match.span() for match in _GROUP.finditer(text, *run.span())]
    numbers = [text[start:end] for start, end in groups]
    if not run[0].isascii():
        numbers = list(map(digits_of, numbers))
    cards = _cards_in(text, groups, numbers, odd=_ODD_SEPARATOR.search(run[0]) is not None)
    return (card for card in cards if not _is_part_of_code(text, card, groups))


def _cards_in(text: str, groups: list[tuple[int, int]], numbers: list[str], odd: bool) -> Iterator[Span]:
    """Cards among groups of digits; `numbers` are their digits, `odd` means that a separator is unusual for cards."""
    for first, (start, _) in enumerate(groups):
        if numbers[first].startswith("0"):
            continue
        size = even = odd_sum = 0
        for last in range(first, min(first + _MAX_GROUPS, len(groups))):
            number = numbers[last]
            size += len(number)
            if len(number) < 3 or size > 19:
                break
            # the checksum of all groups so far, with their last digit as it is and doubled
            plain_sum, doubled_sum = _sums(number)
            even, odd_sum = (odd_sum, even) if len(number) % 2 else (even, odd_sum)
            even, odd_sum = even + plain_sum, odd_sum + doubled_sum
            end = groups[last][1]
            if (
                size >= 12
                and even % 10 == 0
                and (not odd or _is_grouped(text, groups[first : last + 1]))
                and _may_be_issued(text, start, "".join(numbers[first : last + 1]))
                and _context_allows(text, start, size, last == first)
            ):
                usual = size in (15, 16)
                yield Span(start, end, 1.0 if usual else 0.9)
                if usual:
                    break  # what follows is another number


def _is_grouped(text: str, groups: list[tuple[int, int]]) -> bool:
    lengths = [end - start for start, end in groups]
    start, end = groups[0][0], groups[-1][1]
    if WRAP in text[start:end] and (lengths == _TWO_LINES or context_words.says_card(text, start)):
        return True
    return lengths in _USUAL_GROUPS or not _ODD_SEPARATOR.search(text, start, end)


def _may_be_issued(text: str, start: int, digits: str) -> bool:
    """Whether an issuer gives the number; behind a word for a card every number of usual length may be one."""
    return card_issuers.is_issued(digits) or (len(digits) in _USUAL and context_words.says_card(text, start))


def _context_allows(text: str, start: int, size: int, is_whole: bool) -> bool:
    """Whether the words before a number leave it a card.

    Short ones need a word for a card. Digits in one group behind a word for another kind of number are none.
    """
    if context_words.says_card(text, start):
        return True
    if size in _NEEDS_WORD:
        return False
    return not is_whole or context_words.says_account(text, start) or not _is_other(text, start)


def _is_other(text: str, start: int) -> bool:
    return context_words.has_other_context(text, start) or context_words.in_address(text, start)


def normalise(number: str) -> str:
    """Its digits."""
    return digits_of(strip_html_references(number))


@functools.lru_cache(maxsize=1 << 14)
def _sums(group: str) -> tuple[int, int]:
    """The Luhn sums of a group of digits with its last digit counted once, and doubled."""
    return luhn(group), luhn(f"{group}0")
