"""How many items may go at once."""

from __future__ import annotations

import pytest

from relrag_pipelines.sources.remote import FetchError, Server
from relrag_pipelines.sources.remote.deletions import missing_items
from tests.cases import cases


def server(*, accept: bool = False) -> Server:
    return Server("https://x.example", "", lambda: "", "the secret", accept_deletions=accept)


@pytest.mark.parametrize(*cases(__file__, "a_share_that_is_believable"))
def test_a_share_that_is_believable(stored: int, listed: int, allowed: bool) -> None:
    items, present = {str(number) for number in range(stored)}, {str(number) for number in range(listed)}
    assert missing_items(server(accept=True), "x.example", items, present) == items - present
    if allowed:
        assert missing_items(server(), "x.example", items, present) == items - present
        return
    with pytest.raises(FetchError, match=f"x.example lists {listed:,} items, and {stored:,} were fetched before"):
        missing_items(server(), "x.example", items, present)


def test_items_with_other_names_are_no_loss() -> None:
    items = {f"7-{number}" for number in range(100)}
    renamed = {f"8-{number}" for number in range(100)}
    assert missing_items(server(), "x.example", items, renamed) == items
