"""What a newer record replaces: the corrected invoice, the contract's second version, the changed appointment.

A record is superseded where a newer one of the same conversation, or of the same file, says that it replaces something
and gives another value of the same sort; of a conversation also where it agrees on another amount or hour. Both stay
found; the older one counts less and is marked. The time of a file decides nothing, for copying changes it: then only
what one of the two says of itself tells which is newer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

from relrag_query.answering.sentence_split import split
from relrag_query.retrieval.context import QueryContext
from relrag_query.retrieval.hit import Hit
from relrag_query.understanding.phrases import bare, load_phrases

WEIGHT = 0.75
"""what a superseded record counts beside others, as a newsletter does: less than what is near the best counts"""
_HEAD = 1000
"""characters in which a record says that it replaces another"""
_VERSION = re.compile(r"(?<![^\W_])v(?:er(?:sion|ze)?)?[ ._-]?\d{1,2}(?![^\W_])|\(\d{1,2}\)|\d+", re.IGNORECASE)
_SUBJECT = re.compile(r"^(?:(?:re|fw|fwd|aw|odp|תגובה|העברה)\s*:\s*)+", re.IGNORECASE)
_AMOUNT = re.compile(
    r"(?<![\w.,:/-])\d{1,3}(?:[ .,\u00a0]\d{3})+(?:[.,]\d{2})?(?![\w/-])|(?<![\w.,:/-])\d{3,6}(?![\w.,:/-]\d)"
)
"""of at least three digits or with two behind the point"""
PERCENTAGE = re.compile(r"(?<![\w.,])\d{1,3}(?:[.,]\d+)?(?=[ \u00a0]?%)")
HOUR = re.compile(r"(?<![\d.:])\d{1,2}[:.]\d{2}(?!\d|[.:]\d)")
DAY = re.compile(
    r"(?<!\d)\d{1,2}[./] ?\d{1,2}\.?(?:[./ ]?\d{2,4})?(?!\d)|(?<!\d)\d{1,2}(?:st|nd|rd|th|\.)? (?=[^\W\d_]{3,})"
)
"""by number or by month"""
_VALUES = (_AMOUNT, PERCENTAGE, HOUR, DAY)
"""values by sort"""
_NEGOTIABLE = (_AMOUNT, PERCENTAGE, HOUR)


def mark_superseded(hits: list[Hit], context: QueryContext) -> list[Hit]:
    """Says of each hit by what newer one it is replaced; what is replaced counts less and stands right behind that."""
    dated = [hit for hit in hits if not hit.messages and hit.chunk.ts is not None]
    found = sorted(dated, key=lambda hit: hit.chunk.ts or 0)
    newer: dict[str, Hit] = {}
    for old, new in combinations(found, 2):
        if new.dated_by_file or old.dated_by_file:
            old, new = (new, old) if says_so(old, new) else (old, new)
        if old.chunk.chunk_id not in newer and _replaces(new, old):
            newer[old.chunk.chunk_id] = new
    if not newer:
        return hits
    context.note("versions", f"{len(newer)} of {len(hits)} hits are superseded by newer ones")
    ordered = [hit.chunk.chunk_id for hit in hits]
    for old_id in [one for one in ordered if one in newer]:
        new_id = newer[old_id].chunk.chunk_id
        if ordered.index(old_id) < ordered.index(new_id):
            ordered.remove(old_id)
            ordered.insert(ordered.index(new_id) + 1, old_id)
    marked = {
        hit.chunk.chunk_id: replace(hit, superseded_by=newer[hit.chunk.chunk_id], weight=hit.weight * WEIGHT)
        if hit.chunk.chunk_id in newer
        else hit
        for hit in hits
    }
    return [marked[chunk_id] for chunk_id in ordered]


def _replaces(new: Hit, old: Hit) -> bool:
    return (
        old.chunk.asset_id != new.chunk.asset_id
        and _is_newer(new, old)
        and same_matter(new, old)
        and (
            (says_so(new, old) and differ(new.chunk.text, old.chunk.text))
            or (_same_thread(new, old) and agrees_on_another(new.chunk.text, old.chunk.text))
        )
    )


def _is_newer(new: Hit, old: Hit) -> bool:
    if new.dated_by_file or old.dated_by_file:
        return says_so(new, old) and not says_so(old, new)
    return (old.chunk.ts or 0) < (new.chunk.ts or 0)


def agrees_on_another(new: str, old: str) -> bool:
    """Whether a newer text agrees, in a sentence with an amount, a share or an hour that the older one has not."""
    agrees = load_phrases().text.agrees
    return any(agrees.search(bare(said)) and differ(said, old, _NEGOTIABLE) for said in split(new))


def agrees(text: str) -> bool:
    """Whether a text agrees on an amount, a share or an hour."""
    said = load_phrases().text.agrees.search(bare(text)) is not None
    return said and any(sort.search(text) for sort in _NEGOTIABLE)


def amounts(text: str) -> set[str]:
    """The amounts that a text names, as digits."""
    return {re.sub(r"\W", "", value) for value in _AMOUNT.findall(text)}


def same_matter(new: Hit, old: Hit) -> bool:
    """Whether they are of one conversation, or of one file under versions of its name."""
    if _same_thread(new, old):
        return True
    names = [_stem(hit.chunk.file_name) for hit in (new, old)]
    titles = [_stem(_SUBJECT.sub("", hit.chunk.subject or "")) for hit in (new, old)]
    same_sender = (new.chunk.from_ or "") == (old.chunk.from_ or "")
    return (bool(names[0]) and names[0] == names[1]) or (same_sender and bool(titles[0]) and titles[0] == titles[1])


def _same_thread(new: Hit, old: Hit) -> bool:
    return bool(new.chunk.thread_id) and new.chunk.thread_id == old.chunk.thread_id


def _stem(name: str | None) -> str:
    """A file's name or a subject without version, date and what says that it replaces another; empty if short."""
    plain = load_phrases().text.supersedes.sub(" ", bare(_VERSION.sub(" ", name or "").replace("_", " ")).lower())
    words = re.findall(r"[^\W_]{2,}", plain)
    return " ".join(words) if len(words) > 1 else ""


def says_so(new: Hit, old: Hit) -> bool:
    """Whether the head of a newer record says that it replaces something, and that of the older one does not."""
    chunk = new.chunk
    head = f"{chunk.file_name or ''}\n{chunk.subject or ''}\n{chunk.text[:_HEAD]}".replace("_", " ")
    said = load_phrases().text.supersedes.search(bare(head)) is not None
    before = f"{old.chunk.file_name or ''}\n{old.chunk.subject or ''}".replace("_", " ")
    return said and load_phrases().text.supersedes.search(bare(before)) is None


def differ(new: str, old: str, sorts: Sequence[re.Pattern[str]] = _VALUES) -> bool:
    """Whether the newer one has a value of a sort that the older one has too, and not that one."""
    for sort in sorts:
        later, earlier = ({re.sub(r"\W", "", value) for value in sort.findall(text)} for text in (new, old))
        if earlier and later - earlier:
            return True
    return False
