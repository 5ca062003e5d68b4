"""What is shown beside what is known of a person."""

from __future__ import annotations

from datetime import date
from types import SimpleNamespace
from typing import Any

import pytest

from relrag_pipelines.records import PersonFact
from relrag_query.people.answers import _by_turns, _fact, _is_nameless, _line, answer
from relrag_query.people.indexed_person import IndexedPerson
from relrag_query.retrieval.hit import Hit
from relrag_query.understanding.people_question import PeopleQuestion
from tests.query_hits import passages, record


def test_a_chat_does_not_fill_all_the_room() -> None:
    types = ["whatsapp", "whatsapp", "whatsapp", "email", "documentation", "email"]
    hits = [
        Hit(passages(record(f"jsonl:{place}", "text", rag_source_type=type_))[0], 1.0, 1.0)
        for place, type_ in enumerate(types)
    ]
    assert [hit.chunk.asset_id[-1] for hit in _by_turns(hits)] == ["0", "3", "4", "1", "5", "2"]


def test_a_number_that_has_changed_stands_before_that_of_the_card() -> None:
    card = {"alias": "777 100 340", "script": "", "kind": "phone", "keyed": "k", "stated": True}
    person = IndexedPerson(1, "Tom Reed", aliases=[card])
    changed = PersonFact(1, "phone", "777 455 900", 0.8, "mail:1", "My mobile has changed, it's 777 455 900")
    assert _fact("phone", person, [changed], date(2026, 6, 1)) == "Tom Reed: 777 455 900, 777 100 340"
    assert _fact("phone", person, [], date(2026, 6, 1)) == "Tom Reed: 777 100 340"


def test_a_relative_whom_only_a_text_names() -> None:
    fact = PersonFact(1, "child", "Tonda", 0.8, "chat:1", "syn")
    eva = IndexedPerson(1, "Eva Malá")
    people: Any = SimpleNamespace(by_id=lambda _ids: {1: eva}, find=lambda _name: [], cards=lambda _id: [])
    context: Any = None
    made = answer(PeopleQuestion("who", [], relative_facts=[fact]), people, context, date(2026, 6, 1))
    assert made is not None and made.sure
    assert [line for line, _ in made.lines] == ['Tonda, child of Eva Malá: "syn"']
    assert _line(PeopleQuestion("who", [1]), eva, [fact], [], {1: eva}, date(2026, 6, 1)) == "Eva Malá; child: Tonda"


@pytest.mark.parametrize(("names", "nameless"), [(["אמא"], True), (["Mum"], True), (["Mum", "Eva"], False)])
def test_who_is_only_called_mum_has_no_name(names: list[str], nameless: bool) -> None:
    aliases = [{"alias": name, "script": "", "kind": "name", "keyed": "", "stated": True} for name in names]
    assert _is_nameless(IndexedPerson(1, names[0], aliases=aliases)) is nameless
