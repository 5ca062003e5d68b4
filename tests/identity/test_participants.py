"""Who appears in a record."""

from __future__ import annotations

from typing import Any

import pytest

from relrag_pipelines.identity.participants import extract_identifiers, parse_identifiers
from relrag_pipelines.pii import PIIRedactor, RedactionError
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.records import Identifier, NamedPerson, Record
from relrag_pipelines.settings import POLICIES, Policy
from relrag_pipelines.stores.table_schema import arrow_schema, to_table
from tests.cases import cases

MOBILE = "+972521234567"


@pytest.fixture
def redactor(keys: Keys) -> PIIRedactor:
    return PIIRedactor({name: Policy.model_validate(policy) for name, policy in POLICIES.items()}, keys)


def rows(records: list[Record], redactor: PIIRedactor, keys: Keys, channel: str = "default") -> list[dict[str, Any]]:
    table = extract_identifiers(to_table(records, Record), redactor, keys, channel)
    assert table.schema == arrow_schema(Identifier)
    found: list[dict[str, Any]] = table.to_pylist()
    return found


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Dana Levi", [("name", "Dana Levi", "dana levi")]),
        ("שירן", [("name", "שירן", "שירן")]),
        ("dana@Example.com", [("email", "dana@Example.com", "dana@example.com")]),
        (
            "Dana Levi <Dana@example.com>",
            [("email", "Dana@example.com", "dana@example.com"), ("name", "Dana Levi", "dana levi")],
        ),
        (
            '"Rubin, Alex" <alex@example.com>',
            [("email", "alex@example.com", "alex@example.com"), ("name", "Rubin, Alex", "rubin, alex")],
        ),
        (
            "Rubin, Alex <alex@example.com>",
            [("email", "alex@example.com", "alex@example.com"), ("name", "Rubin, Alex", "rubin, alex")],
        ),
        (
            "alex@example.com (Alex Rubin)",
            [("email", "alex@example.com", "alex@example.com"), ("name", "Alex Rubin", "alex rubin")],
        ),
        (
            "Dana <dana@example.com>, Alex <alex@example.com>",
            [
                ("email", "dana@example.com", "dana@example.com"),
                ("name", "Dana", "dana"),
                ("email", "alex@example.com", "alex@example.com"),
                ("name", "Alex", "alex"),
            ],
        ),
        ("052-123-4567", [("phone", "052-123-4567", MOBILE)]),
        (
            "\u202a+972\u00a052\u2011123\u20114567\u202c",
            [("phone", "+972\u00a052\u2011123\u20114567", MOBILE)],
        ),
        ("Dana (052-123-4567)", [("phone", "052-123-4567", MOBILE), ("name", "Dana", "dana")]),
        ("~\u202fDana", [("name", "Dana", "dana")]),
        ("Agent 007", [("name", "Agent 007", "agent 007")]),
        ("Room 1640", [("name", "Room 1640", "room 1640")]),
        (
            "972521234567@c.us",
            [
                ("whatsapp", "972521234567@s.whatsapp.net", "972521234567@s.whatsapp.net"),
                ("phone", "+972521234567", MOBILE),
            ],
        ),
        (
            "972521234567:12@s.whatsapp.net",
            [
                ("whatsapp", "972521234567@s.whatsapp.net", "972521234567@s.whatsapp.net"),
                ("phone", "+972521234567", MOBILE),
            ],
        ),
        ("81234567890123@lid", [("whatsapp", "81234567890123@lid", "81234567890123@lid")]),
        ("972521234567-1500000000@g.us", []),
        ("Dougal (electrician)", [("name", "Dougal (electrician)", "dougal (electrician)")]),
        ("(Dougal)", [("name", "Dougal", "dougal")]),
        ("", []),
        ("<>", []),
    ],
)
def test_what_a_sender_says(text: str, said: list[tuple[str, str, str]]) -> None:
    assert [tuple(one) for one in parse_identifiers(text)] == said


