"""What the page that asks shows before a question: examples from the archive, the last questions, what is new."""

from __future__ import annotations

import re
from typing import Any

from relrag_query.owner import visits
from relrag_query.service import Service

_PEOPLE, _THREADS = 2, 3
"""examples about people with most records, and about mail threads with most mails"""
_REPLY_MARKS = re.compile(r"^(?:\w{2,3}:\s*)+")
_LONGEST = 60
"""characters of a subject that an example names"""


class HomePage:
    """The context of the page; its examples are made once for each generation."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._examples: tuple[int, list[tuple[str, dict[str, str]]]] = (0, [])

    def template_context(self) -> dict[str, Any]:
        """`examples`, `last_questions` and `news` of the template, and `zone`."""
        last_questions, news = visits.look(self._service)
        return {
            "examples": self._example_questions(),
            "last_questions": last_questions,
            "news": news,
            "zone": self._service.zone,
        }

    def _example_questions(self) -> list[tuple[str, dict[str, str]]]:
        """Each as the key of its text in `page.toml`, and what is filled in."""
        with self._service.reading() as archive:
            number = archive.generation.number
            if self._examples[0] == number:
                return self._examples[1]
            subjects = archive.frequent_subjects(4 * _THREADS)
        people = [person.name for person in self._service.people(4 * _PEOPLE).people if not person.is_owner]
        questions = [("home.latest_from", {"name": name}) for name in _nameable(people)[:_PEOPLE]]
        questions += [("home.happened_with", {"subject": subject}) for subject in _nameable(subjects)[:_THREADS]]
        self._examples = number, questions
        return questions


def _nameable(names: list[str]) -> list[str]:
    """The names that a question can hold: short ones, without what redaction replaced."""
    plain = dict.fromkeys(_REPLY_MARKS.sub("", name).strip() for name in names)
    return [name for name in plain if 0 < len(name) <= _LONGEST and "<" not in name]
