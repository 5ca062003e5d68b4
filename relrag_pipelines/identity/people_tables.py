"""The people of a resolution as tables: persons, aliases, redirects, and who has to do with which record."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

import pyarrow as pa
import pyarrow.compute as pc

from relrag_pipelines.identity.kinship import stated_relations
from relrag_pipelines.identity.mentions import MentionFinder, meant
from relrag_pipelines.identity.resolve import Resolution
from relrag_pipelines.records import (
    Person,
    PersonAlias,
    PersonAsset,
    PersonRedirect,
    PersonRelationship,
    arrow_schema,
    to_table,
)
from relrag_pipelines.text.names.spelling import script

MENTIONED = 0.9
"""confidence that a name in a text means the person who bears it"""
STATED = 0.8
"""confidence in what a text says of a relationship in words that a pattern knows"""
_NO_ID = -1
"""stands for no id where a join would not match what is missing"""


def persons(found: Resolution) -> pa.Table:
    """Rows of persons."""
    return to_table([Person(one.person_id, one.name) for _, one in sorted(found.people.items())], Person)


def person_aliases(found: Resolution) -> pa.Table:
    """Rows of person_aliases; what a card says is stated."""
    rows: dict[tuple[int, str, str, str], PersonAlias] = {}
    for person_id, person in found.people.items():
        for entry in person.entries:
            is_stated = entry.is_card or entry.person_id is not None
            for claim in entry.claims:
                written = script(claim.value) if claim.kind == "name" else ""
                key = (person_id, claim.kind, claim.keyed, claim.value)
                known = rows.setdefault(key, PersonAlias(person_id, claim.value, written, claim.kind, claim.keyed))
                known.stated |= is_stated
    return to_table([rows[key] for key in sorted(rows)], PersonAlias)


def person_redirects(found: Resolution) -> pa.Table:
    """Rows of person_redirects."""
    return to_table([PersonRedirect(old, now) for old, now in sorted(found.redirects.items())], PersonRedirect)


def person_assets(
    found: Resolution, source: str, identifiers: pa.Table, type_of: Callable[[pa.ChunkedArray], pa.ChunkedArray]
) -> pa.Table:
    """Rows of person_assets for identifiers of one source; `type_of` gives the rag_source_type of asset_ids."""
    keys = [(entry, pinned, person) for (of, entry, pinned), person in found.person_of.items() if of == source]
    if not keys or not identifiers.num_rows:
        return arrow_schema(PersonAsset).empty_table()
    entries, pins, people = zip(*keys, strict=True)
    who = pa.table(
        {
            "entry": pa.array(entries, pa.string()),
            "pin": pa.array([_NO_ID if pin is None else pin for pin in pins], pa.int64()),
            "who": pa.array(people, pa.int64()),
        }
    )
    rows = identifiers.select(["asset_id", "role", "entry"]).append_column(
        "pin", pc.fill_null(identifiers["person_id"], _NO_ID)
    )
    joined = rows.join(who, ["entry", "pin"], join_type="inner").group_by(["who", "asset_id", "role"]).aggregate([])
    joined = joined.sort_by([("who", "ascending"), ("asset_id", "ascending"), ("role", "ascending")])
    columns = [joined["who"], type_of(joined["asset_id"]), joined["asset_id"], joined["role"]]
    sure = pa.array([1.0] * joined.num_rows, pa.float64())
    return pa.Table.from_arrays([*columns, sure], schema=arrow_schema(PersonAsset))


def finder(found: Resolution) -> MentionFinder:
    """What finds the people of a resolution in texts, by all their names."""
    names = {
        person_id: sorted({claim.value for entry in person.entries for claim in entry.names})
        for person_id, person in found.people.items()
    }
    return MentionFinder(names)


def mentioned(finder: MentionFinder, records: pa.Table, present: Mapping[str, Collection[int]]) -> pa.Table:
    """Rows of person_assets for who is named in the texts of records; `present` has who takes part, by asset_id.

    `records` has the columns asset_id, rag_source_type and text, redacted.
    """
    columns = (records[name].to_pylist() for name in ("asset_id", "rag_source_type", "text"))
    rows = [
        PersonAsset(person_id, asset_type, asset_id, "mentioned", MENTIONED)
        for asset_id, asset_type, text in zip(*columns, strict=True)
        for person_id in finder.people(text, present.get(asset_id, ()))
    ]
    return to_table(sorted(rows, key=lambda row: (row.person_id, row.asset_ref)), PersonAsset)


def person_relationships(
    finder: MentionFinder, records: pa.Table, writers: Mapping[str, int], present: Mapping[str, Collection[int]]
) -> pa.Table:
    """Rows of person_relationships for what the texts of records say; `writers` has the sender by asset_id.

    Where it is not certain who is meant nothing is said. Columns of `records` as in `mentioned`; what a mail quotes or
    forwards is not of its sender, and does not belong into `text`.
    """
    rows: dict[tuple[int, int, str, str], PersonRelationship] = {}
    for asset_id, text in zip(records["asset_id"].to_pylist(), records["text"].to_pylist(), strict=True):
        here = present.get(asset_id, ())
        for one in stated_relations(text, finder.find(text)):
            owner = writers.get(asset_id) if one.owner is None else meant(one.owner, here)
            other = meant(one.other._replace(is_word=False), here)
            if owner is None or other is None or owner == other:
                continue
            key = (owner, other, one.relationship_type, asset_id)
            quote = text[one.start : one.end]
            rows.setdefault(key, PersonRelationship(*key, confidence=STATED, source_quote=quote))
    return to_table([rows[key] for key in sorted(rows)], PersonRelationship)
