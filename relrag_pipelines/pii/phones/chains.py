"""Phone numbers: whatever the phonenumbers library finds for eight regions, and the ways Israeli numbers are written.

The library finds the numbers that Presidio finds, but misses Israeli ones in ranges it does not know as assigned, and
it is slow. So the text is scanned once for chains of digits; each is given to it with just the neighbours that its
verdict depends on, a long one in pieces, and remembered. Which regions it is asked for is said in library.py.
"""

from __future__ import annotations

import bisect
import functools
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator

import phonenumbers

from relrag_pipelines.pii import context_words, false_positives, normalized_text
from relrag_pipelines.pii.phones import canonical, library, national, odd_separators, spelled_digits, text_region
from relrag_pipelines.pii.spans import Span, resolve_overlaps

LIBRARY, INTERNATIONAL, SHORT, ISRAELI = 0.4, 0.5, 0.5, 0.75
"""scores, by how a number was recognised"""


MAX_CHAIN_CHARS = 128
"""characters of the longest number, with its separators and its extension"""
_WINDOW_STEP = 384
"""characters after which a long chain of digits is looked at through the next window"""

_MARKS = "\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\u00ad\ufeff"
_SPACES = " \u00a0\u2007\u2009\u202f\u205f\u3000"
_HYPHENS = "\\-\u2010-\u2015\u2212\u05be"
_SEPARATOR = f"{_SPACES}{_HYPHENS}{_MARKS}./()"
# What the library lets stand between digits, too.
_GAP = f"{_SEPARATOR}x\u30fc\uff0d-\uff0f\uff08\uff09\uff3b\uff3d\\[\\]~\u2053\u223c\uff5e"
_LEAD = "(\\[\uff08\uff3b+\uff0b"

_CHAIN = re.compile(rf"(?:[{_LEAD}][{_GAP}]{{0,4}}){{0,2}}\d(?:[{_GAP}]{{0,4}}\d)*", re.IGNORECASE)
_EXTENSION = re.compile(
    r"[ \xa0\t,;]*(?:(?:e?xt(?:ensi(?:o\u0301?|ó))?n?|ｅ?ｘｔｎ?|доб|anexo)[:.．=]?[ \xa0\t,-]*\d{1,20}"
    r"|(?:[xｘ#＃~～]|int|ｉｎｔ)[:.．]?[ \xa0\t,-]*\d{1,9})#?",
    re.IGNORECASE,
)
_ALTERNATIVE = re.compile(r"(?P<blank>[ \xa0]?)/[ \xa0]?(?P<digits>\d{1,7})(?![\w/]|[.,:-]\d)")
_LAST_GROUP = re.compile(r"\d+$")
_MIN_SLASHES = 3
"""slashes that separate all groups of a number, `06/58/74/10/93`"""
_MAX_SHORT_END = 2
"""digits of another end that is shorter than the group it stands for"""
_MIN_NATIONAL = 7
"""digits of the shortest national number that a text's language alone tells of"""
_DIGIT, _GROUP_END = re.compile(r"\d"), re.compile(r"\d(?!\d)")
_SERIES_PREFIX = 4
"""characters that numbers of one series share at their beginning"""
_FIGURE = re.compile(r"\d[.,]$")
_PLUS = re.compile("[+\uff0b]")

_S = f"[{_SEPARATOR}]{{0,3}}"
_ISRAELI = re.compile(
    rf"(?:(?<![\d+])[+＋]|(?<!\d)00){_S}972{_S}\(?0?{_S}(?:[57]\d|[23489])(?:{_S}\d){{7}}(?!\d)"
    rf"|(?<!\d)972{_S}5\d(?:{_S}\d){{7}}(?!\d)"
    rf"|(?<!\d)(?:\(0(?:5\d|7[2-9])\)|0(?:5\d|7[2-9]))(?:{_S}\d){{7}}(?!\d)"
    rf"|(?<!\d)(?:\(0[23489]\)|0[23489]){_S}(?:\d{{7}}|\d{{3}}{_S}\d{{4}}|\d{{3}}{_S}\d\d{_S}\d\d)(?!\d)"
    rf"|(?<!\d)1{_S}(?:[789]00|80[19]|599)(?:{_S}\d){{6}}(?!\d)"
)
_INTERNATIONAL = re.compile(rf"(?<![\d+])[+＋]{_S}[1-9](?:{_S}\d){{6,14}}(?!\d)")
# *1234 as companies write it, but not the opening of *1234 in bold*.
_SHORT = re.compile(r"(?<![\w*])\*\d{4}(?![\d*])(?![^*\n]*[^\s*]\*(?!\w))")


