"""Which words of a text are shown as words of the query."""

import pytest

from relrag_query.retrieval.term_coverage import query_terms
from relrag_query.retrieval.translation import translate, translations
from relrag_query.retrieval.word_marks import word_marks


@pytest.mark.parametrize(
    ("query", "text", "marked"),
    [
        ("invoice", "Invoices:\n\n  the (invoice), an inventory.", ["Invoices", "invoice"]),
        ("sanitární čerpadlo", "Objednáváme 2 sanitární čerpadla pro sprchu.", ["sanitární", "čerpadla"]),
        ("החשבונית", "שלחתי לך את החשבונית, תודה", ["החשבונית"]),
        ("what did Alex say about INV-1187", "Alex says: INV-1187 is wrong, what now", ["Alex", "INV-1187"]),
        ("boiler", "The kettle boils over.", []),
        ("boiler", "", []),
        ("12500", "It costs 12 500 Kč (12\u00a0500), not 112 500 or 12 and 500.", ["12 500", "12\u00a0500"]),
        ("12 500", "12,500 or 12500", ["12,500", "12500"]),
        ("", "The boiler.", []),
    ],
)
def test_words_are_marked_in_all_their_forms(query: str, text: str, marked: list[str]) -> None:
    assert [text[start:end] for start, end in word_marks(text, query_terms(query, {}))] == marked


def test_translations_are_marked() -> None:
    terms = query_terms("invoice", {})
    text = "Posíláme fakturu za čerpadlo."
    spans = word_marks(text, translate(terms, translations(terms, "invoice")))
    assert [text[start:end] for start, end in spans] == ["fakturu"]
