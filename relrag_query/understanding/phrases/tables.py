"""The tables of phrases in a language's file: their entries and uses."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NewType

Pattern = re.Pattern[str]
"""whole words, searched in bare text"""
Alternatives = NewType("Alternatives", str)
"""a piece of a regular expression for bare text, which some code makes a part of a longer one; no bounds of words"""
Written = NewType("Written", str)
"""the same for text as it is written, with its accents"""
Words = NewType("Words", frozenset[str])
"""words as they are written"""
BareWords = NewType("BareWords", frozenset[str])
"""words without accents"""


@dataclass(frozen=True)
class IntentPhrases:
    """Phrases for the intents of questions."""

    person_facts: Pattern
    person_history: Pattern
    family: Pattern
    kin: Pattern
    """a kin term; it asks for a family only together with a name or a word of `possessive`"""
    possessive: Pattern
    thread: Pattern
    attachment: Pattern
    also: Pattern
    """together with a channel: across channels"""
    second_question: Pattern
    """where a second question begins"""
    latest: Pattern
    """asks for what holds now; words for today among them mean so unless they ask what was said today"""
    overview: Pattern
    """asks what was talked of, most or mainly; the words say nothing of it"""
    caseless: Alternatives
    """letters of a script without capitals, in which any word may be a name"""


@dataclass(frozen=True)
class PeoplePhrases:
    """Phrases of questions about people."""

    who: Pattern
    """asks who somebody is, or who does"""
    my: Alternatives
    """before a kin term: a relative of the archive's owner"""
    my_behind: Alternatives
    """the same behind it"""
    of: Alternatives
    """between a kin term and its owner"""
    former: Alternatives
    """before a kin term: somebody who was that once"""
    former_behind: Alternatives
    """the same behind it"""
    have: Alternatives
    """between the owner and a kin term"""
    age: Pattern
    birthday: Pattern
    lives_in: Pattern
    works_at: Pattern
    occupation: Pattern
    phone: Pattern
    email: Pattern
    introduction: Pattern
    """asks for the person who introduced somebody to the owner"""
    others_introduction: Pattern
    """asks for the person who introduced two others"""
    somebody: Pattern
    """a word for a person without a name, behind a trade: `the spice guy`"""
    said: Pattern
    """asks who said, wrote or told something"""
    reached: Pattern
    """asks whose a number or an address is"""
    owner: Pattern
    """asks for the person whose relative somebody is"""
    relationship: BareWords
    """words for what people are to one another: `mentor relationships` are mentors"""
    fillers: BareWords
    """words without a meaning for the people in question"""


@dataclass(frozen=True)
class ChannelPhrases:
    """Words for each channel."""

    call: Pattern
    mail: Pattern
    chat: Pattern
    meeting: Pattern
    document: Pattern
    commit: Pattern


@dataclass(frozen=True)
class ListedPhrases:
    """How a question asks for a list of records."""

    mail: Pattern
    message: Pattern
    attachment: Pattern
    call: Pattern
    meeting: Pattern
    commit: Pattern
    document: Pattern


@dataclass(frozen=True)
class ListingPhrases:
    """The rest of a question for a list."""

    own: Pattern
    """asks for what the owner wrote"""
    newest: Pattern
    """asks for the newest records: `the latest from Dana`"""
    about: Alternatives
    """before a name: then it is what is written of"""
    to: Alternatives
    """before a name: then it is what was sent to somebody"""
    fillers: BareWords
    """say of what is listed nothing but that it be told"""
    held: BareWords
    """such words too, of a meeting or a call"""


@dataclass(frozen=True)
class TermPhrases:
    """Words that count otherwise than others when passages are weighed."""

    asking: Words
    """only ask, and tell little of what is looked for"""
    price: Words
    """ask for an amount of money"""


@dataclass(frozen=True)
class TextPhrases:
    """Phrases in passages."""

    interrogative: Pattern
    """asks for something, not for a yes"""
    ahead: Alternatives
    """words that may stand before a question in a chat"""
    requests: Pattern
    """begins what asks for a yes, or for a reply"""
    moment: Alternatives
    """a day or an hour, besides months and weekdays"""
    abbreviation: Written
    """ends with a full stop that ends no sentence"""
    company: Written
    """the same behind the name of a company, which may end one"""
    quote_heading: Written
    """the line above what a mail quotes"""
    part_of_day: Pattern
    """a part of a day or a year, besides what `time` and `names` know"""


@dataclass(frozen=True)
class AskedPhrases:
    """Phrases for the sort of answer that a question asks for."""

    when: Pattern
    price: Pattern
    count: Pattern
    """how many, how old, how long"""
    who: Pattern
    where: Pattern
    contact: Pattern
    """a phone number, a mail address, a postal one"""
    identifier: Pattern
    """a number that names something: of a phone, an account, a door; with the word that asks for it"""
    why: Pattern
    yes: Pattern
    """yes or no"""


@dataclass(frozen=True)
class FormPhrases:
    """How a question asks for more than one passage; the words say nothing of what is looked for."""

    list: Pattern
    """asks for all of something: which suppliers, list the invoices"""
    summary: Pattern
    """asks for the course of a matter: what happened with"""


@dataclass(frozen=True)
class DatePhrases:
    """The words between the numbers and names of a date; and those before it that leave one end open."""

    since: Alternatives
    after: Alternatives
    before: Alternatives
    until: Alternatives
    article: Alternatives
    ordinal: Alternatives
    """behind the number of a day"""
    of_month: Alternatives
    """between day and month"""
    of_year: Alternatives
    """between month and year"""
    from_: Alternatives
    """before the first of two dates"""
    to: Alternatives
    """between two dates"""
    before_month: Alternatives
    """makes a word such as `may` a month"""
    rather_name: Alternatives
    """a month with words before it that make it a person's name"""
    prefix: Alternatives
    """letters written together with a month or a day"""
    month_prefix: Alternatives
    """those of them that make it `in` a month or a year"""
    weekday_prefix: Alternatives


@dataclass(frozen=True)
class TimeNames:
    """Names of months, days and lengths of time, without accents. Where languages differ the first file's counts."""

    months: Mapping[str, int]
    weekdays: Mapping[str, int]
    """Monday is 0"""
    units: Mapping[str, str]
    """names -> day, week, month or year"""
    pairs: Mapping[str, str]
    """words for two of a unit"""
    counts: Mapping[str, int]


@dataclass(frozen=True)
class TimePhrase:
    """How a time is said."""

    rule: str
    """what it says: yesterday, last_week, ago, next_week"""
    expression: str
    """whole words without their bounds; groups that the rule reads: count, unit, pair, weekday"""
    first_weekday: int
    """with which the weeks of its language begin; Monday is 0"""


@dataclass(frozen=True, eq=False)
class Phrases:
    """The phrases of all languages."""

    intent: IntentPhrases
    people: PeoplePhrases
    channel: ChannelPhrases
    """names a channel anywhere"""
    said_in: ChannelPhrases
    """names the channel that contains the answer"""
    listed: ListedPhrases
    listing: ListingPhrases
    term: TermPhrases
    text: TextPhrases
    asked: AskedPhrases
    form: FormPhrases
    date: DatePhrases
    names: TimeNames
    times: tuple[TimePhrase, ...]
