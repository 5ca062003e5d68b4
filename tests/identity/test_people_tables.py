"""People as tables."""

from __future__ import annotations

from relrag_pipelines.identity.entries import naming_entries
from relrag_pipelines.identity.journal_statements import Merge, number_statements
from relrag_pipelines.identity.participants import extract_identifiers
from relrag_pipelines.identity.people_tables import (
    finder,
    mention_rows,
    person_aliases,
    person_entries,
    person_redirects,
    persons,
)
from relrag_pipelines.identity.resolve import resolve
from relrag_pipelines.pii import PIIRedactor
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.records import NamedPerson, Record
from relrag_pipelines.settings import POLICIES, Policy
from relrag_pipelines.stores.table_schema import to_table


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
    assert persons(first, 100_000).to_pylist() == [
        {"person_id": 42, "name": "שירן תמיר", "is_owner": False},
        {"person_id": 100_000, "name": "Noa", "is_owner": True},
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
    who = {(row["source"], row["pinned_person_id"]): row["person_id"] for row in person_entries(first).to_pylist()}
    assert who == {("book", 42): 42, ("mail", -1): 100_000}
    assert len(person_entries(first)) == 3
    said = {"gmail:3": ("Noa", "שאלתי את Noa ולא את שירן"), "gmail:1": ("nobody",)}
    named = mention_rows(finder(first), "mail/2025-01", said, {"gmail:3": [42]})
    assert [(row.person_id, row.asset_id, row.lake_month) for row in named] == [
        (42, "gmail:3", "mail/2025-01"),
        (100_000, "gmail:3", "mail/2025-01"),
    ]
    assert [row.person_id for row in mention_rows(finder(first, [42]), "", said, {"gmail:3": [42]})] == [42]
    journal = number_statements([], [*first.allocations, Merge(42, (100_000,))])
    merged = resolve(entries, journal, lambda name: keys.pseudonym("person", name))
    assert person_redirects(merged).to_pylist() == [{"former_person_id": 100_000, "person_id": 42}]
    (noa,) = {row["person_id"] for row in person_aliases(merged).to_pylist() if row["alias"] == "Noa"}
    assert noa == 42
    assert {row["person_id"] for row in person_entries(merged).to_pylist()} == {42}
