"""Texts of many countries, labelled without knowledge of the recognisers: recall of each type, and precision.

tests/data/pii/SOURCE.md says where they come from.
"""

from __future__ import annotations

import functools
import json
from collections import Counter
from typing import Any

import pytest

from relrag_pipelines.pii import PIIRedactor
from relrag_pipelines.pii.policies import EntityCatalog
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.settings import Policy
from relrag_pipelines.settings.policy_presets import POLICIES
from tests import ROOT

FOLDER = ROOT / "tests" / "data" / "pii"
RECALL = {
    "phone": 0.8,
    "email": 0.85,
    "id": 0.95,
    "iban": 1.0,
    "card": 1.0,
    "passport": 0.93,
    "idcard": 1.0,
    "licence": 1.0,
}
"""smallest share of the values of a type that is hidden whole"""
PRECISION = 0.93
"""smallest share of the findings that lie on a value"""


@functools.cache
def redactor(country: str) -> PIIRedactor:
    policy = Policy.model_validate({**POLICIES["default"], "action": "replace", "actions": {}})
    keys = Keys(b"i" * 32, b"p" * 32, "k1")
    return PIIRedactor({"default": policy}, keys, catalog=EntityCatalog(regions=(country,)))


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("name", ["blind.jsonl", "fresh.jsonl", "strangers.jsonl"])
def test_values_are_hidden_and_near_misses_stay(name: str) -> None:
    there, hidden, found, right = Counter[str](), Counter[str](), 0, 0
    faults = []
    for row in rows(name):
        text = row["text"]
        findings = [(entity.start, entity.end) for entity in redactor(row["country"]).detect(text, "default")]
        covered = {offset for start, end in findings for offset in range(start, end)}
        for start, end, kind in row["spans"]:
            if kind not in RECALL:
                continue  # account numbers and plates, which the default policy leaves
            there[kind] += 1
            is_hidden = all(not text[offset].isalnum() or offset in covered for offset in range(start, end))
            hidden[kind] += is_hidden
            faults += [] if is_hidden else [f"{row['country']} missed {text[start:end]!r}"]
        for start, end in findings:
            found += 1
            on_value = any(start < close and begin < end for begin, close, _ in row["spans"])
            right += on_value
            faults += [] if on_value else [f"{row['country']} wrong {text[start:end]!r}"]
    shares = {kind: hidden[kind] / there[kind] for kind in there}
    assert [kind for kind in there if shares[kind] < RECALL[kind]] == [], "\n".join(faults)
    assert right / found >= PRECISION, "\n".join(faults)