def test_a_name_in_a_chat_is_the_name_there() -> None:
    assert [tuple(one) for one in parse_identifiers("~Dana", "whatsapp")] == [("whatsapp", "Dana", "dana")]


@pytest.mark.requirement("S0-4")
def test_roles_come_from_the_fields(redactor: PIIRedactor, keys: Keys) -> None:
    record = Record(
        "1",
        asset_id="jsonl:1",
        from_="Alex Rubin",
        to=["Dana", "Petr"],
        participants=["Marie"],
        people=[NamedPerson("mentioned", "Shiran", 42), NamedPerson("owner", "Jonah")],
    )
    assert [(row["role"], row["kind"], row["value"], row["person_id"]) for row in rows([record], redactor, keys)] == [
        ("mentioned", "name", "Shiran", 42),
        ("owner", "name", "Jonah", None),
        ("participant", "name", "Marie", None),
        *sorted(
            [("recipient", "name", "Dana", None), ("recipient", "name", "Petr", None)],
            key=lambda row: keys.pseudonym("name", row[2].lower()),
        ),
        ("sender", "name", "Alex Rubin", None),
    ]


def test_channels_join_on_a_phone_however_it_is_written(redactor: PIIRedactor, keys: Keys) -> None:
    records = [
        Record("1", asset_id="whatsapp:1", rag_source_type="whatsapp", from_="‪+972 52‑123‑4567‬"),
        Record("2", asset_id="gmail:2", rag_source_type="email", from_="052-123-4567"),
        Record("3", asset_id="call_recording:3", rag_source_type="call_recording", from_="0521234567"),
        Record("4", asset_id="paperless:4", rag_source_type="paperless", from_="(052) 1234567"),
    ]
    found = {row["asset_id"]: row for row in rows(records, redactor, keys)}
    assert {row["keyed"] for row in found.values()} == {keys.pseudonym("phone", MOBILE)} == {"88a31ea6ebff"}
    assert {asset_id: row["value"] for asset_id, row in found.items()} == {
        "whatsapp:1": "<PHONE_NUMBER:k1:88a31ea6ebff>",
        "gmail:2": "<PHONE_NUMBER>",
        "call_recording:3": "<PHONE_NUMBER>",
        "paperless:4": "(052) 1234567",  # that policy leaves phones
    }


def test_a_name_is_one_of_a_chat_by_the_type_of_its_record_not_by_its_policy(redactor: PIIRedactor, keys: Keys) -> None:
    records = [
        Record("1", asset_id="whatsapp:1", rag_source_type="whatsapp", from_="Dana"),
        Record("2", asset_id="whatsapp:1:0", rag_source_type="whatsapp_attachment", from_="Dana"),
        Record("3", asset_id="jsonl:notes:3", rag_source_type="jsonl", from_="Dana"),
    ]
    found = {row["asset_id"]: row["kind"] for row in rows(records, redactor, keys, channel="whatsapp")}
    assert found == {"whatsapp:1": "whatsapp", "whatsapp:1:0": "whatsapp", "jsonl:notes:3": "name"}


def test_an_address_is_the_one_in_texts(redactor: PIIRedactor, keys: Keys) -> None:
    (row, _) = rows([Record("1", asset_id="jsonl:1", from_="Dana <Dana@Example.com>")], redactor, keys)
    assert row["value"] == redactor.redact("dana@example.com", "default") == f"<EMAIL_ADDRESS:k1:{row['keyed']}>"


def test_rows_are_unique_and_ordered_and_a_pinned_person_stays(redactor: PIIRedactor, keys: Keys) -> None:
    records = [
        Record("2", asset_id="jsonl:2", to=["Dana", "dana", " DANA "], people=[NamedPerson("recipient", "Dana", 7)]),
        Record("1", asset_id="jsonl:1", to=["Dana"]),
    ]
    found = rows(records, redactor, keys)
    assert [(row["asset_id"], row["person_id"]) for row in found] == [("jsonl:1", None), ("jsonl:2", 7)]
    assert found == rows(records[::-1], redactor, keys)