def find(text: str, regions: tuple[str, ...] = ()) -> list[Span]:
    """Phone numbers in the text; `regions` are countries whose national numbers count by their form alone."""
    return normalized_text.find_in_both(text, functools.partial(_find, regions=regions))


def _find(text: str, regions: tuple[str, ...]) -> list[Span]:
    text = false_positives.mask_false_positives(text)
    spans = [Span(*match.span(), SHORT) for match in _SHORT.finditer(text)] if "*" in text else []
    unmatched_chains: list[tuple[int, int]] = []
    others: list[Span] = []
    for start, end in _chains(text):
        chain_spans, announced = _in_chain(text, start, end, regions)
        spans += chain_spans
        others += announced
        if not chain_spans and not announced:
            unmatched_chains.append((start, end))
    spans += _by_language(text, unmatched_chains, regions)
    if others:
        spans = [span for span in spans if not _is_in_series(text, span, others)]
    spans += national.with_odd_separators(text)
    spans += odd_separators.find(text, regions)
    spans += spelled_digits.find(text, regions)
    return resolve_overlaps((_with_alternative(span, text) for span in spans) if "/" in text else spans, text)


def _is_in_series(text: str, span: Span, others: list[Span]) -> bool:
    """Whether a number has the length and beginning of one that words announce as an order or a ticket."""
    number = text[span.start : span.end]
    if span.score != LIBRARY or context_words.has_phone_context(text, span.start):
        return False
    alike = (text[other.start : other.end] for other in others)
    return any(len(other) == len(number) and other[:_SERIES_PREFIX] == number[:_SERIES_PREFIX] for other in alike)


def _follows_figure(text: str, span: Span) -> bool:
    """Whether a number found by its digits alone is the end of a longer figure, `8.078/1990`."""
    return span.score == LIBRARY and _FIGURE.search(text, max(0, span.start - 2), span.start) is not None


def _by_language(text: str, chains: list[tuple[int, int]], regions: tuple[str, ...]) -> list[Span]:
    """Numbers valid in the country of the text's language, in chains without another finding."""
    long = [(start, end) for start, end in chains if library.count(text[start:end]) >= _MIN_NATIONAL]
    region = text_region.region_of(text) if long else ""
    if not region or region in regions or region in library.REGIONS:
        return []
    return [span for start, end in long for span in _in_chain(text, start, end, (region,))[0]]


def _with_alternative(span: Span, text: str) -> Span:
    """The number extended by an alternative ending, `731 000 121 / 122`."""
    alternative = _ALTERNATIVE.match(text, span.end)
    last = _LAST_GROUP.search(text, span.start, span.end)
    if alternative is None or last is None or library.count(text[span.start : span.end]) < library.MIN_DIGITS:
        return span
    short = not alternative["blank"] and len(alternative["digits"]) <= _MAX_SHORT_END
    alike = len(alternative["digits"]) == last.end() - last.start()
    return span._replace(end=alternative.end()) if alike or short else span


def drop_non_phones(text: str) -> str:
    """The text with numbers that only look like phones masked, offsets unchanged: dates, announced other numbers."""
    text = false_positives.mask_false_positives(text)
    for start, end in _chains(text):
        for other in _in_chain(text, start, end, ())[1]:
            text = text[: other.start] + "\ufffc" * (other.end - other.start) + text[other.end :]
    return text


def _chains(text: str) -> Iterator[tuple[int, int]]:
    """Spans of digits close enough to be one number with its extension; the next may begin in an extension."""
    places, seen = [0], set()
    while places:
        chain = _CHAIN.search(text, places.pop())
        if chain is None or chain.start() in seen:
            continue
        seen.add(chain.start())
        extension = _EXTENSION.match(text, chain.end())
        end = extension.end() if extension else chain.end()
        if end - chain.start() >= national.MIN_ANNOUNCED_DIGITS:
            yield chain.start(), end
        places += {chain.end(), end}


