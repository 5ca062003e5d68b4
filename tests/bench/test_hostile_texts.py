"""What is expensive to redact costs in proportion to its length; `python -m bench hostile` measures how much."""

from __future__ import annotations

import pytest

from bench import hostile_texts
from bench.hostile_texts import HOSTILE, QUICK, hostile_text, seconds_per_megabyte
from relrag_pipelines.pii import PIIRedactor

_LENGTH = 8_000
"""characters; a shorter text may lack by chance what is expensive in a longer one"""
_LONGER = 4 * _LENGTH
_MOST_GROWTH = 1.75
"""times the seconds a megabyte of the longer text; what grows with the square has four times as many"""
_TRIES = 4
"""others use the machine too"""


@pytest.fixture(scope="module")
def redactor() -> PIIRedactor:
    """One that looks for everything, its libraries loaded."""
    made = hostile_texts.redactor()
    made.redact("052-1234567 and 612408819 in plain words", "default")
    return made


def grows(name: str, redactor: PIIRedactor) -> bool:
    """Whether a longer text costs more than in proportion, each time that both are measured."""

    def seconds(length: int) -> float:
        return seconds_per_megabyte(name, lambda text: redactor.redact(text, "default"), length)

    return all(seconds(_LONGER) > _MOST_GROWTH * seconds(_LENGTH) for _ in range(_TRIES))


@pytest.mark.parametrize("name", QUICK)
def test_a_hostile_text_costs_in_proportion(name: str, redactor: PIIRedactor) -> None:
    assert not grows(name, redactor)


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_every_hostile_text_costs_in_proportion(name: str, redactor: PIIRedactor) -> None:
    assert not grows(name, redactor)


def test_hostile_texts_are_new_all_through_and_the_same_each_time() -> None:
    text = hostile_text("IBANs and accounts", 3_000)
    assert text == hostile_text("IBANs and accounts", 3_000)
    assert len(text) == 3_000
    assert len(set(text.split())) == len(text.split())


def test_the_slowest_three_have_a_gate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hostile_texts, "measure", lambda: {"a": 5.0, "b": 3.0, "c": 1.5, "d": 1.0})
    assert [(one.ours, one.at_most, one.ok) for one in hostile_texts.figures()] == [
        (5.0, 2.0, False),
        (3.0, 2.0, False),
        (1.5, 2.0, True),
        (2.25, None, True),
    ]