def test_nobody(redactor: PIIRedactor, keys: Keys) -> None:
    assert rows([Record("1", asset_id="jsonl:1", text="hello")], redactor, keys) == []


def test_what_cannot_be_redacted_is_left_out(
    redactor: PIIRedactor, keys: Keys, monkeypatch: pytest.MonkeyPatch
) -> None:
    redact = redactor.redact

    def failing(text: str, channel: str) -> str:
        if text == "Dana":
            raise RedactionError("PHONE_NUMBER could not be looked for (ValueError)")
        return redact(text, channel)

    monkeypatch.setattr(redactor, "redact", failing)
    record = Record("1", asset_id="jsonl:1", from_="Dana", to=["Petr"])
    assert [row["value"] for row in rows([record], redactor, keys)] == ["Petr"]


def test_a_record_that_is_from_several_names_each_and_not_all_of_them_as_one(redactor: PIIRedactor, keys: Keys) -> None:
    """A meeting is from all who took part, joined; an address book's `Rubin, Alex` is one person."""
    records = [
        Record("m", asset_id="meeting:m", from_="Jan, Petr", participants=["Jan", "Petr", "Eva"]),
        Record("a", asset_id="meeting:a", from_="Jan", participants=["Jan"]),
        Record("g", asset_id="gmail:g", from_="Rubin, Alex", participants=["Rubin, Alex"]),
    ]
    found = [(one["asset_id"], one["role"], one["value"]) for one in rows(records, redactor, keys)]
    assert sorted(found) == [
        ("gmail:g", "participant", "Rubin, Alex"),
        ("gmail:g", "sender", "Rubin, Alex"),
        ("meeting:a", "participant", "Jan"),
        ("meeting:a", "sender", "Jan"),
        *(("meeting:m", "participant", name) for name in ("Eva", "Jan", "Petr")),
    ]


def test_a_number_that_names_somebody_is_a_phone_however_it_looks(redactor: PIIRedactor, keys: Keys) -> None:
    record = Record("1", asset_id="jsonl:1", from_="301234567", to=["Petr 301234568", "Brno 2024-2025"])
    found = [(row["role"], row["kind"], row["value"].partition(":")[0]) for row in rows([record], redactor, keys)]
    assert sorted(found) == [
        ("recipient", "name", "Brno 2024-2025"),
        ("recipient", "name", "Petr"),
        ("recipient", "phone", "<PHONE_NUMBER"),
        ("sender", "phone", "<PHONE_NUMBER"),
    ]


def test_what_stands_in_one_string_or_on_one_card_is_one_entry(redactor: PIIRedactor, keys: Keys) -> None:
    mail = Record(
        "1",
        asset_id="gmail:1",
        rag_source_type="email",
        to=["Dana <dana@example.com>", "Dana <other@example.com>", " Dana  <dana@example.com>"],
    )
    found = rows([mail], redactor, keys)
    together = {
        one["entry"]: {(row["kind"], row["value"]) for row in found if row["entry"] == one["entry"]} for one in found
    }
    assert sorted(map(sorted, together.values())) == [
        [("email", "dana@example.com"), ("name", "Dana")],
        [("email", "other@example.com"), ("name", "Dana")],
    ]
    card = Record(
        "c",
        asset_id="contacts:c",
        rag_source_type="contact",
        people=[NamedPerson("owner", "Dana"), NamedPerson("owner", "052-123-4567"), NamedPerson("mentioned", "Petr")],
    )
    of_card = {(row["role"], row["kind"], row["entry"] == "contacts:c") for row in rows([card], redactor, keys)}
    assert of_card == {("owner", "name", True), ("owner", "phone", True), ("mentioned", "name", False)}


@pytest.mark.parametrize(*cases(__file__, "an_address_of_an_office_is_nobodys"))
def test_an_address_of_an_office_is_nobodys(address: str, is_role: bool, redactor: PIIRedactor, keys: Keys) -> None:
    (row,) = rows([Record("1", asset_id="gmail:1", from_=address)], redactor, keys)
    assert row["shared"] is is_role
