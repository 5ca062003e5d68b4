"""A question that names a person is searched among that person's records too."""

from __future__ import annotations

import re
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
CARD = "BEGIN:VCARD\nVERSION:3.0\nFN:Noa Ben-Ami\nTITLE:dentist\nTEL;TYPE=CELL:+972 52-765-4321\nEND:VCARD\n"
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


@pytest.mark.requirement("S0-6", "S0-56", "S4-11")
@pytest.mark.parametrize(
    "question",
    ["What did Noa say about the boiler?", "What did Noa write about the valve?", "When does Noa's plumber come?"],
)
def test_facts_of_who_is_named_join_the_same_steps_and_are_shown_without_the_filter(
    opened: Archive, question: str
) -> None:
    answer = opened.ask(question)
    (step,) = [line for line in answer.trace if line.startswith("7 people: ")]
    before, after = (int(number) for number in re.findall(r"(\d+) in, (\d+) out", step)[0])
    assert (before > 0, after - before) == (True, 1)
    assert all(source.hit.source != "entity_store" for source in answer.sources)
    with Archive.of(opened.settings.model_copy(update={"source_display_filter_enabled": False})) as unfiltered:
        facts = [source for source in unfiltered.ask(question).sources if source.hit.source == "entity_store"]
    assert [source.hit.text for source in facts] == ["Noa Ben-Ami\noccupation: dentist"]


@pytest.mark.requirement("S0-56")
def test_a_question_about_a_person_goes_through_the_same_steps(opened: Archive) -> None:
    answer = opened.ask("Who is Noa?")
    assert answer.people
    assert {"1", "2", "3", "4", "5", "6", "7", "8"} <= {line[0] for line in answer.trace}


def test_a_question_about_somebody_unknown_is_not_narrowed(opened: Archive) -> None:
    answer = opened.ask("What did Berta say about the boiler?")
    assert any("boiler" in quote.text for quote in answer.quotes)
    assert not any("have to do with people" in line for line in answer.trace)
