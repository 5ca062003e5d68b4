"""What passages say of somebody whom no record knows: the age of a child, the number of a craftsman.

Read when it is asked for, by the patterns that a sync reads records with. It may be of somebody else of the name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date, datetime
from zoneinfo import ZoneInfo

from relrag_pipelines.identity.implied_kin import is_of_stranger
from relrag_pipelines.identity.kin_phrases import kin_phrases
from relrag_pipelines.identity.mentions import Mention
from relrag_pipelines.identity.text_facts import stated_facts
from relrag_pipelines.records import Chunk
from relrag_pipelines.text import kinship
from relrag_pipelines.text.names import tables
from relrag_pipelines.text.names.forms import may_call
from relrag_pipelines.text.names.spelling import same
from relrag_pipelines.text.names.transliteration import other_scripts
from relrag_query.people.ages import possible_ages
from relrag_query.people.kin_words import kin_words, type_forms
from relrag_query.retrieval import catalog_reader
from relrag_query.retrieval.context import QueryContext
from relrag_query.retrieval.fusion import hybrid_search
from relrag_query.retrieval.hit import Hit

_PASSAGES = 30
"""passages with the name that are read"""
_MOST = 3
"""answers that are offered"""
_SCORE = 0.85
"""display score of a passage that says it"""
_WORD = re.compile(r"[^\W\d_]+")
_FEWEST = 3
"""letters of a name that is compared by its sound"""


def said_in_passages(name: str, predicate: str, context: QueryContext, today: date) -> list[tuple[str, Hit]]:
    """What passages say of whoever bears a name, the likeliest first, each with its passage; mostly nothing."""
    found: dict[str, tuple[str, Hit]] = {}
    zone = ZoneInfo(context.settings.timezone)
    words = [type_forms(one.type) for one in kin_words(name)[-1:]] or [name, *other_scripts(name.split(" ")[0])]
    hits = hybrid_search(context.vectors, " ".join(words), None, _PASSAGES, context.limits, context.translated)
    chunks = catalog_reader.chunks(context.connection, [one.chunk_id for one in hits])
    for one in hits:
        if (chunk := chunks.get(one.chunk_id)) is None:
            continue
        for text, ts in _texts(chunk, context):
            day = datetime.fromtimestamp(ts, zone).date() if ts is not None else None
            for value, quote in _values(name, predicate, text, day, today):
                line = f'{name}, perhaps: {value}: "{quote}"'
                found.setdefault(value, (line, Hit(chunk, one.score, _SCORE, promoted=True)))
    return list(found.values())[:_MOST]


def _texts(chunk: Chunk, context: QueryContext) -> Iterator[tuple[str, int | None]]:
    """The messages of a chat window, else the passage, each with its time."""
    if not chunk.members:
        yield chunk.text, chunk.ts
        return
    known = catalog_reader.messages(context.connection, chunk.members)
    for ref in chunk.members:
        if ref in known:
            yield known[ref].text, known[ref].ts


def _values(name: str, predicate: str, text: str, day: date | None, today: date) -> Iterator[tuple[str, str]]:
    """What a text says of that name, and the words that say so."""
    mentions = _relatives(name, text) if kin_words(name) else _bearers(name, text)
    if not mentions:
        return
    wanted = ("birthday", "born") if predicate == "age" else (predicate,)
    # `Itamar is 7 already, can you believe it?`: what is only asked is no more than offered either
    for fact in stated_facts(text.replace("?", "!"), mentions, day):
        if fact.owner in mentions and fact.predicate in wanted:
            value = fact.value
            if predicate == "age":
                years, _ = possible_ages({fact.predicate: value}, today)
                value = f"{years} years old" if years else ""
            if value:
                yield value, " ".join(text[fact.start : fact.end].split())


def _relatives(name: str, text: str) -> Sequence[Mention]:
    """Where a text speaks of such a relative as the owner has, without saying whose: `Babička má dnes 91`."""
    asked = kin_words(name)[-1]
    sex = kinship.gender(asked.word)
    return [
        Mention(one.start, one.end, (), False)
        for one in kin_phrases(text, [])
        if one.type == asked.type
        and one.owner in ("", "writer", "reader")
        and not is_of_stranger(text, one)
        and {sex, *(kinship.gender(word) for word in _WORD.findall(text[one.start : one.end]))} - {""} in ({sex}, set())
    ]


def _bearers(name: str, text: str) -> Sequence[Mention]:
    """Where a text names somebody so: in any case, as it sounds in another script, by the given name alone."""
    first = name.split(" ")[0]
    found: list[Mention] = []
    for match in _WORD.finditer(text):
        word = match[0]
        if word.islower() or (found and match.start() < found[-1].end):
            continue
        sounds = len(first) >= _FEWEST and same(tables.plain(word), tables.plain(first))
        if not (may_call(word, name) or sounds):
            continue
        rest = name[len(first) :]
        end = match.end() + len(rest) if rest and text.startswith(rest, match.end()) else match.end()
        found.append(Mention(match.start(), end, (), False, word.lower() == first.lower() or not may_call(word, name)))
    return found
