"""What passages say of somebody whom no record knows: the age of a child, the number of a craftsman.

Read when it is asked for, by the patterns that a sync reads records with. It may be of somebody else of the name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
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
from relrag_query.people.kin_words import KinWord, kin_words, type_forms
from relrag_query.people.questions import has_only_fillers
from relrag_query.retrieval import catalog_reader
from relrag_query.retrieval.context import QueryContext
from relrag_query.retrieval.fusion import hybrid_search
from relrag_query.retrieval.hit import Hit
from relrag_query.understanding.phrases import bare, load_phrases

_PASSAGES = 30
"""passages with the name that are read"""
_MOST = 3
"""answers that are offered"""
_SCORE = 0.85
"""display score of a passage that says it"""
_WORD = re.compile(r"[^\W\d_]+")
_FEWEST = 3
"""letters of a name that is compared by its sound"""


def said_of(name: str, predicate: str, context: QueryContext, today: date) -> list[tuple[str, Hit]]:
    """What passages say of whom a question names so, or calls a relative of the owner.

    Nothing of somebody else's relative, `Dana's mother`: a passage that speaks of a mother means another mostly.
    """
    kin = kin_words(name)
    if not kin:
        return said_of_bearers(name, predicate, context, today)
    phrases, plain = load_phrases().people, bare(name)
    beside = f"{plain[: kin[-1].start]} {plain[kin[-1].end :]}"
    if not has_only_fillers(re.sub(rf"(?<!\w)(?:{phrases.my}|{phrases.my_behind})", " ", beside)):
        return []
    return _read(name, type_forms(kin[-1].type), lambda text: _relatives(kin[-1], text), predicate, context, today)


def said_of_bearers(name: str, predicate: str, context: QueryContext, today: date) -> list[tuple[str, Hit]]:
    """What passages say of whoever bears a name, also `Uncle Bob` or `Mum`, as somebody is called on a card."""
    own = _name_alone(name)
    if own == name and kin_words(name) and not _is_given_name(name.split(" ")[0]):
        return said_of(name, predicate, context, today)
    words = " ".join([own, *other_scripts(own.split(" ")[0])])
    return _read(name, words, lambda text: _bearers(own, text), predicate, context, today)


def _name_alone(name: str) -> str:
    """The name without what a card calls somebody before it: Bob of `Uncle Bob`. In Hebrew David is an uncle, too."""
    for one in reversed(kin_words(name)):
        if not _is_given_name(name[one.start : one.end]):
            name = f"{name[: one.start]}{name[one.end :]}".strip() or name
    return name


def _is_given_name(word: str) -> bool:
    return tables.plain(word) in tables.given_names()


def _read(
    name: str,
    words: str,
    mentions: Callable[[str], Sequence[Mention]],
    predicate: str,
    context: QueryContext,
    today: date,
) -> list[tuple[str, Hit]]:
    """What the passages with these words say of whom they mention, the likeliest first; mostly nothing."""
    found: dict[str, tuple[str, Hit]] = {}
    zone = ZoneInfo(context.settings.timezone)
    hits = hybrid_search(context.vectors, words, None, _PASSAGES, context.limits, context.translated)
    chunks = catalog_reader.chunks(context.connection, [one.chunk_id for one in hits])
    for one in hits:
        if (chunk := chunks.get(one.chunk_id)) is None:
            continue
        for text, ts in _texts(chunk, context):
            day = datetime.fromtimestamp(ts, zone).date() if ts is not None else None
            for value, quote in _values(mentions(text), predicate, text, day, today):
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


def _values(
    mentions: Sequence[Mention], predicate: str, text: str, day: date | None, today: date
) -> Iterator[tuple[str, str]]:
    """What a text says of whom it mentions there, and the words that say so."""
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


def _relatives(asked: KinWord, text: str) -> Sequence[Mention]:
    """Where a text speaks of such a relative as the owner has, without saying whose: `Babička má dnes 91`."""
    sex = kinship.gender(asked.word)
    return [
        Mention(one.start, one.end, (), False)
        for one in kin_phrases(text, [])
        if one.type == asked.type
        and one.owner in ("", "writer", "reader")
        and not is_of_stranger(text, one)
        and len({sex, *(kinship.gender(word) for word in _WORD.findall(text[one.start : one.end]))} - {""}) <= 1
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
