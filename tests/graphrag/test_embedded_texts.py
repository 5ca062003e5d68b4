"""What of entities and relationships is embedded, to the letter."""

import pytest

from relrag_pipelines.graphrag.build import build
from relrag_pipelines.graphrag.embedded_texts import edge_text, embedded_texts, entity_text
from relrag_pipelines.graphrag.mention_graph import COOCCURRENCE
from relrag_pipelines.identity.relationship_text import relationship_text
from tests.passages import ARCHIVE, table


@pytest.mark.requirement("S2-2")
def test_a_relationship_has_the_text_that_one_between_people_has() -> None:
    said = "Petr Kolar paid invoice INV-1187."
    assert edge_text(said, 1) == "Petr Kolar paid invoice INV-1187. related distant"
    assert edge_text(said, 4) == relationship_text(said, "related", None, 3)


@pytest.mark.parametrize(
    ("units", "word"),
    [(1, "distant"), (2, "acquainted"), (3, "familiar"), (5, "close"), (9, "close"), (10, "very_close")],
)
def test_how_near_two_are_is_told_by_the_passages_that_name_both(units: int, word: str) -> None:
    assert edge_text("", units) == f"related {word}"


def test_every_entity_and_relationship_has_a_text() -> None:
    tables = build(table(ARCHIVE))
    texts = dict(embedded_texts(tables))
    assert texts.keys() == {*tables["entities"]["id"], *tables["relationships"]["id"]}
    boiler = tables["entities"].set_index("title").loc["boiler"]
    assert texts[boiler["id"]] == f"boiler: {boiler['description']}"
    assert entity_text("boiler", "") == "boiler"
    together = [one for one in tables["relationships"]["description"] if one.endswith(COOCCURRENCE)]
    assert all(one.count(" and ") >= 1 for one in together)
