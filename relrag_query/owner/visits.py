"""What the page that asks remembers of its owner: the last questions, and what there was at the last visit.

It stands in private/visits.json, on this machine alone, and goes with `relrag forget` or when the owner clears it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson

from relrag_pipelines import settings as settings_module
from relrag_pipelines.stores import generations, question_files
from relrag_query.service import Service

MAX_QUESTIONS = 8
_VISIT_SECONDS = 3_600
"""after so long without a look at the page, the next one begins a new visit"""
_NOTED_SECONDS = 300
"""looks that follow one another so closely are noted once"""
_EVER = "1970-01-01"
_TICK = timedelta(microseconds=1)
"""the smallest difference of two times of publication"""


@dataclass(frozen=True)
class Look:
    """When the page was looked at, and what there was."""

    at: float = 0.0
    """seconds since 1970-01-01 UTC; 0 for never"""
    newest: str = ""
    """when a passage was first published last: ISO 8601, UTC; empty of an empty archive"""


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
    """when that was, seconds since 1970-01-01 UTC"""
    added: str
    """the filter `added` of what has come: ISO 8601, by the owner's clock"""
    counts: Mapping[str, int]
    """entries of the list of what has come, by source; only sources with any"""


def load(home: Path) -> Visits:
    """What is remembered; nothing if there is no file, or it is damaged."""
    try:
        data = orjson.loads((home / question_files.VISITS).read_bytes())
        return Visits([*map(str, data["questions"])], _look_of(data["latest"]), _look_of(data["before"]))
    except (OSError, orjson.JSONDecodeError, KeyError, TypeError, ValueError):
        return Visits()


def _look_of(data: Mapping[str, Any]) -> Look:
    """A look as it is stored; one of an older relrag does not know what there was, so it counts as none."""
    newest = data.get("newest")
    if newest is None:
        return Look()
    if newest:
        datetime.fromisoformat(newest)
    return Look(float(data["at"]), newest)


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
        visits = _note(home, now, archive.newest_addition(), archive.generation.number)
        before = visits.before
        if not before.at:
            return visits.questions, None
        added = datetime.fromisoformat(before.newest or _EVER) + _TICK
        counts = archive.added_by_source(added)
    local = added.replace(tzinfo=UTC).astimezone(service.zone)
    return visits.questions, News(before.at, local.isoformat(timespec="microseconds"), counts)


def _note(home: Path, now: float, newest: datetime | None, generation: int) -> Visits:
    """What is remembered after a look; looks that follow one another closely cost no write."""
    seen = newest.isoformat(timespec="microseconds") if newest else ""
    visits = load(home)
    if 0 <= now - visits.latest.at < _NOTED_SECONDS and visits.latest.newest == seen:
        return visits
    with question_files.changing(home):
        visits = load(home)
        before = visits.latest if now - visits.latest.at > _VISIT_SECONDS else visits.before
        visits = Visits(visits.questions, Look(now, seen), before)
        _store(home, visits, generation)
    return visits


def clear_questions(service: Service) -> None:
    """Forgets the last questions, those of the command line too. Pages that only read may do so."""
    home = service.settings.home_path
    visits = load(home)
    question_files.drop(home)
    if generation := generations.current_number(home):
        _store(home, replace(visits, questions=[]), generation)


def _store(home: Path, visits: Visits, generation: int) -> None:
    question_files.write(home, question_files.VISITS, asdict(visits), generation)
