"""What passes between two people: mails by who wrote to whom, messages of a chat of two, calls, shared groups."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest

from relrag_query.people.later_statements import LaterStatements
from relrag_query.people.people import People
from relrag_query.people.traffic import Traffic, traffic

OWNER, DANA, PETR, OTA = 1, 2, 3, 4
ASSETS = [
    ("m1", "email", None, 10, [(DANA, "sender"), (OWNER, "recipient"), (PETR, "recipient")]),
    ("m2", "email", None, 20, [(OWNER, "sender"), (DANA, "recipient")]),
    ("m3", "email", None, 30, [(OTA, "sender"), (OWNER, "recipient"), (DANA, "mentioned")]),
    ("c1", "call_recording", None, 40, [(OWNER, "participant"), (DANA, "participant")]),
    ("w1", "whatsapp", "two", 50, [(DANA, "sender")]),
    ("w2", "whatsapp", "two", 60, [(OWNER, "sender")]),
    ("w3", "whatsapp", "alone", 70, [(PETR, "sender")]),
    ("w4", "whatsapp", "group", 80, [(DANA, "sender")]),
    ("w5", "whatsapp", "group", 90, [(PETR, "sender")]),
    ("w6", "whatsapp", "group", 95, [(OWNER, "sender")]),
    ("card", "contact", None, None, [(DANA, "owner")]),
]


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as made:
        made.execute("CREATE TABLE persons (person_id BIGINT, name VARCHAR, is_owner BOOLEAN)")
        made.executemany("INSERT INTO persons VALUES (?, '', ?)", [(one, one == OWNER) for one in range(1, 5)])
        made.execute("CREATE TABLE person_redirects (former_person_id BIGINT, person_id BIGINT)")
        made.execute("CREATE TABLE records (asset_id VARCHAR, thread_id VARCHAR, ts BIGINT)")
        made.execute(
            "CREATE TABLE person_assets (person_id BIGINT, asset_type VARCHAR, asset_ref VARCHAR, role VARCHAR)"
        )
        for ref, type_, thread, ts, people in ASSETS:
            made.execute("INSERT INTO records VALUES (?, ?, ?)", [ref, thread, ts])
            for person_id, role in people:
                made.execute("INSERT INTO person_assets VALUES (?, ?, ?, ?)", [person_id, type_, ref, role])
        yield made


def test_who_writes_to_whom_how_often_and_since_when(connection: duckdb.DuckDBPyConnection) -> None:
    found = traffic(connection, People(connection, LaterStatements()), DANA)
    assert found == [
        Traffic(OWNER, "whatsapp", 1, 1, 0, 1, 50, 95),
        Traffic(OWNER, "email", 1, 1, 0, 0, 10, 20),
        Traffic(OWNER, "call_recording", 0, 0, 1, 0, 40, 40),
        Traffic(PETR, "email", 1, 0, 0, 0, 10, 10),
        Traffic(PETR, "whatsapp", 0, 0, 0, 1, 80, 90),
    ]
    assert traffic(connection, People(connection, LaterStatements()), OTA) == [
        Traffic(OWNER, "email", 1, 0, 0, 0, 30, 30)
    ]


def test_a_chat_in_which_the_owner_never_wrote_is_with_the_owner(connection: duckdb.DuckDBPyConnection) -> None:
    (one,) = [
        one
        for one in traffic(connection, People(connection, LaterStatements()), PETR)
        if (one.other_id, one.asset_type) == (OWNER, "whatsapp")
    ]
    assert (one.written, one.received, one.groups, one.first) == (1, 0, 1, 70)


def test_a_merge_counts_at_once(connection: duckdb.DuckDBPyConnection) -> None:
    people = People(connection, LaterStatements(survivors={OTA: DANA}))
    mails = [one for one in traffic(connection, people, OWNER) if one.asset_type == "email"]
    assert [(one.other_id, one.written, one.received, one.first, one.last) for one in mails] == [(DANA, 1, 2, 10, 30)]
    assert all(one.other_id != DANA for one in traffic(connection, people, DANA))


def test_a_chat_of_two_stays_one_when_an_id_of_its_owner_is_merged(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute("INSERT INTO records VALUES ('w7', 'two', 65)")
    connection.execute("INSERT INTO person_assets VALUES (?, 'whatsapp', 'w7', 'sender')", [OTA])
    for merged in ({OTA: OWNER}, {OWNER: OTA}):
        people = People(connection, LaterStatements(survivors=merged))
        chats = [one for one in traffic(connection, people, DANA) if one.asset_type == "whatsapp"]
        assert chats == [
            Traffic(people.owner or 0, "whatsapp", 1, 2, 0, 1, 50, 95),
            Traffic(PETR, "whatsapp", 0, 0, 0, 1, 80, 90),
        ]
