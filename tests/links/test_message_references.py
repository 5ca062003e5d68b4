"""`references` claims of what connectors resolved."""

import pyarrow as pa
import pytest

from relrag_pipelines.links import build_edges
from relrag_pipelines.links.message_references import (
    MAX_NAMED,
    NAMED,
    collect_message_ids,
    message_id_edges,
    message_ids,
    references,
)
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.records import Chunk, Record
from relrag_pipelines.stores.table_schema import arrow_schema, to_table
from tests import cost
from tests.cases import cases


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
    assert claims(record("a", {"references": ["gmail:b"]})) == [("git:a", "gmail:b", 1.0, "it names the other")]


@pytest.mark.parametrize("extra", [{"references": "see above"}, {"references": [7, {"ref": "y"}]}, {"references": {}}])
def test_what_a_source_means_otherwise_by_that_word_is_no_claim(extra: dict[str, object]) -> None:
    assert claims(record("a", extra)) == []


def test_a_source_may_have_a_field_of_that_name_further_down() -> None:
    inner = record("a", {"meta": {NAMED: ["gmail:b"]}})
    assert message_id_edges(to_table([inner], Record)).num_rows == 0


def test_they_are_among_the_edges_of_a_month() -> None:
    named = {"references": [{"ref": "git:b", "why": "names commit b", "confidence": 0.95}]}
    table = to_table([record("a", named)], Record)
    found: pa.Table = build_edges(table, arrow_schema(Chunk).empty_table())
    assert found["relation_type"].to_pylist() == ["references"]


def test_a_text_names_mails_by_their_ids() -> None:
    text = """Message-ID: <CAJ+x1@mail.example>
    see <20250113094100.1187@rubinstudio.example>, mid:abc.7@host.example and https://lists.example/r/p1-2@host.example.
    In-Reply-To: first@host.example
    Message-ID: <CAJ+x1@mail.example>"""
    assert message_ids(text) == [
        "CAJ+x1@mail.example",
        "20250113094100.1187@rubinstudio.example",
        "abc.7@host.example",
        "p1-2@host.example",
        "first@host.example",
    ]


@pytest.mark.parametrize(*cases(__file__, "an_address_is_no_mail"))
def test_an_address_is_no_mail(text: str) -> None:
    assert message_ids(text) == []


def test_hostile_texts_take_no_time() -> None:
    for part in ("<", "a@", "mid:", "https://", "message-id:<", "a.", "<a@b.c>"):
        assert len(message_ids(part * (200_000 // len(part)))) <= MAX_NAMED
    blank = lambda size: "references" + " " * size + "( a@b"  # noqa: E731
    assert message_ids(blank(200_000)) == []
    assert cost.exponent(message_ids, blank, 200_000) < cost.LINEAR
    assert len(message_ids(" ".join(f"mid:{n}@h.example" for n in range(99)))) == MAX_NAMED


@pytest.mark.requirement("S0-16")
def test_a_mail_that_a_text_names_is_referred_to_once(keys: Keys) -> None:
    named = f"gmail:h{keys.id_hash('abc.7@host.example')}"
    commit = Record("a", "as said in mid:abc.7@host.example, mid:abc.7@host.example", asset_id="git:a")
    own = Record("m", "this is mid:abc.7@host.example", asset_id=named)
    twice = Record("b", "mid:abc.7@host.example", asset_id="git:b", extra={"references": [named]})
    for one in (commit, own, twice):
        collect_message_ids(one, keys.id_hash)
    assert [one.extra.get(NAMED) for one in (commit, own, twice)] == [[named], None, [named]]
    found = message_id_edges(to_table([commit, own, twice, record("z", {NAMED: "of their own"})], Record)).to_pylist()
    assert [tuple(one.values()) for one in found] == [("git:a", named, "references", 1.0, "names its Message-ID")]
