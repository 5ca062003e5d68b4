"""Derives an archive's home countries from its records.

Evidence is counted per month: numbers with a country code in participants and texts, and the languages of a sample of
texts. A country needs several numbers, or several texts in its language, and a minimum share of all. Shares are
compared by powers of two, so that a country changes only when a count doubles, not with every new message. The regions
depend only on the archive's current records, not on earlier ones.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

import phonenumbers
import pyarrow as pa
from phonenumbers.tzdata import TIMEZONE_DATA

from relrag_pipelines.pii.phones import text_region
from relrag_pipelines.text import language

_NAMING = ("from", "to", "participants", "people")
_NUMBER_WITH_CODE = re.compile(r"(?:\+|(?<![\d.])00)[ \xa0]?\(?[1-9](?:[ \xa0().\-\u2010-\u2015]{0,3}\d){6,14}(?!\d)")
_ACCOUNT = re.compile(r"(?<![\w.])(\d{8,15})(?::\d+)?@(?:c\.us|s\.whatsapp\.net)")
"""a WhatsApp account, which is a phone number with its country code"""
MIN_NUMBERS = 3
"""smallest number of distinct numbers that make a country a region"""
_NUMBERS_SHIFT = 4
"""smallest share of a country's numbers, as a power of two: about a sixteenth"""
MIN_SAMPLES = 2
_LANGUAGE_SHIFT = 3
_SAMPLE_LETTERS = 60
"""letters of one sample; short messages are joined, since the language of a single one is uncertain"""
_MAX_SAMPLES = 12
"""largest number of samples per month"""
_MAX_TEXTS = 120
"""largest number of texts per month that are read for samples"""
_LETTER = re.compile(r"[^\W\d_]")


def month_evidence(records: pa.Table, hash_number: Callable[[str], str]) -> dict[str, Any]:
    """The evidence of one month's private records: numbers by country (count and smallest hashes), and languages."""
    hashes_by_region: dict[str, set[str]] = {}
    for number in set(_numbers(records)):
        if region := _region_of(number):
            hashes_by_region.setdefault(region, set()).add(hash_number(number)[:8])
    numbers = {
        region: [len(hashes), sorted(hashes)[:MIN_NUMBERS]] for region, hashes in sorted(hashes_by_region.items())
    }
    languages = Counter(language.likeliest(sample, _languages()) for sample in _samples(records))
    return {"numbers": numbers, "languages": dict(sorted((+languages).items()))}


def _regions_of_numbers(counted: Counter[str], distinct: Mapping[str, Collection[str]]) -> list[str]:
    """The regions that enough different numbers are of, the likeliest first."""
    supported = [region for region in _likeliest_first(counted, _NUMBERS_SHIFT) if len(distinct[region]) >= MIN_NUMBERS]
    return [region for region in supported if region in phonenumbers.SUPPORTED_REGIONS]


def regions(months: Iterable[Mapping[str, Any]], zones: Iterable[str] = ()) -> tuple[str, ...]:
    """The countries derived from the evidence of all months and from time zones, the likeliest first."""
    counted, distinct, spoken = Counter[str](), dict[str, set[str]](), Counter[str]()
    for month in months:
        for region, (count, hashes) in month["numbers"].items():
            counted[region] += count
            distinct.setdefault(region, set()).update(hashes)
        spoken.update(month["languages"])
    at_home = dict.fromkeys(region for zone in zones if (region := region_of_zone(zone)))
    by_numbers = _regions_of_numbers(counted, distinct)
    regions_by_code = text_region.regions_by_language()
    by_language = [
        regions_by_code[code]
        for code in _likeliest_first(spoken, _LANGUAGE_SHIFT)
        if code and spoken[code] >= MIN_SAMPLES
    ]
    return tuple(dict.fromkeys([*at_home, *by_numbers, *by_language]))


def region_of_zone(zone: str) -> str:
    """The country of an IANA time zone; empty if there is no single one, as for UTC."""
    for prefix in sorted(TIMEZONE_DATA, key=lambda code: (len(code), code)):
        if zone in TIMEZONE_DATA[prefix] and len(TIMEZONE_DATA[prefix]) < _MAX_ZONES:
            return _main_region(prefix)
    return ""


_MAX_ZONES = 40
"""a calling code with more time zones than this belongs to no country"""


def _main_region(prefix: str) -> str:
    """The main country of a number's calling code."""
    codes = (int(prefix[:size]) for size in range(1, min(4, len(prefix) + 1)))
    regions_by_code = phonenumbers.COUNTRY_CODE_TO_REGION_CODE
    region: str = next((regions_by_code[code][0] for code in codes if code in regions_by_code), "")
    return region if region in phonenumbers.SUPPORTED_REGIONS else ""


def _likeliest_first(counts: Counter[str], shift: int) -> list[str]:
    """The names with a sufficient share of all, by falling power of two, then by name."""
    min_bits = sum(counts.values()).bit_length() - shift
    names = [name for name, count in counts.items() if count.bit_length() >= min_bits]
    return sorted(names, key=lambda name: (-counts[name].bit_length(), name))


def _languages() -> frozenset[str]:
    return frozenset(text_region.regions_by_language())


def _numbers(records: pa.Table) -> Iterator[str]:
    """Numbers with a country code."""
    texts = [*_strings(records, _NAMING), *_strings(records, ("text",))]
    for text in texts:
        if "+" in text or "00" in text:
            yield from (match[0] for match in _NUMBER_WITH_CODE.finditer(text))
        if "@" in text:
            yield from (f"+{match[1]}" for match in _ACCOUNT.finditer(text))


def _strings(records: pa.Table, names: Iterable[str]) -> Iterator[str]:
    """Every distinct string of these columns: elements of lists, and names of people."""
    for name in names:
        column = records[name].combine_chunks()
        column = column.flatten() if pa.types.is_list(column.type) else column
        column = column.field("name") if pa.types.is_struct(column.type) else column
        yield from (text for text in column.unique().to_pylist() if text)


def _region_of(number: str) -> str:
    digits = "".join(filter(str.isdecimal, number))
    try:
        parsed = phonenumbers.parse(f"+{digits.removeprefix('00')}")
    except phonenumbers.NumberParseException:
        return ""
    return phonenumbers.region_code_for_number(parsed) or _region_of_code(parsed.country_code or 0)


def _region_of_code(code: int) -> str:
    """The country of a calling code, for numbers outside the assigned ranges; empty if several share it."""
    names = phonenumbers.COUNTRY_CODE_TO_REGION_CODE.get(code, ())
    return names[0] if len(names) == 1 else ""


def _samples(records: pa.Table) -> Iterator[str]:
    """Samples of a month's texts, spread evenly, for language detection; short texts are joined."""
    order = records.sort_by("asset_id") if records.num_rows else records
    step = max(1, order.num_rows // _MAX_TEXTS)
    texts = order["text"].take(pa.array(range(0, order.num_rows, step), pa.int64())).to_pylist()
    joined, count = "", 0
    for text in texts:
        joined = f"{joined}\n{text or ''}"
        if len(_LETTER.findall(joined[: 4 * _SAMPLE_LETTERS])) >= _SAMPLE_LETTERS:
            yield joined
            joined, count = "", count + 1
        if count == _MAX_SAMPLES:
            return
