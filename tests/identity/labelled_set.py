"""The labelled identities as identifiers of sources, and what resolution makes of them."""

from __future__ import annotations

import itertools
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from relrag_pipelines.identity.entries import naming_entries
from relrag_pipelines.identity.participants import extract_identifiers
from relrag_pipelines.identity.resolve import Resolution, resolve
from relrag_pipelines.identity.suggestions import Suggestion, suggest
from relrag_pipelines.pii import PIIRedactor
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.records import NamedPerson, Record
from relrag_pipelines.settings import POLICIES, Policy
from relrag_pipelines.stores.table_schema import to_table

FOLDER = Path(__file__).with_name("labelled")
KEYS = Keys(b"i" * 32, b"p" * 32, "k1")
TYPES = {
    "c": "contact", "m": "email", "w": "whatsapp", "k": "call_recording", "n": "meeting_transcript", "g": "git_history",
    "d": "whatsapp",
}  # fmt: skip
"""letter of a source -> type of its records"""


@dataclass(frozen=True)
class Labelled:
    """One string of the set, and whom it stands for."""

    label: str
    source: str
    text: str
    asset_id: str


@dataclass(frozen=True)
class Score:
    """How pairs of strings were joined, against how they should be."""

    people: int
    aliases: int
    precision: float
    """of the pairs that were joined, those of one person"""
    joined: float
    """of the pairs of one person, those that were joined"""
    recall: float
    """of the pairs of one person, those that were joined or whose persons are suggested as one"""
    suggested: float
    """of the suggestions, those of one person"""
    wrong: tuple[tuple[str, str], ...]
    missed: tuple[tuple[str, str], ...]


def read(name: str) -> list[Labelled]:
    """The strings of a file."""
    found = []
    for number, line in enumerate((FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines()):
        label, *sources = (part.strip() for part in line.split(" | ") if part.strip())
        label = f"{label} {number}" if label == "-" else label
        letter = ""
        for part in sources:
            head, colon, rest = part.partition(": ")
            letter, texts = (head, rest) if colon and head in TYPES else (letter, part)
            for place, text in enumerate(texts.split("; ")):
                one = label if letter == "c" else f"{label}.{place}"
                found.append(Labelled(label, letter, text.strip(), f"{letter}:{one}"))
    return found


def resolved(labelled: list[Labelled]) -> tuple[Resolution, list[Suggestion], dict[Labelled, int | None]]:
    """The people, the suggestions, and the person of each string."""
    redactor = PIIRedactor({name: Policy.model_validate(policy) for name, policy in POLICIES.items()}, KEYS)
    records: defaultdict[str, dict[str, Record]] = defaultdict(dict)
    for one in labelled:
        record = records[one.source].setdefault(
            one.asset_id, Record("1", asset_id=one.asset_id, rag_source_type=TYPES[one.source])
        )
        if one.source == "c":
            record.people.append(NamedPerson("owner", one.text))
        else:
            record.from_ = one.text
    tables = {
        source: extract_identifiers(to_table(list(some.values()), Record), redactor, KEYS, "default")
        for source, some in records.items()
    }
    entries = naming_entries(tables)
    found = resolve(entries, [], lambda name: KEYS.pseudonym("person", name))
    entry_of = {
        (source, row["asset_id"]): row["entry"] for source, table in tables.items() for row in table.to_pylist()
    }
    persons = {
        one: found.person_of.get((one.source, entry_of.get((one.source, one.asset_id), ""), None)) for one in labelled
    }
    return found, suggest(found.people), persons


def score(name: str) -> Score:
    """Pairwise precision and recall on a file of the set."""
    labelled = read(name)
    _, suggestions, persons = resolved(labelled)
    offered = {frozenset((one.person_id, one.other_id)) for one in suggestions}
    joined = right = same = found = 0
    wrong, missed = [], []
    for a, b in itertools.combinations(labelled, 2):
        if a.source == b.source == "c" and a.asset_id == b.asset_id:
            continue  # one card is one person by itself
        together = persons[a] is not None and persons[a] == persons[b]
        is_same = a.label == b.label and not a.label.startswith("-")
        joined += together
        right += together and is_same
        same += is_same
        if is_same and (together or frozenset((persons[a], persons[b])) in offered):
            found += 1
        elif is_same:
            missed.append((f"{a.label} {a.source} {a.text}", f"{b.source} {b.text}"))
        if together and not is_same:
            wrong.append((f"{a.label} {a.source} {a.text}", f"{b.label} {b.source} {b.text}"))
    labels: defaultdict[int, set[str]] = defaultdict(set)
    for one, person in persons.items():
        if person is not None:
            labels[person].add(one.label)
    good = sum(bool(labels[one.person_id] & labels[one.other_id]) for one in suggestions)
    return Score(
        len({one.label for one in labelled if not one.label.startswith("-")}),
        len({(one.label, one.source, one.text) for one in labelled}),
        right / max(joined, 1),
        right / same,
        found / same,
        good / max(len(suggestions), 1),
        tuple(wrong),
        tuple(missed),
    )
