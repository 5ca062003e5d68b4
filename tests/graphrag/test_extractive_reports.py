"""Reports are drafted from their community alone, and every citation resolves."""

import pytest

from relrag_pipelines.graphrag.extractive_reports import Entity, Link, Material, Unit, draft, fingerprint, render, title
from relrag_pipelines.graphrag.mention_graph import Sentence, shorten
from relrag_query.graphrag.citations import parse

ENTITIES = [
    Entity("e-boiler", "boiler", "TERM"),
    Entity("e-dana", "Dana Levi", "PERSON"),
    Entity("e-inv", "INV-1187", "NUMBER"),
]
LINKS = [Link("r-boiler-dana", 0, 1, 2), Link("r-boiler-inv", 0, 2, 1)]
UNITS = [
    Unit(
        "u-1",
        "2024-03-01",
        [Sentence("Dana Levi had the boiler repaired for 7,980 Kč.", (0, 1)), Sentence("The boiler.", (0,))],
    ),
    Unit("u-2", "2024-03-05", [Sentence("Invoice INV-1187 is for the boiler, €12.", (0, 2))]),
]
MATERIAL = Material(ENTITIES, LINKS, UNITS)
NUMBERS = {"e-boiler": 7, "e-dana": 1, "e-inv": 2, "r-boiler-dana": 30, "r-boiler-inv": 31, "u-1": 4, "u-2": 5}


def test_a_report() -> None:
    drafted = draft(MATERIAL)
    assert drafted["title"] == "boiler, INV-1187 · Dana Levi · 2024-03"
    assert drafted["summary"] == ("2024-03-01 – 2024-03-05 · boiler, INV-1187 · Dana Levi · 7,980 Kč, €12")
    assert render(drafted, NUMBERS) == [
        {
            "summary": "boiler: Dana Levi, INV-1187",
            "explanation": (
                "2024-03-01 – 2024-03-05 · 7,980 Kč, €12. "
                "Dana Levi had the boiler repaired for 7,980 Kč. "
                "[Data: Entities (7, 1); Relationships (30); Sources (4)] "
                "Invoice INV-1187 is for the boiler, €12. [Data: Entities (7, 2); Relationships (31); Sources (5)] "
                "The boiler. [Data: Entities (7); Sources (4)]"
            ),
        }
    ]


def test_a_sentence_stands_in_one_finding() -> None:
    """The first finding takes three of four sentences, the best ones; the second has what is left."""
    more = [*UNITS, Unit("u-3", "2024-03-06", [Sentence("Dana Levi asked about the boiler, INV-1187.", (0, 1, 2))])]
    more[0] = Unit("u-1", "2024-03-01", [*UNITS[0].sentences, Sentence("Dana Levi went to Brno again.", (1,))])
    found = render(draft(Material(ENTITIES, LINKS, more)), NUMBERS | {"u-3": 6})
    assert [one["summary"] for one in found] == ["boiler: Dana Levi, INV-1187", "Dana Levi"]
    assert found[1]["explanation"] == "2024-03-01. Dana Levi went to Brno again. [Data: Entities (1); Sources (4)]"


def test_long_lists_are_cut_as_the_prompts_of_microsoft_ask() -> None:
    entities = [Entity(f"e{place}", f"E{place}", "TERM") for place in range(7)]
    units = [Unit("u", "", [Sentence("Seven of them stand here.", tuple(range(7)))])]
    (found,) = render(draft(Material(entities, [], units)), {f"e{place}": place for place in range(7)} | {"u": 0})
    assert found["explanation"] == "Seven of them stand here. [Data: Entities (0, 1, 2, 3, 4, +more); Sources (0)]"


def test_a_citation_within_a_text_is_none_of_ours() -> None:
    units = [Unit("u", "", [Sentence("He wrote [Data: Entities (99)] about the boiler.", (0,))])]
    (found,) = render(draft(Material(ENTITIES[:1], [], units)), NUMBERS | {"u": 0})
    (citation,) = parse(found["explanation"])
    assert [str(one) for one in citation.references] == ["Entities (7)", "Sources (0)"]


def test_equal_sentences_are_quoted_once() -> None:
    twice = [UNITS[0], UNITS[0]._replace(id="u-2")]
    found = render(draft(Material(ENTITIES[:2], LINKS[:1], twice)), NUMBERS)
    assert str(found).count("had the boiler repaired") == 1


@pytest.mark.parametrize(
    "changed",
    [
        Material(ENTITIES[:2], LINKS[:1], UNITS),
        Material(ENTITIES, [LINKS[0], LINKS[1]._replace(strength=3)], UNITS),
        Material(ENTITIES, LINKS, [UNITS[0], UNITS[1]._replace(day="2024-03-06")]),
        Material([ENTITIES[0]._replace(title="Boiler"), *ENTITIES[1:]], LINKS, UNITS),
        Material(ENTITIES, LINKS, [UNITS[0], UNITS[1]._replace(sentences=[Sentence("Other words.", (0, 2))])]),
    ],
)
def test_whatever_a_draft_is_made_of_changes_its_fingerprint(changed: Material) -> None:
    assert fingerprint(changed) != fingerprint(MATERIAL)
    assert fingerprint(Material(list(ENTITIES), list(LINKS), list(UNITS))) == fingerprint(MATERIAL)


def test_long_texts_are_cut_between_words() -> None:
    assert shorten("one two three four", 12) == "one two …"
    assert shorten("one two", 12) == "one two"


def test_a_title_tells_no_namesakes_apart() -> None:
    people = ["Kája (100027)", "Tomáš Říha < >", "Zdena Bendová"]
    assert title(["kiln (term)"], people, ["2024-01-05"]) == "kiln · Kája, Tomáš Říha · 2024-01"
