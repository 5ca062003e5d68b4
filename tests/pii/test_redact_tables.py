"""Redaction of whole tables: every string, the policy of each row, pages that move along, and failing closed."""

from __future__ import annotations

import itertools
import re
from typing import Any

import orjson
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relrag_pipelines.pii import PIIRedactor, RedactionError
from relrag_pipelines.pii.redact_tables import channel_of, redact_records
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.records import NamedPerson, Page, Record
from relrag_pipelines.settings import POLICIES, Policy
from relrag_pipelines.stores.table_schema import arrow_schema, to_table
from tests.cases import cases

KEYS = Keys(ids=b"i" * 32, pseudonyms=b"p" * 32, version="k1")
RAW, PHONE = "052-123-4567", "<PHONE_NUMBER:k1:88a31ea6ebff>"
MAIL = "<EMAIL_ADDRESS:k1:b029d3871c46>"


def redactor(enabled: bool = True) -> PIIRedactor:
    return PIIRedactor({name: Policy.model_validate(policy) for name, policy in POLICIES.items()}, KEYS, enabled)


def redacted(*records: Record, channel: str = "default") -> list[dict[str, Any]]:
    table, failed = redact_records(to_table(list(records), Record), redactor(), channel)
    assert failed == []
    assert table.schema == arrow_schema(Record)
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows


@pytest.mark.parametrize(*cases(__file__, "the_type_of_a_record_decides_its_channel"))
def test_the_type_of_a_record_decides_its_channel(kind: str, channel: str) -> None:
    assert channel_of(kind, "fallback") == channel


def test_a_type_that_only_begins_like_another_leaves_no_more_standing_than_an_unknown_one() -> None:
    said = f"{RAW} dani@example.com ID number 123456782"
    for kind in ("emailing_plan", "paperless_ngx_settings", "callback_requests", "anything"):
        (row,) = redacted(Record(source_id="1", text=said, asset_id="jsonl:1", source="notes", kind="jsonl",
                                 rag_source_type=kind, content_type="text"))  # fmt: skip
        assert row["text"].startswith(f"{PHONE} {MAIL} ID number <IL_ID_NUMBER:k1:"), kind


def test_every_string_is_redacted() -> None:
    said = f"x {RAW} y"
    record = Record(
        source_id="1",
        text=said,
        asset_id="jsonl:1",
        source="notes",
        kind="jsonl",
        rag_source_type=said,
        client_id=said,
        project_id=said,
        from_=f"Dana {RAW}",
        to=["Petr", RAW, "dani@example.com"],
        participants=[said],
        subject=said,
        timestamp="2025-01-13T18:30:05+00:00",
        ts=1736793005,
        date_quality="exact",
        content_type=said,
        file_name=f"Call_{RAW}.m4a",
        source_uri=f"tel:{RAW}",
        locations=[f"calls/{RAW}.m4a#0", "b"],
        language=said,
        numbers=["INV-1187", RAW],
        people=[NamedPerson("mentioned", f"Dana {RAW}", 4), NamedPerson("owner", "Jonah")],
        extra={
            "labels": ["a", {"deep": RAW}],
            RAW: 1,
            "phone": 972521234567,
            "seconds": 1640,
            "size": 123456,
            "ok": True,
            "none": None,
            "share": 0.521234567,
        },
        content_hash="aa",
    )
    (row,) = redacted(record)
    assert "1234567" not in str(row).replace("0.521234567", "").replace("-", "")
    x_y = f"x {PHONE} y"
    names = ("text", "rag_source_type", "client_id", "project_id", "subject", "content_type", "language")
    assert {row[name] for name in names} == {x_y}
    assert (row["from"], row["to"]) == (f"Dana {PHONE}", ["Petr", PHONE, MAIL])
    assert (row["participants"], row["numbers"]) == ([x_y], ["INV-1187", PHONE])
    assert (row["file_name"], row["source_uri"]) == (f"Call_{PHONE}.m4a", f"tel:{PHONE}")
    assert row["locations"] == [f"calls/{PHONE}.m4a#0", "b"]
    assert row["people"] == [
        {"role": "mentioned", "name": f"Dana {PHONE}", "person_id": 4},
        {"role": "owner", "name": "Jonah", "person_id": None},
    ]
    assert orjson.loads(row["extra"]) == {
        "labels": ["a", {"deep": PHONE}],
        PHONE: 1,
        "phone": PHONE,
        "seconds": 1640,
        "size": 123456,
        "ok": True,
        "none": None,
        "share": 0.521234567,
    }
    kept = ("asset_id", "source", "kind", "timestamp", "ts", "date_quality", "content_hash", "source_id")
    assert [row[name] for name in kept] == [
        "jsonl:1", "notes", "jsonl", "2025-01-13T18:30:05+00:00", 1736793005, "exact", "aa", "1",
    ]  # fmt: skip


