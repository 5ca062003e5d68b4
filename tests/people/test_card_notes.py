"""What notes on contact cards say of their people."""

from __future__ import annotations

import pytest

from relrag_pipelines.identity.mentions import MentionFinder
from relrag_pipelines.people import card_notes
from tests.cases import cases

OWNER, PAVEL, EITAN, RADKA, DANA = 1, 2, 3, 4, 5
FINDER = MentionFinder(
    {
        OWNER: ["Tereza Vaňková"],
        PAVEL: ["Pavel Vaněk"],
        EITAN: ["Eitan Barzilay", "איתן ברזילי"],
        RADKA: ["Radka Vaňková"],
        DANA: ["Dana Levi", "דנה לוי"],
    }
)


@pytest.mark.parametrize(
    ("name", "person_id", "note", "said"),
    [
        ("Radka Vaňková", RADKA, "Pavlova žena", (PAVEL, RADKA, "spouse")),
        ("Dana Levi", DANA, "Eitan's sister", (EITAN, DANA, "sibling")),
        ("Dana Levi", DANA, "sister of Eitan Barzilay", (EITAN, DANA, "sibling")),
        ("דנה לוי", DANA, "אחות של איתן", (EITAN, DANA, "sibling")),
        ("Dana Levi", DANA, "sister", (OWNER, DANA, "sibling")),
        ("Dana Levi", DANA, "my sister", (OWNER, DANA, "sibling")),
        ("Radka Vaňková", RADKA, "sestra", (OWNER, RADKA, "sibling")),
        ("Dana Levi", DANA, "boss: Pavel", (DANA, PAVEL, "manager")),
        ("Dana Levi", DANA, "husband Eitan Barzilay", (DANA, EITAN, "spouse")),
        ("Dana Levi", DANA, "mentor Pavel", None),  # his, or he is
        ("Radka Vaňková", RADKA, "matka Pavla", (PAVEL, RADKA, "parent")),  # his, who is no parent of hers
        ("Dana Levi", DANA, "אחות איתן", None),  # his
        ("Dana Levi", DANA, "אחות דנה", None),  # she herself
        ("Dana Levi", DANA, "teacher Pavel", None),  # his, or he is
        ("Dana Levi", DANA, "goalkeeper", None),
        ("Dana Levi", DANA, "plumber", None),  # an occupation, and of nobody
        ("Dana Levi", DANA, "knows Eitan's sister", None),
        ("Dana Levi", DANA, "David", None),
        ("Dana Levi", DANA, "birthday: 1990-03-03", None),
        ("Dana Levi", DANA, "met at the wedding of my sister in Brno", None),
    ],
)
def test_a_note_says_what_somebody_is(name: str, person_id: int, note: str, said: tuple[int, int, str] | None) -> None:
    found = [*card_notes.relations([note], name, person_id, OWNER, FINDER)]
    assert found == ([(*said, note)] if said else [])


def test_a_note_begins_with_what_somebody_is() -> None:
    for note, said in (("sousedka, má klíče od sklepa", "neighbor"), ("landlord (flat)", "landlord")):
        quote = note.split()[0].strip(",")
        found = [*card_notes.relations([note], "Dana Levi", DANA, OWNER, FINDER)]
        assert found == [(OWNER, DANA, said, quote)]


def test_each_part_of_a_note_may_say_who_is_what_to_its_person() -> None:
    note = "Pavel's sister, husband Eitan Barzilay"
    assert {one[:3] for one in card_notes.relations([note], "Dana Levi", DANA, OWNER, FINDER)} == {
        (PAVEL, DANA, "sibling"),
        (DANA, EITAN, "spouse"),
    }


@pytest.mark.parametrize(*cases(__file__, "a_note_tells_an_occupation"))
def test_a_note_tells_an_occupation(note: str, said: str | None) -> None:
    assert card_notes.occupation([note]) == said


def test_the_owners_own_card_says_nothing_of_him() -> None:
    assert [*card_notes.relations(["sister"], "Tereza Vaňková", OWNER, OWNER, FINDER)] == []


def test_a_note_of_an_owner_nobody_knows_says_nothing_of_him() -> None:
    assert [*card_notes.relations(["sister"], "Dana Levi", DANA, None, FINDER)] == []


@pytest.mark.parametrize("notes", [None, "vet", [1], [{"text": "vet"}], {"vet": 1}, [None]])
def test_what_are_no_notes_is_passed_over(notes: object) -> None:
    assert card_notes.read({"notes": notes}) == card_notes.read({}) == []


def test_notes_are_read_beside_what_are_none() -> None:
    assert card_notes.read({"notes": [1, "vet", None]}) == ["vet"]
