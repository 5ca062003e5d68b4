"""What redaction replaced is on no page and in no reply; `make planted` does it with 1,000 values."""

from pathlib import Path

import pytest

from tests import personal_data_pages
from tests.web_app import COOKIE, client


@pytest.mark.slow
def test_no_planted_value_is_shown_but_to_an_owner_who_asks_for_it(tmp_path: Path) -> None:
    values = personal_data_pages.values(40)
    config = personal_data_pages.plant(tmp_path, values)
    assert personal_data_pages.leaks(config, values) == {}
    with client(config) as browser:
        asked = {"ref": "jsonl:notes:p0", "why": "to see that it is there"}
        shown = browser.post("/reveal", json=asked, headers=COOKIE).text
    assert all(value in shown for value in values[1:4])


def test_the_search_finds_what_is_not_replaced(tmp_path: Path) -> None:
    """So that finding nothing says something."""
    values = personal_data_pages.values(8)
    config = personal_data_pages.plant(tmp_path, values, redacted=False)
    assert personal_data_pages.leaks(config, values).keys() == set(values)
