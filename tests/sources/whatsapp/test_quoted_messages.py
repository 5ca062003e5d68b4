"""An exported message that quotes another with `> ` answers it."""

from __future__ import annotations

from pathlib import Path

import pytest

from relrag_pipelines.sources.whatsapp.quoted_messages import QuotedMessages
from relrag_query.archive import Archive
from tests import archive
from tests.cases import cases

SAID = [
    ("1", "Alex", "Morning! INV-1187 is 8,400₪, VAT wrong"),
    ("2", "Alex", "Ok"),
    ("3", "Dana", "The boiler of the\ncabin is broken again"),
    ("4", "Dana", "Who has the key?"),
    ("5", "Petr", "Who has the key?"),
    ("6", "שירן", "ההזמנה מוכנה מחר בבוקר"),
]


@pytest.mark.requirement("S0-15", "S0-38")
@pytest.mark.parametrize(*cases(__file__, "the_message_that_a_text_quotes"))
def test_the_message_that_a_text_quotes(text: str, quoted: str) -> None:
    said = QuotedMessages()
    for message in SAID:
        said.add(*message)
    assert said.quoted_by(text) == quoted


@pytest.mark.requirement("S0-15", "S0-27", "S0-38")
def test_a_quote_in_an_export_is_an_edge_to_the_message(tmp_path: Path) -> None:
    config = archive.make(tmp_path)
    chat = tmp_path / "chats" / "WhatsApp Chat with Hiking.txt"
    chat.write_text(
        chat.read_text() + "15/02/2024, 08:00 - Petr Kolar: > The boiler of the cabin\nI call the plumber\n"
    )
    archive.first_sync(config)
    with Archive.open(config) as opened:
        query = "SELECT asset_id, parent_asset_id FROM records WHERE text LIKE {}"
        (reply,) = opened._catalog.execute(query.format("'> The boiler%'")).fetchall()
        (question,) = opened._catalog.execute(query.format("'The boiler of the cabin is%'")).fetchall()
        assert reply[1] == question[0]
        (edge,) = opened.neighbors(reply[0], ["reply_to"])
    assert (edge.asset_ref, edge.direction) == (question[0], "out")
