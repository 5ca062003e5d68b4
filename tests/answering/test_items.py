"""Lists, courses of a matter, and questions of several parts: what an answer consists of follows from the question."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from relrag_query.answering import excerpts
from relrag_query.answering.candidates import candidates
from relrag_query.answering.features import FEATURES, SentenceScorer
from relrag_query.answering.ranker import RankedCandidate
from relrag_query.archive import Archive
from relrag_query.cli import render
from relrag_query.retrieval.hit import Hit
from tests.cases import cases
from tests.query_hits import passages, publish, record, window

MAIL = {"source": "mail", "rag_source_type": "email"}
TABLE = (
    "supplier: Delmas Ltd; goods: tyres and tubes; delivery: five days; discount: 8 %\n"
    "supplier: Oukil Parts; goods: brakes, cables and saddles; delivery: ten days; discount: 5 %\n"
    "supplier: Rey Joinery; goods: benches and shelves; delivery: three weeks; discount: none"
)
NOTES = """Decisions of the board

- The fee rises to 18 euros.
- Hugo replaces the compressor.
- Opening is on Wednesday."""

ALLERGENS = """Allergens of products

| product | gluten | eggs |
|---|---|---|
| baguette | yes | no |
| almond tart | no | yes |"""
SHOPS = """# Second workshop?

