"""Reads relationships that a text states explicitly: `my brother Petr`, `Davidova žena Shiran`.

A kin phrase (`kin_phrases.py`) states a relationship if a name is next to it: behind it or before it, set apart by a
comma, or joined by `is`. Precision counts more than recall. Quoted speech, questions, doubts and denials are skipped.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from relrag_pipelines.identity.kin_phrases import End, KinPhrase, kin_phrases
from relrag_pipelines.identity.mentions import Mention
from relrag_pipelines.text import kinship
from relrag_pipelines.text.names.forms import gender_of, nominatives


class StatedRelation(NamedTuple):
    """`other` is the `relationship_type` of `owner`."""

    owner: End
    relationship_type: str
    other: End
    start: int
    end: int
    """span of the words that state it, in code points"""


_TITLE = r"(?:(?:Dr|Prof|Mgr|Ing|MUDr|JUDr|Bc|Mr|Mrs|Ms|Miss|pan|paní|pana|pani)\.? |ד[\"״]ר |עו[\"״]ד )?"
_CLOSE = re.compile(r"\s*(?:[.,;!)\n]|$)")
_SENTENCE = re.compile(r"(?<!\bDr)(?<!\bMr)(?<!Mrs)(?<!\bMs)(?<!Prof)(?<!Mgr)(?<!Ing)(?<!UDr)(?<!\bBc)[.!?\n]\s")
_DOUBT = re.compile(
    r"\b(?:not|never|if|whether|maybe|perhaps|think|thought|doubt|sure|nebo|není|nejsem|možná|jestli|asi)\b|n['’]t\b"
    r"|(?<!\w)(?:לא|אולי|אם|נראה|חושב|חושבת)(?!\w)",
    re.IGNORECASE,
)
_TELLING = re.compile(
    r"\b(?:tell|told|ask|asked|remind|reminded|show|showed|inform|informed|warn|warned)(?: \w+)? $", re.IGNORECASE
)
_CLAUSE = re.compile(r"(?:['’]s|) (?:is|was|will|has|had|can|should|would|wants|said|says|came|called)\b")
_MAX_SENTENCE_CHARS = 300
"""characters of a sentence that are read, before a name and behind it"""
_DENIED = re.compile(r"(?:\b(?:not|never|longer|isn['’]t|není)|(?<!\w)לא) $", re.IGNORECASE)
_ALONE = re.compile(r"\s*(?:[.;!)\n]|$|, (?!and (?!I\b|me\b)|or |a |nebo ))")
"""the text behind a name that a comma sets apart: no further name, else it is one of a list"""
_QUOTED = re.compile('["“”„«»]')
_REPORTED = re.compile(r"(?:\b(?:says?|said|wrote|writes|řekl|řekla|píše|napsal|napsala)|(?:אמר|אמרה|כתב|כתבה)) ?:")
APPOSITION = re.compile(rf"(?:(?P<apart>,? \(|, )| ){_TITLE}", re.IGNORECASE)
COPULA = re.compile(
    r"(?:(?:['’]s name)? (?:is|was|are|were|will be)(?: called| named)?|, called| je| bude|,? se jmenuje| הוא"
    rf"| היא|,? קוראים ל\w+) {_TITLE}",
    re.IGNORECASE,
)
_I_AM = re.compile(
    r"(?:\b(?:(?P<compares>as|jako)|(?:I am|I['’]m)(?: (?:\w+ )?to be)?|jsem)|(?<!\w)אני) (?:the )?$", re.IGNORECASE
)
_IS_WRITER = re.compile(r"\s*(?:[.;!)\n]|$)|,? (?:I\b|I['’]|ti\b|vám\b|jsem\b)", re.IGNORECASE)
"""behind `as your landlord`: `as your brother said` compares"""
_GREETING = re.compile(
    r"\s*(?:(?:hi|hey|hello|dear|dearest|ahoj|čau|milá|milý|drahá|drahý|dobrý den|היי|הי|שלום|בוקר טוב)[, ]+)?",
    re.IGNORECASE,
)
_CALLED = frozenset({"parent", "grandparent", "sibling", "aunt_or_uncle", "cousin", "sibling_in_law", "parent_in_law"})
"""types whose kin terms are used to address a person instead of the name"""
_CALL = re.compile(r"(?: (?:dear|darling|יקרה|יקר|אהובה|אהוב|שלי|moje|milá))?(?:,|!)(?= ?\n| ?$| [^\W\d_])")
_JOINTS = (", ", " (", " is ", " will be ", " is to be ", " is going to be ", " je ", " bude ", " הוא ", " היא ")
"""texts that join a kin term to a name before it"""
LIST_JOINT = re.compile(r"(?:,| and| a| i) | ו")
"""text that joins a name to the name before it in a list"""


def stated_relations(text: str, mentions: Sequence[Mention]) -> list[StatedRelation]:
    """The relationships that a text states for certain, in order, given the names in it."""
    if not kinship.may_name(text):
        return []
    begins, ends = {mention.start: mention for mention in mentions}, {mention.end: mention for mention in mentions}
    relations = {}
    for phrase in kin_phrases(text, mentions):
        begin = sentence_begin(text, phrase.start)
        if is_quoted(text, begin, phrase.end):
            continue
        stated = (
            *_name_after_phrase(text, begin, phrase, begins, ends),
            *_name_before_phrase(text, begin, phrase, ends),
            *_salutation(text, phrase),
        )
        for relation in stated:
            if relation.owner != relation.other:
                relations[relation.start, relation.end, relation.other] = relation
    return sorted(relations.values(), key=lambda relation: (relation.start, relation.end))


def _name_after_phrase(
    text: str, begin: int, phrase: KinPhrase, begins: Mapping[int, Mention], ends: Mapping[int, Mention]
) -> Iterator[StatedRelation]:
    """`my brother Petr`, `my brother is Petr`, `Petr and his wife Dana`, `my sons, Petr and Jan`."""
    owner = _owner(text, phrase, ends)
    before = text[begin : phrase.start]
    if owner is None or _DENIED.search(before):
        return
    names = _apposed_names(text, before, phrase, owner, begins)
    yield from (StatedRelation(owner, phrase.type, name, phrase.start, names[-1].end) for name in names)
    copula = COPULA.match(text, phrase.end)
    name = begins.get(copula.end()) if copula else None
    if name and not phrase.is_plural and _CLOSE.match(text, name.end) and not _is_doubted(text, before, name.end):
        yield StatedRelation(owner, phrase.type, name, phrase.start, name.end)


def _apposed_names(
    text: str, before: str, phrase: KinPhrase, owner: End, begins: Mapping[int, Mention]
) -> list[Mention]:
    """The name in apposition behind a phrase; behind a plural two or more names."""
    apposition = APPOSITION.match(text, phrase.end)
    name = begins.get(apposition.end()) if apposition else None
    if apposition is None or name is None:
        return []
    if phrase.is_plural:
        names = [name, *_listed_names(text, name, begins)]
        return names if len(names) > 1 and _CLOSE.match(text, names[-1].end) else []
    if apposition["apart"]:
        closed = _ALONE.match(text, name.end) is not None
    else:
        closed = not (isinstance(owner, Mention) and owner.end == phrase.end)  # `החברה של יובל, מיכל`
    reported = _TELLING.search(before) and _CLAUSE.match(text, name.end)
    agrees = phrase.is_subject is None or phrase.is_subject is name.is_subject
    return [name] if closed and agrees and not reported else []


def _name_before_phrase(
    text: str, begin: int, phrase: KinPhrase, ends: Mapping[int, Mention]
) -> Iterator[StatedRelation]:
    """`Dana, my sister,`, `Dana is my sister`, `I am Dana's sister`, `as your landlord I`."""
    owner = _explicit_owner(phrase.owner)
    if owner is None or phrase.is_plural or phrase.is_subject is False:
        return
    closed = _CLOSE.match(text, phrase.end)
    for joint in _JOINTS:
        name = ends.get(phrase.start - len(joint))
        if name is None or not text.startswith(joint, name.end):
            continue
        alone = closed and (joint not in (", ", " (") or _ALONE.match(text, phrase.end))
        if alone and not _is_doubted(text, text[begin : name.start], phrase.end):
            yield StatedRelation(owner, phrase.type, name, name.start, phrase.end)
    if owner != "writer" and (start := _writer_before(text, begin, phrase)) is not None:
        yield StatedRelation(owner, phrase.type, "writer", start, phrase.end)


def _writer_before(text: str, begin: int, phrase: KinPhrase) -> int | None:
    """Start of `I am` or `as` if the writer is the relative of the phrase: `I am Dana's sister`."""
    i_am = _I_AM.search(text, begin, phrase.start)
    if i_am is None:
        return None
    if i_am["compares"]:
        closed = _IS_WRITER.match(text, phrase.end)
    else:
        closed = re.match(r"(?![\w'’-]| [A-Z]\w)", text[phrase.end : phrase.end + 3])
    return i_am.start() if closed and not _is_doubted(text, text[begin : i_am.start()], phrase.end) else None


def _salutation(text: str, phrase: KinPhrase) -> Iterator[StatedRelation]:
    """The reader as a relative of the writer, by a salutation: `Mum, can you come?`, `ahoj ségra,`."""
    match = vocative(text, phrase)
    if match is None or phrase.type not in _CALLED or phrase.is_plural or phrase.owner:
        return
    next_word = re.match(r"\W*([^\W\d_]+)", text[match.end() : match.end() + _MAX_SENTENCE_CHARS])
    if not (next_word and kinship.types_of_word(next_word[1])):
        yield StatedRelation("writer", phrase.type, "reader", phrase.start, match.end())


def vocative(text: str, phrase: KinPhrase) -> re.Match[str] | None:
    """The match that ends a salutation such as `Hi Mum,`; None if the text does not begin with one."""
    greeting = _GREETING.match(text)
    return _CALL.match(text, phrase.end) if greeting and greeting.end() == phrase.start else None


def _owner(text: str, phrase: KinPhrase, ends: Mapping[int, Mention]) -> End | None:
    """The owner of a phrase; of `his wife` and `ואשתו` the name before it; None if the text names no owner."""
    if phrase.owner not in ("his", "her"):
        return _explicit_owner(phrase.owner)
    gender = "m" if phrase.owner == "his" else "f"
    for joint in (" and ", " a ", " i ", " "):
        name = ends.get(phrase.start - len(joint))
        hebrew = joint == " "
        if name and text.startswith(joint, name.end) and (text[phrase.start] == "ו") is hebrew:
            agrees = hebrew or gender_of(text[name.start : name.end].split(" ")[0]) in ("", gender)
            return name if agrees else None
    return _antecedent(text, phrase, ends)


def _antecedent(text: str, phrase: KinPhrase, ends: Mapping[int, Mention]) -> Mention | None:
    """The only name in this sentence and the one before, if its gender is that of `his` or `her`."""
    begin = sentence_begin(text, phrase.start)
    before = sentence_begin(text, max(0, begin - 2)) if begin else 0
    names = [name for end, name in ends.items() if name.start >= before and end <= phrase.start]
    if len(names) != 1 or names[0].is_word:
        return None
    (name,) = names
    gender = _gender(text[name.start : name.end].split(" ")[0])
    return name if gender == ("m" if phrase.owner == "his" else "f") else None


def _gender(name: str) -> str:
    """m or f by a given name, or by one in a Czech case (Garetha is Gareth); empty if it does not tell."""
    return gender_of(nominatives().get(name, name)) or gender_of(re.sub("(?:ovi|em|a|e|u)$", "", name))


def _explicit_owner(owner: Mention | str) -> End | None:
    if isinstance(owner, Mention):
        return owner
    if owner == "writer":
        return "writer"
    return "reader" if owner == "reader" else None


def _listed_names(text: str, first: Mention, begins: Mapping[int, Mention]) -> Iterator[Mention]:
    """The names that follow the first in a list."""
    name: Mention | None = first
    while name and (joint := LIST_JOINT.match(text, name.end)):
        name = begins.get(joint.end())
        if name:
            yield name


@functools.lru_cache(64)  # each pattern is tried at the same names
def sentence_begin(text: str, position: int) -> int:
    """Start of the sentence that contains a position, or of the part of it that is read."""
    window = max(0, position - _MAX_SENTENCE_CHARS)
    return max((match.end() for match in _SENTENCE.finditer(text, window, position)), default=window)


def is_quoted(text: str, begin: int, position: int) -> bool:
    """Whether a position is in somebody else's words: in quotation marks, a quoted line, or behind `he wrote:`."""
    line = text.rfind("\n", begin, position) + 1 or begin
    marks = len(_QUOTED.findall(re.sub(r"(?<=[א-ת])\"(?=[א-ת])", "", text[begin:position])))
    return marks % 2 == 1 or text.startswith(">", line) or _REPORTED.search(text, begin, position) is not None


def _is_doubted(text: str, before: str, end: int) -> bool:
    """Whether a statement is denied, doubted or a question."""
    rest = re.match(r"[^.!?\n]*(.?)", text[end : end + _MAX_SENTENCE_CHARS])
    return bool(_DOUBT.search(before)) or (rest is not None and rest[1] == "?")
