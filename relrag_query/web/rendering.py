"""Templates, and how they show what comes from outside.

Everything is escaped, and characters that reverse or command what is shown are taken out. No address of an archive is
followed but http and https, in a new tab that is not told where it was opened.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit
from zoneinfo import ZoneInfo

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from relrag_pipelines.identity import relationship_text
from relrag_pipelines.pii import pseudonyms
from relrag_pipelines.sources import record_type
from relrag_query.display.inert_text import safe
from relrag_query.retrieval.excerpts import plain

_FOLDER = Path(__file__).parent
_CITED = re.compile(r"\[(\d{1,3})\]")
_PSEUDONYM = re.compile(r"<[A-Z_]+(:[^<>\s]*)?>")
_REPLACED = re.compile(f"{pseudonyms.PATTERN}|{pseudonyms.TYPE.pattern}")
_REVEALED = (
    "Personal data that was replaced. To see it, type: relrag reveal '{value}'. "
    "It asks for your reason and notes it; the page of the record shows it too."
)
_TYPE_ONLY = (
    "Personal data that was replaced. To see it, open the record's page, or type: relrag reveal, with the record's id. "
    "It asks for your reason and notes it."
)
_NOT_REVEALED = "Personal data that was replaced."
_WORD = re.compile(r"\w+")
_LINE_ENDS = re.compile(r"(\s*\n\s*)")


def show(value: Any) -> Any:
    """What a template prints: texts without what could disturb the page; escaping follows."""
    return safe(value) if type(value) is str else value


def url(path: str, **parameters: Any) -> str:
    """An address of ours; parameters without a value are left out."""
    given = {name: value for name, value in parameters.items() if value not in (None, "", [])}
    return f"{path}?{urlencode(given, doseq=True)}" if given else path


def place(ref: str, quote: str = "", page: int | None = None, of: str = "") -> str:
    """Where an id is shown; empty for what has no page.

    A passage may be made anew by a later sync, so its address says `of` which record or chat window it is.
    """
    if ref.startswith("thread:"):
        return url("/thread", id=ref.removeprefix("thread:"))
    if ref.startswith("chunk:"):
        return url("/source", chunk=ref.removeprefix("chunk:"), quote=quote, page=page, of=of)
    if ref.startswith("person:"):
        return url("/person", name=ref.removeprefix("person:"))
    return "" if ref.startswith("audio:") else url("/record", ref=ref)


def static(name: str) -> str:
    """The address of a static file, which changes with its content."""
    return f"/static/{name}?{_version(name)}"


@cache
def _version(name: str) -> str:
    return hashlib.sha256((_FOLDER / "static" / name).read_bytes()).hexdigest()[:12]


def when(time: str | None, *, clock: bool = True) -> str:
    """An ISO time as people write it, 15 January 2025, 10:12; a day as a day, a year as a year."""
    if not time:
        return "undated"
    if time.isdecimal():
        return time
    at = datetime.fromisoformat(time)
    return f"{at.day} {at:%B %Y, %H:%M}" if clock and "T" in time else f"{at.day} {at:%B %Y}"


def dated_by_file(one: Any) -> bool:
    """Whether the time of a hit or a record is only that of its file; a card tells itself when it was changed."""
    return getattr(one, "date_quality", "") == "modified" and not record_type(one.rag_source_type).card


def by_clock(time: str, zone: ZoneInfo) -> str:
    """A moment in UTC as the owner's clock has it, and the zone: 15 January 2025, 10:12 (Europe/Prague).

    A day or a year stays as it is.
    """
    if "T" not in time:
        return when(time)
    at = datetime.fromisoformat(time)
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return f"{when(at.astimezone(zone).isoformat())} ({zone.key})"


def commands(text: str) -> Markup:
    """A text of ours in which `commands` stand between backticks; whatever else it holds is escaped."""
    parts = safe(text).split("`")
    if len(parts) % 2 == 0:  # one of them is no mark
        return escape(safe(text))
    return Markup("").join(
        Markup("<code>{}</code>").format(one) if odd % 2 else escape(one) for odd, one in enumerate(parts)
    )


def explain_pseudonyms(text: str, *, reveals: bool) -> Markup:
    """A text, escaped, whose pseudonyms tell in a tooltip how their owner sees what they stand for."""
    shown, parts, start = safe(text), [Markup("")], 0
    for match in _REPLACED.finditer(shown):
        how = _REVEALED.format(value=match[0]) if ":" in match[0] else _TYPE_ONLY
        parts.append(escape(shown[start : match.start()]))
        told = how if reveals else _NOT_REVEALED
        parts.append(Markup('<abbr class="replaced" tabindex="0" title="{}">{}</abbr>').format(told, match[0]))
        start = match.end()
    return Markup("").join([*parts, escape(shown[start:])])


def noun(rag_source_type: str) -> str:
    """What a record is called."""
    return record_type(rag_source_type).noun or rag_source_type.replace("_", " ") or "record"


def count_records(rag_source_type: str, count: int) -> str:
    """So many records: 3 mails."""
    return record_type(rag_source_type).count_text(count)


def family(rag_source_type: str) -> str:
    """By what a record is coloured: chat, mail, call, paper, or other."""
    found = record_type(rag_source_type)
    whole = record_type(found.part_of) if found.part_of else found
    return next((name for name in ("chat", "mail") if getattr(whole, name)), "call" if found.spoken else "paper")


def web_address(uri: str | None) -> str:
    """An address that may be a link; empty for any other scheme, and for what is no address."""
    try:
        return uri if uri and urlsplit(uri).scheme in ("http", "https") else ""
    except ValueError:
        return ""


def split_at_citations(text: str) -> list[tuple[str, int]]:
    """A written answer as its texts, each with the number cited behind it, or 0."""
    found, start = [], 0
    for match in _CITED.finditer(text):
        found.append((text[start : match.start()], int(match[1])))
        start = match.end()
    return [*found, (text[start:], 0)]


def direction(text: str, around: str = "ltr") -> str:
    """Which way most letters of a line run, `rtl` or `ltr`: what comes first may be a foreign name or a pseudonym.

    A line without letters runs as what is `around` it.
    """
    found = Counter(unicodedata.bidirectional(letter) for letter in _PSEUDONYM.sub("", text))
    backward, forward = found["R"] + found["AL"], found["L"]
    return "rtl" if backward > forward else "ltr" if forward else around


def split_at_quote(text: str, quote: str) -> list[tuple[str, bool]]:
    """A text in parts, of which those that a quote repeats are to be marked; spaces and line ends count as one.

    No mark goes on over the end of a line: an empty line has nothing to mark.
    """
    parts, start = [], 0
    for begin, end in _found(text, quote):
        parts.append((text[start:begin], False))
        parts += [(part, not part.isspace()) for part in _LINE_ENDS.split(text[begin:end])]
        start = end
    return [part for part in [*parts, (text[start:], False)] if part[0]]


def _found(text: str, quote: str) -> Iterator[tuple[int, int]]:
    """Where the quote stands; where it does not as a whole, where each of its lines does."""
    for wanted in ([quote], quote.splitlines()):
        spans = []
        for one in wanted:
            if len(words := _WORD.findall(one)) >= 1 and len(one) <= 4000:
                match = re.search(r"\W+".join(map(re.escape, words)) + r"[^\w\s]*", text)
                spans += [match.span()] if match else []
        if spans:
            yield from _apart(sorted(spans))
            return


def _apart(spans: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    behind = 0
    for begin, end in spans:
        if begin >= behind:
            yield begin, end
            behind = end


def _in_words(words: Sequence[str], number: int) -> str:
    return words[number - 1].replace("_", " ")


def templates(*, reveals: bool = False) -> Environment:
    """The templates of all pages; with `reveals` they tell how to see what pseudonyms stand for."""
    found = Environment(
        loader=FileSystemLoader(_FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=show,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.globals |= {"url": url, "place": place, "static": static}
    found.filters |= {
        "when": when,
        "plain": plain,
        "pseudonyms": partial(explain_pseudonyms, reveals=reveals),
        "dated_by_file": dated_by_file,
        "by_clock": by_clock,
        "commands": commands,
        "noun": noun,
        "count_records": count_records,
        "family": family,
        "web_address": web_address,
        "split_at_citations": split_at_citations,
        "split_at_quote": split_at_quote,
        "direction": direction,
        "attitude": lambda number: _in_words(relationship_text.DEFAULT.attitude, number),
        "proximity": lambda number: _in_words(relationship_text.DEFAULT.proximity, number),
    }
    return found
