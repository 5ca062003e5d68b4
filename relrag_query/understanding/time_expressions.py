"""Time phrases of a question, in English, Hebrew and Czech: yesterday, last week, in January, 2024, minulý týden.

A phrase becomes a range of seconds by the owner's calendar. Weeks begin on Monday, in Hebrew phrases on Sunday.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from relrag_pipelines.errors import RelragError
from relrag_query.understanding.date_words import COUNTS, DUAL, MONTH_NUMBER, UNIT_OF, WEEKDAY_NUMBER


class WhenError(RelragError, ValueError):
    """A date that is none; the message says how to write one."""

    stored = "a time that was given cannot be read"


@dataclass(frozen=True)
class TimeRange:
    """The time that a question speaks of."""

    since: int | None
    """first second, UTC; None: no earliest"""
    until: int | None
    """second behind the last, UTC; None: no latest"""
    phrase: str
    """the words that say it"""
    relative: bool
    """said from today (`last week`): then nothing outside answers; a month or a day may also be a word of the text"""

    def holds(self, first: int | None, last: int | None) -> bool:
        """Whether something from `first` to `last` overlaps the range; what has no time does not."""
        if first is None:
            return False
        return (self.until is None or first < self.until) and (self.since is None or (last or first) >= self.since)

    def without(self, question: str) -> str:
        """The question without the words that say the time."""
        return re.sub(re.escape(self.phrase) + r"(?:['’]s)?", " ", unicodedata.normalize("NFC", question))


DateRange = tuple[date | None, date | None]
"""first day, and the day behind the last"""
DateRule = Callable[[re.Match[str], date], DateRange]
"""from what a pattern found, and today, to days"""


def day_range(text: str) -> tuple[date, date]:
    """First day and day behind the last of `2024`, `2024-03` or `2024-03-15`; WhenError for anything else."""
    try:
        if re.fullmatch(r"\d{4}", text):
            return _year(int(text))
        if re.fullmatch(r"\d{4}-\d{2}", text):
            return _month(int(text[:4]), int(text[5:]))
        day = date.fromisoformat(text)
        return day, day + timedelta(1)
    except (ValueError, OverflowError):
        raise WhenError(f'"{text}" is no date; write 2024, 2024-03 or 2024-03-15') from None


def seconds(day: date | None, zone: ZoneInfo) -> int | None:
    """The first second of a day in that zone, since 1970 in UTC."""
    return None if day is None else int(datetime(day.year, day.month, day.day, tzinfo=zone).timestamp())


def time_range(question: str, now: datetime, zone: ZoneInfo) -> TimeRange | None:
    """The first time phrase of a question that is understood; None where it has none.

    `now` is any moment with a zone; days are those of `zone`.
    """
    question = unicodedata.normalize("NFC", question)
    today, plain = now.astimezone(zone).date(), bare(question)
    for pattern, read, relative in _rules():
        for found in pattern.finditer(plain):
            try:
                first, behind = _bounded(found, read(found, today))
                since, until = seconds(first, zone), seconds(behind, zone)
            except (ValueError, OverflowError):  # 31 February, or a year that no calendar has
                continue
            return TimeRange(since, until, question[found.start() : found.end()].strip(), relative)
    return None


def bare(text: str) -> str:
    """The text without accents, letter for letter; many leave them out when they ask."""
    return "".join(unicodedata.normalize("NFD", mark)[0] for mark in text)


def _bounded(found: re.Match[str], days: DateRange) -> DateRange:
    """`since`, `after`, `before` and `until` leave one end open."""
    said = (found["bound"] or "").lower()
    if said in {"since", "od", "מאז"}:
        return days[0], None
    if said in {"after", "po", "אחרי"}:
        return days[1], None
    if said in {"before", "pred", "לפני"}:
        return None, days[0]
    if said in {"until", "till", "by", "do", "עד"}:
        return None, days[1]
    return days


def _year(year: int) -> tuple[date, date]:
    return date(year, 1, 1), date(year + 1, 1, 1)


def _month(year: int, month: int) -> tuple[date, date]:
    return date(year, month, 1), date(year + month // 12, month % 12 + 1, 1)


def _month_back(today: date, months: int) -> tuple[date, date]:
    ordinal = today.year * 12 + today.month - 1 - months
    return _month(ordinal // 12, ordinal % 12 + 1)


def _week_back(today: date, weeks: int, first_weekday: int = 0) -> tuple[date, date]:
    start = today - timedelta((today.weekday() - first_weekday) % 7 + 7 * weeks)
    return start, start + timedelta(7)


def _back(unit: str, count: int, first_weekday: int = 0) -> DateRule:
    """The day, week, month or year that many before today's."""

    def read(found: re.Match[str], today: date) -> DateRange:
        if unit == "day":
            return today - timedelta(count), today - timedelta(count - 1)
        if unit == "week":
            return _week_back(today, count, first_weekday)
        return _year(today.year - count) if unit == "year" else _month_back(today, count)

    return read


