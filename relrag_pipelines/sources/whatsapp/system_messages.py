"""Recognises WhatsApp's own words in a message: notes on media, on edits and deletions, and notices.

It is undocumented and in the language of the phone. iOS puts a left-to-right mark, which nobody types, before such
notes: after that mark the shape of a note is enough, in any language.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from relrag_pipelines.sources.whatsapp import phrases
from relrag_pipelines.sources.whatsapp.timestamps import MARKS

MARK = "\u200e"
"""Left-to-right mark: iOS puts it before any text of its own, Android before the name of an attached file."""

_INVISIBLE = "\u200e\u200f\u202a\u202b\u202c\u2066\u2067\u2068\u2069 \u00a0\n"
_LEADING = "\u200e\u200f\u061c"
"""marks before a notice; right-to-left languages add one of their own"""


def _bare(phrase: str) -> str:
    return phrase.strip(_INVISIBLE).rstrip(".。").casefold()


_ATTACHED = {_bare(phrase) for phrase in phrases.ATTACHED}
_OMITTED = {_bare(phrase): kind for kind, table in phrases.OMITTED.items() for phrase in table}
_DELETED = {_bare(phrase) for phrase in phrases.DELETED}
_EDITED = {_bare(phrase) for phrase in phrases.EDITED}
_FOREIGN = {
    _bare(phrase)
    for table in (phrases.ATTACHED, *phrases.OMITTED.values(), phrases.DELETED, phrases.EDITED)
    for phrase in table
    if not any(word in phrase for word in phrases.UNTRANSLATED)
}
_NOTICE = re.compile("|".join(phrases.NOTICES), re.IGNORECASE)
_FACTS: list[tuple[Iterable[str], dict[str, Any]]] = [
    (phrases.DELETED, {"deleted": True}),
    *((table, {"omitted": kind}) for kind, table in phrases.OMITTED.items()),
]
WHOLE: dict[str, dict[str, Any]] = {
    note: facts
    for table, facts in _FACTS
    for phrase in table
    for start in (phrase, phrase[:1].upper() + phrase[1:])
    for note in (start, f"{start}.", f"<{start}>")
}
"""Messages that consist of a note only, in the wording of most phones, and the facts that they state.

A message with a note that isn't listed contains `<`, ` (` or a MARK.
"""

LONGEST = max(map(len, WHOLE))
"""length of the longest of them, characters"""

_BRACKETED = re.compile(rf"({MARK})?<[{MARKS} ]*([^<>\n:：]{{1,60}}?)[{MARKS} ]*>")
_NAMED_NOTE = re.compile(
    rf"({MARK})?<[{MARKS} ]*([^<>\n:：]{{1,40}}?)\s?[:：][{MARKS} ]*([^<>\n]{{1,255}}?)[{MARKS} ]*>"
)
_ANDROID = re.compile(rf"([{MARKS}]*)([^\n<>/\\]{{1,250}}\.\w{{1,10}}) \(([^()\n]+)\)(?=\n|$)")
_IOS_OLD = re.compile(rf"([^\s<>/\\]{{1,250}}\.\w{{1,10}}) <[{MARKS} ]*([^<>\n:]{{1,40}}?)[{MARKS} ]*>")
_FILE = re.compile(r"[^/\\]+\.\w{1,10}")


Note = tuple[str, list[str], dict[str, Any]]
"""A message without WhatsApp's additions: the typed text, names of files, and facts for `extra`."""


def read(text: str) -> Note:
    """Separates what was typed from what WhatsApp added; an unknown note stays in the text."""
    if facts := WHOLE.get(text):
        return "", [], dict(facts)
    facts = {}
    if "<" in text:
        text, facts = _strip_edited(text)
    text, files = _strip_files(text)
    if not files and ("<" in text or MARK in text):
        text, omitted = _strip_omitted(text)
        facts |= omitted
    if MARK in text:
        note = _bare(text)
        if note in _DELETED or note.startswith("this message was deleted by admin "):
            return "", files, facts | {"deleted": True}
    return text.lstrip(MARK), files, facts


def is_notice(sender: str, text: str) -> bool:
    """Whether a message that iOS shows as that sender's is a notice by WhatsApp.

    A notice states the sender's name, which most languages put first and Arabic after the verb, or has a known wording.
    """
    notice = text.lstrip(_LEADING)
    if notice == text:
        return False
    first = notice.partition("\n")[0]
    if first.startswith(sender) or re.search(rf"(?<!\w){re.escape(sender)}(?!\w)", first):
        return True
    return _NOTICE.search(notice) is not None


def is_untranslated(phrase: str) -> bool:
    """Whether a phrase of phrases.py is of the app's own language, English; an empty one counts as such."""
    return not phrase or any(word in phrase for word in phrases.UNTRANSLATED)


def foreign(text: str) -> str:
    """The note in a message that is in another language than English; empty if there is none."""
    candidates = [text.partition("\n")[0].strip(_INVISIBLE)]
    for pattern in (_BRACKETED, _NAMED_NOTE):
        candidates += [match[2] for match in pattern.finditer(text)]
    if android := _ANDROID.match(text):
        candidates.append(android[3])
    return next((phrase for phrase in candidates if _bare(phrase) in _FOREIGN), "")


def _strip_edited(text: str) -> tuple[str, dict[str, Any]]:
    *_, last = [None, *_BRACKETED.finditer(text)]
    if last is None or text[last.end() :].strip(f"{MARK} "):
        return text, {}
    phrase = _bare(last[2])
    if phrase in _EDITED or (last[1] and phrase not in _ATTACHED and phrase not in _OMITTED):
        return text[: last.start()].rstrip(f"{MARK} "), {"edited": True}
    return text, {}


def _strip_files(text: str) -> tuple[str, list[str]]:
    if " (" in text:
        android = _ANDROID.match(text)
        if android and (_bare(android[3]) in _ATTACHED or MARK in android[1]):
            return text[android.end() :].removeprefix("\n"), [android[2].strip()]
    if "<" not in text:
        return text, []
    files: list[str] = []

    def take(match: re.Match[str]) -> str:
        if not (match[1] or _bare(match[2]) in _ATTACHED) or not _FILE.fullmatch(match[3]):
            return match[0]
        files.append(match[3])
        return ""

    without = _NAMED_NOTE.sub(take, text)
    if files:
        return without.replace(MARK, "").strip(" \n"), files
    old = _IOS_OLD.fullmatch(text.strip(f"{MARK} "))
    return ("", [old[1]]) if old and _bare(old[2]) in _ATTACHED else (text, [])


def _strip_omitted(text: str) -> tuple[str, dict[str, Any]]:
    """Removes a note on left-out media: the first line (Android, the caption follows), or the end (iOS)."""
    first, _, rest = text.partition("\n")
    caption, mark, end = text.rpartition(MARK)
    if (kind := _kind_omitted(first)) and (not rest or first.startswith("<")):
        return rest, {"omitted": kind}
    if mark and (kind := _kind_omitted(end)):
        return caption.replace(MARK, "").rstrip(" \n"), {"omitted": kind}
    return text, {}


def _kind_omitted(phrase: str) -> str | None:
    return _OMITTED.get(_bare(phrase).strip("<> "))
