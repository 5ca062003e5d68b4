"""What may name something, and what of it is an entity."""

from collections.abc import Sequence

import pandas as pd
import pytest

from relrag_pipelines.graphrag import repeats
from relrag_pipelines.graphrag.entity_candidates import EntityType, candidates
from relrag_pipelines.graphrag.entity_selection import Mention, Selection, select
from relrag_pipelines.graphrag.known_people import KnownPeople, plain_name
from relrag_pipelines.graphrag.nouns import Nouns
from tests.cases import cases

NAME, NUMBER, FILE, QUOTATION, TERM = (
    EntityType.NAME,
    EntityType.NUMBER,
    EntityType.FILE,
    EntityType.QUOTATION,
    EntityType.TERM,
)


@pytest.mark.parametrize(
    ("text", "type_", "found"),
    [
        ("we met Alex Rubin in Tel Aviv.", NAME, ["Alex Rubin", "Tel Aviv"]),
        ("The Bank of Israel and Marie Dvořáková", NAME, ["The Bank of Israel", "Marie Dvořáková"]),
        ("ask O'Neil-Smith at AT&T", NAME, ["O'Neil-Smith", "AT&T"]),
        ("send contract_v2.pdf and Photo 1.JPG", FILE, ["contract_v2.pdf", "1.JPG"]),
        ("INV-1187 and order 204881736", NUMBER, ["INV-1187", "204881736"]),
        ('he called it "the big freeze", then "ice"', QUOTATION, ["the big freeze"]),
        ("nazval to „velká zima“", QUOTATION, ["velká zima"]),
        ("the boiler of the cabin", TERM, ["boiler", "cabin"]),
        ("ההצגה בתל אביב", TERM, ["ההצגה", "בתל", "אביב"]),
        ("don't, I'm", TERM, []),
        ("in March and on Monday", NAME, ["March", "Monday"]),
        ("call <PHONE_NUMBER:k1:7b0fab951de2> or dana@levi.example, see https://Levi.example/Boiler", NAME, []),
    ],
)
def test_candidates(text: str, type_: EntityType, found: list[str]) -> None:
    assert [one.text for one in candidates(text) if one.type == type_] == found
    assert all(text[one.start : one.start + len(one.text)] == one.text for one in candidates(text))


def selected(*texts: str, people: Sequence[Mention] = (), options: Selection | None = None) -> list[Mention]:
    found = [candidates(text) for text in texts]
    return select(found, people, Nouns(found), options or Selection())


def mentions(*texts: str, options: Selection | None = None) -> dict[str, list[int]]:
    """Of each key the texts that name it."""
    found: dict[str, dict[int, None]] = {}
    for one in selected(*texts, options=options):
        found.setdefault(one.key, {})[one.unit] = None
    return {key: list(units) for key, units in found.items()}


def test_a_capital_at_the_beginning_of_a_sentence_is_no_name() -> None:
    found = mentions("Yesterday it rained in Brno.", "Yesterday it snowed in Brno.")
    assert found == {"brno": [0, 1]}


def test_a_capital_counts_where_the_word_is_mostly_written_with_one() -> None:
    texts = ["see the Contract", "the contract of May", "a contract is a contract", "I saw Brno", "in Brno"]
    assert "contract" not in {one.key for one in selected(*texts) if one.type == NAME}
    assert mentions(*texts)["brno"] == [3, 4]


def test_a_first_name_that_begins_every_sentence_stays() -> None:
    assert mentions("Dana Levi called.", "Dana Levi wrote.") == {"dana levi": [0, 1]}


def test_months_and_days_are_no_names() -> None:
    assert mentions("we met in March on a Monday", "they met in March on a Monday") == {}


FILLER = [f"plain afternoon {place}" for place in range(20)]


@pytest.mark.parametrize(*cases(__file__, "words_that_are_used_as_nouns_are_terms"))
def test_words_that_are_used_as_nouns_are_terms(texts: list[str], terms: dict[str, list[int]]) -> None:
    found = mentions(*texts, *FILLER)
    assert {key: found[key] for key in terms if key in found} == terms
    if not terms:
        assert found == {}


def test_a_word_that_is_seldom_seen_is_judged_by_its_ending() -> None:
    nouns = Nouns(
        [candidates(text) for text in ["I am walking", "you are talking", "a nation, the station, my ration"]]
    )
    assert nouns.likely(nouns.key("nation")) > 0.6 > nouns.likely(nouns.key("walking"))


