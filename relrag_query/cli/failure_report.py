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
    known_keys = known_failures.load(workspace.home)
    hashes: set[str] = set()
    new_count = repeated_count = 0
    for source in workspace.settings.sources:
        faults: Counter[tuple[str, bool]] = Counter()
        for failure in unit_state.load_failures(workspace.home, source.name):
            is_notice = failure.fault in LEFT_OUT or (failure.fault in _NOTICES and not failure.whole_unit)
            if not is_notice:
                hashes.add(key := known_failures.hash_of(failure, workspace.keys))
                if key in known_keys and not strict:
                    repeated_count += 1
                    continue
                new_count += 1
            faults[failure.fault, is_notice] += 1
        for (fault, is_notice), count in sorted(faults.items()):
            wording = _NOTICES.get(fault, "some files are left out") if is_notice else "{} could not be read"
            print(f"{source.name}: {wording.format(count)} ({fault}); {_LISTS}")
    if repeated_count:
        print(f"{number(repeated_count, 'known failure')}; {_LISTS}")
    known_failures.save(workspace.home, hashes)
    return WITH_FAILURES if new_count or todo.problems else DONE
