"""The order of day and month, where a chat's own dates do not tell.

First what other chats of the source say whose dates do tell: those whose messages begin alike, else all of them, where
they agree. Then the phone's own habits: the word for the half of the day, the language of a note or of the file's name.
Only American English and Filipino put the month first (short dates of Unicode CLDR 48; Spanish in Panama and Puerto
Rico does too, and is taken for that of all other countries).

Such an answer can change when another chat comes, goes or changes. So it is told as a failure of fault ASKED, and every
unit with one is read again then: see `asks_others` in sources/__init__.py.
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
"""fault word of a chat whose own dates do not tell"""

HEAD_BYTES = 2**20
"""how much of another chat is looked at"""

OrderHint = tuple[str, str]
"""How the messages of another chat begin, as a pattern, and the order that its dates tell."""

_MESSAGES = 2000
_NAMES = {"dmy": "the day first", "mdy": "the month first", "ymd": "the year first"}


def detect_order(head: bytes) -> OrderHint | None:
    """What the beginning of a chat tells about others; None if its dates do not tell, or it is not a chat."""
    charset = declared_charset(lambda: io.BytesIO(head))
    text = "\n" + head.decode(charset.name, "replace").replace("\r\n", "\n")
    form = find_form(text)
    if form is None:
        return None
    orders = DateOrderVotes()
    orders.add(form.dates.findall(text))
    order = orders.decide()
    return (form.messages.pattern, order) if order and orders.differ else None


def settle_orders(known: FormatGuess, phrase: str, others: Callable[[], Iterable[OrderHint]]) -> tuple[str, str] | None:
    """The order and why it is taken; None where nothing tells. `phrase` is of the file's name, from phrases.TITLES."""
    possible = known.orders.possible
    if not possible:
        return None
    said = list(others())
    alike = [order for look, order in said if look == known.form.messages.pattern]
    for orders in (alike, [order for _, order in said]):
        if len(set(orders)) == 1 and orders[0] in possible:
            return orders[0], f"as other chats of the source are written ({len(orders)})"
    habit = next((order for sign in _signs(known, phrase) if (order := _order_of(sign, possible))), None)
    return (habit, "as the phone's language has it") if habit else None


def describe(order: str, orders: DateOrderVotes, why: str) -> str:
    """The failure of a chat that was read in an order its dates do not tell."""
    found = f"{orders.explain()}; they are read with {_NAMES[order]}, {why}"
    return f'{found}; where that is wrong, set date_order = "dmy" or "mdy" for this source'


def _order_of(sign: str, possible: list[str]) -> str | None:
    """The order of a language by one of its phrases: Chinese, Japanese and Korean put the year first where they can."""
    east_asian = any(
        unicodedata.name(letter, "").startswith(("CJK", "HIRAGANA", "KATAKANA", "HANGUL")) for letter in sign
    )
    wanted = ("ymd", "dmy") if east_asian else ("mdy",) if sign in MONTH_FIRST else ("dmy",)
    return next((order for order in wanted if order in possible), None)


def _signs(known: FormatGuess, phrase: str) -> Iterator[str]:
    """Phrases of the phone's language, the surest first; none in English, but for its halves of the day."""
    first = list(itertools.islice(messages(known), _MESSAGES))
    halves = {half.strip() for _, hour, _, half, _ in first for half in (*re.findall(r"[^\d:.\s]+", hour), half or "")}
    for half in sorted(halves - {""}):
        if half not in ("AM", "PM"):
            yield half
        elif all(re.fullmatch(r"[1-9]\d?/[1-9]\d?/\d\d", date) for date, *_ in first):
            yield "AM"
    for *_, body in first:
        if foreign := system_messages.foreign(body.partition(": ")[2]):
            yield foreign
    if not system_messages.is_english(phrase):
        yield phrase
