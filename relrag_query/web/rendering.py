"""Templates, and filters that render untrusted text.

All text is escaped, and control and bidirectional characters are removed. Links of an archive are shown only for http
and https, and open in a new tab without a referrer.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit
from zoneinfo import ZoneInfo

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from relrag_pipelines import languages
from relrag_pipelines.identity import relationship_text
from relrag_pipelines.privacy import pseudonyms
from relrag_pipelines.sources import record_type
from relrag_query.display import amounts
from relrag_query.display.inert_text import safe
from relrag_query.display.page_texts import page_texts
from relrag_query.display.source_line import clock
from relrag_query.retrieval.excerpts import plain
from relrag_query.web.page_errors import REMEDY_OF
from relrag_query.web.wording import Wording, commands

_FOLDER = Path(__file__).parent
_CITATION = re.compile(r"\[(\d{1,3})\]")
_PSEUDONYM = re.compile(r"<[A-Z_]+(:[^<>\s]*)?>")
_REPLACEMENT = re.compile(f"{pseudonyms.PATTERN}|{pseudonyms.TYPE.pattern}")
_WORD = re.compile(r"\w+")
_LINE_ENDS = re.compile(r"(\s*\n\s*)")


def show(value: Any) -> Any:
    """A value as a template prints it, without control characters in texts; jinja escapes it afterwards."""
    return safe(value) if type(value) is str else value


def url(path: str, **parameters: Any) -> str:
    """A URL of this server; parameters without a value are left out."""
    query = {name: value for name, value in parameters.items() if value not in (None, "", [])}
    return f"{path}?{urlencode(query, doseq=True)}" if query else path


def page_url(ref: str, quote: str = "", page: int | None = None, asset_id: str = "") -> str:
    """URL of the page of an id; empty for ids without a page.

    A later sync may replace a passage, so its URL also names the record or chat window (`asset_id`).
    """
    if ref.startswith("thread:"):
        return url("/thread", id=ref.removeprefix("thread:"))
    if ref.startswith("chunk:"):
        return url("/source", chunk=ref.removeprefix("chunk:"), quote=quote, page=page, of=asset_id)
    if ref.startswith("person:"):
        return url("/person", name=ref.removeprefix("person:"))
    return "" if ref.startswith("audio:") else url("/record", ref=ref)


def thread_url(thread_id: str, at: str) -> str:
    """URL of the page of a thread that holds a record, scrolled to it."""
    return f"{url('/thread', id=thread_id, at=at)}#at"


def static(name: str) -> str:
    """URL of a static file, with a hash of its content."""
    return f"/static/{name}?{_version(name)}"


@cache
def _version(name: str) -> str:
    return hashlib.sha256((_FOLDER / "static" / name).read_bytes()).hexdigest()[:12]


def dated_by_file(record: Any) -> bool:
    """Whether the time of a hit or record is only that of its file. A contact card states its own time of change."""
    return getattr(record, "date_quality", "") == "modified" and not record_type(record.rag_source_type).card


def by_clock(time: str, zone: ZoneInfo, words: Wording) -> str:
    """A UTC time in the owner's time zone, with the zone: 15 January 2025, 10:12 (Europe/Prague).

    A day or a year stays as it is.
    """
    if "T" not in time:
        return words.day(time)
    moment = datetime.fromisoformat(time)
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return f"{words.day(moment.astimezone(zone).isoformat())} ({zone.key})"


def by_seconds(seconds: float, zone: ZoneInfo, words: Wording) -> str:
    """Seconds since 1970-01-01 UTC in the owner's time zone: 15 January 2025, 10:12."""
    return words.day(datetime.fromtimestamp(seconds, zone).isoformat("T", "minutes"))


def isolated(text: str) -> Markup:
    """A text whose writing direction does not change that of the sentence around it."""
    return Markup("<bdi>{}</bdi>").format(show(text))


def link(address: str, text: str) -> Markup:
    """A link within a sentence."""
    return Markup('<a href="{}">{}</a>').format(address, show(text))


def explain_pseudonyms(text: str, words: Wording, *, reveals: bool) -> Markup:
    """An escaped text; a tooltip on each pseudonym says how the owner can see the original value."""
    safe_text, parts, start = safe(text), [Markup("")], 0
    for match in _REPLACEMENT.finditer(safe_text):
        how = ("base.replaced_value" if ":" in match[0] else "base.replaced_type") if reveals else "base.replaced"
        parts.append(escape(safe_text[start : match.start()]))
        tooltip = words.say(how, value=match[0])
        parts.append(Markup('<abbr class="replaced" tabindex="0" title="{}">{}</abbr>').format(tooltip, match[0]))
        start = match.end()
    return Markup("").join([*parts, escape(safe_text[start:])])


def family(rag_source_type: str) -> str:
    """The colour class of a record: chat, mail, call or paper."""
    kind = record_type(rag_source_type)
    parent = record_type(kind.part_of) if kind.part_of else kind
    return next((name for name in ("chat", "mail") if getattr(parent, name)), "call" if kind.spoken else "paper")