def _ago(found: re.Match[str], today: date) -> DateRange:
    dual = _said(found, "dual")
    unit, count = (DUAL[dual], 2) if dual else (UNIT_OF[_said(found, "unit")], _count(found))
    return _back(unit, count, first_weekday=6 if "לפני" in found.group() else 0)(found, today)


def _lately(found: re.Match[str], today: date) -> DateRange:
    """`the last three weeks`: so many days, up to today."""
    days = {"day": 1, "week": 7, "month": 30, "year": 365}[UNIT_OF[_said(found, "unit")]]
    return today - timedelta(days * _count(found)), today + timedelta(1)


def _weekend(found: re.Match[str], today: date) -> DateRange:
    """The last one that has begun; on a Sunday `last weekend` is the one before."""
    back = (today.weekday() - 5) % 7
    if back == 1 and "last" in found.group().lower():
        back += 7
    return today - timedelta(back), today - timedelta(back - 2)


def _weekday(found: re.Match[str], today: date) -> DateRange:
    back = (today.weekday() - WEEKDAY_NUMBER[_said(found, "weekday")]) % 7 or 7
    return today - timedelta(back), today - timedelta(back - 1)


def _named_month(found: re.Match[str], today: date) -> DateRange:
    """Of the year that is said, else the last one in which it has begun."""
    month, year = _number(found, "month"), _said(found, "year")
    return _month(int(year) if year else today.year - (month > today.month), month)


def _month_alone(found: re.Match[str], today: date) -> DateRange:
    """A month without a year; behind `from`, `of` and `by` a short one is rather somebody: mails from Jan."""
    if re.match(r"(?:from|of|by)\s+(?:the\s+)?(?!may)\w{3}$", found.group(), re.IGNORECASE):
        raise ValueError(found.group())
    return _named_month(found, today)


def _named_months(found: re.Match[str], today: date) -> DateRange:
    first, last, said = MONTH_NUMBER[_said(found, "first")], _number(found, "month"), _said(found, "year")
    year = int(said) if said else today.year - (last > today.month)
    return _month(year - (first > last), first)[0], _month(year, last)[1]


def _named_day(found: re.Match[str], today: date) -> tuple[date, date]:
    """Of the year that is said, else the last one that has come."""
    said = _said(found, "year")
    day = date(int(said or today.year), _number(found, "month"), _number(found, "day"))
    if not said and day > today:
        day = day.replace(year=day.year - 1)
    return day, day + timedelta(1)


def _named_days(found: re.Match[str], today: date) -> DateRange:
    """Days of one month: `from 1 to 10 January`."""
    last, behind = _named_day(found, today)
    first = last.replace(day=_number(found, "begin"))
    if first > last:
        raise ValueError(found.group())
    return first, behind


def _named_year(found: re.Match[str], today: date) -> DateRange:
    return _year(int(_said(found, "year")))