def _in_chain(text: str, start: int, end: int, regions: tuple[str, ...]) -> tuple[list[Span], list[Span]]:
    """The phones in the chain, and the numbers that only their context excludes."""
    every_span = list(_anywhere(text, start, end, regions))
    figures = [span for span in every_span if _follows_figure(text, span)]
    spans = _without(every_span, figures)
    first = _DIGIT.search(text, start, end)
    if first is None or _PLUS.search(text, start, end):
        return spans, figures
    spans += [span for span in national.number_patterns(text, start, end, regions) if not _contains(spans, span)]
    leading = [span for span in spans if span.start <= first.start()]
    if not leading:
        return [*spans, *national.announced_numbers(text, start, end)], figures
    if all(span.score in (LIBRARY, ISRAELI) for span in leading) and _is_other(text, start, leading[-1].end):
        return _without(spans, leading), [*leading, *figures]
    return spans, figures


def _without(spans: Iterable[Span], others: Collection[Span]) -> list[Span]:
    return [span for span in spans if span not in others]


def _anywhere(text: str, start: int, end: int, regions: tuple[str, ...]) -> Iterator[Span]:
    """Phones by their form alone. A long chain, a table on one line, is looked at through windows.

    Each begins where a group of digits ends, and answers for the numbers that begin before the next one does.
    """
    while start < end:
        cut = _group_end(text, start + _WINDOW_STEP, end) if end - start > _WINDOW_STEP + MAX_CHAIN_CHARS else end
        close = _group_end(text, cut + MAX_CHAIN_CHARS, end) if cut + MAX_CHAIN_CHARS < end else end
        before = _neighbour(text[start - 1]) if start else ""
        after = text[close : close + 3] if text.startswith(":", close) else _neighbour(text[close : close + 1])
        window = (before + text[start:close] + after).replace(
            normalized_text.WRAP, " "
        )  # the library knows no such space
        moved = start - len(before)
        spans = (
            Span(moved + a, moved + b, score) for a, b, score in _in_window(window, len(window) - len(after), regions)
        )
        yield from (span for span in spans if span.start < cut)
        start = cut


def _group_end(text: str, start: int, end: int) -> int:
    behind = _GROUP_END.search(text, start, end)
    return behind.end() if behind else end


def _contains(spans: list[Span], span: Span) -> bool:
    """Whether one of the spans, which are sorted, contains another."""
    index = bisect.bisect_right(spans, span.start, key=lambda other: other.start) - 1
    return any(other.end >= span.end for other in spans[max(0, index - 1) : index + 1])


def _is_other(text: str, start: int, end: int) -> bool:
    """Whether the context marks the number as another kind."""
    if context_words.is_postcode(text, start, library.count(text[start:end])):
        return True
    if context_words.has_phone_context(text, start):
        return False
    return (
        context_words.has_other_context(text, start)
        or context_words.has_reference_context(text, start)
        or context_words.is_amount(text, end)
        or (text[start:end].isdecimal() and context_words.in_address(text, start))
    )


def _neighbour(char: str) -> str:
    """The character as far as the library's verdict depends on it: letters and currencies forbid, a # may belong."""
    if char.isascii():
        return "a" if char.isalpha() else char if char in "$%#" else " "
    return char


def _israeli_numbers(window: str, end: int, regions: tuple[str, ...]) -> list[Span]:
    """Israeli numbers of a chain; in an archive that is at home elsewhere, only those that stand by themselves."""
    matches = list(_ISRAELI.finditer(window))
    if library.is_away(national.ISRAEL, regions):
        grouped = [match for match in matches if library.is_grouped(match[0])]
        matches = [match for match in grouped if library.is_alone(window, *match.span(), end)]
    return [Span(*match.span(), ISRAELI) for match in matches]


@functools.lru_cache(maxsize=1 << 16)
def _in_window(window: str, end: int, regions: tuple[str, ...]) -> tuple[Span, ...]:
    """The numbers of one chain, which ends in the window at `end`; the text after it is only context."""
    spans = _israeli_numbers(window, end, regions)
    digits = library.count(window[:end])
    if not any(library.count(window[span.start : span.end]) == digits for span in spans):
        spans += (Span(*bounds, LIBRARY) for bounds in library.find(window, end, regions))
    if _PLUS.search(window):
        spans += (
            match for match in _international(window, end) if not any(_overlaps_start(span, match) for span in spans)
        )
    return tuple(resolve_overlaps(spans, window))


def _international(window: str, end: int) -> Iterator[Span]:
    """Numbers behind a +, also in ranges that the library does not know as assigned, each with its extension."""
    for match in _INTERNATIONAL.finditer(window):
        extension = _EXTENSION.match(window, match.end(), end)
        yield Span(match.start(), extension.end() if extension else match.end(), INTERNATIONAL)


