"""Finds the words of a question that may mean people: names and kin terms, each found once."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

from relrag_pipelines.identity.mentions import Mention
from relrag_pipelines.text.names import tables
from relrag_pipelines.text.names.forms import as_given, inflections, words
from relrag_query.people.kin_words import KinWord, kin_words
from relrag_query.people.people import People
from relrag_query.people.relations import FORMER
from relrag_query.understanding.phrases import bare, load_phrases

_MAX_QUESTION_WORDS = 12
"""a longer question is not searched for names of other scripts"""
_MAX_NAME_WORDS = 3
"""words of a name in another script"""

Span = tuple[int, int]
"""start and end of some words of a question"""


class QuestionWords:
    """The names and kin terms of a question; positions are those of `text`."""

    def __init__(self, text: str, people: People) -> None:
        self.text, self.people = text, people
        self.plain = bare(text)
        """without accents"""

    @functools.cached_property
    def kin_words(self) -> list[KinWord]:
        """The kin terms and roles, in order; `my former manager` has the type former_manager."""
        former = load_phrases().people.former
        apart = re.sub(rf"(?<!\w)((?:{former}))-", r"\1 ", self.plain, flags=re.IGNORECASE)
        hyphens = [at for at, (before, after) in enumerate(zip(self.plain, apart, strict=True)) if before != after]
        text = "".join(" " if at in hyphens else letter for at, letter in enumerate(self.text))
        return [self._with_former(word) for word in kin_words(text)]

    def _with_former(self, word: KinWord) -> KinWord:
        """The kin term with a word beside it that makes it a former one."""
        phrases = load_phrases().people
        if before := re.search(rf"(?<!\w)(?:{phrases.former})[ -]$", self.plain[: word.start], re.IGNORECASE):
            return word._replace(start=before.start(), type=f"{FORMER}{word.type}")
        behind = rf"((?:{phrases.my_behind})?) (?:{phrases.former_behind})(?!\w)"
        if after := re.match(behind, self.plain[word.end :]):
            end = word.end if after[1] else word.end + after.end()
            return word._replace(end=end, type=f"{FORMER}{word.type}")
        return word

    @functools.cached_property
    def mentions(self) -> list[Mention]:
        """The names of known people, in small letters too; common words only where they are used as names."""
        text, finder = self.text, self.people.finder
        mentions = finder(text).find(text)
        if not mentions and text == text.lower():
            mentions = finder(text.title()).find(text.title())
        sure = [mention for mention in mentions if not mention.is_word or self._is_possessed(mention)]
        if not sure and len(mentions) == 1:
            sure = [*mentions]
        return [self._with_title(mention) for mention in sure]

    @property
    def named(self) -> tuple[int, ...]:
        """The people whom the question may name, in the order of the names."""
        return tuple(dict.fromkeys(person_id for mention in self.mentions for person_id in mention.person_ids))

    @functools.cached_property
    def name_spans(self) -> list[Span]:
        """Spans of words that may be names, the longest first: words without another meaning in a question."""
        matches = list(re.finditer(r"[^\W\d_]+", self.text))
        if len(matches) > _MAX_QUESTION_WORDS:
            return []
        kin_terms = [(word.start, word.end) for word in self.kin_words if not self._is_given_name(word)]
        free = [not _is_function_word(match[0]) and _is_apart(match.span(), kin_terms) for match in matches]
        spans = [
            (matches[first].start(), matches[first + count - 1].end())
            for count in range(_MAX_NAME_WORDS, 0, -1)
            for first in range(len(matches) - count + 1)
            if all(free[first : first + count])
        ]
        return [(start, end) for start, end in spans if not re.search(r"[^\w\s-]", self.text[start:end])]

    def stranger_names(self) -> Iterator[Span]:
        """The single words that are names of people who are not known."""
        known = [(mention.start, mention.end) for mention in self.mentions]
        for span in self.name_spans:
            if " " not in self.text[slice(*span)] and _is_apart(span, known) and self.is_name(span):
                yield span

    def is_name(self, span: Span) -> bool:
        """Whether words that no known person is called by are a name: by a capital letter, or as a given name."""
        written = self.text[slice(*span)]
        capital = span[0] > 0 and written[0].isupper()
        return capital or (tables.plain(written) in tables.given_names() and written not in tables.common())

    def _is_given_name(self, word: KinWord) -> bool:
        """Whether a kin term is a name: `של דוד` is of David, since an uncle would be `של הדוד`."""
        is_possessor = re.search(rf"(?:{load_phrases().people.of})$", self.text[: word.start])
        return bool(is_possessor) and tables.plain(self.text[word.start : word.end]) in tables.given_names()

    def _with_title(self, name: Mention) -> Mention:
        """A family name with the title before it: `doktora Beneše` is no doctor of somebody named Beneš."""
        title = re.search(r"(\w+)\.? $", self.text[: name.start])
        if title is None or tables.plain(title[1]) not in tables.before_family_names():
            return name
        written = self.text[name.start : name.end]
        persons = self.people.by_id(name.person_ids).values()
        aliases = [words(row["alias"]) for person in persons for row in person.aliases]
        family_names = {alias_words[-1] for alias_words in aliases if len(alias_words) > 1}
        is_family_name = any(written in as_given(family) | inflections(family) for family in family_names)
        return name._replace(start=title.start()) if is_family_name else name

    def _is_possessed(self, name: Mention) -> bool:
        """Whether a common word is in a position of a name: behind `of` at the end, or with a possessive ending."""
        before, after = self.text[: name.start], self.text[name.end :]
        of = load_phrases().people.of
        if re.search(rf"(?:{of})$", before) and re.fullmatch(r"\W*", after):
            return True
        return after.startswith(("'s ", "’s ")) or (" " in self.text[name.start : name.end])


def _is_function_word(word: str) -> bool:
    """Whether a word only asks: `אמר` (he said) sounds like Amir."""
    phrases = load_phrases()
    return (
        bare(word).casefold() in phrases.people.fillers | phrases.people.relationship
        or word.casefold() in phrases.term.asking
    )


def _is_apart(span: Span, others: list[Span]) -> bool:
    return all(span[1] <= start or span[0] >= end for start, end in others)


def has_only_fillers(rest: str) -> bool:
    """Whether the rest of a question, given without accents, asks nothing else."""
    phrases = load_phrases()
    words = set(re.findall(r"[^\W_]+", phrases.intent.latest.sub(" ", rest).casefold()))
    return words <= phrases.people.fillers | phrases.people.relationship
