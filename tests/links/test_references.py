"""`references` claims of what connectors resolved."""

import pyarrow as pa
import pytest

from relrag_pipelines.links import edges
from relrag_pipelines.links.references import references
from relrag_pipelines.records import Chunk, Record, arrow_schema, to_table


def record(name: str, extra: dict[str, object]) -> Record:
    return Record(name, asset_id=f"git:{name}", extra=extra)


def claims(*records: Record) -> list[tuple[str, str, float, str]]:
    found = references(to_table(list(records), Record)).to_pylist()
    assert {one["relation_type"] for one in found} <= {"references"}
    return [(one["src_asset_ref"], one["dst_asset_ref"], one["confidence"], one["provenance"]) for one in found]


def test_each_entry_is_a_claim_with_its_reason() -> None:
    named = [{"ref": "git:b", "why": "reverts commit b", "confidence": 1.0}]
    named += [{"ref": "git:c", "why": "names commit c", "confidence": 0.95}]
    assert claims(record("a", {"references": named}), record("b", {})) == [
        ("git:a", "git:b", 1.0, "reverts commit b"),
        ("git:a", "git:c", 0.95, "names commit c"),
    ]


@pytest.mark.parametrize("extra", [{"references": "see above"}, {"references": [7, {"ref": "y"}]}, {"references": {}}])
def test_what_a_source_means_otherwise_by_that_word_is_no_claim(extra: dict[str, object]) -> None:
    assert claims(record("a", extra)) == []


def test_they_are_among_the_edges_of_a_month() -> None:
    named = {"references": [{"ref": "git:b", "why": "names commit b", "confidence": 0.95}]}
    table = to_table([record("a", named)], Record)
    found: pa.Table = edges(table, arrow_schema(Chunk).empty_table())
    assert found["relation_type"].to_pylist() == ["references"]
