"""Prints the failures of a sync."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Set
from dataclasses import dataclass, field

from relrag_pipelines.erasure.rule_file import LIKE_FORGOTTEN
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.records import Failure
from relrag_pipelines.sources import LEFT_OUT
from relrag_pipelines.stages.plan_model import Plan
from relrag_pipelines.stores import known_failures, retired_generations, unit_state
from relrag_pipelines.workspace import Workspace
from relrag_query.cli.exit_codes import DONE, WITH_FAILURES
from relrag_query.display.amounts import number

_NOTICES = {
    LIKE_FORGOTTEN: "{} may be something you had forgotten, under another name",
    "date_order": "{} read with an assumed order of day and month",
}
"""Notice by fault word, for units that were read nevertheless. If the whole unit was not read, it is a failure."""
_LISTS = "`relrag status --failures` lists them"


def report_failures(workspace: Workspace, todo: Plan, strict: bool = False) -> int:
    """Prints failures as counts, by source and fault, and stores what it reported.

    The caller holds the lock. Failures that the last sync reported are only counted, unless `strict`.
    """
    for problem in todo.problems:
        print(f"problem: {problem}")
    for leftover in retired_generations.describe_remote_leftovers(workspace.home):
        print(f"warning: {leftover} could not be removed; the next sync tries again")
    earlier_hashes = known_failures.load(workspace.home)
    tally = _Tally(workspace.keys, frozenset() if strict else earlier_hashes)
    for source in workspace.settings.sources:
        _print_faults(source.name, tally.count(unit_state.load_failures(workspace.home, source.name)))
    if tally.repeated_count:
        print(f"{number(tally.repeated_count, 'known failure')}; {_LISTS}")
    known_failures.save(workspace.home, tally.hashes)
    return WITH_FAILURES if tally.new_count or todo.problems else DONE


@dataclass
class _Tally:
    """Counts failures; those that were reported before are only counted together."""

    keys: Keys
    earlier_hashes: Set[str]
    """of the failures that were reported before"""
    hashes: set[str] = field(default_factory=set)
    """of the failures that there are now"""
    new_count: int = 0
    repeated_count: int = 0

    def count(self, failures: Iterable[Failure]) -> Counter[tuple[str, bool]]:
        """How often each fault occurs among new failures and notices; each with whether it is a notice."""
        faults: Counter[tuple[str, bool]] = Counter()
        for failure in failures:
            if _is_notice(failure):
                faults[failure.fault, True] += 1
            elif self._is_new(failure):
                faults[failure.fault, False] += 1
        return faults

    def _is_new(self, failure: Failure) -> bool:
        """Whether a failure was not reported before; it is counted."""
        failure_hash = known_failures.hash_of(failure, self.keys)
        self.hashes.add(failure_hash)
        is_new = failure_hash not in self.earlier_hashes
        self.new_count += is_new
        self.repeated_count += not is_new
        return is_new


def _is_notice(failure: Failure) -> bool:
    return failure.fault in LEFT_OUT or (failure.fault in _NOTICES and not failure.whole_unit)


def _print_faults(source: str, faults: Counter[tuple[str, bool]]) -> None:
    for (fault, is_notice), count in sorted(faults.items()):
        wording = _NOTICES.get(fault, "some files are left out") if is_notice else "{} could not be read"
        print(f"{source}: {wording.format(count)} ({fault}); {_LISTS}")