def _said(found: re.Match[str], name: str) -> str:
    return (found.groupdict().get(name) or "").lower()


def _number(found: re.Match[str], name: str) -> int:
    said = _said(found, name)
    return MONTH_NUMBER.get(said) or int(said)


def _count(found: re.Match[str]) -> int:
    said = _said(found, "count").strip() or "one"
    return COUNTS.get(said) or int(said)


def _either(names: dict[str, int] | dict[str, str]) -> str:
    return "|".join(sorted(names, key=len, reverse=True))


_ASCII_MONTHS = "|".join(name for name in MONTH_NUMBER if name.isascii())
_BOUND = (
    r"(?:(?<!\w)(?P<bound>since|after|before|until|till|by|od|po|pred|מאז|אחרי|לפני|עד"
    rf"|do(?=\s+(?:{_ASCII_MONTHS})\b))\s+(?:the\s+)?)?"
)
_IN = r"(?(bound)|(?:\b(?:in|of|from|during|this|early|late|mid|last|v|ve|ze|z|mesici)\s+|(?<!\w)[במל]|חודש\s+))"
"""what makes `may` a month; nothing is asked for behind `since` and the like"""
_MONTH = rf"(?P<month>{_either(MONTH_NUMBER)})(?!\w)"
_YEAR = r"(?P<year>(?:19|20)\d\d)(?!\w|[/.,-]\d|\s*(?:kc\b|usd|eur|czk|nis|[₪€$%]))"
_OF_YEAR = rf"(?:,?\s+(?:of\s+|roku\s+|שנת\s+)?{_YEAR})"
_DAY = r"(?<![\w/.,-])(?P<day>0?[1-9]|[12]\d|3[01])"
_BEGIN = r"(?<![\w/.,-])(?P<begin>0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th|\.)?"
_UNTIL = rf"(?:the\s+)?(?P<day>0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th|\.)?\s+(?:of\s+|[בל])?{_MONTH}{_OF_YEAR}?"
_UNIT = rf"(?P<unit>{_either(UNIT_OF)})(?!\w)"
_COUNT = rf"(?P<count>(?:\d{{1,3}}|{_either(COUNTS)})\s+)"
_HE = r"(?<!\w)[במהל]{0,2}"
"""prefix letters of a Hebrew word"""

