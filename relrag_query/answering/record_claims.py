"""Whether two records are of one matter, which of them is newer, and of which values one says that it replaces them."""

from __future__ import annotations

import functools
import re
from typing import Literal

from relrag_query.answering.sentences import is_question
from relrag_query.retrieval.hit import Hit
from relrag_query.understanding.phrases import bare, load_phrases

Claim = Literal["", "times", "values"]
"""what is said to be replaced: nothing, days and hours (a new date), or any value (a correction)"""
_HEAD = 1000
"""characters in which a record says that it replaces another"""
_NOUN = 20
"""characters behind such words, on their line, in which stands what it is"""
_VERSION = re.compile(r"(?<![^\W_])v(?:er(?:sion|ze)?)?[ ._-]?\d{1,2}(?![^\W_])|\(\d{1,2}\)|\d+", re.IGNORECASE)
_SUBJECT = re.compile(r"^(?:(?:re|fw|fwd|aw|odp|תגובה|העברה)\s*:\s*)+", re.IGNORECASE)


def is_newer(new: Hit, old: Hit, new_ts: int | None, old_ts: int | None) -> bool:
    """Whether the first was said later, at these times.

    The time of a file does not tell, nor does one in no month of the archive, nor a year beside a day of it: then only
    what one of the two says of itself does.
    """
    undated = new.is_undated or old.is_undated
    if undated or ("year" in (new.date_quality, old.date_quality) and _year(new) == _year(old)):
        return bool(claim(new, old)) and not claim(old, new)
    return (new_ts or 0) > (old_ts or 0) > 0


def _year(hit: Hit) -> str:
    return (hit.chunk.timestamp or "")[:4]


def same_matter(new: Hit, old: Hit) -> bool:
    """Whether they are of one conversation, or of one file under versions of its name."""
    if new.chunk.thread_id and new.chunk.thread_id == old.chunk.thread_id:
        return True
    names = [_stem(hit.chunk.file_name or "") for hit in (new, old)]
    titles = [_stem(_SUBJECT.sub("", hit.chunk.subject or "")) for hit in (new, old)]
    same_sender = (new.chunk.from_ or "") == (old.chunk.from_ or "")
    return (bool(names[0]) and names[0] == names[1]) or (same_sender and bool(titles[0]) and titles[0] == titles[1])


def claim(new: Hit, old: Hit) -> Claim:
    """What the head of a newer record says that it replaces; nothing where that of the older one says so too."""
    return "" if claim_of(_title(old)) else claim_of(f"{_title(new)}\n{new.chunk.text[:_HEAD]}")


@functools.lru_cache(4096)
def claim_of_sentence(text: str) -> Claim:
    """What a sentence says that it replaces, also as "the right amount"; a question replaces nothing."""
    if is_question(text):
        return ""
    return claim_of(text) or ("values" if load_phrases().text.right_value.search(bare(text)) else "")


@functools.lru_cache(4096)
def claim_of(text: str) -> Claim:
    """What a text says that it replaces: of "a new date" only days and hours."""
    plain, phrases = bare(text), load_phrases().text
    found = [
        plain[match.start() : match.end() + _NOUN].partition("\n")[0] for match in phrases.supersedes.finditer(plain)
    ]
    if not found:
        return ""
    return "times" if all(phrases.moves.search(said) for said in found) else "values"


def _title(hit: Hit) -> str:
    return f"{hit.chunk.file_name or ''}\n{hit.chunk.subject or ''}".replace("_", " ")


@functools.lru_cache(4096)
def _stem(name: str) -> str:
    """A file's name or a subject without version, date and what says that it replaces another; empty if short."""
    plain = load_phrases().text.supersedes.sub(" ", bare(_VERSION.sub(" ", name).replace("_", " ")).lower())
    words = re.findall(r"[^\W_]{2,}", plain)
    return " ".join(words) if len(words) > 1 else ""
