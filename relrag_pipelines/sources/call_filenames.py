"""Who was called and when, from the name of the recording.

A pattern is a file name without its suffix with `{...}` as placeholders; blanks and underscores are equal, case is
ignored. Placeholders: {name}, {phone}, {who} (either of the two), {yyyy}, {yy}, {mm}, {dd}, {HH}, {MM}, {SS}, {any}.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from typing import NamedTuple

from relrag_pipelines import languages
from relrag_pipelines.sources.formats import recording_time

PATTERNS = (
    "Call_recording_{who}_{yy}{mm}{dd}_{HH}{MM}{SS}",
    "Call_recording_{who}_{yyyy}{mm}{dd}_{HH}{MM}{SS}",
    "{name}({phone})_{yyyy}{mm}{dd}{HH}{MM}{SS}",
    "{any}_{yyyy}{mm}{dd}-{HH}{MM}{SS}_{who}",
    "{who}_{yyyy}{mm}{dd}_{HH}{MM}{SS}",
    "{who}_{yy}{mm}{dd}_{HH}{MM}{SS}",
)
"""names that Android's recorders write; a source's own patterns are tried first"""

_PHONE = r"\+?\d[\d ()\-_]{4,18}\d|\*?\d{3,6}"
_PARTS = {
    "name": r"(?P<name>.+?)",
    "phone": rf"(?P<phone>{_PHONE})",
    "who": r"(?P<who>.+?)",
    "any": r".*?",
    "yyyy": r"(?P<yyyy>(?:19|20)\d\d)",
    "yy": r"(?P<yy>\d\d)",
    "mm": r"(?P<mm>0[1-9]|1[0-2])",
    "dd": r"(?P<dd>0[1-9]|[12]\d|3[01])",
    "HH": r"(?P<HH>[01]\d|2[0-3])",
    "MM": r"(?P<MM>[0-5]\d)",
    "SS": r"(?P<SS>[0-5]\d)",
}
_WITH = languages.patterns("exports", "call_with")
_CALL = re.compile(
    rf"(?<![^\W_])(?:phone[ _-]*)?(?:{languages.patterns('exports', 'call')})(?:[ _-]*(?:{_WITH}))?[ _-]+", re.I
)
_SAYS_CALL = re.compile(rf"(?<![^\W_])(?:{languages.patterns('exports', 'call_file')})(?![^\W_])", re.I)


def says_call(stem: str) -> bool:
    """Whether a file name says that it is a call or a recording."""
    return _SAYS_CALL.search(stem) is not None


class FilenameFacts(NamedTuple):
    """Person, phone and time that the name of a recording states."""

    name: str | None
    phone: str | None
    ts: int | None
    """seconds since 1970"""
    date_quality: str


@functools.lru_cache(64)
def pattern(template: str) -> re.Pattern[str]:
    """The regular expression for a template. Raises ValueError for a placeholder that is unknown or used twice."""
    parts = re.split(r"\{(\w*)\}", template)
    names = parts[1::2]
    for name in names:
        if name not in _PARTS:
            raise ValueError(f"has {{{name}}}; known: {', '.join(f'{{{part}}}' for part in _PARTS)}")
        if names.count(name) > 1 and name != "any":
            raise ValueError(f"uses {{{name}}} twice; each placeholder may appear once")
    literals = [re.sub(r"(?:\\ |_)+", "[ _]+", re.escape(literal)) for literal in parts[::2]]
    fragments = [literal + (_PARTS[name] if name else "") for literal, name in zip(literals, [*names, ""], strict=True)]
    return re.compile("".join(fragments), re.IGNORECASE)


def parse_filename(stem: str, templates: Iterable[str], timezone: str) -> FilenameFacts:
    """Who was called and when, by a file name without its suffix; without a matching pattern, each is searched for."""
    for template in (*templates, *PATTERNS):
        if match := pattern(template).fullmatch(stem):
            parts = match.groupdict()
            moment = recording_time.parse_moment(parts, timezone)
            if moment or "dd" not in parts:
                name, phone = _name_and_phone(parts)
                return FilenameFacts(name, phone, *(moment or (None, "none")))
    name, phone = _name_and_phone({"who": recording_time.strip_time(stem)})
    return FilenameFacts(name, phone, *(recording_time.time_in_name(stem, timezone) or (None, "none")))


def _name_and_phone(parts: dict[str, str | None]) -> tuple[str | None, str | None]:
    name, phone = parts.get("name"), parts.get("phone")
    if who := _CALL.sub("", parts.get("who") or "").strip(" _-"):
        if re.fullmatch(_PHONE, who):
            phone = who
        else:
            name = who
    name = " ".join(re.split(r"[\s_]+", name or "")).strip(" -()[]")
    return name or None, " ".join((phone or "").replace("_", " ").split()) or None