def _overlaps_start(span: Span, other: Span) -> bool:
    """Whether a span contains the beginning of the other, or overlaps it and extends beyond its end."""
    return span.start <= other.start < span.end or other.start < span.start < other.end < span.end


@functools.lru_cache(maxsize=1 << 16)
def normalise(number: str, regions: tuple[str, ...] = ()) -> str:
    """E.164 of a number as written, the same for all ways to write it.

    One without a country is of the first of the `regions` that it fits, else Israeli where it can be, else of the first
    usual region. A short number keeps its star; what is no whole number is its digits.
    """
    return canonical.subscriber(_e164(number, regions))


def every_form(number: str, regions: tuple[str, ...]) -> set[str]:
    """All normalised forms of a number: in these regions, in none, and in an earlier numbering plan."""
    whole = _INTERNATIONAL.match(normalized_text.plain_digits(number).strip())
    written = {_e164(number, ()), _e164(number, regions)}
    written |= {"+" + "".join(filter(str.isdecimal, whole[0]))} if whole else set()
    return written | set(map(canonical.subscriber, written))


def _written_number(number: str) -> str:
    """A number with plain digits and separators, words of digits included."""
    spoken = spelled_digits.to_digits(number) if any(map(str.isalpha, number)) else ""
    plain = odd_separators.join(spoken or first_of(number))
    return national.ODD.sub("-", unicodedata.normalize("NFKC", normalized_text.plain_digits(plain)).strip())


def _e164(number: str, regions: tuple[str, ...]) -> str:
    plain = _written_number(number)
    digits = "".join(str(unicodedata.decimal(char)) for char in plain if char.isdecimal())
    if plain.startswith("*"):
        return f"*{digits}"
    if valid := _valid_in(plain, regions):
        return valid
    if _ISRAELI.fullmatch(plain):
        return "+972" + digits.removeprefix("00").removeprefix("972").removeprefix("0")
    if national_number := national.normalise(plain, digits):
        return national_number
    if valid := _valid_in(plain, tuple(library.REGIONS)):
        return valid
    if whole := _INTERNATIONAL.match(plain):
        return "+" + "".join(filter(str.isdecimal, whole[0]))  # an extension is no part of it
    return f"+{digits}" if plain.startswith("+") else digits


def _valid_in(plain: str, regions: tuple[str, ...]) -> str:
    """E.164 of a number in the first region in which it is valid; empty where it is valid in none.

    A region in which it is written as people dial it comes before one in which it lacks the leading zero:
    `777 123 456` is Czech, though Israel has 0777123456.
    """
    without_prefix = ""
    for region in _distinct(plain, regions):
        written = _valid_number(plain, region)
        if written and library.is_whole_number(plain, region):
            return written
        without_prefix = without_prefix or written
    return without_prefix


def _distinct(plain: str, regions: tuple[str, ...]) -> tuple[str, ...]:
    """The regions in which a number may mean different things: with a + it means the same in all."""
    return regions[:1] if _PLUS.search(plain) else regions


def _valid_number(plain: str, region: str) -> str:
    """E.164 of a number that is valid in a region, today or under an earlier plan; else empty."""
    written = library.e164(plain, region)
    if written or (written is not None and not canonical.has_earlier_plan(region)):
        return written
    try:
        parsed = phonenumbers.parse(plain, region)
        written = phonenumbers.format_number(parsed, phonenumbers.PhoneNumberFormat.E164)
        if phonenumbers.is_valid_number(parsed):
            return written
        today = canonical.subscriber(written)
        return today if today != written and phonenumbers.is_valid_number(phonenumbers.parse(today)) else ""
    except phonenumbers.NumberParseException:
        return ""


def first_of(number: str) -> str:
    """The number that stands first where another end for it follows, `731 000 121 / 122`; else the number."""
    first, _, end = number.rpartition("/")
    is_end = (
        0 < number.count("/") < _MIN_SLASHES
        and library.count(first) >= library.MIN_DIGITS
        and library.count(end) <= library.MIN_DIGITS
    )
    return first.rstrip() if is_end and end.strip().isdecimal() else number


def clear_cache() -> None:
    """Clears the caches."""
    _in_window.cache_clear()
    normalise.cache_clear()
    library.clear_cache()
    context_words.forget()
