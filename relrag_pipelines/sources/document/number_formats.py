"""Numbers and dates of a spreadsheet as it shows them, by the number formats of Excel (ECMA-376, 18.8.30 and 18.8.31).

A format whose look depends on the reader's country (built-in dates) gives ISO 8601.
"""

from __future__ import annotations

import functools
import locale
import operator
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from fractions import Fraction

from babel import Locale, UnknownLocaleError

from relrag_pipelines.languages import DEFAULT

GENERAL = "General"
BUILT_IN = {
    1: "0",
    2: "0.00",
    3: "#,##0",
    4: "#,##0.00",
    9: "0%",
    10: "0.00%",
    11: "0.00E+00",
    14: "yyyy-mm-dd",
    15: "d-mmm-yy",
    16: "d-mmm",
    17: "mmm-yy",
    18: "h:mm AM/PM",
    19: "h:mm:ss AM/PM",
    20: "hh:mm",
    21: "hh:mm:ss",
    22: "yyyy-mm-dd hh:mm",
    37: "#,##0",
    38: "#,##0",
    39: "#,##0.00",
    40: "#,##0.00",
    45: "mm:ss",
    46: "[h]:mm:ss",
    47: "mm:ss",
    48: "##0.0E+0",
    **dict.fromkeys((*range(27, 32), 36, *range(50, 59)), "yyyy-mm-dd"),
}
"""formats that a file only numbers; General is not among them"""

_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|\[\$(?P<currency>[^\]-]*)(?:-(?P<zone>[0-9A-Fa-f]+))?\]|\[(?P<elapsed>h+|m+|s+)\]'
    r"|\[(?P<condition>[<>=]{1,2}-?[\d.]+)\]|\[[^\]]*\]|(?P<skipped>[_*].)|(?P<general>General)|(?P<half>AM/PM|A/P)|(?P<date>y+|m+|d+|h+|s+(?:\.0+)?)"
    r"|(?P<number>[#0?][#0?,]*(?:\.[#0?]*,*)?(?:[Ee][+-]0+)?)|(?P<percent>%)|(?P<text>.)",
    re.IGNORECASE | re.DOTALL,
)
_SHOWN = frozenset({"number", "text", "percent", "general"})
"""kinds of tokens that a number is shown with"""
_FRACTION = re.compile(r"(?P<whole>[#0?]+)? *(?P<numerator>(?<![#0?])[#0?]+) ?/ ?(?P<denominator>[#0?]+|[1-9]\d{0,3})")
_SYSTEM_DATES = re.compile(r"\[\$-F(?:800|400)\]", re.IGNORECASE)
_EPOCH = {False: datetime(1899, 12, 30), True: datetime(1904, 1, 1)}  # noqa: DTZ001  a spreadsheet has no zone


@functools.lru_cache(2**14)
def shown(value: float, number_format: str, *, since_1904: bool = False) -> str:
    """A number as its format shows it; a date that does not exist, as a number."""
    if number_format == GENERAL or not number_format:
        return general(value)
    if _SYSTEM_DATES.search(number_format):
        number_format = BUILT_IN[14]
    sections = _sections(number_format)
    if any(kind == "date" for kind, _ in sections[0]):
        return _shown_date(value, sections[0], since_1904=since_1904) or general(value)
    tokens, shows_sign = _section_of(value, sections)
    return _shown_number(value if shows_sign else abs(value), tokens)


def general(value: float) -> str:
    """A number without a format: at most eleven digits, no exponent for what a reader can still read."""
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.11g}"


Token = tuple[str, str]
"""what a piece of a format is, and its characters"""


@functools.lru_cache(1024)
def _sections(number_format: str) -> list[list[Token]]:
    """The parts of a format for positive, negative and zero numbers, as tokens."""
    sections: list[list[Token]] = [[]]
    for match in _TOKEN.finditer(number_format):
        kind = match.lastgroup or ""
        if kind == "text" and match["text"] == ";":
            sections.append([])
        elif kind == "zone":
            sections[-1] += [("zone", match["zone"]), ("text", match["currency"])]
        elif kind in ("quoted", "escaped", "currency", "text"):
            sections[-1].append(("text", match[kind]))
        elif kind in ("date", "half", "number", "percent", "elapsed", "general"):
            sections[-1].append(("date" if kind in ("half", "elapsed") else kind, match[0]))
        elif kind == "condition":
            sections[-1].append((kind, match[kind]))
    return sections


def _section_of(value: float, sections: list[list[Token]]) -> tuple[list[Token], bool]:
    """The part of a format for a number, and whether it shows the sign: one for negative numbers has it."""
    conditions = [next((text for kind, text in tokens if kind == "condition"), "") for tokens in sections]
    if any(conditions):
        number = next((number for number, text in enumerate(conditions) if _fits(value, text)), 0)
        return sections[number], True
    if value < 0 and len(sections) > 1:
        return sections[1], False
    return sections[2] if value == 0 and len(sections) > 2 else sections[0], True


_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
    "<>": operator.ne,
}


def _fits(value: float, condition: str) -> bool:
    """Whether a number meets a condition such as `<=100`; any meets an empty one."""
    mark = condition.rstrip("-.0123456789")
    try:
        return not condition or _COMPARISONS[mark](value, float(condition[len(mark) :]))
    except (KeyError, ValueError):
        return False


def _shown_number(value: float, tokens: list[Token]) -> str:
    patterns = [text for kind, text in tokens if kind == "number"]
    if not patterns:
        text = "".join(general(value) if kind == "general" else text for kind, text in tokens if kind in _SHOWN)
        return text.replace("@", general(value)).strip() or general(value)
    if any(kind == "percent" for kind, _ in tokens):
        value *= 100
    if fraction := _FRACTION.search("".join(text for kind, text in tokens if kind in _SHOWN)):
        return _shown_fraction(value, fraction)
    groups = iter(_digit_groups(value, patterns))
    shown = "".join(next(groups) if kind == "number" else text for kind, text in tokens if kind in _SHOWN).strip()
    return f"-{shown}" if value < 0 and len(patterns) > 1 else shown


