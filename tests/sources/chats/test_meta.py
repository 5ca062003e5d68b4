"""Links that tell where somebody is do not become text."""

from pathlib import Path

import pytest

from relrag_pipelines.sources.chats import meta
from tests.cases import cases
from tests.sources.connector import read


@pytest.mark.parametrize(*cases(__file__, "a_link_with_a_position"))
def test_a_link_with_a_position(link: str, is_position: bool) -> None:
    assert meta._names_a_position(link) is is_position


def test_a_chat_without_a_title_is_named_after_all_its_people(tmp_path: Path) -> None:
    people = ", ".join(f'{{"name": "Person {number}"}}' for number in range(1, 5))
    text = (
        f'{{"participants": [{people}], "messages": [{{"sender_name": "Person 1", "timestamp_ms": 1709550070000, '
        '"content": "Hello"}], "thread_path": "inbox/people_1", "is_still_participant": true, "magic_words": []}'
    )
    file = tmp_path / "your_facebook_activity" / "messages" / "inbox" / "people_1" / "message_1.json"
    file.parent.mkdir(parents=True)
    file.write_text(text)
    (record,), _ = read("messenger", file)
    assert record.subject == "Person 1, Person 2, Person 3, Person 4"
