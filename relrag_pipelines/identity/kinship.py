"""Who is what to whom, where a text says so in so many words: `my brother Petr`, `Davidova žena Shiran`.

Few patterns, each sure of itself, and only around names of known people: what is left out is no loss that a wrong
relationship would not be more of. Nothing is taken from quoted speech, questions, doubts and denials.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from relrag_pipelines.identity.mentions import Mention
from relrag_pipelines.text import kinship
from relrag_pipelines.text.names.czech_forms import possessives
from relrag_pipelines.text.names.forms import gender_of


class StatedRelation(NamedTuple):
    """`other` is the `relationship_type` of `owner`."""

    owner: Mention | None
    """None: of who writes"""
    relationship_type: str
    other: Mention
    start: int
    end: int
    """where the words are that say so, in code points"""


_TITLE = r"(?:(?:Dr|Prof|Mgr|Ing|MUDr|JUDr|Bc|Mr|Mrs|Ms)\.? |ד[\"״]ר |עו[\"״]ד )?"
_CLOSE = r"(?=\s*(?:[.,;!)\n]|$))"
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
_PHRASE = 50
"""characters of what stands between `my` and a name"""
_DENIED = re.compile(r"(?:\b(?:not|never|longer|isn['’]t|není)|(?<!\w)לא) $", re.IGNORECASE)
_ALONE = re.compile(r"\s*(?:[.;!)\n]|$|, (?!and (?!I\b|me\b)|or |a |nebo ))")
"""what stands behind a name that a comma sets apart: no further name, else it is one of a list"""
_CLOSING = re.compile(r"\s*(?:[.,;!)\n]|$)")
_QUOTED = re.compile('["“”„«»]')
_REPORTED = re.compile(r"(?:\b(?:says?|said|wrote|writes|řekl|řekla|píše|napsal|napsala)|(?:אמר|אמרה|כתב|כתבה)) ?:")
_FIRST_PERSON = re.compile(r"\b(?:jsem|jsme)\b", re.IGNORECASE)


def _one_of(words: Iterable[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


@functools.cache
def _patterns() -> Mapping[str, re.Pattern[str]]:
    en, cs, oblique = map(_one_of, (kinship.types_of("en"), kinship.types_of("cs"), kinship.czech_cases()))
    he, mine, of = (_one_of(kinship.types_of("he", part)) for part in ("", "mine", "of"))
    adjective, czech = (rf"(?:(?:{_one_of(kinship.adjectives(language))}) )?" for language in ("en", "cs"))
    my = "můj|moje|má|náš|naše"
    of_my = "mého mému mém mým moji mou mojí mé našeho našemu naším naši naší".replace(" ", "|")
    own = "svého svému svém svým svoji svou svojí své".replace(" ", "|")
    return {
        "before": re.compile(
            rf"(?:\b(?:my|our) {adjective}(?P<en>{en}),? {_TITLE}"
            rf"|\b(?:{my}) {czech}(?P<cs>{cs}),? {_TITLE}"
            rf"|\b(?:{of_my}|(?P<own>{own})) {czech}(?P<oblique>{oblique}),? {_TITLE}"
            rf"|(?<!\w)ו?ה?(?P<he>{he}) שלי,? {_TITLE}|(?<!\w)ו?(?P<mine>{mine}),? {_TITLE})$",
            re.IGNORECASE,
        ),
        "after": re.compile(
            rf"(?:,| is) my {adjective}(?P<en>{en}){_CLOSE}|(?:,| je) (?:{my}) {czech}(?P<cs>{cs}){_CLOSE}"
            rf"|(?:,| הוא| היא) (?:ה?(?P<he>{he}) שלי|(?P<mine>{mine})){_CLOSE}",
            re.IGNORECASE,
        ),
        "between": re.compile(rf"['’]s {adjective}(?P<en>{en}),? {_TITLE}", re.IGNORECASE),
        "possessive": re.compile(rf" (?:(?P<cs>{cs})|(?P<oblique>{oblique})),? {_TITLE}", re.IGNORECASE),
        "is": re.compile(r" is | je "),
        "close": re.compile(rf"(?:['’]s {adjective}(?P<en>{en})| (?P<cs>{cs})){_CLOSE}", re.IGNORECASE),
        "with": re.compile(
            rf"(?: and (?P<gender>his|her) {adjective}(?P<en>{en})| a (?P<cs_gender>jeho|její) (?P<cs>{cs})"
            rf"| ו(?P<of>{of})),? {_TITLE}",
            re.IGNORECASE,
        ),
        "apposition": re.compile(rf", (?:the )?(?P<en>{en}) of |, (?:ה?(?P<he>{he})|(?P<of>{of})) של ", re.IGNORECASE),
        "hebrew is": re.compile(rf" (?:הוא|היא) (?:ה?(?P<he>{he})|(?P<of>{of})) של "),
        "hebrew of": re.compile(rf"(?<!\w)ו?(?:ה?(?P<he>{he})|(?P<of>{of})) של $"),
    }  # fmt: skip


def stated_relations(text: str, mentions: list[Mention]) -> list[StatedRelation]:
    """What a text says for certain, given the names in it, in order."""
    if not mentions or not kinship.may_name(text):
        return []
    found = {}
    for place, mention in enumerate(mentions):
        begin = sentence_begin(text, mention.start)
        if is_quoted(text, begin, mention.start):
            continue
        following = mentions[place + 1] if place + 1 < len(mentions) else None
        for one in (*_of_writer(text, begin, mention), *_of_named(text, begin, mention, following)):
            found[one.start, one.end, one.other] = one
    return [found[key] for key in sorted(found)]


def _of_writer(text: str, begin: int, mention: Mention) -> Iterator[StatedRelation]:
    before = text[begin : mention.start]
    match = _patterns()["before"].search(before, max(0, len(before) - _PHRASE))
    if match and not (match[0].rstrip().endswith(",") and not _ALONE.match(text, mention.end)):
        told = _DENIED.search(before[: match.start()]) or (
            _TELLING.search(before[: match.start()]) and _CLAUSE.match(text, mention.end)
        )
        agrees = (not match["cs"] and not match["oblique"]) or bool(match["cs"]) == mention.is_subject
        if agrees and not told and (not match["own"] or _FIRST_PERSON.search(before)):
            yield StatedRelation(None, _type(match), mention, begin + match.start(), mention.end)
    match = _patterns()["after"].match(text, mention.end)
    if match and _ALONE.match(text, match.end()) and not _is_doubted(text, before, match.end()):
        yield StatedRelation(None, _type(match), mention, mention.start, match.end())


def _of_named(text: str, begin: int, mention: Mention, following: Mention | None) -> Iterator[StatedRelation]:
    """Of the bearer of this name: `David's wife Shiran`; or this is the one: `Shiran is David's wife`."""
    if following is None:
        return
    between = text[mention.end : following.start]
    before = text[begin : mention.start]
    patterns = _patterns()
    told = _TELLING.search(before) and _CLAUSE.match(text, following.end)
    if (match := patterns["between"].fullmatch(between)) and not told:
        yield StatedRelation(mention, _type(match), following, mention.start, following.end)
    match = patterns["possessive"].fullmatch(between) if _is_possessive(text, mention) else None
    if match and bool(match["cs"]) == following.is_subject:
        yield StatedRelation(mention, _type(match), following, mention.start, following.end)
    if patterns["is"].fullmatch(between) and (match := patterns["close"].match(text, following.end)):
        named = match["en"] or _is_possessive(text, following)
        if named and not _is_doubted(text, before, match.end()):
            yield StatedRelation(following, _type(match), mention, mention.start, match.end())
    if (match := patterns["hebrew is"].fullmatch(between)) and not _is_doubted(text, before, following.end):
        yield StatedRelation(following, _type(match), mention, mention.start, following.end)
    match = patterns["with"].fullmatch(between)
    if match and following.is_subject and _may_be_his(match, text[mention.start : mention.end]):
        yield StatedRelation(mention, _type(match), following, mention.start, following.end)
    match = patterns["apposition"].fullmatch(between)
    if match and _CLOSING.match(text, following.end) and not _is_doubted(text, before, following.end):
        yield StatedRelation(following, _type(match), mention, mention.start, following.end)
    if between == ", " and _ALONE.match(text, following.end) and (match := patterns["hebrew of"].search(before)):
        yield StatedRelation(mention, _type(match), following, begin + match.start(), following.end)


def _may_be_his(match: re.Match[str], name: str) -> bool:
    """Whether whoever bears a name may be the one of `and his wife`, `a jeho žena`; a Mike is no `her`."""
    said = match["gender"] or match["cs_gender"]
    return not said or gender_of(name.split(" ")[0]) in ("", "m" if said.lower() in ("his", "jeho") else "f")


def _type(match: re.Match[str]) -> str:
    tables = {
        "en": kinship.types_of("en"), "cs": kinship.types_of("cs"), "oblique": kinship.czech_cases(),
        "he": kinship.types_of("he"), "mine": kinship.types_of("he", "mine"), "of": kinship.types_of("he", "of"),
    }  # fmt: skip
    (kind,) = (tables[name][said.lower()] for name, said in match.groupdict().items() if said and name in tables)
    return kind


def _is_possessive(text: str, mention: Mention) -> bool:
    """Whether a Czech name is a possessive adjective by its ending: Davidova, Lenčin."""
    return not mention.is_subject and text[mention.start : mention.end].endswith(_endings())


@functools.cache
def _endings() -> tuple[str, ...]:
    his, hers = possessives("Jan"), possessives("Jana", "f")
    return tuple(sorted({form.removeprefix("Jan") for form in (*his, *hers)}))


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