@pytest.mark.requirement("S0-72")
def test_each_row_is_redacted_by_its_own_channel_and_the_order_is_that_of_the_ids() -> None:
    kinds = ["whatsapp", "email", "paperless", "call_recording", "note"]
    records = [Record(kind, text=f"{RAW}, 4111111111111111", asset_id=kind, rag_source_type=kind) for kind in kinds]
    card = "<CREDIT_CARD:k1:e3e89c0b4e9c>"
    assert [(row["asset_id"], row["text"]) for row in redacted(*records)] == [
        ("call_recording", "<PHONE_NUMBER>, <CREDIT_CARD>"),
        ("email", "<PHONE_NUMBER>, <CREDIT_CARD>"),
        ("note", f"{PHONE}, {card}"),
        ("paperless", f"{RAW}, "),
        ("whatsapp", f"{PHONE}, {card}"),
    ]


def test_ids_stay_unless_they_show_something() -> None:
    safe = Record(
        "20250113T183005:0f1e2d3c4b5a6978",
        asset_id="whatsapp:a",
        thread_id="h88a31ea6ebff0123",
        parent_ref="INV-1187",
        parent_asset_id="whatsapp:b",
    )
    shown = Record("a:+972521234567", asset_id="whatsapp:c", thread_id=RAW, parent_ref="dani@example.com")
    first, second = redacted(safe, shown)
    assert [first[name] for name in ("source_id", "thread_id", "parent_ref", "parent_asset_id")] == [
        "20250113T183005:0f1e2d3c4b5a6978", "h88a31ea6ebff0123", "INV-1187", "whatsapp:b",
    ]  # fmt: skip
    assert [second[name] for name in ("source_id", "thread_id", "parent_ref", "parent_asset_id")] == [
        *(f"h{KEYS.id_hash(value)}" for value in ("a:+972521234567", RAW, "dani@example.com")), None,
    ]  # fmt: skip


def test_keys_that_become_alike_are_both_kept() -> None:
    record = Record("1", asset_id="a", extra={"052-123-4567": 1, "0521234567": 2, "+972521234567": 3})
    (row,) = redacted(record)
    assert orjson.loads(row["extra"]) == {PHONE: 3, f"{PHONE} (2)": 1, f"{PHONE} (3)": 2}


def test_what_looks_like_a_pseudonym_is_disarmed() -> None:
    record = Record("1", asset_id="a", text=f"pay {PHONE}", subject=PHONE, extra={"a": PHONE})
    (row,) = redacted(record)
    armless = PHONE.replace("<", "‹")
    assert (row["text"], row["subject"], orjson.loads(row["extra"])) == (f"pay {armless}", armless, {"a": armless})


def test_pages_move_along() -> None:
    pages = ["call 052-123-4567.", "nothing here", "", "card 4111 1111 1111 1111 and 052-123-4567"]
    text, placed = "", []
    for number, page in enumerate(pages, 1):
        placed.append(Page(number, len(text), len(text) + len(page)))
        text += page + "\f"
    (row,) = redacted(Record("1", asset_id="a", text=text, pages=placed))
    assert [row["text"][page["start"] : page["end"]] for page in row["pages"]] == [
        f"call {PHONE}.",
        "nothing here",
        "",
        f"card <CREDIT_CARD:k1:e3e89c0b4e9c> and {PHONE}",
    ]
    assert [page["number"] for page in row["pages"]] == [1, 2, 3, 4]


