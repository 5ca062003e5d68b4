"""Finds the order of day and month if a chat's own dates don't show it.

The first evidence is other chats of the source whose dates show it: those whose messages begin alike, else all of them
if they agree. Then come the phone's habits: the word for the half of the day, the language of a note or of the file's
name. Only American English and Filipino put the month first (short dates of Unicode CLDR 48; Spanish in Panama and
Puerto Rico does too, and is taken for that of all other countries).

The result can change when another chat is added, removed or changed. So it is reported as a failure UNSURE_ORDER, which
has the unit read again in that case: see `asks_others` in sources/kind.py.
"""

from __future__ import annotations

import io
import itertools
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator

from relrag_pipelines.sources.whatsapp import system_messages
from relrag_pipelines.sources.whatsapp.date_order import DateOrderVotes
from relrag_pipelines.sources.whatsapp.detect_format import FormatGuess, declared_charset, messages
from relrag_pipelines.sources.whatsapp.phrases import MONTH_FIRST
from relrag_pipelines.sources.whatsapp.timestamps import find_form

UNSURE_ORDER = "date_order"
"""fault word of a chat whose own dates don't show their order"""

HEAD_BYTES = 2**20
"""bytes at the beginning of another chat that are examined"""

OrderHint = tuple[str, str]
"""The pattern of the beginnings of another chat's messages, and the order that its dates show."""

_MESSAGES = 2000
_NAMES = {"dmy": "the day first", "mdy": "the month first", "ymd": "the year first"}


def detect_order(head: bytes) -> OrderHint | None:
    """The hint that the beginning of a chat gives; None if its dates don't show their order, or it isn't a chat."""
    charset = declared_charset(lambda: io.BytesIO(head))
    text = "\n" + head.decode(charset.name, "replace").replace("\r\n", "\n")
    form = find_form(text)
    if form is None:
        return None
    orders = DateOrderVotes()
    orders.add(form.dates.findall(text))
    order = orders.decide()
    return (form.messages.pattern, order) if order and orders.differ else None


def settle_orders(
    format_: FormatGuess, phrase: str, others: Callable[[], Iterable[OrderHint]]
) -> tuple[str, str] | None:
    """The order and the reason for it; None without evidence. `phrase` is the file name's, from phrases.TITLES."""
    possible = format_.orders.possible
    if not possible:
        return None
    hints = list(others())
    of_same_form = [order for pattern, order in hints if pattern == format_.form.messages.pattern]
    for orders in (of_same_form, [order for _, order in hints]):
        if len(set(orders)) == 1 and orders[0] in possible:
            return orders[0], f"as other chats of the source are written ({len(orders)})"
    for sign in _signs(format_, phrase):
        if order := _order_of(sign, possible):
            return order, "as the phone's language has it"
    return None


def describe(order: str, orders: DateOrderVotes, why: str) -> str:
    """The failure message of a chat that was read in an order its dates don't show."""
    finding = f"{orders.explain()}; they are read with {_NAMES[order]}, {why}"
    return f'{finding}; where that is wrong, set date_order = "dmy" or "mdy" for this source'


def _order_of(sign: str, possible: list[str]) -> str | None:
    """The order in the language of a phrase; Chinese, Japanese and Korean put the year first if possible."""
    east_asian = any(
        unicodedata.name(letter, "").startswith(("CJK", "HIRAGANA", "KATAKANA", "HANGUL")) for letter in sign
    )
    preferred = ("ymd", "dmy") if east_asian else ("mdy",) if sign in MONTH_FIRST else ("dmy",)
    return next((order for order in preferred if order in possible), None)


def _signs(format_: FormatGuess, phrase: str) -> Iterator[str]:
    """Phrases in the phone's language, the most reliable first; English ones only for the halves of the day."""
    first = list(itertools.islice(messages(format_), _MESSAGES))
    for half in sorted(_halves(first)):
        if half not in ("AM", "PM"):
            yield half
        elif all(re.fullmatch(r"[1-9]\d?/[1-9]\d?/\d\d", date) for date, *_ in first):
            yield "AM"
    for *_, body in first:
        if foreign := system_messages.foreign(body.partition(": ")[2]):
            yield foreign
    if not system_messages.is_untranslated(phrase):
        yield phrase


def _halves(parts: list[tuple[str, ...]]) -> set[str]:
    """The words for the half of the day in messages, before the hour or after the time."""
    halves: set[str] = set()
    for _, hour, _, half, _ in parts:
        halves.update(word.strip() for word in re.findall(r"[^\d:.\s]+", hour))
        halves.add((half or "").strip())
    return halves - {""}
