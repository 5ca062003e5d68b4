"""Mutated samples of every kind are read or fail with a reason; `make fuzz` reads a hundred times as many."""

from __future__ import annotations

import pytest

from relrag_pipelines.sources import KINDS
from tests.proofs.fuzz import KINDS_TO_FUZZ, fuzz

COUNT = 200


@pytest.mark.parametrize("name", KINDS_TO_FUZZ)
def test_no_mutation_crashes_a_reader_or_holds_it_up(name: str) -> None:
    outcomes = fuzz(KINDS[name], COUNT)
    assert outcomes.total() == COUNT
    assert outcomes["read"] > 0, "some mutations still have to be readable, else nothing was tested"


def test_every_kind_that_reads_files_has_samples() -> None:
    read_otherwise = {kind.name for kind in KINDS.values() if kind.always_remote or kind.discovers_units}
    assert set(KINDS_TO_FUZZ) == KINDS.keys() - read_otherwise
