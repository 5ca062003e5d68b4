"""Domestic bank accounts."""

import pytest

from relrag_pipelines.pii import PIIRedactor, bank_accounts
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.settings import POLICIES, Policy
from tests.cases import cases


def matches(text: str) -> list[str]:
    return [text[start:end] for start, end, _ in bank_accounts.find(text)]


@pytest.mark.requirement("S0-79")
@pytest.mark.parametrize(*cases(__file__, "accounts"))
def test_accounts(text: str, account: str) -> None:
    assert matches(text) == [account]


@pytest.mark.parametrize(
    "text", ["part 10-800-99999999", "2000145398/0800", "account of 2024/0042", "13/01/2024", "052-123-4567", "10-800"]
)
def test_no_accounts(text: str) -> None:
    assert matches(text) == []


def test_equal_accounts_are_written_alike() -> None:
    assert bank_accounts.normalise("10/800/99999999") == bank_accounts.normalise("10 800 99999999") == "10-800-99999999"
    assert bank_accounts.normalise("19-2000145399/0800") == "19-2000145399/0800"


@pytest.mark.requirement("S0-79")
def test_only_a_policy_that_names_them_replaces_them() -> None:
    policies = {name: Policy.model_validate(policy) for name, policy in POLICIES.items()}
    named = {"default": Policy(entities=["BANK_ACCOUNT"], action="replace")}
    keys = Keys(b"i" * 32, b"p" * 32, "k1")
    text = "account 10-800-99999999"
    assert PIIRedactor(policies, keys).redact(text, "default") == text
    assert PIIRedactor(policies, keys).redact_query(text) == text
    assert PIIRedactor(named, keys).redact(text, "default") == "account <BANK_ACCOUNT>"
