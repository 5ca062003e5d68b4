"""What a language model is given keeps to its budget, and no record or chat fills it by itself."""

import pytest

from relrag_query.answering.token_budget import fit_token_budget
from relrag_query.retrieval.hit import Hit
from tests.query_hits import passages, record, window

BOOK = record("document:book", "", rag_source_type="documentation")


def hits() -> list[Hit]:
    book = passages(BOOK, ["word " * 60] * 8)
    notes = [one for number in range(3) for one in passages(record(f"jsonl:{number}", "note " * 60))]
    return [Hit(chunk, 1.0, 1.0) for chunk in (*book, *notes)]


@pytest.mark.requirement("S0-56")
def test_a_long_document_leaves_room_for_the_others() -> None:
    given = [hit.chunk.asset_id for hit in fit_token_budget(hits(), 900)]
    assert given == ["document:book"] * 3 + ["jsonl:0", "jsonl:1", "jsonl:2"]
    assert [hit.chunk.asset_id for hit in fit_token_budget(hits(), 20_000)] == ["document:book"] * 8 + given[3:]


def test_windows_of_one_chat_share_their_part() -> None:
    chats = [
        Hit(window([record(f"whatsapp:{day}", "word " * 60, f"2025-01-{day}T08:00:00Z", thread_id="c")]), 1.0, 1.0)
        for day in range(10, 18)
    ]
    note = Hit(passages(record("jsonl:1", "note"))[0], 1.0, 1.0)
    given = fit_token_budget([*chats, note], 900)
    assert len(given) == 4
    assert given[-1] is note


def test_one_passage_is_given_however_long() -> None:
    assert len(fit_token_budget(hits(), 1)) == 1
