"""Cuts passages into what can be quoted: sentences, blocks of short lines, turns of a chat, lines of a transcript."""

from __future__ import annotations

import functools
import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from relrag_pipelines.text.stopwords import function_words
from relrag_pipelines.text.written_dates import join_dates
from relrag_query.retrieval.excerpts import readable_head
from relrag_query.retrieval.hit import Hit, Message
from relrag_query.understanding.phrases import bare, load_phrases
from relrag_query.understanding.phrases.tables import Phrases

TURN_SECONDS = 300
"""messages of one sender that follow each other within this time are one turn"""
_REPLY_TURNS = 3
"""so many turns behind a question may be the reply to it"""

_STOPS = ".!?…:"
_QUOTE = 280
"""characters up to which a quote goes on"""
_BLOCK = 320
"""characters of lines that are quoted together"""
_LONGEST = 600
"""characters of one quote"""
_NARROWEST = 40
"""characters of a line that a margin may have broken, at least"""
_SHORTEST_MARGIN = 0.9
"""of the longest line of a paragraph, as letters differ in width"""
_SENTENCE, _LONG_LINE = 55, 120
"""characters of a line that stands by itself, with a stop at its end and without"""
_WORD = 24
"""characters behind a stop in which the next word is looked for"""
_TRANSCRIPT = 3
"""lines that begin with a name make a paragraph a transcript"""
_END = re.compile(r"[.!?…][\"'”’)\]]*\s+")
_FUNCTION_WORDS = function_words()
_LEADER = re.compile(r"(?:\.{4,}|(?:\. ){3,}|…{2,}|(?:\.{3}|…)(?=\s+\d))\s*$")
"""dots that lead from a name to its value, as in a list of prices"""
_NUMBERED = re.compile(r"(?:^|[\s(–-])\d{1,2}\.\s+$")
_DAY, _UNTIL = re.compile(r"\d\.\s+$"), re.compile(r"[–—-] ?\d")
"""a day by number, and behind it the day until which: 20. – 24. 7."""
_UNIT = re.compile(r"\d ?[^\W\d_]{1,4}\.\s+$")
"""what is short and stands behind a number is a unit, not an initial or a title"""
_ROW = re.compile(r"[^;\n]{1,60}: [^;\n]+(?:; [^;:\n]{1,60}: [^;\n]+)+$")
"""a row of a table, as it is stored: every value with the name of its column"""
_BULLET = re.compile(r"[ \t]*(?:[-*•–—+]|\[[ xX]\]|\d{1,2}[.)])[ \t]+(?=\S)")
"""begins an item of a list"""
_RULE = re.compile(r"^\|[\s:|-]+\|?$", re.MULTILINE)
"""below the names of the columns of a table in Markdown"""
_MARKS = re.compile(r"^[ \t]*(?:>[ \t]?)+", re.MULTILINE)
OF_OTHERS = frozenset({"quoted", "forwarded", "forward_headers"})
"""sections of a mail that somebody else wrote"""
_SPEAKER = re.compile(r"[^\W\d_][^:\n]{0,39}: ")
_ASKED = re.compile(r"[?؟]\W*$")


@dataclass(frozen=True)
class QuotableSpan:
    """One thing that can be quoted."""

    text: str
    hit: Hit
    sender: str | None
    ts: int | None
    asset_id: str
    """the record that it stands in; of a turn the first message"""
    behind: tuple[str, ...] = ()
    """what follows it in its passage"""
    reply: QuotableSpan | None = None
    """of a turn that asks: the turn of somebody else that replies"""

    @property
    def quote(self) -> str:
        """The unit with as much of what follows as makes a readable quote."""
        quote = self.text
        for more in self.behind:
            # lines without a full stop behind a sentence are mostly a greeting or a signature; not behind a question
            signs = more[-1] not in _STOPS and self.text[-1] in _STOPS and not is_question(quote)
            if signs or len(quote) + len(more) > _QUOTE:
                break
            quote += f"\n{more}" if "\n" in quote + more else f" {more}"
        return quote


def quotable_spans(hit: Hit) -> list[QuotableSpan]:
    """What can be quoted of a hit, in order; lines that only quote another mail are left out.

    The history below a mail was not written by its sender, and nobody is named for it.
    """
    if hit.messages:
        return list(_turns(hit))
    chunk = hit.chunk
    text = _MARKS.sub("", chunk.text) if chunk.section == "quoted" else readable_head(chunk.text)
    texts = list(_headed(split(join_dates(text))))
    sender = None if chunk.section in OF_OTHERS else chunk.from_
    return [
        QuotableSpan(text, hit, sender, chunk.ts, chunk.asset_id, _behind(texts, position))
        for position, text in enumerate(texts)
    ]


def _behind(texts: Sequence[str], position: int) -> tuple[str, ...]:
    """What follows a text in its passage; nothing of a row, whose next one is about something else."""
    return () if is_row(texts[position]) else tuple(texts[position + 1 : position + 5])


