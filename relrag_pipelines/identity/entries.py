"""The entries of an archive: each distinct string or card that names somebody, with the number of its records.

People are built from entries: there are thousands of them in millions of messages.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from relrag_pipelines.text.names.personal_name import WrittenName, parse

_ACCOUNT = re.compile(r"[\w.-]+@(?:lid|s\.whatsapp\.net|c\.us)|<[A-Z_]+(?::k\d+:[0-9a-f]+)?>(?:@lid)?")
"""an account of a messenger in `value`, redacted or not; any other value of that kind is a name"""


class Claim(NamedTuple):
    """One identifier of an entry."""

    kind: str
    """name, phone, email or whatsapp"""
    value: str
    keyed: str
    shared: bool


class NamingEntry(NamedTuple):
    """A string or card that names somebody."""

    source: str
    entry: str
    """as in identifiers"""
    is_card: bool
    claims: tuple[Claim, ...]
    person_id: int | None
    """the id that the source pins; a string that is pinned to two people is two entries"""
    sent: int
    """records that it is the sender of"""

    @property
    def names(self) -> tuple[Claim, ...]:
        """The names as claims."""
        return tuple(claim for claim in self.claims if claim.kind == "name")

    @property
    def written_names(self) -> tuple[WrittenName, ...]:
        """The parsed names; values that are no names are left out."""
        return tuple(name for name in (parse(claim.value) for claim in self.names) if name.words)


def naming_entries(identifiers: Mapping[str, pa.Table]) -> list[NamingEntry]:
    """The entries of the identifiers of each source, all months together, in order of source and entry."""
    entries: list[NamingEntry] = []
    for source in sorted(identifiers):
        entries += from_counts(source, _count(identifiers[source]).to_pylist())
    return entries


def _count(identifiers: pa.Table) -> pa.Table:
    sent = pc.cast(pc.equal(identifiers["role"], "sender"), pa.int64())
    is_card = pc.cast(pc.equal(identifiers["entry"], identifiers["asset_id"]), pa.int64())
    narrow = identifiers.select(["entry", "person_id", "kind", "keyed", "value", "shared"])
    grouped = (
        narrow.append_column("sent", sent)
        .append_column("is_card", is_card)
        .group_by(["entry", "person_id", "kind", "keyed", "shared"])
        .aggregate([("value", "min"), ("sent", "sum"), ("is_card", "max")])
    )
    return grouped.rename_columns({"value_min": "value", "sent_sum": "sent", "is_card_max": "is_card"})


def from_counts(source: str, counts: Iterable[dict[str, Any]]) -> Iterable[NamingEntry]:
    """The entries of one source, in order, from its identifiers counted by entry, person_id, kind, keyed and shared.

    Of each group its least value, how many of its rows are senders (`sent`), and whether any is of a card (`is_card`).
    """
    rows: defaultdict[tuple[str, int | None], list[dict[str, Any]]] = defaultdict(list)
    for row in counts:
        rows[row["entry"], row["person_id"]].append(row)
    for (entry, person_id), entry_rows in sorted(rows.items(), key=lambda item: (item[0][0], item[0][1] or 0)):
        claims = tuple(sorted({_claim(row) for row in entry_rows}))
        is_card = any(row["is_card"] for row in entry_rows)
        sent = max(row["sent"] for row in entry_rows)
        yield NamingEntry(source, entry, is_card, claims, person_id, sent)


def _claim(row: dict[str, Any]) -> Claim:
    kind, value = row["kind"], row["value"]
    if kind == "whatsapp" and not _ACCOUNT.fullmatch(value):
        return Claim("name", value, row["keyed"], row["shared"])
    return Claim(kind, value, row["keyed"], row["shared"])
