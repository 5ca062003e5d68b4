"""E-mail addresses."""

import pytest

from bench import pii_scores
from relrag_pipelines.pii import emails, spelled_addresses
from tests import cost
from tests.cases import cases


def matches(text: str) -> list[str]:
    return [text[start:end] for start, end, _ in emails.find(text)]


@pytest.mark.parametrize(*cases(__file__, "addresses"))
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


@pytest.mark.parametrize("address", ["dana@123.com.au", "info@3dprint.au", "crew@365.mov", "ota@7.studio.gov.au"])
def test_a_host_that_begins_with_a_digit_is_no_file(address: str) -> None:
    assert matches(f"write to {address} today") == [address]


def test_equal_addresses_are_written_alike() -> None:
    assert emails.normalise("Dana.Levi@Example.COM") == "dana.levi@example.com"


@pytest.mark.parametrize(*cases(__file__, "unusual_spelling"))
def test_unusual_spelling(text: str, address: str) -> None:
    found = matches(f"pište {text}, prosím" if text.isascii() else text)
    assert [emails.normalise(one) for one in found] == [address]


@pytest.mark.parametrize(*cases(__file__, "no_address_in_unusual_spelling"))
def test_no_address_in_unusual_spelling(text: str) -> None:
    assert matches(text) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "piece", "after"),
    [("", "a", "@"), ("", "+", "@x.com"), ("", "a.@", ""), ("x@", "a-", ""), ("", "@", "")],
)
def test_long_runs_cost_time_in_proportion(before: str, piece: str, after: str) -> None:
    def run(size: int) -> str:
        return before + piece * (size // len(piece)) + after

    assert cost.exponent(emails.find, run, 200_000) < cost.LINEAR


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("manda no bia.souza(a)uol.com.br", "bia.souza(a)uol.com.br"),
        ("elif.kaya [et] gmail [nokta] com", "elif.kaya [et] gmail [nokta] com"),
        ("mail: elif.kaya et gmail nokta com", "elif.kaya et gmail nokta com"),
        ("lola.cruz en gmail punto com", "lola.cruz en gmail punto com"),
        ("priya.s at the rate gmail.com", "priya.s at the rate gmail.com"),
        ("yuki_sato★docomo.ne.jp です", "yuki_sato★docomo.ne.jp"),
        ("escribe a lola.cruz@gmail .com", "lola.cruz@gmail .com"),
        ("jo.harris@btinternet. com", "jo.harris@btinternet. com"),
        ("jo . harris @ btinternet . com", "jo . harris @ btinternet . com"),
        ("UPI priya.s@okhdfcbank", "priya.s@okhdfcbank"),
    ],
)
def test_signs_that_are_spelt_or_apart(text: str, address: str) -> None:
    assert matches(text) == [address]
    entities = pii_scores.redactor(["EMAIL_ADDRESS"]).detect(text, "default")
    assert [text[entity.start : entity.end] for entity in entities] == [address]


@pytest.mark.parametrize(
    "text", ["we meet at six, that is the whole plan. See you", "שטרודל תפוחים", "la arroba es un signo"]
)
def test_a_word_for_the_sign_without_a_domain_is_not_searched(text: str) -> None:
    assert not spelled_addresses.may_be_spelt(text)
    assert spelled_addresses.which_may_be_spelt([text, "jan at firma dot cz", "a\0b", text]) == [1]


@pytest.mark.parametrize(
    "text",
    ["jan at firma dot cz", "jan at gmail ｄｏｔ com", "jan at firma．cz", "jan at firma . com", "JAN AT FIRMA。CZ"],
)
def test_a_word_for_the_sign_with_a_domain_is_searched(text: str) -> None:
    assert spelled_addresses.may_be_spelt(text)


@pytest.mark.parametrize(
    "text",
    [
        "write to him@work. In the evening", "option (a) see example.com", "lemonde.fr et orange.fr",
        "Paul en casa.com", "five ★ hotel.com",
    ],
)  # fmt: skip
def test_signs_in_sentences(text: str) -> None:
    assert matches(text) == []
