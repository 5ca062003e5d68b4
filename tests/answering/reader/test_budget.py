"""What a language model is given keeps to its budget."""

import pytest

from relrag_query.answering.reader.budget import fit_token_budget
from tests.answering.reader.test_reading import passages


@pytest.mark.requirement("S0-56")
@pytest.mark.parametrize(("tokens", "count"), [(10_000, 3), (60, 1), (1, 1)])
def test_the_passages_keep_to_the_budget(tokens: int, count: int) -> None:
    assert len(fit_token_budget(passages(), tokens)) == count


def test_a_model_reads_eight_excerpts_at_most() -> None:
    assert len(fit_token_budget(passages() * 4, 100_000)) == 8