def test_a_page_that_ends_within_a_number_ends_behind_its_pseudonym() -> None:
    text = "call 052-123-4567 now"
    (row,) = redacted(Record("1", asset_id="a", text=text, pages=[Page(1, 0, 9), Page(2, 9, len(text))]))
    first, second = row["pages"]
    assert row["text"][first["start"] : first["end"]] == f"call {PHONE}"
    assert row["text"][second["start"] : second["end"]] == " now"


@given(
    st.lists(
        st.sampled_from([RAW, "4111111111111111", " ", "a", "text ", "\n", "dani@example.com", "12"]), max_size=20
    ),
    st.lists(st.integers(0, 200), max_size=6),
    st.sampled_from(["default", "gmail", "paperless"]),
)
def test_pages_stay_in_order_and_cover_the_text(parts: list[str], cuts: list[int], channel: str) -> None:
    text = "".join(parts)
    bounds = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    pages = [Page(number, a, b) for number, (a, b) in enumerate(itertools.pairwise(bounds), 1)]
    (row,) = redacted(Record("1", asset_id="a", text=text, pages=pages), channel=channel)
    offsets = [offset for page in row["pages"] for offset in (page["start"], page["end"])]
    assert offsets == sorted(offsets)
    assert "".join(row["text"][page["start"] : page["end"]] for page in row["pages"]) == row["text"]


def test_a_row_that_cannot_be_redacted_is_left_out_and_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = redactor()
    passes = ours.passes

    def failing(text: str, channel: str, *phones: Any) -> Any:
        if "777" in text:
            raise RedactionError("PHONE_NUMBER could not be looked for (ValueError)")
        return passes(text, channel, *phones)

    monkeypatch.setattr(ours, "passes", failing)
    records = [
        Record("1", asset_id="a:1", text="777"),
        Record("2", asset_id="a:2", text=RAW),
        Record("3", asset_id="a:3", to=["x", "777", "y"]),
        Record("4", asset_id="a:4", people=[NamedPerson("owner", "x"), NamedPerson("owner", "777")]),
        Record("5", asset_id="a:5", extra={"a": ["777"]}),
        Record("6", asset_id="a:6", from_="777", rag_source_type="email"),
        Record("7", asset_id="a:7", to=["x"], rag_source_type="email"),
    ]
    table, failed = redact_records(to_table(records, Record), ours, "default")
    assert table["asset_id"].to_pylist() == ["a:2", "a:7"]
    assert table["text"].to_pylist() == [PHONE, ""]
    assert failed == [(f"a:{number}", "redaction") for number in (1, 3, 4, 5, 6)]


def test_extra_that_is_no_json_is_left_out_and_reported() -> None:
    table = to_table([Record("1", asset_id="a"), Record("2", asset_id="b")], Record)
    place = table.schema.get_field_index("extra")
    table = table.set_column(place, table.schema.field(place), pa.array([f'{{"a": "{RAW}"', "{}"], pa.string()))
    rows, failed = redact_records(table, redactor(), "default")
    assert (rows["asset_id"].to_pylist(), failed) == (["b"], [("a", "redaction")])


@pytest.mark.requirement("S0-81")
def test_switched_off_it_leaves_rows_as_they_are() -> None:
    table = to_table([Record("1", text=RAW, asset_id="a", thread_id=RAW)], Record)
    rows, failed = redact_records(table, redactor(enabled=False), "default")
    assert rows.equals(table)
    assert failed == []


def test_no_rows() -> None:
    table, failed = redact_records(arrow_schema(Record).empty_table(), redactor(), "default")
    assert (table.num_rows, table.schema, failed) == (0, arrow_schema(Record), [])


