"""What tells one process from every other, also one that was given its number later."""

import os
import subprocess
import sys

import pytest

from relrag_pipelines.stores import process_identity
from relrag_pipelines.stores.process_identity import Life


def test_this_process_runs_until_it_ends() -> None:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    identity = process_identity.identify(process.pid)
    assert process_identity.life(identity) is Life.RUNNING
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert process_identity.life(identity) is Life.ENDED, "its parent has not looked"
    process.wait()
    assert process_identity.life(identity) is Life.ENDED


@pytest.mark.parametrize(
    ("word", "value", "life"),
    [
        (1, "1", Life.ENDED),  # the number was given to another process
        (2, "elsewhere", Life.ELSEWHERE),
        (3, "before", Life.ENDED),
        (4, "pid:[1]", Life.ELSEWHERE),
    ],
)
def test_a_process_that_differs_in_one_word(word: int, value: str, life: Life) -> None:
    words = process_identity.identify().split(" ")
    words[word] = value
    assert process_identity.life(" ".join(words)) is life


@pytest.mark.parametrize("identity", ["", "1234", "a b c d e", "1 2 3 4 5 6"])
def test_nothing_is_said_of_what_is_no_identity(identity: str) -> None:
    assert process_identity.life(identity) is Life.ELSEWHERE
