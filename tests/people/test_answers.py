"""What is shown beside what is known of a person."""

from __future__ import annotations

from relrag_query.people.answers import _by_turns
from relrag_query.retrieval.hit import Hit
from tests.query_hits import passages, record


def test_a_chat_does_not_fill_all_the_room() -> None:
    types = ["whatsapp", "whatsapp", "whatsapp", "email", "documentation", "email"]
    hits = [
        Hit(passages(record(f"jsonl:{place}", "text", rag_source_type=type_))[0], 1.0, 1.0)
        for place, type_ in enumerate(types)
    ]
    assert [hit.chunk.asset_id[-1] for hit in _by_turns(hits)] == ["0", "3", "4", "1", "5", "2"]