def test_texts_that_can_hold_nothing_are_not_looked_at_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    records = [
        Record(
            f"20250113T{number:06}:0f1e2d3c4b5a{number % 7919:04x}",
            text=f"message of {'abcdefghij'[number % 10]} about the garden",
            asset_id=f"whatsapp:{number:06}",
            from_="Dana",
            thread_id="family",
        )
        for number in range(20_000)
    ]
    table = to_table(records, Record)
    looked_at: list[str] = []
    ours, passes = redactor(), PIIRedactor.passes

    def counted(self: PIIRedactor, text: str, *rest: Any) -> Any:
        looked_at.append(text)
        return passes(self, text, *rest)

    monkeypatch.setattr(PIIRedactor, "passes", counted)
    rows, _ = redact_records(table, ours, "whatsapp")
    assert rows.equals(table)
    assert not [text for text in looked_at if text.startswith("message")]
    assert len(looked_at) < 100


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("Pojistná smlouva č. 7720045518", "7720045518"),
        ("Faktura č. 2026 000 042 uhrazena.", "2026000042"),
        ("Order number 7185550143 was shipped.", "7185550143"),
        ("חשבונית מס' 541234567 שולמה", "541234567"),
    ],
)
def test_a_number_that_the_text_shows_is_listed_as_it_is(text: str, number: str) -> None:
    """Alone it looks like a phone; the words around it say that it is none."""
    record = Record("1", asset_id="a", text=text, numbers=[number])
    other = Record("2", asset_id="b", text="Paid.", subject=text, numbers=[number])
    alone = Record("3", asset_id="c", text="Paid.", numbers=[number])
    kept, titled, hidden = redacted(record, other, alone)
    assert (kept["text"], kept["numbers"]) == (text, [number])
    assert titled["numbers"] == [number]
    assert hidden["numbers"] != [number] or number == "541234567"  # nine digits that begin like no phone at home


@pytest.mark.parametrize(*cases(__file__, "what_went_from_the_subject_goes_from_the_numbers"))
def test_what_went_from_the_subject_goes_from_the_numbers(subject: str, number: str) -> None:
    (row,) = redacted(Record("1", asset_id="a", text="Paid.", subject=subject, numbers=[number]))
    assert number not in row["subject"]
    assert number not in row["numbers"]


def test_of_one_phone_the_spelling_that_tells_most_is_kept() -> None:
    originals: dict[str, str] = {}
    rows = [Record(str(n), asset_id=str(n), text=text) for n, text in enumerate(("+420 608 455 100", "tel. 608455100"))]
    for order in (rows, rows[::-1]):
        originals.clear()
        redact_records(to_table(order, Record), redactor(), "default", originals)
        assert [*originals.values()] == ["+420 608 455 100"]


@pytest.mark.parametrize(
    ("location", "shown"),
    [
        ("chat.txt#L12345", "chat.txt#L12345"),
        (f"{RAW}/chat.txt#L7-L12", f"{PHONE}/chat.txt#L7-L12"),
        (f"mails.jsonl#{RAW}", f"mails.jsonl#{PHONE}"),
        ("mails.jsonl#dani@example.com", f"mails.jsonl#{MAIL}"),
    ],
)
def test_only_lines_and_rows_of_locations_are_left_alone(location: str, shown: str) -> None:
    (row,) = redacted(
        Record(
            "1",
            text="",
            asset_id="jsonl:1",
            source="notes",
            kind="jsonl",
            rag_source_type="anything",
            locations=[location],
        )
    )
    assert row["locations"] == [shown]


@pytest.mark.parametrize(
    "text",
    [
        "call me on 720598707 please, return 720598707 to me",
        'def step():\n    """call me on 720598707"""\n    return "720598707"',
        "order 612408819 is mine, my phone is 612408819",
    ],
)
def test_bare_digits_that_a_text_calls_a_phone_are_a_phone_in_all_of_it(text: str) -> None:
    (row,) = redacted(
        Record("1", text=text, asset_id="jsonl:1", source="notes", kind="jsonl", rag_source_type="anything")
    )
    assert not re.search(r"\d{9}", re.sub("<[^>]*>", "", row["text"]))
    assert row["text"].count("<PHONE_NUMBER:k1:") == 2
