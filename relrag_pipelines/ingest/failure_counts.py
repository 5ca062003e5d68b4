"""Counts equal failures of one unit, so that a file with a fault in every line doesn't fill the list of failures.

Two failures are equal when they have one fault and one message, whatever numbers and quoted names stand in it. The
first ten are listed; the last of them says how many more there are.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from relrag_pipelines.erasure import record_fingerprints
from relrag_pipelines.records import Failure

MOST_LISTED = 10
"""equal failures of one unit that are listed"""

_DETAIL = re.compile(r'\d[\d,.]*|"[^"]*"')
_NEVER_COUNTED = frozenset({record_fingerprints.LIKE_FORGOTTEN})
"""faults whose every message tells the owner what to do with another record"""

Reason = tuple[str, str, bool]
"""fault, message without details, whether the whole unit failed"""


@dataclass
class FailureCounts:
    """How many failures a unit has by their reason."""

    _counts: Counter[Reason] = field(default_factory=Counter)

    def is_listed(self, failure: Failure) -> bool:
        """Counts a failure; whether it's among those that are listed."""
        if failure.fault in _NEVER_COUNTED:
            return True
        reason = _reason(failure)
        self._counts[reason] += 1
        return self._counts[reason] <= MOST_LISTED

    def with_counts(self, failures: Iterable[Failure]) -> list[Failure]:
        """The listed failures; the last of each reason says how many more there are."""
        listed = list(failures)
        last = {_reason(failure): index for index, failure in enumerate(listed)}
        for reason, index in last.items():
            more = self._counts[reason] - MOST_LISTED
            if more > 0:
                message = f"{listed[index].message}; {more:,} more of this kind in the file are not listed"
                listed[index] = replace(listed[index], message=message)
        return listed


def _reason(failure: Failure) -> Reason:
    return failure.fault, _DETAIL.sub("", failure.message), failure.whole_unit
