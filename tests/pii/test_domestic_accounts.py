"""The account of an IBAN, as people write it at home, beside the IBAN."""

from __future__ import annotations

import pyarrow as pa
import pytest

from relrag_pipelines.pii import PIIRedactor, ibans, redacted_numbers
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.settings import POLICIES, Policy

CZECH, ISRAELI, SLOVAK = "CZ65 0800 0000 1920 0014 5399", "IL620108000000099999999", "SK31 1200 0000 1987 4263 7541"
SHORT = "CZ38 0800 0000 0000 0000 0123"


def matches(text: str) -> list[str]:
    return [text[start:end] for start, end, _ in ibans.find(text)]


@pytest.mark.parametrize(
    ("text", "accounts"),
    [
        (f"IBAN {CZECH}, č. účtu 19-2000145399/0800", [CZECH, "19-2000145399/0800"]),
        (f"000019-2000145399 / 0800 ({CZECH})", ["000019-2000145399 / 0800", CZECH]),
        (f"{CZECH}: 2000145399", [CZECH, "2000145399"]),
        (f"{ISRAELI} חשבון 10-800-99999999", [ISRAELI, "10-800-99999999"]),
        (f"bank 010/800/99999999, {ISRAELI}", ["010/800/99999999", ISRAELI]),
        (f"{SLOVAK} 19-8742637541/1200", [SLOVAK, "19-8742637541/1200"]),
        (f"{SHORT} 123/0800", [SHORT, "123/0800"]),
    ],
)
def test_it_is_found(text: str, accounts: list[str]) -> None:
    assert matches(text) == accounts


@pytest.mark.parametrize(
    "text",
    [
        "19-2000145399/0800",
        f"{CZECH} 20001453990 and 92000145399 and 2000145399-1",
        f"{SHORT} room 123",
        f"{ISRAELI} 10-800-99999998",
        "DE89 3704 0044 0532 0130 00 532013000",
    ],
)
def test_what_is_another_number_or_has_no_iban_beside_it_stays(text: str) -> None:
    assert [one for one in matches(text) if one[0].isdigit()] == []


def test_it_gets_the_pseudonym_of_its_iban() -> None:
    assert ibans.normalise("19-2000145399/0800") == ibans.normalise(CZECH) == "CZ6508000000192000145399"
    assert ibans.normalise("10-800-99999999") == ISRAELI
    policies = {name: Policy.model_validate(policy) for name, policy in POLICIES.items()}
    redactor = PIIRedactor(policies, Keys(b"i" * 32, b"p" * 32, "k1"))
    first, second = redactor.redact(f"{CZECH} 19-2000145399/0800", "whatsapp").split()
    assert first == second
    assert first.startswith("<IBAN_CODE:k1:")
    assert redactor.redact(f"pay {CZECH} or 19-2000145399/0800", "gmail") == "pay <IBAN_CODE> or <IBAN_CODE>"
    assert redactor.redact("pay 19-2000145399/0800", "gmail") == "pay 19-2000145399/0800"


@pytest.mark.parametrize(
    ("channel", "text", "numbers", "left"),
    [
        # the text of a mail shows the kind alone, a chat the pseudonym; their numbers are the same
        ("gmail", f"{ISRAELI} חשבון 10-800-99999999", ["10-800-99999999"], ["IBAN"]),
        ("whatsapp", f"{ISRAELI} חשבון 10-800-99999999", ["10-800-99999999"], ["IBAN"]),
        ("whatsapp", "חשבון 10-800-99999999", ["10-800-99999999"], ["10-800-99999999", "IBAN"]),
        # what a policy removes stays away
        ("paperless", f"{ISRAELI} חשבון 10-800-99999999", ["10-800-99999999"], [""]),
        # no account of a bank: an invoice, and one whose checksum is wrong
        ("whatsapp", "invoice 2025/0042 or 19-2000145398/0800", ["2025/0042", "19-2000145398/0800"], None),
    ],
)
def test_its_pseudonym_stands_among_the_numbers(
    channel: str, text: str, numbers: list[str], left: list[str] | None
) -> None:
    policies = {name: Policy.model_validate(policy) for name, policy in POLICIES.items()}
    redactor = PIIRedactor(policies, Keys(b"i" * 32, b"p" * 32, "k1"))
    pseudonym = redactor.redact(ISRAELI, "whatsapp")
    gone: dict[str, str] = {}
    for changes in redactor.passes(text, channel):
        gone |= {redacted_numbers.compact(one.value): redacted_numbers.listed_form(one, redactor) for one in changes}
    (found,) = redacted_numbers.redact(pa.array([numbers]), [gone or None], redactor).to_pylist()
    assert found == ([pseudonym if one == "IBAN" else one for one in left] if left is not None else numbers)
