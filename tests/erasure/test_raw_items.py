"""The search of bytes that were not read: what it finds in them, and what hostile ones cost."""

import base64
import random
from dataclasses import replace

import pytest

from relrag_pipelines.erasure import raw_items, rule_matching
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.sources.mail.outlook.cfb import SIGNATURE
from tests import cost

HOSTILE = {
    "letters": b"A" * 1_000_000,
    "lines": (b"A" * 60 + b"\n") * 16_000,
    "one letter a line": b"A\n" * 500_000,
    "words": b"=?utf-8?q?" * 100_000,
    "empty": b"\n" * 1_000_000,
    "equals": b"=" * 1_000_000,
    "noughts": b"\0" * 1_000_000,
    "noise": random.Random(1).randbytes(1_000_000),
    "packed noise": base64.encodebytes(random.Random(2).randbytes(1_000_000)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_bytes_cost_time_in_proportion(name: str, keys: Keys) -> None:
    matcher = rule_matching.RuleMatcher([rule_matching.for_person("Zoltan Quixote, zq@host.example", keys, "")], keys)
    assert not raw_items.matches_rules(matcher, HOSTILE[name], "UTC")

    def search(data: bytes) -> bool:
        return raw_items.matches_rules(matcher, data, "UTC")

    assert cost.exponent(search, lambda size: HOSTILE[name][:size], len(HOSTILE[name])) < cost.LINEAR


def test_an_address_is_found_as_well(keys: Keys) -> None:
    matcher = rule_matching.RuleMatcher([rule_matching.for_person("zq@host.example", keys, "")], keys)
    assert raw_items.matches_rules(matcher, b"From: =?utf-8?Q?Z?= <ZQ@Host.example>\n\nx\n", "UTC")
    assert not raw_items.matches_rules(matcher, b"From: other@host.example\n\nx\n", "UTC")


def test_a_message_of_outlook_that_cannot_be_read_may_be_of_the_time_that_is_forgotten(keys: Keys) -> None:
    matcher = rule_matching.RuleMatcher(
        [replace(rule_matching.for_person("zq@host.example", keys, ""), before=1_700_000_000)], keys
    )
    assert raw_items.matches_rules(matcher, SIGNATURE + bytes(4096), "UTC")
    assert not raw_items.matches_rules(matcher, b"From: a@host.example\nSubject: no date\n\nx\n", "UTC")
