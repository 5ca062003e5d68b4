"""Citations lead to documents and pages."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from relrag_query.graphrag.citations import Dataset, Reference, parse
from relrag_query.graphrag.index import Index, open_index
from relrag_query.graphrag.trace import PER_REFERENCE, State, resolve, resolve_nested, roll_up, trace
from tests import agile_index
from tests.agile_index import ANSWER, COOPER, PLAN, SCHWABER


@pytest.fixture(scope="module")
def agile(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return open_index(agile_index.write(tmp_path_factory.mktemp("agile")))


@pytest.fixture(scope="module")
def carol(shared_data: Path) -> Index:
    folder = shared_data / "graphrag_christmas_carol"
    if not folder.is_dir():
        pytest.skip("no index of A Christmas Carol among the shared test data")
    return open_index(folder)


@pytest.mark.requirement("S1-5", "S1-7", "S1-10", "S1-11", "S1-14", "S1-17")
def test_what_is_agile(agile: Index) -> None:
    found = trace(ANSWER, agile, "what is agile")
    assert found.count(Dataset.REPORTS) == 7
    rows = {(one.document, one.page_number) for one in found.sources}
    assert rows == {(name, page) for pages in PLAN["communities"].values() for name, page in pages}
    assert len(found.sources) == 15
    quotes = {(one.document, one.page_number): one.quote for one in found.sources}
    assert "Agile methodologies have become central to NPD processes" in quotes[COOPER, 17]
    assert "The integration of Agile into Stage-Gate systems" in quotes[COOPER, 18]
    assert "Scrum is the most widely used Agile framework" in quotes[SCHWABER, 5]
    assert all(0 < len(quote) <= 200 for quote in quotes.values())


def test_one_row_a_document(agile: Index) -> None:
    rows = roll_up(trace(ANSWER, agile).sources)
    assert {one.document: pages for one, pages in rows} == {
        COOPER: [3, 5, 7, 8, 9, 11, 14, 15, 16, 17, 18],
        SCHWABER: [1, 2, 3, 5],
    }
    assert {one.document: one.chunk_count for one, _ in rows} == {COOPER: 11, SCHWABER: 4}


def test_the_page_that_supports_the_sentence_comes_first(agile: Index) -> None:
    found = trace("Scrum is the framework that most teams use [Data: Reports (47, 21, 12)].", agile)
    assert (found.sources[0].document, found.sources[0].page_number) == (SCHWABER, 5)
    assert found.sources[0].cited_by == (Reference(Dataset.REPORTS, 47),)


@pytest.mark.requirement("S1-14")
def test_of_what_a_report_leads_to_that_comes_first_which_is_near_the_question(agile: Index) -> None:
    def likeness(texts: Sequence[str]) -> list[float]:
        return [0.9 if "Stage-Gate systems" in text else 0.8 if "Scrum" in text else 0.7 for text in texts]

    near = trace(ANSWER, agile, "what is agile", likeness=likeness).sources
    assert (near[0].document, near[0].page_number, near[0].score) == (COOPER, 18, 0.9)
    assert {source.document for source in near if source.score == 0.8} == {SCHWABER}
    scores = [source.score for source in near]
    assert scores == sorted(scores, reverse=True)
    assert trace(ANSWER, agile, "what is agile", likeness=lambda texts: None) == trace(ANSWER, agile, "what is agile")


def test_numbers_that_the_index_does_not_have(agile: Index) -> None:
    found = trace("So it is [Data: Reports (99); Entities (5, 400); Sources (24); Claims (0)].", agile)
    assert [(str(one.reference), one.state) for one in found.references] == [
        ("Reports (99)", State.UNRESOLVED),
        ("Entities (5)", State.RESOLVED),
        ("Entities (400)", State.UNRESOLVED),
        ("Sources (24)", State.UNRESOLVED),
        ("Claims (0)", State.UNRESOLVED),
    ]
    assert [(one.document, one.page_number) for one in found.sources] == [(COOPER, 14)]


def test_a_report_leads_to_what_its_own_text_cites(agile: Index) -> None:
    """Community 5 is about pages 17, 18 and 3 of Cooper; its report here cites page 18 and, outside of it, page 1."""
    reports = agile.tables["community_reports"].copy()
    reports.loc[reports["community"] == 5, "full_content"] = "Gates [Data: Entities (17, 0, 77)]."
    index = Index(agile.folder, agile.layout, agile.tables | {"community_reports": reports}, ())
    found = resolve(Reference(Dataset.REPORTS, 5), index)
    assert found.text_units == (17,)
    assert [one.state for one in found.nested] == [State.RESOLVED, State.OUTSIDE, State.UNRESOLVED]


@pytest.mark.requirement("S1-3")
@pytest.mark.parametrize(
    ("answer", "reports"),
    [
        ("One [Data: Reports (5)]. Two [Data: Reports (5)].", 1),
        ("One [Data: Reports (5, 5, 3)].", 2),
        ("One [Data: Reports (5); Entities (5)]. Two [Data: Reports (3, 5)].", 2),
    ],
)
def test_a_report_that_is_cited_again_counts_once(agile: Index, answer: str, reports: int) -> None:
    assert trace(answer, agile).count(Dataset.REPORTS) == reports


@pytest.mark.requirement("S1-4")
@pytest.mark.parametrize("without", ["full_content", "text_unit_ids"])
def test_a_report_without_citations_leads_to_its_community(agile: Index, without: str) -> None:
    communities = agile.tables["communities"]
    if without == "text_unit_ids":  # then to the text units of its entities
        communities = communities.assign(text_unit_ids=None)
    index = Index(agile.folder, agile.layout, agile.tables | {"communities": communities}, ())
    assert resolve(Reference(Dataset.REPORTS, 3), index).text_units == (4, 16)


def test_a_large_report_does_not_give_all_its_pages() -> None:
    count = 500
    texts = [f"Page {place} speaks of the garden." for place in range(count)]
    texts[321] = "Page 321 speaks of the boiler that was repaired."
    units = pd.DataFrame(
        {"id": [f"u{place}" for place in range(count)], "text": texts, "document_id": "d"}, index=range(count)
    )
    tables = _small(units)
    tables["communities"] = pd.DataFrame(
        {"community": [1], "entity_ids": [[]], "relationship_ids": [[]], "text_unit_ids": [list(units["id"])]}
    )
    tables["community_reports"] = pd.DataFrame({"community": [1], "title": ["House"], "full_content": [""]})
    found = trace("The boiler was repaired [Data: Reports (1)].", Index(Path(), "3.x", tables, ()))
    (only,) = found.sources
    assert only.chunk_count == PER_REFERENCE
    assert only.quote == "Page 321 speaks of the boiler that was repaired."


@pytest.mark.requirement("S1-6", "S1-8", "S1-9", "S1-10", "S1-11")
def test_documents_that_are_chunks_of_another_store() -> None:
    """As the seed has it: a document of the index is a chunk, whose page the store knows; 50 ids a call."""
    count = 60
    units = pd.DataFrame(
        {
            "id": [f"u{place}" for place in range(count)],
            "text": "Agile",
            "document_id": [f"c{place}" for place in range(count)],
        }
    )
    documents = pd.DataFrame({"id": units["document_id"], "title": "chunk", "text": "Agile"})
    asked: list[int] = []

    def chunks(ids: Sequence[str]) -> list[dict[str, Any]]:
        asked.append(len(ids))
        return [
            {
                "id": one,
                "document": {"original_filename": "Scrum.pdf"},
                "chunk_metadata": {"page_number": int(one[1:]) // 2},
            }
            for one in ids
            if one != "c0"
        ]

    cited = "".join(f"Agile [Data: Sources ({place})]." for place in range(count))
    found = trace(cited, Index(Path(), "2.x", _small(units) | {"documents": documents}, ()), chunks=chunks)
    assert asked == [50, 10]
    rows = {(one.document, one.page_number): one.chunk_count for one in found.sources}
    assert rows == {("chunk", None): 1, ("Scrum.pdf", 0): 1} | {("Scrum.pdf", page): 2 for page in range(1, 30)}


def test_a_document_that_the_index_does_not_have_is_unknown() -> None:
    units = pd.DataFrame({"id": ["u"], "text": ["Agile"], "document_id": ["gone"]})
    (only,) = trace("Agile [Data: Sources (0)].", Index(Path(), "3.x", _small(units), ())).sources
    assert (only.document, only.page_number) == ("Unknown", None)


def test_pages_from_the_table_beside_the_index() -> None:
    units = pd.DataFrame({"id": ["u"], "text": ["Agile"], "document_id": ["d"]})
    beside = pd.DataFrame({"text_unit_id": ["u"], "chunk_id": ["chunk"], "page_number": [3], "last_page_number": [4]})
    documents = pd.DataFrame({"id": ["d"], "title": ["Scrum.pdf"], "text": ["Agile"]})
    tables = _small(units) | {"text_unit_chunks": beside, "documents": documents}
    (only,) = trace("Agile [Data: Sources (0)].", Index(Path(), "3.x", tables, ())).sources
    assert (only.document, only.page_number, only.last_page_number) == ("Scrum.pdf", 3, 4)
    assert only.chunk_ids == ("chunk",)


@pytest.mark.requirement("S1-4")
def test_every_citation_of_a_christmas_carol(carol: Index) -> None:
    """The figures are those that the data's own SOURCE.md counts, repeats included."""
    reports = carol.tables["community_reports"]
    citations = 0
    states: Counter[tuple[str, str]] = Counter()
    for community, content in zip(reports["community"], reports["full_content"], strict=True):
        nested = {one.reference: one.state for one in resolve_nested(content, community, carol)}
        for citation in parse(content):
            citations += 1
            assert citation.references
            assert citation.unread == ()
            states.update((one.dataset.value, nested[one].value) for one in citation.references)
    assert citations == 855
    assert states == {
        ("Entities", "resolved"): 1774,
        ("Entities", "outside"): 20,
        ("Entities", "unresolved"): 9,
        ("Relationships", "resolved"): 1517,
        ("Relationships", "outside"): 494,
    }


