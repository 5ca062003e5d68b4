"""What the page that asks remembers of its owner: the last questions, and what there was at the last visit.

It stands in private/visits.json, on this machine alone, and goes with `relrag forget` or when the owner clears it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import orjson

from relrag_pipelines import settings as settings_module
from relrag_pipelines.stores import generations, question_files
from relrag_query.service import Service

MAX_QUESTIONS = 8
_VISIT_SECONDS = 3_600
"""after so long without a look at the page, the next one begins a new visit"""

Counts = Mapping[str, int]
"""source -> records"""


@dataclass(frozen=True)
class Look:
    """When the page was looked at, and what there was."""

    at: float = 0.0
    """seconds since 1970-01-01 UTC; 0 for never"""
    counts: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Visits:
    """What is remembered."""

    questions: list[str] = field(default_factory=list)
    """newest first, each once"""
    latest: Look = field(default_factory=Look)
    before: Look = field(default_factory=Look)
    """the last look of the visit before this one"""


@dataclass(frozen=True)
class News:
    """What has come since the last visit."""

    since: float
    """seconds since 1970-01-01 UTC"""
    counts: Counts
    """more records than then, by source; only sources with more"""


def load(home: Path) -> Visits:
    """What is remembered; nothing if there is no file, or it is damaged."""
    try:
        data = orjson.loads((home / question_files.VISITS).read_bytes())
        return Visits([*map(str, data["questions"])], Look(**data["latest"]), Look(**data["before"]))
    except (OSError, orjson.JSONDecodeError, KeyError, TypeError):
        return Visits()


def note_question(service: Service, question: str, generation: int) -> None:
    """Remembers a question that the generation of that number has answered."""
    home = service.settings.home_path
    with question_files.changing(home):
        visits = load(home)
        questions = [question, *(earlier for earlier in visits.questions if earlier != question)]
        _store(home, replace(visits, questions=questions[:MAX_QUESTIONS]), generation)


def look(service: Service) -> tuple[list[str], News | None]:
    """The last questions, and what has come since the last visit; None on the first one. Notes the look."""
    home, now = service.settings.home_path, settings_module.now().timestamp()
    with service.reading() as archive:
        counts, generation = archive.records_by_source(), archive.generation.number
    with question_files.changing(home):
        visits = load(home)
        before = visits.latest if now - visits.latest.at > _VISIT_SECONDS else visits.before
        _store(home, Visits(visits.questions, Look(now, dict(counts)), before), generation)
    if not before.at:
        return visits.questions, None
    more = {name: count - before.counts.get(name, 0) for name, count in counts.items()}
    return visits.questions, News(before.at, {name: count for name, count in more.items() if count > 0})


def clear_questions(service: Service) -> None:
    """Forgets the last questions, those of the command line too. Pages that only read may do so."""
    home = service.settings.home_path
    visits = load(home)
    question_files.drop(home)
    if generation := generations.current_number(home):
        _store(home, replace(visits, questions=[]), generation)


def _store(home: Path, visits: Visits, generation: int) -> None:
    question_files.write(home, question_files.VISITS, asdict(visits), generation)
