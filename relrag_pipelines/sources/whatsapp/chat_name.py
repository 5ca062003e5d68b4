"""The name of a chat, from the name of its exported file or folder, which is in the phone's language."""

from __future__ import annotations

import re
import unicodedata
from pathlib import PurePath

from relrag_pipelines import languages
from relrag_pipelines.sources.whatsapp.phrases import TITLES
from relrag_pipelines.sources.whatsapp.timestamps import MARKS

_GAP = r"[\s_-]+"


def _template(phrase: str) -> str:
    words = [re.escape(word).replace("'", "['’׳_]?") for word in re.split(r"[\s-]+", phrase)]
    return _GAP.join(words).replace(re.escape("{}"), "(.+)")


_TITLE = {phrase: re.compile(_template(phrase), re.IGNORECASE) for phrase in sorted(TITLES, key=len, reverse=True)}
_DASH = re.compile(r"[^-]*whats\s?app[^-]* - (.+)", re.IGNORECASE)
_NAMELESS = re.compile("_?(?:chat|export|messages|whatsapp|whatsapp[ _-]chat)", re.IGNORECASE)
_COPY = re.compile(rf"\s*\(\d+\)$| - (?:{languages.patterns('exports', 'copy')})$", re.IGNORECASE)


def named_title(name: str) -> str | None:
    """The title of the chat in a file or folder name; None if WhatsApp doesn't name files so."""
    stem = _stem(name)
    for pattern in (*_TITLE.values(), _DASH):
        if match := pattern.fullmatch(stem):
            return match[1].strip(" _") or None
    return None


def phrase(*names: str) -> str:
    """The phrase of phrases.TITLES in the first of the names that has one; else empty."""
    for stem in map(_stem, names):
        for template, pattern in _TITLE.items():
            if pattern.fullmatch(stem):
                return template
    return ""


def is_nameless(name: str) -> bool:
    """Whether a file's name says nothing about the chat, such as `_chat.txt`, which iOS uses for every chat."""
    return bool(_NAMELESS.fullmatch(_stem(name)))


def title(*names: str) -> str:
    """The chat's title by the names of its file and of what contains it, innermost first: the first with a title."""
    name = next((name for name in names if not is_nameless(name)), "chat")
    return named_title(name) or _stem(name)


def chat_key(chat: str) -> str:
    """The common form of all spellings of a title; ids are derived from it."""
    letters = re.sub(rf"[{MARKS}_\s]+", " ", unicodedata.normalize("NFKC", chat))
    return letters.strip().casefold()


def _stem(name: str) -> str:
    """The name without suffix, invisible marks and what file managers add to a copy's name."""
    path = PurePath(re.sub(f"[{MARKS}]", "", unicodedata.normalize("NFC", name)))
    stem = (path.stem if path.suffix.lower() in (".txt", ".zip") else path.name).strip()
    while (shorter := _COPY.sub("", stem)) not in ("", stem):
        stem = shorter
    return stem
