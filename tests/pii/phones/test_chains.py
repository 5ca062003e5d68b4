"""Phone numbers."""

import random
from collections.abc import Iterator

import phonenumbers
import pytest
from phonenumbers.phonemetadata import PhoneMetadata

from relrag_pipelines.pii import phones
from relrag_pipelines.pii.phones import library
from tests.cases import cases

MOBILE = "+972521234567"


def matches(text: str) -> list[str]:
    return [text[start:end] for start, end, _ in phones.find(text)]


@pytest.mark.requirement("S0-78")
@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ("052-123-4567", MOBILE),
        ("052-1234567", MOBILE),
        ("0521234567", MOBILE),
        ("052 123 4567", MOBILE),
        ("052.123.4567", MOBILE),
        ("052/1234567", MOBILE),
        ("(052) 123-4567", MOBILE),
        ("052 - 123 - 4567", MOBILE),
        ("+972 52 123 4567", MOBILE),
        ("+972-52-123-4567", MOBILE),
        ("+972521234567", MOBILE),
        ("+972 (0)52 1234567", MOBILE),
        ("00972-52-1234567", MOBILE),
        ("972521234567", MOBILE),
        ("+972\u00a052\u2011123\u20114567", MOBILE),  # as WhatsApp writes it
        ("052\u200e-1234567", MOBILE),  # a mark inside
        ("054-123-4567", "+972541234567"),  # in no range that the library knows
        ("058-0000000", "+972580000000"),
        ("03-1234567", "+97231234567"),
        ("(02) 123 4567", "+97221234567"),
        ("08 123 45 67", "+97281234567"),
        ("077-1234567", "+972771234567"),
        ("072 123 4567", "+972721234567"),
        ("1-700-123-456", "+9721700123456"),
        ("1800 123 456", "+9721800123456"),
        ("*2700", "*2700"),
    ],
)
def test_israeli_numbers(written: str, normal: str) -> None:
    for text in (written, f"tel {written}, thanks", f"({written})", f"\u202a{written}\u202c", f"x\n{written}\ny"):
        assert matches(text) == [written], text
    assert phones.normalise(written) == normal


@pytest.mark.requirement("S0-80")
@pytest.mark.parametrize("prefix", ["ב", "ל", "מ", "ה", "ו", "ש", "ול", "ב-", "ל־", "טל:", "טלפון"])
def test_hebrew_glued_to_a_number(prefix: str) -> None:
    for written in ("052-123-4567", "0521234567", "+972 52 123 4567", "03-1234567"):
        assert matches(f"תתקשר {prefix}{written}") == [written]


@pytest.mark.parametrize(*cases(__file__, "numbers_of_other_countries"))
def test_numbers_of_other_countries(written: str, normal: str) -> None:
    assert matches(f"call {written} now") == [written]
    assert phones.normalise(written) == normal


def test_an_extension_belongs_to_the_number() -> None:
    assert matches("+44 20 7946 0958 ext. 12, room 5") == ["+44 20 7946 0958 ext. 12"]
    assert phones.normalise("+44 20 7946 0958 ext. 12") == "+442079460958"


def test_two_numbers_stay_two() -> None:
    assert matches("052-1234567 054-7654321") == ["052-1234567", "054-7654321"]
    assert matches("052-1234567/054-7654321") == ["052-1234567", "054-7654321"]


@pytest.mark.parametrize(*cases(__file__, "what_is_no_phone"))
def test_what_is_no_phone(text: str) -> None:
    assert matches(text) == []


def test_a_date_does_not_hide_a_phone() -> None:
    assert matches("03.04.2025 052-1234567") == ["052-1234567"]
    assert matches("052-1234567 03.04.2025") == ["052-1234567"]
    assert matches("03.04.2025 9:15 052-1234567") == ["052-1234567"]
    assert matches("03.04.2025, 052-1234567") == ["052-1234567"]
    assert matches("02.06.2026 on 030 123456") == ["030 123456"]


def test_long_tables_of_digits_end() -> None:
    assert len(matches("\n".join(["052-1234567 12 345 67 89 1 234 56 789"] * 200))) >= 200
    assert matches("+" * 5000) == []
    assert matches("(" * 5000) == []


