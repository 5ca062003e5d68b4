"""The people of a generation, as they are read."""

from __future__ import annotations

from typing import Any, cast

import duckdb

from relrag_pipelines.identity.inverse_types import INVERSE
from relrag_pipelines.text import kinship
from relrag_query.people.later_statements import LaterStatements
from relrag_query.people.people import People


class Counted:
    """A connection that counts the queries."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self.connection = connection
        self.queries = 0

    def execute(self, *query: Any) -> duckdb.DuckDBPyConnection:
        self.queries += 1
        return self.connection.execute(*query)


def test_all_people_take_as_many_queries_as_one() -> None:
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE persons AS SELECT range AS person_id, 'P' AS name, false AS is_owner FROM range(50)"
        )
        connection.execute("CREATE TABLE person_redirects AS SELECT 70 AS former_person_id, 7 AS person_id")
        connection.execute("CREATE TABLE person_aliases (person_id BIGINT)")
        counted = Counted(connection)
        people = People(cast(duckdb.DuckDBPyConnection, counted), LaterStatements(survivors={7: 8}))
        assert len(people.every()) == 49
        assert counted.queries == 4
        assert [people.survivor(one) for one in (70, 7, 8, 9)] == [8, 8, 8, 9]
        assert counted.queries == 4


def test_whom_somebody_with_an_occupation_serves_has_none() -> None:
    """A babysitter's family are not hers: the other end of the relationship is another word."""
    assert all(INVERSE[role] in ("client", "patient", "student") for role in kinship.ROLES)
    assert (INVERSE["student"], INVERSE["mentee"], INVERSE["vet"]) == ("teacher", "mentor", "client")
