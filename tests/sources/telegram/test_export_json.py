"""Notices of Telegram, and actions that it may add."""

import pytest

from relrag_pipelines.sources.telegram import export_json


@pytest.mark.parametrize(
    ("item", "text"),
    [
        ({"action": "invite_members", "actor": "Dana", "members": ["Petr", None]}, "Dana"),
        ({"action": "{title:>50000000}", "actor": "Dana", "title": "x"}, "Dana {title:>50000000}"),
        ({"action": "new_thing", "actor": "Dana"}, "Dana new thing"),
    ],
)
def test_a_notice_is_text_and_never_a_pattern(item: dict[str, object], text: str) -> None:
    assert export_json.notice(item).startswith(text)
    assert len(export_json.notice(item)) < 200