def _digit_groups(value: float, patterns: list[str]) -> list[str]:
    """The digits of a number, shared out over the groups of a pattern such as `000-00-0000` from its end."""
    if len(patterns) == 1:
        return [_digits(value, patterns[0])]
    whole, mark, fraction = _digits(abs(value), "".join(patterns).replace(",", "")).partition(".")
    groups = [f"{mark}{fraction}"]
    for pattern in reversed(patterns):
        count = len(pattern.partition(".")[0].replace(",", ""))
        whole, group = whole[: max(0, len(whole) - count)], whole[max(0, len(whole) - count) :]
        groups.insert(0, group)
    *first, mark_and_fraction = groups
    first[0], first[-1] = whole + first[0], first[-1] + mark_and_fraction
    return first


def _shown_fraction(value: float, pattern: re.Match[str]) -> str:
    """A number as `1 1/2`: the denominator has as many digits as the pattern, or is the one that it names."""
    denominator = pattern["denominator"]
    whole = int(abs(value)) if pattern["whole"] else 0
    rest = abs(value) - whole
    if denominator.strip("0").isdigit():
        part = (round(rest * int(denominator)), int(denominator))
    else:
        part = Fraction(rest).limit_denominator(10 ** min(len(denominator), 4) - 1).as_integer_ratio()
    if part[0] == part[1] and pattern["whole"]:
        whole, part = whole + 1, (0, 1)
    texts = [str(whole)] if whole or (pattern["whole"] and not part[0]) else []
    texts += [f"{part[0]}/{part[1]}"] if part[0] or not pattern["whole"] else []
    return ("-" if value < 0 else "") + " ".join(texts)


def _digits(value: float, pattern: str) -> str:
    thousands = len(pattern) - len(pattern.rstrip(","))  # commas at the end divide
    value /= 1000**thousands
    whole, _, fraction = pattern.rstrip(",").partition(".")
    if "E" in pattern.upper():
        return f"{value:.{len(re.findall('[0#?]', re.split('[eE]', fraction)[0]))}E}"
    text = f"{value:{',' if ',' in whole else ''}.{len(fraction)}f}"
    optional = len(fraction) - len(fraction.rstrip("#?"))
    if optional and "." in text:
        head, _, tail = text.partition(".")
        tail = tail[: len(tail) - optional] + tail[len(tail) - optional :].rstrip("0")
        text = f"{head}.{tail}" if tail else head
    least = whole.count("0")
    sign, number = ("-", text[1:]) if text.startswith("-") else ("", text)
    missing = least - sum(character.isdigit() for character in number.partition(".")[0])
    return f"{sign}{'0' * max(0, missing)}{number}"


def _shown_date(value: float, tokens: list[Token], *, since_1904: bool) -> str:
    try:
        # a spreadsheet shows whole seconds, and stores them as fractions of a day
        moment = _EPOCH[since_1904] + timedelta(seconds=round(value * 86_400))
    except (OverflowError, ValueError):
        return ""
    zone = next((text for kind, text in tokens if kind == "zone"), "")
    names = _names(zone)
    half = any(text.upper() in ("AM/PM", "A/P") for _, text in tokens)
    dates = [text.lower() for kind, text in tokens if kind == "date"]
    parts: list[str] = []
    position = 0
    for kind, text in tokens:
        if kind == "date":
            near = (dates[position - 1][:1] if position else "", (*dates, "")[position + 1][:1])
            parts.append(_date_part(moment, value, text.lower(), near, names, half=half))
            position += 1
        elif kind != "zone":
            parts.append(text)
    return "".join(parts).strip()


def _date_part(moment: datetime, value: float, text: str, near: tuple[str, str], names: Locale, *, half: bool) -> str:
    if text in ("am/pm", "a/p"):
        return f"{moment:%p}"
    if text.startswith("["):
        units = {"h": 24, "m": 1_440, "s": 86_400}
        return str(int(value * units[text[1]] + 1e-6))
    is_minute = text[0] == "m" and len(text) < 3 and (near[0] in ("h", "[") or near[1] == "s")
    if is_minute:
        return f"{moment.minute:0{len(text)}}"
    if text[0] == "h":
        return f"{(moment.hour % 12 or 12) if half else moment.hour:0{len(text)}}"
    if text[0] == "s":
        return f"{moment.second:0{min(2, len(text))}}"
    if text[0] == "y":
        return f"{moment:%Y}" if len(text) > 2 else f"{moment:%y}"
    if text[0] == "d":
        return f"{moment.day:0{len(text)}}" if len(text) < 3 else _day_name(moment, names, len(text))
    return f"{moment.month:0{len(text)}}" if len(text) < 3 else _month_name(moment, names, len(text))


def _day_name(moment: datetime, names: Locale, length: int) -> str:
    return str(names.days["format"]["wide" if length > 3 else "abbreviated"][moment.weekday()])


def _month_name(moment: datetime, names: Locale, length: int) -> str:
    return str(names.months["format"]["wide" if length > 3 else "abbreviated"][moment.month])


@functools.lru_cache(64)
def _names(zone: str) -> Locale:
    """Names of days and months in the language of a Windows locale, given in hexadecimal; English without one."""
    name = locale.windows_locale.get(int(zone, 16) & 0xFFFF if zone else 0, DEFAULT)
    try:
        return Locale.parse(name)
    except (UnknownLocaleError, ValueError):
        return Locale.parse(DEFAULT)
