"""What a commit message speaks of."""

import pytest

from relrag_pipelines.sources.git.issue_references import commits, issues
from tests.cases import cases

KNOWN = sorted(["a3b2c1d8" + "0" * 32, "a3b2c1ff" + "1" * 32, "1234567" + "8" * 33, "f" * 64])
OWN = KNOWN[1]


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("see 1234567", [("1234567" + "8" * 33, "names commit 1234567", 0.95)]),
        ("This reverts commit a3b2c1f.", [(KNOWN[2], "reverts commit a3b2c1f", 0.95)]),
        (
            f"(cherry picked from commit {KNOWN[2]})",
            [(KNOWN[2], f"was cherry-picked from commit {KNOWN[2][:12]}", 1.0)],
        ),
        ('Fixes: a3b2c1ff11 ("x")', [(KNOWN[2], "fixes commit a3b2c1ff11", 0.95)]),
        ("https://host/o/r/commit/a3b2c1ff", [(KNOWN[2], "names commit a3b2c1ff", 0.95)]),
        ("f" * 64 + " " + "f" * 8, [("f" * 64, "names commit ffffffffffff", 1.0)]),
        ("a3b2c1 is too short, a3b2c1d8 is itself, a3b2c1 again", []),
        ("deadbeef does not exist; xa3b2c1ff and a3b2c1ffx are no hashes; A3B2C1FF neither", []),
    ],
)
def test_commits(message: str, expected: list[tuple[str, str, float]]) -> None:
    assert commits(message, OWN, KNOWN) == [
        {"ref": f"git:{full}", "why": why, "confidence": confidence} for full, why, confidence in expected
    ]


def test_a_short_hash_that_two_commits_share_names_neither() -> None:
    assert commits("see abcdef1", "", sorted(["abcdef12" + "0" * 32, "abcdef13" + "0" * 32])) == []


@pytest.mark.parametrize(*cases(__file__, "issues"))
def test_issues(message: str, expected: list[str]) -> None:
    assert issues(message, "web") == expected
