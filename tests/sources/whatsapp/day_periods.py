"""The words of Unicode CLDR for the parts of the day, as relrag_pipelines/sources/whatsapp/day_periods.tsv has them.

Run it to write the table again after an update of Babel.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import product
from typing import Any

from babel import Locale
from babel.localedata import locale_identifiers

from relrag_pipelines.sources.whatsapp.day_halves import AM, PM, letters
from tests import ROOT

TABLE = ROOT / "relrag_pipelines" / "sources" / "whatsapp" / "day_periods.tsv"
FIXED = {"am": AM, "pm": PM, "noon": frozenset({12}), "midnight": frozenset({0})}


def hours(rules: Iterable[Mapping[str, int]]) -> frozenset[int]:
    """The hours of the day that rules of CLDR name in seconds."""
    found: set[int] = set()
    for rule in rules:
        begin, end = (rule.get(name, rule.get("at", 0)) // 3600 for name in ("from", "before"))
        found |= {hour % 24 for hour in range(begin, end if end > begin else end + 24)} if "at" not in rule else {begin}
    return frozenset(found)


def day_periods(codes: Iterable[str]) -> dict[str, frozenset[int]]:
    """The letters of each word of these locales, and the hours that it may stand for."""
    found: defaultdict[str, frozenset[int]] = defaultdict(frozenset)
    for code in codes:
        locale = Locale.parse(code)
        rules: Any = locale.day_period_rules.get(None, {})
        periods = FIXED | {name: hours(rule) for name, rule in rules.items()}
        contexts: Any = locale.day_periods
        for context, width in product(("format", "stand-alone"), ("abbreviated", "wide")):
            for name, word in contexts.get(context, {}).get(width, {}).items():
                if name in periods and letters(word):
                    found[letters(word)] |= periods[name]
    return dict(found)


def table() -> str:
    """The whole table."""
    rows = sorted(day_periods(locale_identifiers()).items())
    return "word\thours\n" + "".join(f"{word}\t{' '.join(map(str, sorted(hours)))}\n" for word, hours in rows)


if __name__ == "__main__":
    TABLE.write_text(table(), encoding="utf-8")
