"""The verdict of compiled numbering plans is that of the phonenumbers library."""

from __future__ import annotations

import random
from collections.abc import Iterator

import phonenumbers
import pytest
from phonenumbers.phonemetadata import PhoneMetadata

from relrag_pipelines.pii.phones import numbering_plans
from tests.cases import cases

REGIONS = ("IL", "US", "GB", "DE", "FR", "IN", "BR", "CZ", "ES", "IT", "MX", "AR", "RU", "KZ", "JM", "AU", "JP", "HU")
KINDS = ("fixed_line", "mobile", "toll_free", "premium_rate", "shared_cost", "voip", "uan", "pager")


def library(digits: str, region: str) -> tuple[bool, str]:
    """Whether the library's matcher takes the digits for a number of the region, and their E.164 if they are valid."""
    try:
        parsed = phonenumbers.parse(digits, region)
    except phonenumbers.NumberParseException:
        return False, ""
    written = phonenumbers.format_number(parsed, phonenumbers.PhoneNumberFormat.E164)
    found = [match.raw_string for match in phonenumbers.PhoneNumberMatcher(digits, region)]
    return found == [digits], written if phonenumbers.is_valid_number(parsed) else ""


def dialled(region: str, count: int) -> Iterator[str]:
    """Random digits, and the library's examples with some digits changed, half of them with a prefix."""
    chance = random.Random(region)
    metadata = PhoneMetadata.metadata_for_region(region)
    descriptions = [getattr(metadata, kind) for kind in KINDS]
    examples = [one.example_number for one in descriptions if one is not None and one.example_number]
    for number in range(count):
        if number % 2:
            yield "".join(chance.choices("0123456789", k=chance.randint(4, 14)))
            continue
        digits = list(chance.choice(examples))
        for _ in range(chance.randint(0, 3)):
            digits[chance.randrange(len(digits))] = chance.choice("0123456789")
        yield (getattr(metadata, "national_prefix", None) or "0") * (number % 4 // 2) + "".join(digits)


def differences(region: str, count: int) -> list[tuple[str, object, object]]:
    plan = numbering_plans.plan(region)
    verdicts = ((digits, (plan.is_valid(digits), plan.e164(digits))) for digits in dialled(region, count))
    return [
        (digits, verdict, library(digits, region))
        for digits, verdict in verdicts
        if verdict[0] is not None and verdict != library(digits, region)
    ]


@pytest.mark.parametrize("region", REGIONS)
def test_the_plan_of_a_country_agrees_with_the_library(region: str) -> None:
    assert differences(region, 60) == []


@pytest.mark.slow
def test_all_plans_agree_with_the_library() -> None:
    assert {
        region: found for region in sorted(phonenumbers.SUPPORTED_REGIONS) if (found := differences(region, 400))
    } == {}


@pytest.mark.parametrize(*cases(__file__, "numbers_as_they_are_dialled"))
def test_numbers_as_they_are_dialled(digits: str, region: str, valid: bool | None, written: str | None) -> None:
    plan = numbering_plans.plan(region)
    assert (plan.is_valid(digits), plan.e164(digits)) == (valid, written)
