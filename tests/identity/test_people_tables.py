"""People as tables."""

from __future__ import annotations

import pyarrow as pa

from relrag_pipelines.identity.entries import naming_entries
from relrag_pipelines.identity.participants import extract_identifiers
from relrag_pipelines.identity.people_tables import (
    finder,
    mentioned,
    person_aliases,
    person_assets,
    person_redirects,
    persons,
)
from relrag_pipelines.identity.resolve import resolve
from relrag_pipelines.identity.statements import Merge, numbered
from relrag_pipelines.pii import PIIRedactor
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.records import TABLES, NamedPerson, Record, arrow_schema, to_table
from relrag_pipelines.settings import POLICIES, Policy


def test_people_have_rows_of_names_addresses_and_records(keys: Keys) -> None:
    redactor = PIIRedactor({name: Policy.model_validate(policy) for name, policy in POLICIES.items()}, keys)
    book = [
        Record(
            "1",
            asset_id="contacts:1",
            rag_source_type="contact",
            people=[NamedPerson("owner", name, 42) for name in ("Shiran", "שירן תמיר", "052-555-0121")],
        )
    ]
    mail = [
        Record("1", asset_id="gmail:1", rag_source_type="email", from_="Noa <noa@x.example>", to=["052-555-0121"]),
        Record(
            "2", asset_id="gmail:2", rag_source_type="email", from_="Noa <noa@x.example>", to=["Noa <noa@x.example>"]
        ),
    ]
    tables = {
        name: extract_identifiers(to_table(records, Record), redactor, keys, "default")
        for name, records in {"book": book, "mail": mail}.items()
    }
    entries = naming_entries(tables)
    first = resolve(entries, [], lambda name: keys.pseudonym("person", name))
    assert persons(first).to_pylist() == [
        {"person_id": 42, "name": "שירן תמיר"},
        {"person_id": 100_000, "name": "Noa"},
    ]
    aliases = [
        (row["person_id"], row["alias"].split(":")[0], row["script"], row["kind"], row["stated"])
        for row in person_aliases(first).to_pylist()
    ]
    assert sorted(aliases) == [
        (42, "<PHONE_NUMBER", "", "phone", True),
        (42, "<PHONE_NUMBER>", "", "phone", False),
        (42, "Shiran", "latin", "name", True),
        (42, "שירן תמיר", "hebrew", "name", True),
        (100_000, "Noa", "latin", "name", False),
        (100_000, "noa@x.example", "", "email", False),
    ]
    found = person_assets(first, "mail", tables["mail"], lambda ids: pa.chunked_array([["email"] * len(ids)]))
    assert found.schema == arrow_schema(TABLES["person_assets"].row)
    assert [(row["person_id"], row["asset_ref"], row["role"]) for row in found.to_pylist()] == [
        (42, "gmail:1", "recipient"),
        (100_000, "gmail:1", "sender"),
        (100_000, "gmail:2", "recipient"),
        (100_000, "gmail:2", "sender"),
    ]
    said = [Record("3", asset_id="gmail:3", rag_source_type="email", text="שאלתי את Noa ולא את שירן"), mail[0]]
    named = mentioned(finder(first), to_table(said, Record), {"gmail:3": [42]})
    assert [(row["person_id"], row["asset_ref"], row["role"]) for row in named.to_pylist()] == [
        (42, "gmail:3", "mentioned"),
        (100_000, "gmail:3", "mentioned"),
    ]
    journal = numbered([], [*first.allocations, Merge(42, (100_000,))])
    merged = resolve(entries, journal, lambda name: keys.pseudonym("person", name))
    assert person_redirects(merged).to_pylist() == [{"former_person_id": 100_000, "person_id": 42}]
    (noa,) = {row["person_id"] for row in person_aliases(merged).to_pylist() if row["alias"] == "Noa"}
    assert noa == 42
    moved = person_assets(merged, "mail", tables["mail"], lambda ids: pa.chunked_array([["email"] * len(ids)]))
    assert {row["person_id"] for row in moved.to_pylist()} == {42}