Places seen: Bouzas, Cangas and Moaña."""


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Archive]:
    """A workshop: a table, minutes with bullets, invoices, and what became of a leak."""
    records = [
        record("document:table", TABLE, "2025-01-05T10:00:00Z", source="docs", rag_source_type="documentation",
               file_name="suppliers.csv", subject="suppliers", date_quality="day"),
        record("document:board", NOTES, "2025-04-15T00:00:00Z", source="docs", rag_source_type="documentation",
               file_name="board.md", subject="Board meeting", date_quality="day"),
        record("document:allergens", ALLERGENS, "2025-02-05T10:00:00Z", source="docs", rag_source_type="documentation",
               file_name="allergens.md", subject="Allergens", date_quality="day"),
        record("document:shops", SHOPS, "2025-02-07T10:00:00Z", source="docs", rag_source_type="documentation",
               file_name="shops.md", subject="Second workshop", date_quality="day"),
        record("gmail:i1", "Hello Claire,\n\nPlease find the invoice for twelve tyres, 412 euros.",
               "2025-01-14T08:00:00Z", from_="Delmas <a@x.example>", thread_id="i1", subject="Tyres", **MAIL),
        record("gmail:i2", "Dear Claire,\n\nthis is the invoice for eight brakes, 298 euros.", "2025-03-18T08:00:00Z",
               from_="Oukil <b@x.example>", thread_id="i2", subject="Brakes", **MAIL),
        record("gmail:party", "The party begins at eight, bring a cake.", "2025-03-20T08:00:00Z",
               from_="Dana <d@x.example>", thread_id="party", subject="Party", **MAIL),
        record("gmail:l3", "The leak is gone, the plumber changed a joint.", "2025-05-08T12:00:00Z",
               from_="Hugo <h@x.example>", thread_id="l3", subject="Repair", **MAIL),
        record("gmail:l1", "There is a leak in the store room.", "2025-05-05T08:00:00Z",
               from_="Yasmine <y@x.example>", thread_id="l1", subject="Water", **MAIL),
        record("gmail:l2", "Our plumber comes on 8 May because of the leak.", "2025-05-06T08:00:00Z",
               from_="Town <t@x.example>", thread_id="l2", subject="Visit", **MAIL),
    ]  # fmt: skip
    config = publish(tmp_path_factory.mktemp("items"), records)
    with Archive.open(config) as opened:
        yield opened


def test_the_rows_of_a_table_are_items_on_a_line_each(archive: Archive) -> None:
    answer = archive.ask("Which suppliers do we have?")
    assert answer.form == "list"
    assert [quote.text.partition(";")[0] for quote in answer.quotes] == [
        "supplier: Delmas Ltd",
        "supplier: Oukil Parts",
        "supplier: Rey Joinery",
    ]
    lines = render.answer_text(answer, ZoneInfo("UTC")).splitlines()
    assert lines[1].startswith("- 2025-01-05, suppliers: supplier: Oukil Parts; goods: brakes") and lines[3] == ""


def test_the_rows_of_a_table_in_markdown_are_items_with_the_names_of_its_columns(archive: Archive) -> None:
    assert [quote.text for quote in archive.ask("Which products hold eggs?").quotes] == [
        "product: baguette; gluten: yes; eggs: no",
        "product: almond tart; gluten: no; eggs: yes",
    ]


def test_a_heading_is_no_item(archive: Archive) -> None:
    (quote,) = archive.ask("Which places for a second workshop?").quotes
    assert quote.text == "Places seen: Bouzas, Cangas and Moaña."


def test_of_a_table_only_the_rows_that_fit_are_items(archive: Archive) -> None:
    texts = [quote.text for quote in archive.ask("Which suppliers sell benches?").quotes]
    assert len(texts) == 1 and texts[0].startswith("supplier: Rey Joinery")


def test_lines_with_bullets_are_items(archive: Archive) -> None:
    answer = archive.ask("List all decisions of the board")
    assert [quote.text for quote in answer.quotes] == [
        "The fee rises to 18 euros.",
        "Hugo replaces the compressor.",
        "Opening is on Wednesday.",
    ]


def test_other_records_give_the_sentence_that_fits_and_none_is_of_another_matter(archive: Archive) -> None:
    answer = archive.ask("Which invoices came?")
    shown = render.answer_text(answer, ZoneInfo("UTC"))
    assert {quote.text for quote in answer.quotes} == {
        "Please find the invoice for twelve tyres, 412 euros.",
        "this is the invoice for eight brakes, 298 euros.",
    }
    assert "- 2025-01-14, Delmas: Please find the invoice for twelve tyres, 412 euros. [" in shown
    assert "cake" not in shown


def test_the_course_of_a_matter_is_told_in_order_of_time(archive: Archive) -> None:
    answer = archive.ask("What happened with the leak?")
    assert answer.form == "summary"
    assert [quote.sender and quote.sender.partition(" ")[0] for quote in answer.quotes] == ["Yasmine", "Town", "Hugo"]
    assert not any(quote.superseded_by for quote in answer.quotes)


@pytest.mark.parametrize(
    ("texts", "order"),
    [
        (["It costs 298 euros.", "It costs 310 euros.", "It comes on 8 May."], [0, 2, 1]),
        (["It comes on 8 May.", "It costs 298 euros.", "It comes on 9 May."], [0, 1, 2]),
        (["It is being made.", "It costs 310 euros.", "It comes on 8 May."], [1, 2, 0]),
        (["It is being made.", "It is green.", "It comes on 8 May."], [0, 2, 1]),
    ],
)
def test_each_type_of_value_that_is_asked_for_is_in_an_excerpt(texts: list[str], order: list[int]) -> None:
    """The second goes first where the first gives no value; all are of one conversation."""
    records = [record(f"gmail:{number}", text, thread_id="one", **MAIL) for number, text in enumerate(texts)]
    options = [
        RankedCandidate(candidate, 1.0, 0.3, np.zeros(len(FEATURES), np.float32))
        for candidate in candidates([Hit(passages(each)[0], 1.0, 1.0) for each in records])
    ]
    question = SentenceScorer([], frozenset({"price", "when"}))
    chosen = [option.candidate.text for option in excerpts._giving_values(options, question)]
    assert chosen == [texts[number] for number in order]


@pytest.mark.parametrize(*cases(__file__, "a_follow_up_stays_with_its_matter"))
def test_a_follow_up_stays_with_its_matter(
    tmp_path_factory: pytest.TempPathFactory, roof: str, other: str, question: str, follow_up: str
) -> None:
    """The other mail has the words of the follow-up; alone, that is what answers it."""
    records = [
        record("gmail:1", roof, "2025-03-01T08:00:00Z", from_="Rey <r@x.example>", thread_id="a", subject="A", **MAIL),
        record("gmail:2", other, "2025-03-03T08:00:00Z", from_="Ota <o@x.example>", thread_id="b", subject="B", **MAIL),
    ]
    with Archive.open(publish(tmp_path_factory.mktemp("follow"), records)) as opened:
        alone, after = opened.ask(follow_up), opened.ask(follow_up, follows=[question])
    assert alone.quotes[0].sender == "Ota <o@x.example>"
    assert after.quotes[0].sender == "Rey <r@x.example>"


@pytest.mark.parametrize(
    ("subject", "text", "follow_up"),
    [
        ("Dentist", "A visit costs 80 euros.", "and what does the dentist cost?"),
        ("Next week", "The dentist wants 80 euros for a filling.", "and what does the dentist want for a filling?"),
    ],
)
def test_a_follow_up_with_a_matter_of_its_own_leaves_the_earlier_one(
    tmp_path: Path, subject: str, text: str, follow_up: str
) -> None:
    """Its words stand in a title, or two of them in one passage; each record of the roof names amounts, too."""
    roof = ("The new roof costs 9000 euros.", "The roof is cheaper in spring, it costs 8000 euros then.")
    records = [
        *(
            record(f"gmail:{day}", said, f"2025-03-0{day}T08:00:00Z", from_="Rey <r@x.example>", thread_id="a",
                   subject="Roof", **MAIL)
            for day, said in enumerate(roof, 1)
        ),
        record("gmail:9", text, "2025-01-03T08:00:00Z", from_="Ota <o@x.example>", thread_id="b", subject=subject,
               **MAIL),
    ]  # fmt: skip
    with Archive.open(publish(tmp_path, records)) as opened:
        answer = opened.ask(follow_up, follows=["How much is the new roof?"])
        surrogates = opened.ask(follow_up, follows=["\ud800 How much is the new roof?"])
    assert answer.quotes[0].sender == "Ota <o@x.example>"
    assert surrogates.quotes[0].sender == "Ota <o@x.example>"
    assert "the question names a matter of its own" in "\n".join(answer.trace)


def test_an_item_of_a_chat_is_of_who_wrote_it_and_similar_records_are_items_each(tmp_path: Path) -> None:
    turns = [
        record("whatsapp:q", "Which things should we buy for the garden party?", "2025-01-13T18:00:00Z", from_="Dana",
               thread_id="w"),
        record("whatsapp:a", "- potato salad for the garden party\n- rye bread\n- lemonade", "2025-01-13T18:05:00Z",
               from_="Ota", thread_id="w"),
    ]  # fmt: skip
    parts = ("tyres", "brakes", "saddles", "chains", "bells", "pedals")
    mails = [
        record(f"gmail:{part}", f"the invoice for the {part} is attached, please pay within the month",
               f"2025-02-0{day}T08:00:00Z", from_="Delmas <a@x.example>", thread_id=part, subject="Invoice", **MAIL)
        for day, part in enumerate(parts, 1)
    ]  # fmt: skip
    config = publish(tmp_path, [*turns, *mails], [window(turns), *(passages(mail)[0] for mail in mails)])
    with Archive.open(config) as opened:
        shopping = opened.ask("Which things should we buy for the garden party?")
        invoices = opened.ask("List the invoices for tyres, brakes, saddles, chains, bells and pedals", limit=10)
    assert {quote.sender for quote in shopping.quotes} == {"Ota"}
    assert sum("invoice" in quote.text for quote in invoices.quotes) == len(parts)
