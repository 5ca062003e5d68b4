"""A value that was replaced in a record is replaced wherever records of the same month hold it."""

from __future__ import annotations

from typing import Any

import pytest

from relrag_pipelines.pii import PIIRedactor, leaked_records
from relrag_pipelines.pii.known_values import KnownValues
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.records import Page, Record
from relrag_pipelines.settings import POLICIES, Policy
from relrag_pipelines.stores.table_schema import to_table
from tests.cases import cases

ACCOUNT, OTHER = "10-915-151334436", "20-243-533880245"
KEYS = Keys(ids=b"i" * 32, pseudonyms=b"p" * 32, version="k1")
PSEUDONYM = r"<BANK_ACCOUNT:k1:[0-9a-f]{12}>"


def redact(*records: Record, action: str = "pseudonymize") -> tuple[list[dict[str, Any]], list[tuple[str, str]]]:
    policies = {name: Policy.model_validate(policy) for name, policy in POLICIES.items()}
    entities = [*policies["default"].entities, "BANK_ACCOUNT"]
    redactor = PIIRedactor({"default": Policy(entities=entities, action=action)}, KEYS)
    table, failed = leaked_records.redact(to_table(list(records), Record), redactor, "default", {})
    return table.to_pylist(), failed


def test_an_account_that_words_announce_in_the_text_is_replaced_in_all_of_the_record() -> None:
    """In code, in the name of a file and in a field it has no words around it."""
    text = f'"""my bank account is {ACCOUNT}"""\nreturn {ACCOUNT!r}\n'
    behind = "what follows"
    record = Record(
        "1",
        asset_id="a",
        text=text + behind,
        subject=f"{ACCOUNT} again",
        file_name=f"{ACCOUNT}.md",
        locations=[f"all/{ACCOUNT}.md#3"],
        numbers=[ACCOUNT],
        extra={"seen": {"in": [ACCOUNT, 10915151334436], ACCOUNT: 1}},
        pages=[Page(1, 0, len(text)), Page(2, len(text), len(text) + len(behind))],
    )
    invoice = Record(
        "2", asset_id="b", text="Invoice 10-915-151334437 of 2024, order 7185550143", numbers=["7185550143"]
    )
    (row, other), failed = redact(record, invoice)
    assert failed == []
    said = str(row)
    assert ACCOUNT not in said
    assert "10915151334436" not in said
    name = row["file_name"].removesuffix(".md")
    assert row["text"] == f'"""my bank account is {name}"""\nreturn \'{name}\'\n{behind}'
    assert (row["subject"], row["locations"]) == (f"{name} again", [f"all/{name}.md#3"])
    assert row["text"][row["pages"][1]["start"] : row["pages"][1]["end"]] == behind
    assert other["text"] == "Invoice 10-915-151334437 of 2024, order 7185550143"
    assert other["numbers"] == ["7185550143"]


def test_it_is_replaced_in_another_record_of_the_month_as_the_policy_says() -> None:
    said = Record("1", asset_id="a", text=f"my bank account is {ACCOUNT}")
    bare = Record("2", asset_id="b", text=f"see {ACCOUNT} and {OTHER}")
    (_, row), failed = redact(said, bare, action="replace")
    assert (row["text"], failed) == (f"see <BANK_ACCOUNT> and {OTHER}", [])


def test_a_record_that_holds_it_even_then_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(KnownValues, "finders", lambda *_: [])
    said = Record("1", asset_id="a", text=f"my bank account is {ACCOUNT}")
    bare = Record("2", asset_id="b", text=f"see {ACCOUNT}")
    rows, failed = redact(said, bare)
    assert [row["asset_id"] for row in rows] == ["a"]
    assert failed == [("b", leaked_records.FAULT)]


@pytest.mark.parametrize(*cases(__file__, "where_a_value_stands"))
def test_where_a_value_stands(text: str, place: str) -> None:
    """Where folding a letter's case makes two of it, nothing is said of where an address stands."""
    known = KnownValues.from_pairs([("PHONE_NUMBER", "052-123-4567"), ("EMAIL_ADDRESS", "dana@example.org")])
    assert known.entities_in(text)
    found = [
        text[one.start : one.end] for entity in sorted(known.entities_in(text)) for one in known.spans(text, entity)
    ]
    assert found == ([place] if place else [])
