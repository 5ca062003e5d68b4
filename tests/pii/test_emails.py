"""E-mail addresses."""

import pytest

from relrag_pipelines.pii import emails
from tests import cost


def matches(text: str) -> list[str]:
    return [text[start:end] for start, end, _ in emails.find(text)]


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("write to dana@example.com.", "dana@example.com"),
        ("<dana.levi+trip@mail.example.co.il>", "dana.levi+trip@mail.example.co.il"),
        ("mailto:dana@example.com?subject=x", "dana@example.com"),
        ("dana@example.com_2024.pdf", "dana@example.com_2024.pdf"),  # cannot be told from an address; all of it goes
        ("dana@server.corp", "dana@server.corp"),  # no public suffix
        ("x@xn--80ak6aa92e.com", "x@xn--80ak6aa92e.com"),
        ("דני@example.com", "דני@example.com"),
        ("jana.nováková@firma.cz", "jana.nováková@firma.cz"),
        ("dana.@example.com", "dana.@example.com"),
        ("--dana@example.com--", "dana@example.com"),
        ("'dana@example.com'", "dana@example.com"),
        ("a@b@c.com", "b@c.com"),
        ('to "dana levi"@example.com', '"dana levi"@example.com'),
    ],
)
def test_addresses(text: str, address: str) -> None:
    assert matches(text) == [address]


def test_addresses_side_by_side_stay_apart() -> None:
    assert matches("dana@example.com/petr@example.cz;x@y.de") == ["dana@example.com", "petr@example.cz", "x@y.de"]


@pytest.mark.requirement("S0-80")
@pytest.mark.parametrize("prefix", ["ל", "ב", "מ", "ול", "ל-", "ב־", "מייל-"])
def test_hebrew_glued_to_an_address_stays_outside(prefix: str) -> None:
    assert matches(f"תכתוב {prefix}dana@example.com") == ["dana@example.com"]


@pytest.mark.parametrize("text", ["a@1.2.3", "x@y", "@dana", "dana@", "12 @ 3.50", "a @ b.com", "react@18.2.0", "@@.."])
def test_no_addresses(text: str) -> None:
    assert matches(text) == []


def test_equal_addresses_are_written_alike() -> None:
    assert emails.normalise("Dana.Levi@Example.COM") == "dana.levi@example.com"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "piece", "after"),
    [("", "a", "@"), ("", "+", "@x.com"), ("", "a.@", ""), ("x@", "a-", ""), ("", "@", "")],
)
def test_long_runs_cost_time_in_proportion(before: str, piece: str, after: str) -> None:
    def run(size: int) -> str:
        return before + piece * (size // len(piece)) + after

    assert cost.exponent(emails.find, run, 200_000) < cost.LINEAR
