"""The phones that a record itself knows of are phones in all of it, however they look."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relrag_pipelines.pii import PIIRedactor, flexible_pattern, present_candidates
from relrag_pipelines.pii.phones import record_phones
from relrag_pipelines.pii.redact_tables import redact_records
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.records import NamedPerson, Page, Record, SpeechSegment
from relrag_pipelines.settings import Policy
from relrag_pipelines.stores.table_schema import to_table

ENTITIES = ["PHONE_NUMBER", "EMAIL_ADDRESS", "CREDIT_CARD", "IBAN_CODE", "IL_ID_NUMBER"]
ODD = "301234567"
"""a number of no form; in a text without words around it stays"""


def redacted(*records: Record, entities: list[str] = ENTITIES) -> list[dict[str, Any]]:
    redactor = PIIRedactor({"default": Policy(entities=entities, action="replace")}, Keys(b"i" * 32, b"p" * 32, "k1"))
    table, failed = redact_records(to_table(list(records), Record), redactor, "default")
    assert failed == []
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows


def test_a_number_that_nothing_tells_of_stays() -> None:
    (row,) = redacted(Record("1", asset_id="a", text=f"what is {ODD}?", subject=ODD, file_name=f"{ODD}.pdf"))
    assert (row["text"], row["subject"], row["file_name"]) == (f"what is {ODD}?", ODD, f"{ODD}.pdf")


@pytest.mark.parametrize(
    "known",
    [
        {"from_": ODD},
        {"to": ["Petr", ODD]},
        {"to": [f"Petr {ODD}"]},
        {"participants": ["301 234 567"]},
        {"people": [NamedPerson("owner", ODD)]},
        {"extra": {"phone": ODD}},
        {"extra": {"card": {"Tel": [int(ODD)]}}},
    ],
)
def test_what_a_record_names_as_a_phone_goes_from_all_of_it(known: dict[str, Any]) -> None:
    record = Record(
        "1",
        asset_id="a",
        text=f"what is {ODD}? or 30-12 34-567",
        subject=f"Call with {ODD}",
        file_name="Call_301_234_567_250116.m4a",
        locations=[f"calls/{ODD}.m4a#0"],
        numbers=["INV-1187", ODD],
        **known,
    )
    other = Record("2", asset_id="b", text=f"what is {ODD}?")
    row, second = redacted(record, other)
    assert row["text"] == "what is <PHONE_NUMBER>? or <PHONE_NUMBER>"
    assert (row["subject"], row["file_name"]) == ("Call with <PHONE_NUMBER>", "Call_<PHONE_NUMBER>_250116.m4a")
    assert (row["locations"], row["numbers"]) == (["calls/<PHONE_NUMBER>.m4a#0"], ["INV-1187", "<PHONE_NUMBER>"])
    assert "30" not in orjson.dumps({name: row[name] for name in ("from", "to", "people", "extra")}).decode()
    assert second["text"] == f"what is {ODD}?"


def test_short_and_lettered_numbers_of_a_card() -> None:
    (row,) = redacted(
        Record(
            "1",
            asset_id="a",
            text="phone: 12345\nphone: 1-800-FLOWERS\nroom 123456",
            extra={"phones": ["12345", "1-800-FLOWERS"]},
        )
    )
    assert row["text"] == "phone: <PHONE_NUMBER>\nphone: <PHONE_NUMBER>\nroom 123456"
    assert orjson.loads(row["extra"]) == {"phones": ["<PHONE_NUMBER>"] * 2}


def test_names_with_dates_and_years_are_no_phones() -> None:
    (row,) = redacted(Record("1", asset_id="a", from_="Brno 2024-2025", to=["Team 2024-01-13 10:20", "B12"]))
    assert (row["from"], row["to"]) == ("Brno 2024-2025", ["Team 2024-01-13 10:20", "B12"])


def test_a_policy_without_phones_leaves_them() -> None:
    (row,) = redacted(Record("1", asset_id="a", from_=ODD, text=ODD), entities=["CREDIT_CARD"])
    assert (row["from"], row["text"]) == (ODD, ODD)


def test_numbers_hold_nothing_that_went_from_the_text() -> None:
    """Words around decide in the text; the same number stands alone in `numbers`."""
    record = Record(
        "1",
        asset_id="a",
        text=f"tel. č. {ODD}, account no. 4111111111111111, ID no. 123-456-782, order 204881736",
        numbers=[ODD, "4111111111111111", "123-456-782", "204881736"],
    )
    (row,) = redacted(record)
    assert row["numbers"] == ["<PHONE_NUMBER>", "<CREDIT_CARD>", "<IL_ID_NUMBER>", "204881736"]


def test_extra_that_is_no_json_is_reported_as_ever() -> None:
    import pyarrow as pa

    table = to_table([Record("1", asset_id="a", from_=ODD)], Record)
    place = table.schema.get_field_index("extra")
    table = table.set_column(place, table.schema.field(place), pa.array([f'{{"phone": "{ODD}"'], pa.string()))
    redactor = PIIRedactor({"default": Policy(entities=ENTITIES, action="replace")}, Keys(b"i" * 32, b"p" * 32, "k1"))
    assert redact_records(table, redactor, "default")[1] == [("a", "redaction")]


def test_words_under_the_key_of_a_phone_are_none() -> None:
    extra = {"phone": "Phone number", "mobile": "yes", "fax": "none", "cell": "B12", "tel": [True, None, 7.5]}
    (row,) = redacted(Record("1", asset_id="a", text="yes, my phone number is in B12, none else", extra=extra))
    assert row["text"] == "yes, my phone number is in B12, none else"
    assert orjson.loads(row["extra"]) == extra


def test_numbers_of_json_are_phones_however_json_writes_them() -> None:
    """A table with gaps writes whole numbers with `.0`; a short one goes from `extra` as it does from the text."""
    (row,) = redacted(
        Record("1", asset_id="a", text=f"{ODD}, desk 4521", extra={"phone": float(ODD), "tel": 4521, "paid": 81.0})
    )
    assert row["text"] == "<PHONE_NUMBER>, desk <PHONE_NUMBER>"
    assert orjson.loads(row["extra"]) == {"phone": "<PHONE_NUMBER>", "tel": "<PHONE_NUMBER>", "paid": 81.0}
    (row,) = redacted(Record("1", asset_id="a", extra={"call": 972521234567.0, "size": 1048576.0}))
    assert orjson.loads(row["extra"]) == {"call": "<PHONE_NUMBER>", "size": 1048576.0}


_PHONES = st.sampled_from(["12345", "301234567", "0521234567", "1-800-FLOWERS", "10000001", "٣٠١٢٣٤٥٦٧"])
_SAID = st.lists(
    st.one_of(_PHONES, st.sampled_from(["301 23-45.67", "x12345", "call", "a@example.org", "+(", "#"])), max_size=4
).map(" ".join)
_RECORDS = st.builds(
    lambda text, offset, **fields: Record(
        "", text=text, pages=[Page(1, offset, len(text))], spoken=[SpeechSegment(0.0, 1.0, offset, len(text))], **fields
    ),
    text=st.shared(_SAID, key="text"),
    offset=st.integers(0, 9),
    from_=st.none() | _PHONES | _SAID,
    to=st.lists(_PHONES | _SAID, max_size=2),
    people=st.lists(st.builds(NamedPerson, st.just("owner"), _PHONES | _SAID), max_size=2),
    numbers=st.lists(_PHONES, max_size=2),
    locations=st.lists(_SAID, max_size=2),
    extra=st.dictionaries(st.sampled_from(["phone", "tel", "note", "12345"]), _PHONES | _SAID | st.just(12345)),
)


@settings(max_examples=20, deadline=None)
@given(st.lists(_RECORDS, min_size=2, max_size=6))
def test_what_a_record_knows_changes_no_other(records: list[Record]) -> None:
    """All have one text, and each may know other phones."""
    for number, record in enumerate(records):
        record.asset_id = f"a{number}"
    assert redacted(*records) == [redacted(record)[0] for record in records]


@given(_PHONES, st.text("12345 30-678FLOWERSflowers٣٠١٢٤٥٦٧+(ſ_", max_size=30), st.sampled_from(["", " ", "-", "+("]))
def test_the_quick_look_passes_over_no_phone(phone: str, around: str, gap: str) -> None:
    for text in (around, around + gap.join(phone).lower() + around):
        assert present_candidates(text, [phone]) or not flexible_pattern(phone).search(text)


def test_each_text_of_a_list_of_contacts_is_redacted_but_a_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = [f"05{one % 10}{1000000 + one}" for one in range(60)]
    text, looked_at = ", ".join(numbers), []
    passes = PIIRedactor.passes

    def counted(self: PIIRedactor, said: str, *more: Any) -> Any:
        looked_at.append(said)
        return passes(self, said, *more)

    monkeypatch.setattr(PIIRedactor, "passes", counted)
    (row,) = redacted(Record("1", asset_id="a", text=text, extra={"phones": numbers}))
    assert row["text"] == ", ".join(["<PHONE_NUMBER>"] * 60)
    assert looked_at.count(text) == 2  # what is left in it, and what is written


def test_what_is_longer_than_any_number_is_none() -> None:
    """It would be looked for letter by letter in every text of its record."""
    assert list(record_phones._phones_in({"phone": "1-" * 64})) == ["1-" * 64]
    assert list(record_phones._phones_in({"phone": "1-" * 65})) == []