_RELATIVE: dict[str, DateRule] = {
    r"\bday\s+before\s+yesterday\b|\bpredevcirem\b|(?<!\w)שלשום(?!\w)": _back("day", 2),
    rf"\byesterday\b|\bvcera(?:jsi\w*)?\b|{_HE}אתמול(?!\w)": _back("day", 1),
    rf"\btoday\b|\bdnes(?:ka|ni\w*)?\b|{_HE}היום(?!\w)": _back("day", 0),
    r"\b(?:last|past)\s+weekend\b|\bminul\w+\s+vikend\w*|(?<!\w)ב?סוף\s+השבוע\s+(?:שעבר|האחרון)(?!\w)": _weekend,
    rf"\b(?:last|past|posledni(?:ch)?)\s+{_COUNT}{_UNIT}": _lately,
    rf"{_COUNT}ה?{_UNIT}\s+האחרונ(?:ים|ות)(?!\w)": _lately,
    rf"\b{_COUNT}{_UNIT}\s+ago\b": _ago,
    rf"\bpred\s+{_COUNT}?{_UNIT}": _ago,
    rf"(?<!\w)לפני\s+{_COUNT}?{_UNIT}": _ago,
    rf"(?<!\w)לפני\s+(?P<dual>{_either(DUAL)})(?!\w)": _ago,
    r"\b(?:last|previous|past)\s+week\b|\bminul\w+\s+tyd\w+": _back("week", 1),
    rf"{_HE}שבוע\s+(?:שעבר|הקודם)(?!\w)": _back("week", 1, first_weekday=6),
    r"\bthis\s+week\b|\bt(?:ento|ohoto|omto)\s+tyd\w+": _back("week", 0),
    r"(?<!\w)[במל]?השבוע(?!\w)": _back("week", 0, first_weekday=6),
    rf"\b(?:last|previous|past)\s+month\b|\bminul\w+\s+mesic\w*|{_HE}חודש\s+(?:שעבר|הקודם)(?!\w)": _back("month", 1),
    r"\bthis\s+month\b|\bt(?:ento|ohoto|omto)\s+mesic\w*|(?<!\w)[במל]?החודש(?!\w)": _back("month", 0),
    rf"\b(?:last|previous|past)\s+year\b|\b(?:v?loni|lonsk\w+|minul\w+\s+ro[kc]\w*)\b|{_HE}שנה\s+(?:שעברה|הקודמת)(?!\w)"
    r"|(?<!\w)אשתקד(?!\w)": _back("year", 1),
    r"\bthis\s+year\b|\bletos(?:ni\w*)?\b|(?<!\w)[במל]?השנה(?!\w)": _back("year", 0),
    rf"\b(?:last|past|minul\w+)\s+(?P<weekday>{_either(WEEKDAY_NUMBER)})(?!\w)": _weekday,
    rf"(?<!\w)[במ]?(?P<weekday>{_either(WEEKDAY_NUMBER)})\s+(?:שעבר|האחרון)(?!\w)": _weekday,
}
_ABSOLUTE: dict[str, DateRule] = {
    r"(?<![\w/.,-])(?P<year>(?:19|20)\d\d)-(?P<month>0[1-9]|1[0-2])-(?P<day>\d\d)(?![\w-])": _named_day,
    rf"{_DAY}(?:\.\s?|/)(?P<month>0?[1-9]|1[0-2])(?:\.\s?|/)(?P<year>(?:19|20)\d\d)(?!\w)": _named_day,
    rf"\b(?:between|from|od|mezi|בין)\s+(?:the\s+)?{_BEGIN}\s+(?:and|to|until|till|a|do|[לו]-?)\s*"
    rf"{_UNTIL}": _named_days,
    rf"{_BEGIN}\s?[-–]\s?{_UNTIL}": _named_days,
    rf"{_DAY}(?:st|nd|rd|th|\.)?\s+(?:of\s+|[בל])?{_MONTH}{_OF_YEAR}?": _named_day,
    rf"\b{_MONTH}\s+(?P<day>0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?(?!\w){_OF_YEAR}?": _named_day,
    rf"\b(?:between|from|od|mezi|בין)\s+(?P<first>{_either(MONTH_NUMBER)})\s+(?:and|to|until|a|do|[לו])\s*{_MONTH}"
    rf"{_OF_YEAR}?": _named_months,
    rf"(?<![\w]){_MONTH}{_OF_YEAR}": _named_month,
    rf"(?<!\w)[במל]{_MONTH}{_OF_YEAR}": _named_month,
    r"(?<![\w/.,-])(?P<year>(?:19|20)\d\d)-(?P<month>0[1-9]|1[0-2])(?![\w-])": _named_month,
    rf"{_IN}{_MONTH}": _month_alone,
    rf"(?:(?<!\w)[במל]-?|(?<![\w/.,$€₪-])){_YEAR}": _named_year,
    r"\b(?:this|over\s+the)\s+weekend\b|\bo\s+vikendu\b|(?<!\w)ב?סוף\s+השבוע(?!\w)": _weekend,
    # a day without more may also be one to come, of which the text speaks
    rf"(?<!\w)[במ]?(?P<weekday>{_either(WEEKDAY_NUMBER)})(?!\w)": _weekday,
}


@functools.cache
def _rules() -> list[tuple[re.Pattern[str], DateRule, bool]]:
    """Compiled when first asked for: the most specific first."""
    return [
        (re.compile(f"{_BOUND}(?:{pattern})", re.IGNORECASE), read, relative)
        for relative, rules in ((True, _RELATIVE), (False, _ABSOLUTE))
        for pattern, read in rules.items()
    ]
