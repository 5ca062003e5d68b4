"""What mail programs write around old messages, from segmentation_phrases.toml.

Compared in lower case, without marks of direction and with plain spaces. A new language is a few more
phrases in that file.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

_PHRASES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def _table(text: str) -> tuple[str, ...]:
    return tuple(phrase.strip() for line in text.splitlines() for phrase in line.split(" | ") if phrase.strip())


def _any(key: str) -> re.Pattern[str]:
    return re.compile("|".join(_table(_PHRASES[key])))


WROTE = re.compile(_PHRASES["wrote"])
"""The verb that ends the line above a quotation; a name follows it in German, and "from" in newer Gmail in Hebrew."""

WROTE_ON = re.compile(_PHRASES["wrote_on"])
"""The verb before the date, which ends the line."""

BEGINS = re.compile(_PHRASES["begins"])
"""How that line begins where it begins with the date."""

ORIGINAL = _any("original")
"""Between hyphens above the message that is answered."""

FORWARDED = _any("forwarded")
"""Between hyphens, or before a colon, above a message that is passed on."""

FORWARD_SUBJECT = re.compile(_PHRASES["forward_subject"], re.IGNORECASE)
"""The subject of a mail that passes another one on."""

LABELS = {label.strip(): kind for kind, labels in _PHRASES["labels"].items() for label in labels.split(" | ")}
"""The names of header fields, and which field they are: from, date, to, cc (and others), subject."""

SENT_FROM = re.compile(_PHRASES["sent_from"].replace("{device}", _PHRASES["device"]))
"""The last line that phones and mail programs add by themselves; matched against the whole line."""

CLOSES = _any("closes")
"""The whole line with which a letter closes, before the name of its writer."""

DISCLAIMERS = tuple(map(_table, _PHRASES["disclaimers"].values()))
"""Parts of the sentences that lawyers have put under mails, a language each; ENOUGH_PARTS in a paragraph tell."""

ENOUGH_PARTS = 3
"""parts that a disclaimer holds at least; each is a common word in some language"""

FOOTERS = _any("footers")
"""One of these alone marks a footer."""

LIST_FOOTERS = _any("list_footers")
"""The footer that a mailing list adds to each mail, below a line of hyphens or the like."""
