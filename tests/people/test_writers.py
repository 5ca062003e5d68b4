"""Who said something is told as a person; and a question about a person keeps that person's records in any script."""

from pathlib import Path

import pytest

from relrag_query import statements
from relrag_query.archive import Archive
from relrag_query.understanding.phrases import bare, load_phrases
from tests import archive
from tests.cases import cases

CHAT = """\
13/01/2024, 10:15 - Shiran Tamir: The leak in the cellar is back since Tuesday
14/02/2024, 21:40 - שירן: I paid the plumber for the leak in the cellar
"""


@pytest.mark.parametrize(*cases(__file__, "which_questions_ask_who_said_something"))
def test_which_questions_ask_who_said_something(question: str, asks: bool) -> None:
    assert (load_phrases().people.said.search(bare(question)) is not None) is asks


def test_who_said_it_is_a_person(tmp_path: Path) -> None:
    config = archive.make(tmp_path)
    (tmp_path / "chats" / "WhatsApp Chat with House.txt").write_text(CHAT)
    archive.first_sync(config)
    with Archive.open(config) as opened:
        told = opened.ask("Who paid the plumber for the leak in the cellar?")
        assert not any(line.startswith("Said by") for line in told.head)
        told = opened.ask("Who said that the plumber was paid for the leak in the cellar?")
        assert "Said by שירן." in told.head
    statements.merge("Shiran Tamir", ["שירן"], config=config)
    for _ in range(2):  # at once, and after a sync
        with Archive.open(config) as opened:
            told = opened.ask("Who said that the plumber was paid for the leak in the cellar?")
            assert "Said by Shiran Tamir." in told.head
            assert told.quotes[0].sender == "Shiran Tamir"
        archive.sync(config)