def _headed(texts: Sequence[str]) -> Iterator[str]:
    """Texts, rows of a table in Markdown that stand apart from the names of its columns with these above them."""
    names = ""
    for text in texts:
        if not text.startswith("|"):
            names = ""
        elif _RULE.search(text):
            names = text.partition("\n")[0]
        elif names:
            text = f"{names}\n{text}"
        yield text


def ends_sentence(text: str) -> bool:
    """Whether a text ends with a stop, or closes a quotation or a bracket behind it."""
    return text.rstrip("\"'”’)]»")[-1:] in _STOPS


def is_row(text: str) -> bool:
    """Whether a text is a row of a table, or one of Markdown below the names of its columns."""
    return _ROW.match(text) is not None or text.startswith("|")


def table_rows(text: str) -> list[str]:
    """The rows of a table in Markdown, each value with the name of its column; none of any other text."""
    lines = _RULE.sub("", text).split("\n") if text.startswith("|") else [""]
    names, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
    return ["; ".join(map(": ".join, zip(names, row, strict=False))) for row in rows if any(row)]


def bullets(text: str) -> list[str]:
    """The items of a text that lists some, without their marks; none where fewer than two lines have one.

    A line without a mark, up to an empty one, goes on with the item above it.
    """
    items: list[str] = []
    is_open = False
    for line in text.splitlines():
        if mark := _BULLET.match(line):
            items.append(line[mark.end() :])
        elif is_open and line[:1].isspace() and line.strip():
            items[-1] += f" {line.strip()}"
        is_open = bool(items) and bool(line.strip())
    return items if len(items) > 1 else []


def is_question(text: str, chat: bool = False) -> bool:
    """Whether a text ends with a question; in a chat the mark is often left out."""
    return _ASKED.search(text) is not None or (chat and _open_without_mark(text))


def asks_for_something(text: str, chat: bool = False) -> bool:
    """Whether a text ends with a question for who, when, how much; not with one for a yes."""
    if chat and _open_without_mark(text):
        return True
    parts = [part for part in split(text) if any(map(str.isalpha, part))] if _ASKED.search(text) else []
    return bool(parts) and load_phrases().text.interrogative.search(bare(parts[-1])) is not None


def expects_reply(text: str) -> bool:
    """Whether a turn of a chat ends with a question, with or without its mark, or asks for a reply in other words."""
    return is_question(text, chat=True) or (
        (line := _unmarked(text)) is not None and load_phrases().text.requests.match(line) is not None
    )


def _open_without_mark(text: str) -> bool:
    """Whether the last line has no punctuation and begins with a word that asks."""
    line = _unmarked(text)
    return line is not None and load_phrases().text.interrogative.match(line) is not None


def _unmarked(text: str) -> str | None:
    """The last line without its accents and what stands ahead of a question; None where it has punctuation."""
    last = text.strip().rpartition("\n")[2]
    line = _ahead(load_phrases()).sub("", bare(last))
    return None if re.search(r"[.,;:!]", line) else line


def split(text: str) -> list[str]:
    """Sentences of running text; short lines that follow each other, as in a table or a transcript, stay together."""
    parts: list[str] = []
    quoted = _quoted(load_phrases())
    for paragraph in re.split(r"\n\s*\n", text):
        lines = [line.strip() for line in paragraph.splitlines() if line.strip() and not quoted.match(line)]
        spoken = sum(_SPEAKER.match(line) is not None for line in lines)
        if 2 * sum(_ROW.match(line) is not None for line in lines) > len(lines):
            parts += _short_lines(lines)
        elif spoken >= _TRANSCRIPT and 2 * spoken > len(lines):
            parts += _blocks(lines)
        else:
            parts += _short_lines(_unwrap(lines))
    return [piece for part in parts for piece in _cut(part)]


def chat_turns(messages: Sequence[Message]) -> Iterator[list[int]]:
    """The positions of messages that are one turn."""
    turn: list[int] = []
    for position, message in enumerate(messages):
        last = messages[turn[-1]] if turn else None
        if last and (last.sender != message.sender or (message.ts or 0) - (last.ts or 0) > TURN_SECONDS):
            yield turn
            turn = []
        turn.append(position)
    if turn:
        yield turn


def _turns(hit: Hit) -> Iterator[QuotableSpan]:
    """The turns, each that asks with the one that replies."""
    turns = [_turn(hit, places) for places in chat_turns(hit.messages)]
    for position, turn in enumerate(turns):
        later = turns[position + 1 : position + 1 + _REPLY_TURNS] if expects_reply(turn.text) else []
        replies = (other for other in later if other.sender != turn.sender and not is_question(other.text, chat=True))
        yield replace(turn, reply=next((other for other in replies if other.text), None))


