"""Who is one person: how right that is on labelled identities, how long it takes; and how fast names are found."""

from __future__ import annotations

import random
import time

import pyarrow as pa

from bench import mentions, people_sync
from bench.measurement import Figure
from relrag_pipelines.identity.entries import naming_entries
from relrag_pipelines.identity.people_tables import person_aliases, persons
from relrag_pipelines.identity.resolve import resolve
from relrag_pipelines.identity.suggestions import suggest
from relrag_pipelines.text.names import tables
from tests.identity.labelled_set import score
from tests.text.names.across_scripts import counts, own_pairs

MESSAGES, PEOPLE = 1_000_000, 2_000
_OF_SYNC = 30.0
"""seconds: a tenth of what the messages take at the least rate that a first sync is held to, 3,000 records/s"""


def measure() -> list[Figure]:
    """The figures."""
    figures = []
    for name, kept in (("tuned", "rules were written with"), ("held", "rules were not written for")):
        found = score(name)
        what = f"{found.people} people that {kept}, {found.aliases} aliases"
        figures += [
            Figure(f"{what}: pairs joined, right", 100 * found.precision, "%", at_least=99.0),
            Figure("the same: pairs joined or suggested", 100 * found.recall, "%", at_least=90.0),
            Figure("the same: pairs joined", 100 * found.joined, "%"),
            Figure("the same: suggestions, right", 100 * found.suggested, "%"),
        ]
    return figures + _names() + _speed() + mentions.measure() + people_sync.measure()


def _names() -> list[Figure]:
    """How many listed given names are found in another script by their sound."""
    pairs = [own_pairs(language) for language in ("he", "ru")]
    listed, apart = sum(count for count, _ in pairs), sum(len(names) for _, names in pairs)
    return [
        Figure(f"{listed} names listed in two scripts: alike", 100 * (listed - apart) / listed, "%", at_least=95.0),
        *(Figure(f"{one.names} {one.what}: in some list", 100 * one.share, "%") for one in counts()),
    ]


def _speed() -> list[Figure]:
    messages = _messages()
    begun = time.perf_counter()
    found = resolve(naming_entries({"chat": messages}), [], lambda name: name)
    persons(found)
    person_aliases(found)
    resolved = time.perf_counter() - begun
    begun = time.perf_counter()
    suggest(found.people)
    return [
        Figure(f"people of {MESSAGES:,} messages, with their tables", resolved, at_most=_OF_SYNC),
        Figure(f"suggestions among {PEOPLE:,} people", time.perf_counter() - begun),
    ]


def _messages() -> pa.Table:
    chance = random.Random(1)
    given = sorted(tables.short_forms())
    families = ["".join(chance.choices("bdgklmnprst", k=3)) + "a" + chance.choice("klmnrs") for _ in range(PEOPLE)]
    names = pa.array([f"{chance.choice(given)} {family}" for family in families])
    who = pa.array(chance.choices(range(PEOPLE), k=MESSAGES))
    keyed = pa.array([f"{number:012x}" for number in range(PEOPLE)]).take(who)
    return pa.table(
        {
            "asset_id": [f"whatsapp:{number}" for number in range(MESSAGES)],
            "role": pa.array(["sender"] * MESSAGES),
            "kind": pa.array(["whatsapp"] * MESSAGES),
            "value": names.take(who),
            "keyed": keyed,
            "person_id": pa.nulls(MESSAGES, pa.int64()),
            "entry": keyed,
            "shared": pa.array([False] * MESSAGES),
        }
    )