@pytest.mark.requirement("S1-4")
def test_every_report_of_a_christmas_carol_leads_to_text(carol: Index) -> None:
    cited = "".join(f"[Data: Reports ({number})]" for number in range(122))
    found = trace(cited, carol)
    assert {one.state for one in found.references} == {State.RESOLVED}
    assert all(one.text_units for one in found.references)
    assert [one.document for one in found.sources] == ["a-christmas-carol.txt"]


def test_every_claim_of_a_christmas_carol_leads_to_its_text_unit(carol: Index) -> None:
    claims = carol.tables["covariates"]
    found = [resolve(Reference(Dataset.CLAIMS, number), carol) for number in claims["human_readable_id"]]
    units = carol.tables["text_units"]["id"]
    assert [[units[unit] for unit in one.text_units] for one in found] == [[one] for one in claims["text_unit_id"]]


def _small(units: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """An index of text units alone."""
    columns = {
        "documents": ("id", "title", "text"),
        "entities": ("id", "human_readable_id", "title", "text_unit_ids"),
        "relationships": ("id", "human_readable_id", "source", "target", "text_unit_ids"),
        "communities": ("community", "entity_ids", "relationship_ids", "text_unit_ids"),
        "community_reports": ("community", "title", "full_content"),
        "covariates": ("id", "human_readable_id", "text_unit_id"),
        "text_unit_chunks": ("text_unit_id", "chunk_id", "page_number", "last_page_number"),
    }
    return {"text_units": units} | {
        name: pd.DataFrame({column: pd.Series(dtype=object) for column in of}) for name, of in columns.items()
    }