def web_address(uri: str | None) -> str:
    """An http or https URL that may become a link; empty for other schemes and invalid URLs."""
    try:
        return uri if uri and urlsplit(uri).scheme in ("http", "https") else ""
    except ValueError:
        return ""


def split_at_citations(text: str) -> list[tuple[str, int]]:
    """The texts of a written answer, each with the number of the source cited after it, or 0."""
    parts, start = [], 0
    for match in _CITATION.finditer(text):
        parts.append((text[start : match.start()], int(match[1])))
        start = match.end()
    return [*parts, (text[start:], 0)]


def direction(text: str, around: str = "ltr") -> str:
    """Writing direction of most letters of a line, `rtl` or `ltr`, since the first word may be a foreign name.

    A line without letters has the direction of the text `around` it.
    """
    counts = Counter(unicodedata.bidirectional(letter) for letter in _PSEUDONYM.sub("", text))
    backward, forward = counts["R"] + counts["AL"], counts["L"]
    return "rtl" if backward > forward else "ltr" if forward else around


def split_at_quote(text: str, quote: str) -> list[tuple[str, bool]]:
    """A text in parts, with True for the parts that the quote covers; spaces and line ends match each other.

    A mark does not span lines, since an empty line has nothing to mark.
    """
    return _split_at(text, _quote_spans(text, quote))


def split_at_marks(text: str, marks: Sequence[tuple[int, int]], most: int = 0) -> list[tuple[str, bool]]:
    """A text in parts, with True for those that the marks cover; of more than `most` characters the part around the
    first mark, if `most` is not 0."""
    if not 0 < most < len(text):
        return _split_at(text, marks)
    first = marks[0][0] if marks else 0
    earliest, latest = first - most // 2, first - most // 4
    start = 0 if earliest < 0 else text.rfind(" ", earliest, latest) + 1 or latest
    end = start + most
    shown = [(begin - start, min(stop, end) - start) for begin, stop in marks if start <= begin < end]
    ends = ("… " if start else ""), (" …" if end < len(text) else "")
    return [(ends[0], False), *_split_at(text[start:end], shown), (ends[1], False)]


def _split_at(text: str, spans: Iterable[tuple[int, int]]) -> list[tuple[str, bool]]:
    parts, start = [], 0
    for begin, end in spans:
        parts.append((text[start:begin], False))
        parts += [(part, not part.isspace()) for part in _LINE_ENDS.split(text[begin:end])]
        start = end
    return [part for part in [*parts, (text[start:], False)] if part[0]]


def _quote_spans(text: str, quote: str) -> Iterator[tuple[int, int]]:
    """Spans of the quote in the text; if the whole quote does not occur, spans of its lines."""
    for phrases in ([quote], quote.splitlines()):
        spans = []
        for phrase in phrases:
            if len(words := _WORD.findall(phrase)) >= 1 and len(phrase) <= 4000:
                match = re.search(r"\W+".join(map(re.escape, words)) + r"[^\w\s]*", text)
                spans += [match.span()] if match else []
        if spans:
            yield from _without_overlaps(sorted(spans))
            return


def _without_overlaps(spans: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    position = 0
    for begin, end in spans:
        if begin >= position:
            yield begin, end
            position = end


def templates(words: Wording, *, reveals: bool = False) -> Environment:
    """The templates of all pages in one language; with `reveals`, tooltips say how to reveal pseudonyms."""
    environment = Environment(
        loader=FileSystemLoader(_FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=show,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"url": url, "page_url": page_url, "thread_url": thread_url, "static": static, "link": link}
    environment.globals |= {"wording": words, "say": words.say, "in_default": words.code == languages.DEFAULT}
    environment.filters |= {
        "when": words.day,
        "number": words.number,
        "name_of": words.name_of,
        "remedy": lambda fault: words.name_of("remedy", REMEDY_OF.get(fault, "report")),
        "bdi": isolated,
        "key": lambda letter: Markup("<kbd>{}</kbd>").format(letter),
        "plain_text": lambda text: text.unescape(),
        "plain": plain,
        "pseudonyms": partial(explain_pseudonyms, words=words, reveals=reveals),
        "dated_by_file": dated_by_file,
        "by_clock": partial(by_clock, words=words),
        "moment": partial(by_seconds, words=words),
        "commands": commands,
        "page_texts": page_texts,
        "noun": words.noun,
        "count_records": words.count_records,
        "family": family,
        "web_address": web_address,
        "split_at_citations": split_at_citations,
        "split_at_quote": split_at_quote,
        "split_at_marks": split_at_marks,
        "direction": direction,
        "size": lambda count: amounts.size(int(count)),
        "duration": amounts.duration,
        "clock": lambda seconds: clock(int(seconds)),
        "attitude": lambda level: words.name_of("attitude", relationship_text.DEFAULT.attitude[level - 1]),
        "proximity": lambda level: words.name_of("proximity", relationship_text.DEFAULT.proximity[level - 1]),
    }
    return environment
