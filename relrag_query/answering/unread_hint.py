"""Says that a question may be about a file that was not read: its name has words of the question.

Names are compared as passages are (term_coverage.py). Nothing is said where the answer is sure, nor for words that any
file may have in its name.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from relrag_pipelines.errors import RelragError
from relrag_pipelines.settings import Settings
from relrag_pipelines.sources import NOT_READ
from relrag_pipelines.stores import unit_state
from relrag_pipelines.workspace import Workspace
from relrag_query.display.page_texts import PageTexts
from relrag_query.retrieval.indexed_records import DEFAULT
from relrag_query.retrieval.redacted_views import WITHHELD
from relrag_query.retrieval.term_coverage import Term, term_coverage, tokens

_LEAST = 1 / 3
"""share of the weight of a question's words that a name has to hold"""
_SHORTEST = 3
"""letters of a word that says what a file is about"""
_MOST = 2
"""files that are named"""
_FRESH_SECONDS = 600
"""seconds for which the folders are not searched again: 30,000 files take half a second of processor time"""
_SEPARATORS = re.compile(r"[\W_]+")


@dataclass(frozen=True)
class _SkippedFile:
    name: str
    reason: str


_listed: dict[str, tuple[float, list[_SkippedFile]]] = {}
"""home -> when its unread files were listed, and these"""


def unread_hint(terms: Sequence[Term], settings: Settings, texts: PageTexts) -> str:
    """A line about the files that fit a question best, with what to do; empty where none does."""
    words = [term for term in terms if _is_telling(term)]
    if not words:
        return ""
    shares = [(term_coverage(words, _tokens(file.name)), file) for file in _skipped_files(settings)]
    fitting = sorted((pair for pair in shares if pair[0] >= _LEAST), key=lambda pair: (-pair[0], pair[1].name))
    if not fitting:
        return ""
    named = [f"{_redacted(file.name, settings)} ({file.reason})" for _, file in fitting[:_MOST]]
    more = texts.unread_more.format(count=len(fitting) - _MOST) if len(fitting) > _MOST else ""
    return texts.unread.format(files="; ".join(named) + more)


def _is_telling(term: Term) -> bool:
    """Whether a word says what a question is about."""
    is_content = not (term.light or term.is_time) and term.weight > 0
    return is_content and max(map(len, _SEPARATORS.sub(" ", term.word).split()), default=0) >= _SHORTEST


def _tokens(name: str) -> frozenset[str]:
    return frozenset(token for token in tokens(_SEPARATORS.sub(" ", PurePosixPath(name).stem)) if token)


def _skipped_files(settings: Settings) -> list[_SkippedFile]:
    """The files that could not be read or that no source reads, as of the last search."""
    home = str(settings.home_path)
    when, files = _listed.get(home, (float("-inf"), []))
    if time.monotonic() - when > _FRESH_SECONDS:
        files = [*_failed_files(settings), *_files_of_no_source(settings)]
        _listed[home] = time.monotonic(), files
    return files


def _failed_files(settings: Settings) -> Iterator[_SkippedFile]:
    for source in settings.sources:
        failures = unit_state.load_failures(settings.home_path, source.name)
        for failure in failures:
            name = failure.location if failure.whole_unit and failure.location else failure.unit
            is_file = failure.whole_unit or not failure.location
            if failure.unit and is_file and failure.fault != NOT_READ:
                yield _SkippedFile(PurePosixPath(name).name, failure.message)


def _files_of_no_source(settings: Settings) -> Iterator[_SkippedFile]:
    # imported only here: most answers need none of this
    from relrag_pipelines.ingest import unread_files

    for file in unread_files.find_unread(settings).files():
        yield _SkippedFile(PurePosixPath(file.path).name, f"{file.reason}; {file.remedy}")


def _redacted(name: str, settings: Settings) -> str:
    """A file's name as pages and programs may see it."""
    if not settings.pii_redaction_enabled:
        return name
    try:
        return Workspace(settings).redactor.redact(name, DEFAULT)
    except RelragError:
        return WITHHELD
