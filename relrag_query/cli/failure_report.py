"""Prints the failures of a sync."""

from __future__ import annotations

from collections import Counter

from relrag_pipelines.erasure.rule_file import LIKE_FORGOTTEN
from relrag_pipelines.sources import LEFT_OUT
from relrag_pipelines.stages.plan_model import Plan
from relrag_pipelines.stores import known_failures, retired_generations, unit_state
from relrag_pipelines.workspace import Workspace
from relrag_query.cli.exit_codes import DONE, WITH_FAILURES
from relrag_query.display.amounts import number

_SAID_OF = {
    LIKE_FORGOTTEN: "{} may be something you had forgotten, under another name",
    "date_order": "{} read with an assumed order of day and month",
}
"""fault words of what was read all the same, and what is said of it; where it was not read, they are of a failure"""
_LISTS = "`relrag status --failures` lists them"


def report_failures(workspace: Workspace, todo: Plan, strict: bool = False) -> int:
    """Prints failures as counts, by source and fault, and stores what it reported.

    The caller holds the lock. Failures that the last sync reported are only counted, unless `strict`.
    """
    for problem in todo.problems:
        print(f"problem: {problem}")
    for left in retired_generations.describe_remote_leftovers(workspace.home):
        print(f"warning: {left} could not be removed; the next sync tries again")
    told = known_failures.load(workspace.home)
    hashes: set[str] = set()
    new = known = 0
    for source in workspace.settings.sources:
        faults: Counter[tuple[str, bool]] = Counter()
        for failure in unit_state.load_failures(workspace.home, source.name):
            is_notice = failure.fault in LEFT_OUT or (failure.fault in _SAID_OF and not failure.whole_unit)
            if not is_notice:
                hashes.add(hashed := known_failures.hash_of(failure, workspace.keys))
                if hashed in told and not strict:
                    known += 1
                    continue
                new += 1
            faults[failure.fault, is_notice] += 1
        for (fault, is_notice), count in sorted(faults.items()):
            said = _SAID_OF.get(fault, "some files are left out") if is_notice else "{} could not be read"
            print(f"{source.name}: {said.format(count)} ({fault}); {_LISTS}")
    if known:
        print(f"{number(known, 'known failure')}; {_LISTS}")
    known_failures.save(workspace.home, hashes)
    return WITH_FAILURES if new or todo.problems else DONE