def _turn(hit: Hit, places: list[int]) -> QuotableSpan:
    messages = [hit.messages[position] for position in places]
    text = "\n".join(message.text for message in messages if not message.text.startswith("> "))
    return QuotableSpan(text, hit, messages[0].sender, messages[0].ts, messages[0].asset_id)


def _sentences(text: str) -> list[str]:
    sentences, start = [], 0
    for end in _END.finditer(text):
        if _goes_on(text[start : end.end()], text[end.end() : end.end() + _WORD]):
            continue
        sentences.append(text[start : end.end()].strip())
        start = end.end()
    return [*sentences, text[start:]] if start < len(text) else sentences


def _goes_on(sentence: str, behind: str) -> bool:
    """Whether a sentence goes on behind a stop with these characters: a small letter, a date, an abbreviation."""
    first = behind[:1]
    if first.islower() or _LEADER.search(sentence) or (_DAY.search(sentence) and _UNTIL.match(behind)):
        return True
    if number := _NUMBERED.search(sentence):
        return first.isdigit() or not sentence[: number.start()].strip()
    if _company(load_phrases()).search(sentence):
        word = re.match(r"[^\W\d_]*", behind)
        return word is None or bare(word[0]).lower() not in _FUNCTION_WORDS
    abbreviation = _abbreviation(load_phrases()).search(sentence) is not None
    return abbreviation and (first.isdigit() or _UNIT.search(sentence) is None)


def _unwrap(lines: list[str]) -> list[str]:
    """The lines of a paragraph as they were before a margin broke them: where the next word had no room, they go on.

    Text is known to run on by a stop within a line, or by the small letter that the next line begins with. Other
    lines are a list, and stay apart; so does a line that begins with a label or a mark.
    """
    runs_on = any(len(_sentences(line)) > 1 for line in lines)
    room = _SHORTEST_MARGIN * max(map(len, lines), default=0)
    joined: list[str] = []
    end = 0
    for line in lines:
        had_room = end < _NARROWEST or end + 1 + len(line.partition(" ")[0]) <= room
        if had_room or not _continues(line, runs_on) or ends_sentence(joined[-1]):
            joined.append(line)
        else:
            joined[-1] += f" {line}"
        end = len(line)
    return joined


def _continues(line: str, runs_on: bool) -> bool:
    """Whether a line can go on with the sentence of the line above it."""
    return line[0].islower() or (runs_on and line[0].isalnum() and not _SPEAKER.match(line))


def _short_lines(lines: list[str]) -> list[str]:
    """Lines of one phrase each in blocks; what is quoted by itself apart from them."""
    parts: list[str] = []
    block: list[str] = []
    for line in lines:
        if texts := _texts_of(line):
            parts += [*_blocks(block), *texts]
            block = []
        else:
            block.append(line)
    return [*parts, *_blocks(block)]


def _texts_of(line: str) -> list[str]:
    """A row of a table, the sentences of a line that has several, a long line; empty for a short phrase."""
    if _ROW.match(line):
        return [line]
    sentences = _sentences(line)
    longest = _SENTENCE if ends_sentence(line) else _LONG_LINE
    return sentences if len(sentences) > 1 or len(line) > longest else []


def _blocks(lines: list[str]) -> list[str]:
    """Lines that follow each other, joined as long as they stay readable."""
    blocks: list[str] = []
    for line in lines:
        if blocks and len(blocks[-1]) + len(line) < _BLOCK:
            blocks[-1] += f"\n{line}"
        else:
            blocks.append(line)
    return blocks


def _cut(text: str) -> list[str]:
    return [text] if len(text) <= _LONGEST else textwrap.wrap(text, _LONGEST, break_long_words=True)


@functools.cache
def _abbreviation(phrases: Phrases) -> re.Pattern[str]:
    """One letter or an abbreviation, at the end of a text."""
    return re.compile(rf"(?:^|[\s(])(?:[^\W\d_]|{phrases.text.abbreviation})\.\s+$", re.IGNORECASE)


@functools.cache
def _ahead(phrases: Phrases) -> re.Pattern[str]:
    """What stands ahead of a question: `and`, `hey Petr,`."""
    return re.compile(rf"^\W*(?:(?:{phrases.text.ahead})(?!\w)[ ,]*){{0,3}}(?:[^\W\d_]{{2,20}}, *)?", re.IGNORECASE)


@functools.cache
def _company(phrases: Phrases) -> re.Pattern[str]:
    """What a company is, at the end of a text: a sentence may end there, or its town or a partner follow."""
    return re.compile(rf"(?:^|[\s(,])(?:{phrases.text.company})\.\s+$", re.IGNORECASE)


@functools.cache
def _quoted(phrases: Phrases) -> re.Pattern[str]:
    """A line that only quotes another mail, or says that it is quoted."""
    return re.compile(rf"\s*(?:>|(?:{phrases.text.quote_heading})$)")
