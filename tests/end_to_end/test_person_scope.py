"""A question that names a person is searched among that person's records too."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from relrag_query.archive import Archive
from tests import archive

SETTINGS = """
archive = "boiler"
keys_file = "test.keys"
timezone = "Europe/Prague"
pii_regions = ["IL"]
pii_redaction_enabled = true
embedder = "{embedder}"

[[sources]]
name = "chat"
kind = "whatsapp"
path = "chats"

[[sources]]
name = "cards"
kind = "contacts"
path = "cards.vcf"
"""
CARD = "BEGIN:VCARD\nVERSION:3.0\nFN:Noa Ben-Ami\nTEL;TYPE=CELL:+972 52-765-4321\nEND:VCARD\n"
CHAT = """\
13/01/2024, 10:15 - +972 52-765-4321: The boiler leaks at the valve again, the plumber comes on Thursday
13/01/2024, 10:16 - Jonah Pickel: Thanks, I will be at home
"""
OTHERS = """\
14/01/2024, 09:00 - Petr Kolar: Is the boiler of the cabin old?
14/01/2024, 09:05 - Jonah Pickel: Noa told me once that boilers are boring
15/01/2024, 09:05 - Petr Kolar: The boiler room has a new lock
"""


@pytest.fixture(scope="module", params=["none", "e5"])
def opened(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Archive]:
    folder = tmp_path_factory.mktemp("boiler")
    (folder / "relrag.toml").write_text(SETTINGS.format(embedder=request.param))
    (folder / "cards.vcf").write_text(CARD)
    (folder / "chats").mkdir()
    (folder / "chats" / "WhatsApp Chat with Noa.txt").write_text(CHAT)
    (folder / "chats" / "WhatsApp Chat with Cabin.txt").write_text(OTHERS)
    archive.first_sync(folder / "relrag.toml")
    with Archive.open(folder / "relrag.toml") as built:
        yield built


@pytest.mark.requirement("S0-5", "S0-6", "S0-56", "S0-62")
def test_what_a_person_wrote_from_a_number_on_a_card_comes_first(opened: Archive) -> None:
    answer = opened.ask("What did Noa say about the boiler?")
    first = answer.quotes[0]
    assert "The boiler leaks at the valve again" in first.text
    assert first.sender == "Noa Ben-Ami"


def test_a_question_about_somebody_unknown_is_not_narrowed(opened: Archive) -> None:
    answer = opened.ask("What did Berta say about the boiler?")
    assert any("boiler" in quote.text for quote in answer.quotes)
    assert not any("have to do with people" in line for line in answer.trace)
