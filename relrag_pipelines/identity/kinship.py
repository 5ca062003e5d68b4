"""Who is what to whom, where a text says so in so many words: `my brother Petr`, `Davidova žena Shiran`.

A place where a text speaks of what somebody is to another (`kin_phrases.py`) says who that is where a name stands
beside it: behind it or before it, set apart by a comma, or joined by `is`. What is left out is no loss that a wrong
relationship would not be more of. Nothing is taken from quoted speech, questions, doubts and denials.
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
    """where the words are that say so, in code points"""


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
_LONGEST = 300
"""characters of a sentence that are looked at, before a name and behind it"""
_DENIED = re.compile(r"(?:\b(?:not|never|longer|isn['’]t|není)|(?<!\w)לא) $", re.IGNORECASE)
_ALONE = re.compile(r"\s*(?:[.;!)\n]|$|, (?!and (?!I\b|me\b)|or |a |nebo ))")
"""what stands behind a name that a comma sets apart: no further name, else it is one of a list"""
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
"""what somebody may be called instead of by name"""
_CALL = re.compile(r"(?: (?:dear|darling|יקרה|יקר|אהובה|אהוב|שלי|moje|milá))?(?:,|!)(?= ?\n| ?$| [^\W\d_])")
_JOINTS = (", ", " (", " is ", " will be ", " is to be ", " is going to be ", " je ", " bude ", " הוא ", " היא ")
"""how a word for a relative is joined to a name before it"""
LIST_JOINT = re.compile(r"(?:,| and| a| i) | ו")
"""how a name is joined to a word for a relative in apposition, by a verb, and to a name before it"""


def stated_relations(text: str, mentions: Sequence[Mention]) -> list[StatedRelation]:
    """What a text says for certain, given the names in it, in order."""
    if not kinship.may_name(text):
        return []
    begins, ends = {one.start: one for one in mentions}, {one.end: one for one in mentions}
    found = {}
    for phrase in kin_phrases(text, mentions):
        begin = sentence_begin(text, phrase.start)
        if is_quoted(text, begin, phrase.end):
            continue
        said = (
            *_name_after_phrase(text, begin, phrase, begins, ends),
            *_name_before_phrase(text, begin, phrase, ends),
            *_salutation(text, phrase),
        )
        for one in said:
            if one.owner != one.other:
                found[one.start, one.end, one.other] = one
    return sorted(found.values(), key=lambda one: (one.start, one.end))


def _name_after_phrase(
    text: str, begin: int, phrase: KinPhrase, begins: Mapping[int, Mention], ends: Mapping[int, Mention]
) -> Iterator[StatedRelation]:
    """`my brother Petr`, `my brother is Petr`, `Petr and his wife Dana`, `my sons, Petr and Jan`."""
    owner = _owner(text, phrase, ends)
    before = text[begin : phrase.start]
    match = APPOSITION.match(text, phrase.end)
    one = begins.get(match.end()) if match else None
    if owner is None or _DENIED.search(before):
        return
    if match and one and phrase.is_plural:
        listed = [one, *_listed_names(text, one, begins)]
        if len(listed) > 1 and _CLOSE.match(text, listed[-1].end):
            yield from (StatedRelation(owner, phrase.type, other, phrase.start, listed[-1].end) for other in listed)
    elif match and one:
        of_named = isinstance(owner, Mention) and owner.end == phrase.end  # `החברה של יובל, מיכל`
        alone = _ALONE.match(text, one.end) if match["apart"] else not of_named
        told = _TELLING.search(before) and _CLAUSE.match(text, one.end)
        agrees = phrase.is_subject is None or phrase.is_subject is one.is_subject
        if alone and agrees and not told:
            yield StatedRelation(owner, phrase.type, one, phrase.start, one.end)
    match = COPULA.match(text, phrase.end)
    one = begins.get(match.end()) if match else None
    if one and not phrase.is_plural and _CLOSE.match(text, one.end) and not _is_doubted(text, before, one.end):
        yield StatedRelation(owner, phrase.type, one, phrase.start, one.end)


def _name_before_phrase(
    text: str, begin: int, phrase: KinPhrase, ends: Mapping[int, Mention]
) -> Iterator[StatedRelation]:
    """`Dana, my sister,`, `Dana is my sister`, `I am Dana's sister`, `as your landlord I`."""
    owner = _explicit_owner(phrase.owner)
    closed = _CLOSE.match(text, phrase.end)
    if owner is None or phrase.is_plural or phrase.is_subject is False:
        return
    for joint in _JOINTS:
        one = ends.get(phrase.start - len(joint))
        if one is None or not text.startswith(joint, one.end):
            continue
        alone = closed and (joint not in (", ", " (") or _ALONE.match(text, phrase.end))
        if alone and not _is_doubted(text, text[begin : one.start], phrase.end):
            yield StatedRelation(owner, phrase.type, one, one.start, phrase.end)
    said = _I_AM.search(text, begin, phrase.start)
    closed = re.match(r"(?![\w'’-]| [A-Z]\w)", text[phrase.end : phrase.end + 3])
    closed = _IS_WRITER.match(text, phrase.end) if said and said["compares"] else closed
    if said and owner != "writer" and closed and not _is_doubted(text, text[begin : said.start()], phrase.end):
        yield StatedRelation(owner, phrase.type, "writer", said.start(), phrase.end)


def _salutation(text: str, phrase: KinPhrase) -> Iterator[StatedRelation]:
    """`Mum, can you come?`, `ahoj ségra,`: what a text calls whom it is written to."""
    match = vocative(text, phrase)
    if match is None or phrase.type not in _CALLED or phrase.is_plural or phrase.owner:
        return
    behind = re.match(r"\W*([^\W\d_]+)", text[match.end() : match.end() + _LONGEST])
    if not (behind and kinship.types_of_word(behind[1])):
        yield StatedRelation("writer", phrase.type, "reader", phrase.start, match.end())


def vocative(text: str, phrase: KinPhrase) -> re.Match[str] | None:
    """What sets a word for a relative apart with which a text begins: it calls whom it is written to."""
    greeting = _GREETING.match(text)
    return _CALL.match(text, phrase.end) if greeting and greeting.end() == phrase.start else None


def _owner(text: str, phrase: KinPhrase, ends: Mapping[int, Mention]) -> End | None:
    """Whose somebody is; of `his wife` and `ואשתו` who is named right before; None where that is not said."""
    if phrase.owner not in ("his", "her"):
        return _explicit_owner(phrase.owner)
    for joint in (" and ", " a ", " i ", " "):
        one = ends.get(phrase.start - len(joint))
        hebrew = joint == " "
        if one and text.startswith(joint, one.end) and (text[phrase.start] == "ו") is hebrew:
            sex = gender_of(text[one.start : one.end].split(" ")[0])
            return one if hebrew or sex in ("", "m" if phrase.owner == "his" else "f") else None
    return _antecedent(text, phrase, ends)


def _antecedent(text: str, phrase: KinPhrase, ends: Mapping[int, Mention]) -> Mention | None:
    """Who alone is named in this sentence and the one before, where the name is of a man or woman as `his` asks."""
    begin = sentence_begin(text, phrase.start)
    before = sentence_begin(text, max(0, begin - 2)) if begin else 0
    named = [one for end, one in ends.items() if one.start >= before and end <= phrase.start]
    if len(named) != 1:
        return None
    (one,) = named
    sex = _sex(text[one.start : one.end].split(" ")[0])
    return one if sex == ("m" if phrase.owner == "his" else "f") and not one.is_word else None


def _sex(name: str) -> str:
    """By a name, or by one in a Czech case: Garetha is Gareth."""
    return gender_of(nominatives().get(name, name)) or gender_of(re.sub("(?:ovi|em|a|e|u)$", "", name))


def _explicit_owner(owner: Mention | str) -> End | None:
    if isinstance(owner, Mention):
        return owner
    return "writer" if owner == "writer" else "reader" if owner == "reader" else None


def _listed_names(text: str, one: Mention, begins: Mapping[int, Mention]) -> Iterator[Mention]:
    """Who is named behind somebody in a list."""
    following: Mention | None = one
    while following and (match := LIST_JOINT.match(text, following.end)):
        following = begins.get(match.end())
        if following:
            yield following


@functools.lru_cache(64)  # each pattern asks it of the same names
def sentence_begin(text: str, place: int) -> int:
    """Where the sentence begins that a place is in; not further before it than is looked at."""
    window = max(0, place - _LONGEST)
    return max((match.end() for match in _SENTENCE.finditer(text, window, place)), default=window)


def is_quoted(text: str, begin: int, place: int) -> bool:
    """Whether somebody else's words stand there: in quotation marks, in a quoted line, behind `he wrote:`."""
    line = text.rfind("\n", begin, place) + 1 or begin
    marks = len(_QUOTED.findall(re.sub(r"(?<=[א-ת])\"(?=[א-ת])", "", text[begin:place])))
    return marks % 2 == 1 or text.startswith(">", line) or _REPORTED.search(text, begin, place) is not None


def _is_doubted(text: str, before: str, end: int) -> bool:
    """Whether it is denied, doubted or asked."""
    rest = re.match(r"[^.!?\n]*(.?)", text[end : end + _LONGEST])
    return bool(_DOUBT.search(before)) or (rest is not None and rest[1] == "?")
