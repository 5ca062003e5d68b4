"""What the owner stated of somebody who stays keeps the anchors that records which stay give."""

import pyarrow as pa
import pytest

from relrag_pipelines.erasure.statement_anchors import orphaned_anchors, remaining_anchors, without_anchors
from relrag_pipelines.identity.journal_statements import Allocation, Entry, Merge, Split, StatedFact, StatedIdentifier
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.records import Identifier
from relrag_pipelines.stores.table_schema import to_table

KEYS = Keys(ids=b"i" * 32, pseudonyms=b"p" * 32, version="k1")
PETR = KEYS.pseudonym("person", "petr kolar")
ORPHANS = {"card:contacts:1", "phone:11", "email:22/33"}
GIVEN = [Entry(1, Allocation(7, ("card:contacts:1", "phone:44"))), Entry(2, Allocation(8, ("phone:11",)))]


def card(number: int, phone: str) -> list[Identifier]:
    own = f"contacts:{number}"
    return [
        Identifier(own, "owner", "name", "Petr Kolar", PETR, entry=own),
        Identifier(own, "owner", "phone", "+420 601 234 561", phone, entry=own),
    ]


def identifiers(*cards: list[Identifier]) -> list[tuple[str, pa.Table]]:
    return [("cards", to_table([row for one in cards for row in one], Identifier))]


def test_only_anchors_that_no_other_record_gives_go() -> None:
    among = {"card:contacts:1", "card:contacts:2", "phone:aa", f"phone:aa/{PETR}", "phone:bb", "phone:unused"}
    same, other = identifiers(card(1, "aa"), card(2, "aa")), identifiers(card(1, "aa"), card(2, "bb"))
    assert orphaned_anchors(same, {"contacts:1"}, among, KEYS) == {"card:contacts:1"}
    assert orphaned_anchors(other, {"contacts:1"}, among, KEYS) == {"card:contacts:1", "phone:aa", f"phone:aa/{PETR}"}
    assert orphaned_anchors(other, set(), among, KEYS) == set()


@pytest.mark.parametrize(
    ("statement", "left"),
    [
        (Allocation(7, ("card:contacts:1", "phone:44")), Allocation(7, ("phone:44",))),
        (Allocation(8, ("phone:11",)), Allocation(8, ())),  # nobody else gets the id
        (Split(("phone:11", "phone:55"), ("phone:44",)), Split(("phone:55",), ("phone:44",))),
        (Split(("phone:11",), ("phone:44",)), None),
        (StatedIdentifier(7, "phone:66", ("phone:44", "phone:11")), StatedIdentifier(7, "phone:66", ("phone:44",))),
        (StatedIdentifier(7, "phone:66", ("phone:11",)), StatedIdentifier(7, "phone:66", ("phone:44",))),
        (StatedIdentifier(8, "phone:66", ("phone:11",)), None),
        (StatedIdentifier(7, "phone:66", ("phone:44",), ("phone:11",)), None),
        (StatedIdentifier(7, "phone:11", ("phone:44",)), None),
        (Merge(7, (8,)), Merge(7, (8,))),
        (StatedFact(7, "lives_in", "Brno"), StatedFact(7, "lives_in", "Brno")),
    ],
)
def test_a_statement_goes_only_where_nothing_is_left_of_it(statement: object, left: object) -> None:
    assert without_anchors(statement, ORPHANS, remaining_anchors(GIVEN, ORPHANS)) == left
