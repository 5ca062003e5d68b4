"""Classifies the intents of a question by rules: the words of `phrases` and the resolved people. It calls no model.

The intents decide how far the archive is followed from what was found: not at all for most questions, since every
step away from the hits brings in noise.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Literal

from relrag_pipelines.sources import RECORD_TYPES
from relrag_query.understanding.phrases import bare, form_phrases, load_phrases
from relrag_query.understanding.question_language import question_language

Form = Literal["", "list", "summary"]
"""what an answer is made of: up to three excerpts, the items of a list, or the course of a matter"""


class QueryIntent(Enum):
    """The intents; a question may have several."""

    PERSON_FACTS = "person_facts"
    PERSON_HISTORY = "person_history"
    FAMILY_CONTEXT = "family_context"
    ASSET_THREAD = "asset_thread"
    ASSET_ATTACHMENT = "asset_attachment"
    CROSS_CHANNEL = "cross_channel"
    GENERAL = "general"


@dataclass(frozen=True)
class Expansion:
    """How far an intent may go from the hits."""

    relationships: bool = False
    """to the family of the people asked about"""
    threads: bool = False
    """to the thread that holds a hit"""
    attachments: bool = False
    """to what a hit is attached to, and what is attached to it"""
    references: bool = False
    """to what shares something rare with a hit, or names it, in any source"""
    depth: int = 0
    """hops in the edge table"""


EXPANSIONS = {
    QueryIntent.PERSON_FACTS: Expansion(),
    QueryIntent.PERSON_HISTORY: Expansion(),
    QueryIntent.FAMILY_CONTEXT: Expansion(relationships=True, depth=1),
    QueryIntent.ASSET_THREAD: Expansion(threads=True, depth=1),
    QueryIntent.ASSET_ATTACHMENT: Expansion(attachments=True, depth=1),
    QueryIntent.CROSS_CHANNEL: Expansion(threads=True, attachments=True, references=True, depth=2),
    QueryIntent.GENERAL: Expansion(),
}

_NAME = r"(?:[A-ZÀ-ÖØ-ÞĀ-Ž][\w'’-]+)"
_MAIL = frozenset({"email", "email_attachment"})
_CHAT = frozenset(record_type.name for record_type in RECORD_TYPES.values() if record_type.chat)
_FILES_OF_CHATS = frozenset(record_type.name for record_type in RECORD_TYPES.values() if record_type.part_of in _CHAT)
_CALL, _MEETING, _COMMIT = (
    frozenset({"call_recording"}), frozenset({"meeting_transcript"}), frozenset({"git_history", "code"}),
)  # fmt: skip
CHANNEL_NAMES = {_MAIL: "mail", _CHAT: "chat", _CALL: "call", _MEETING: "meeting", _COMMIT: "commit"}
"""types of records -> what one of them is called"""
_LISTED = {
    "mail": frozenset({"email"}),
    "message": frozenset({"email"}) | _CHAT,
    "attachment": frozenset({"email_attachment"}) | _FILES_OF_CHATS,
    "call": _CALL,
    "meeting": _MEETING,
    "commit": frozenset({"git_history"}),
    "document": frozenset({"documentation"}),
}
"""what a question asks a list of -> types of records"""
_NAMED = re.compile(rf"(?<!^)(?<![.!?]\s)\b{_NAME}")


def classify_query_intent(
    query: str, resolved_entities: Sequence[object], resolved_assets: Sequence[object]
) -> list[QueryIntent]:
    """The intents of a question in the order of QueryIntent; GENERAL alone where no rule speaks.

    `resolved_entities` are the people that the question names, `resolved_assets` the refs of records, as far as known;
    a rule about people also accepts a word that looks like a name.
    """
    plain, phrases = bare(query), load_phrases().intent
    names_person = bool(resolved_entities) or _looks_named(query)
    by_kin = phrases.kin.search(plain) and (names_person or phrases.possessive.search(plain))
    matches = {
        QueryIntent.PERSON_FACTS: names_person and phrases.person_facts.search(plain),
        QueryIntent.PERSON_HISTORY: names_person and phrases.person_history.search(plain),
        QueryIntent.FAMILY_CONTEXT: by_kin or phrases.family.search(plain),
        QueryIntent.ASSET_THREAD: phrases.thread.search(plain),
        QueryIntent.ASSET_ATTACHMENT: phrases.attachment.search(plain),
        QueryIntent.CROSS_CHANNEL: _crosses_channels(plain, resolved_assets),
    }
    return [intent for intent, match in matches.items() if match] or [QueryIntent.GENERAL]


def _crosses_channels(plain: str, resolved_assets: Sequence[object]) -> bool:
    """Whether a question, given without accents, names records or channels of several sorts."""
    kinds = {str(ref).partition(":")[0] for ref in resolved_assets}
    channels = sum(pattern.search(plain) is not None for pattern in vars(load_phrases().channel).values())
    if len(kinds) > 1 or channels > 1:
        return True
    also = load_phrases().intent.also
    return channels == 1 and (also.search(plain) is not None or _in_second_question(plain))


def named_channel(query: str, intents: Sequence[QueryIntent]) -> frozenset[str]:
    """The types of records in which a question says that it was said: a mail, a chat, a call, a meeting, a commit.

    Nothing where it names several, or goes across channels: `and did we discuss it on the call too`.
    """
    plain = bare(query)
    channels = [types for types, match in _channel_matches(plain).items() if match]
    if len(channels) != 1 or QueryIntent.CROSS_CHANNEL in intents:
        return frozenset()
    return _named_apps(plain.lower()) or channels[0] if channels[0] == _CHAT else channels[0]


def _named_apps(plain: str) -> frozenset[str]:
    """The types of chats that a question names by a word that no other chat has: on WhatsApp, not in a chat."""
    words = {name: _words_of(name) for name in _CHAT}
    counts = Counter(word for own in words.values() for word in own)
    return frozenset(name for name, own in words.items() if any(counts[word] == 1 and word in plain for word in own))


def _words_of(name: str) -> frozenset[str]:
    return frozenset(RECORD_TYPES[name].words.lower().split())


def listed_types(query: str) -> frozenset[str]:
    """The types of records that a question for a list asks for: mails, messages, calls; nothing where it names none."""
    plain, patterns = bare(query), vars(load_phrases().listed)
    return frozenset[str]().union(*(types for name, types in _LISTED.items() if patterns[name].search(plain)))


def _channel_matches(plain: str) -> dict[frozenset[str], re.Match[str] | None]:
    """Types of records -> the words of a question that name their channel as the place of the answer."""
    patterns = vars(load_phrases().said_in)
    return {types: patterns[name].search(plain) for types, name in CHANNEL_NAMES.items()}


def _in_second_question(plain: str) -> bool:
    """Whether a channel is named only in a second question: `and did we discuss it on the call?`."""
    second = load_phrases().intent.second_question.search(plain)
    starts = [match.start() for match in _channel_matches(plain).values() if match]
    return second is not None and bool(starts) and min(starts) > second.start()


def asked_values(query: str) -> frozenset[str]:
    """What a question asks for, as the pattern table `asked` names it: when, price, who."""
    plain, patterns = bare(query), vars(load_phrases().asked)
    return frozenset(name for name, pattern in patterns.items() if pattern.search(plain))


def question_form(query: str, language: str = "") -> Form:
    """Whether a question, of a language if it is known, asks for all of something or for the course of a matter."""
    plain, patterns = bare(query), form_phrases(language or question_language(query))
    if patterns.summary.search(plain) and asked_values(query) <= {"yes"}:
        return "summary"
    return "list" if patterns.list.search(plain) else ""


def asks_for_latest(query: str, intents: Sequence[QueryIntent]) -> bool:
    """Whether a question asks for what holds now; not where it asks what somebody said, or for records of a channel."""
    plain, phrases = bare(query), load_phrases()
    if QueryIntent.PERSON_HISTORY in intents or phrases.intent.latest.search(plain) is None:
        return False
    return not any(pattern.search(plain) for pattern in vars(phrases.channel).values())


def expansion_for(intents: Sequence[QueryIntent]) -> Expansion:
    """The furthest that any of the intents goes, in each direction."""
    rules = [EXPANSIONS[intent] for intent in intents]
    return Expansion(
        relationships=any(rule.relationships for rule in rules),
        threads=any(rule.threads for rule in rules),
        attachments=any(rule.attachments for rule in rules),
        references=any(rule.references for rule in rules),
        depth=max((rule.depth for rule in rules), default=0),
    )


def _looks_named(query: str) -> bool:
    """A capitalised word behind the first, or letters of a script that has no capitals to tell a name by."""
    return _NAMED.search(query) is not None or re.search(load_phrases().intent.caseless, query) is not None