def test_no_country_has_shorter_numbers() -> None:
    """With a +, a number has at least the code of its country and the shortest number there."""

    def shortest(metadata: PhoneMetadata) -> int:
        kinds = ("fixed_line", "mobile", "toll_free", "premium_rate", "shared_cost", "personal_number", "voip")
        kinds += ("pager", "uan", "voicemail")
        general = metadata.general_desc.possible_length
        of_kinds = [getattr(metadata, kind) for kind in kinds]
        return min(
            length
            for one in of_kinds
            if one is not None and one.national_number_pattern
            for length in one.possible_length or general
            if length > 0
        )

    every = (PhoneMetadata.metadata_for_region(name) for name in phonenumbers.SUPPORTED_REGIONS)
    assert min(len(str(one.country_code)) + shortest(one) for one in every) == library.MIN_DIGITS_WITH_PLUS


@pytest.mark.parametrize("region", list(library.REGIONS))
def test_what_is_found_in_a_region_is_never_passed_over(region: str) -> None:
    """The library's own matcher against what we let it parse, on digits that begin as numbers of the region do."""
    chance = random.Random(region)
    code = str(PhoneMetadata.metadata_for_region(region).country_code)
    starts = [
        "",
        "0",
        "00",
        "1",
        "9",
        "90",
        "011",
        "0012",
        "0049",
        "00972",
        "180020",
        "015",
        code,
        f"{code}0",
        f"{code}00",
    ]
    hits = 0
    for _ in range(1500):
        digits = (chance.choice(starts) + "".join(chance.choices("0123456789", k=16)))[: chance.randint(7, 17)]
        written = digits + (chance.choice([" x12", " ext. 5", ";ext=7"]) if chance.random() < 0.1 else "")
        if list(phonenumbers.PhoneNumberMatcher(written, region)):
            hits += 1
            assert list(library.find(written, len(written))), (written, region)
    assert hits > 25


@pytest.mark.parametrize("region", list(library.REGIONS))
def test_what_stands_beside_a_number_decides_as_in_the_library(region: str) -> None:
    """Every number that the library finds beside a letter, a sign or a currency is found here too."""
    chance, hits = random.Random(f"beside {region}"), 0
    code = PhoneMetadata.metadata_for_region(region).country_code
    example = str(phonenumbers.example_number(region).national_number)
    for _ in range(1500):
        digits = [*chance.choice([f"0{example}", example, f"00{code}{example}", f"{code}{example}"])]
        digits[-2:] = chance.choices("0123456789", k=2)
        for _ in range(chance.randint(0, 2)):
            digits.insert(chance.randint(1, len(digits) - 1), "-")
        before, after = (chance.choice(["", "", " ", "a", "é", "ש", "$", "%", "#"]) for _ in range(2))
        number = "".join(digits)
        if "--" in number:
            continue
        window = before + number + after
        if any(library.count(match.raw_string) >= 7 for match in phonenumbers.PhoneNumberMatcher(window, region)):
            hits += 1
            assert list(library.find(window, len(before) + len(number))), (window, region)
    assert hits > 100


def test_a_number_within_a_word_does_not_go_to_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """`m000-04172` begins like a call abroad, which the plan of a country leaves to the library."""
    asked: list[str] = []

    def ask(window: str, *_: object) -> Iterator[tuple[int, int]]:
        asked.append(window)
        return iter(())

    monkeypatch.setattr(library, "_by_library", ask)
    assert not phones.find("m000-04172") and not phones.find("000-04172b")
    assert asked == []
    assert not phones.find("(000-04172)")
    assert len(asked) == 1


def test_a_long_chain_is_looked_at_through_windows() -> None:
    """A number is found wherever a window of a table ends."""
    for length in range(300, 560):
        table = ("12 345 6 78 " * 60)[:length].rstrip() + " "
        starts = [start for start, *_ in phones.find(f"{table}052-123-4567 {'12 345 6 78 ' * 60}")]
        assert len(table) in starts, length


def test_numbers_of_a_region_begin_as_the_table_says() -> None:
    chance = random.Random(7)
    starts = ["", "0", "00", "1", "16", "22", "3", "972", "44", "49", "33"]
    for _ in range(4000):
        digits = (chance.choice(starts) + "".join(chance.choices("0123456789", k=14)))[: chance.randint(4, 14)]
        for name in ("IL", "GB", "DE", "FR"):
            if list(phonenumbers.PhoneNumberMatcher(digits, name)):
                assert digits.startswith(library.REGIONS[name]), (digits, name)