def test_words_side_by_side_are_a_term_of_their_own() -> None:
    texts = ["the garden wall is hollow", "rebuild the garden wall", "the garden sleeps", "a garden by the sea"]
    assert mentions(*texts, *FILLER) == {"garden wall": [0, 1], "garden": [0, 1, 2, 3]}


def test_lines_that_several_documents_repeat_name_nothing() -> None:
    signature = "Sent from the Nimbus gateway"
    texts = [f"{said}\n{signature}" for said in ("one", "two", "three")]
    assert repeats.blank(texts, ["a", "b", "c"]) == [f"{text[: -len(signature)]}{' ' * 28}" for text in texts]
    assert repeats.blank(texts, ["a", "b", "b"]) == texts


@pytest.mark.parametrize("title", ["Mrs", "Dr.", "pan", "Ing."])
def test_titles_are_no_part_of_a_name(title: str) -> None:
    assert mentions(f"we met {title} Kolar there", f"they met {title} Kolar again") == {"kolar": [0, 1]}


def test_hebrew_prefixes_are_taken_off_where_the_rest_is_a_word() -> None:
    texts = ["כרטיסים, כרטיסים", "הכרטיסים, הכרטיסים", "וכרטיסים"]
    assert mentions(*texts, *FILLER) == {"כרטיס": [0, 1, 2]}


def test_a_text_unit_has_so_many_entities_at_most() -> None:
    texts = ["INV-1187, INV-2000 about Brno, Oslo"] * 2
    options = Selection(per_text_unit=3)
    assert mentions(*texts, options=options) == {"inv-1187": [0, 1], "inv-2000": [0, 1], "brno": [0, 1]}


def test_what_is_named_once_is_no_entity() -> None:
    assert mentions("in Brno", "in Oslo") == {}
    assert mentions("in Brno", "in Oslo", options=Selection(min_frequency=1)) == {"brno": [0], "oslo": [1]}


PEOPLE = [(1, "Dana Levi"), (1, "דנה לוי"), (2, "Doron"), (3, "Doron"), (4, "May")]


def known(*senders: str) -> KnownPeople:
    return KnownPeople(pd.DataFrame(PEOPLE, columns=["person_id", "name"]), senders)


def test_people_are_found_by_every_name_of_theirs() -> None:
    found = list(known().mentions(0, "dana levi wrote; לדנה לוי יש, Dana Levison not", []))
    assert [(one.key, one.text, one.start) for one in found] == [
        ("person:1", "dana levi", 0),
        ("person:1", "דנה לוי", 18),
    ]


def test_people_of_one_name_have_titles_of_their_own() -> None:
    assert known().titles == {
        "person:1": "Dana Levi",
        "person:2": "Doron (2)",
        "person:3": "Doron (3)",
        "person:4": "May",
    }


def test_senders_are_people_also_where_the_text_does_not_name_them() -> None:
    people = known("Ota Malý", "Dana Levi")
    found = list(people.mentions(7, "yes", ["Ota Malý <ota@maly.example>", "Dana Levi", "+420 777 123 456"]))
    assert [(one.unit, one.key, one.start) for one in found] == [(7, "person:ota malý", -1), (7, "person:1", -1)]
    assert people.person_ids == {"person:1": 1, "person:2": 2, "person:3": 3, "person:4": 4}


def test_a_name_that_is_a_word_as_well_is_not_looked_for() -> None:
    assert list(known().mentions(0, "in May we may", [])) == []


@pytest.mark.parametrize(*cases(__file__, "names_of_senders"))
def test_names_of_senders(sender: str, name: str) -> None:
    assert plain_name(sender) == name


def test_people_win_over_names_within_them() -> None:
    text = "with Dana Levi in Brno"
    people = list(known().mentions(0, text, [])) + list(known().mentions(1, text, []))
    found = selected(text, text, people=people)
    assert [(one.unit, one.key, one.text) for one in found] == [
        (0, "person:1", "Dana Levi"),
        (0, "brno", "Brno"),
        (1, "person:1", "Dana Levi"),
        (1, "brno", "Brno"),
    ]
    assert isinstance(found[0], Mention)
