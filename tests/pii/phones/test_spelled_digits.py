"""Numbers whose digits are spelt."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relrag_pipelines.pii import PIIRedactor, phones
from relrag_pipelines.pii.phones import spelled_digits
from relrag_pipelines.pii.policies import EntityCatalog
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.settings import Policy
from tests.cases import cases


@pytest.mark.parametrize(*cases(__file__, "a_spelt_number_is_found"))
def test_a_spelt_number_is_found(text: str, number: str, region: str, normal: str) -> None:
    assert [text[start:end] for start, end, _ in phones.find(text, (region,))] == [number]
    assert phones.normalise(number, (region,)) == normal


@pytest.mark.parametrize(
    "text",
    [
        "one two three four five six seven eight", "the code is six one two three four five six seven eight",
        "one of two people, three at most", "once, twice, six times", "dix, neuf, huit, sept, six, cinq, quatre, trois",
    ],
)  # fmt: skip
def test_counting_and_codes_are_none(text: str) -> None:
    assert phones.find(text, ("ES", "FR")) == []


def test_a_text_without_a_figure_reaches_the_recogniser() -> None:
    ours = PIIRedactor(
        {"default": Policy(entities=["PHONE_NUMBER"], action="replace")},
        Keys(b"i" * 32, b"p" * 32, "k1"),
        catalog=EntityCatalog(regions=("ES",)),
    )
    text = "seis uno dos tres cuatro cinco seis siete ocho"
    assert ours.redact(f"Ana: {text}.", "default") == "Ana: <PHONE_NUMBER>."
    assert spelled_digits.may_hold(text)
    assert not spelled_digits.may_hold("somebody told anyone that two of the phones were stolen")


_FORMS = [
    *("one", "two", "three", "four", "five", "six", "seven", "jeden", "dva", "tri", "ctyri", "pět", "אחת", "שתיים"),
    *("一", "二", "三", "oh", "and", "the", "\0", "İ", ","),
]


@given(st.lists(st.lists(st.sampled_from(_FORMS), max_size=12).map(" ".join), max_size=6))
def test_many_texts_at_once_are_judged_like_each_alone(texts: list[str]) -> None:
    alone = [number for number, text in enumerate(texts) if spelled_digits.may_hold(text)]
    assert spelled_digits.which_may_hold(texts) == alone


def test_a_text_that_holds_such_a_number_is_among_many_others() -> None:
    texts = [
        "nothing",
        "call six one two, three four five, six seven eight",
        "one more",
        "five five one two\0three four",
    ]
    assert spelled_digits.which_may_hold(texts) == [1, 3]
    assert spelled_digits.which_may_hold([]) == []


@pytest.mark.parametrize(
    ("text", "digits"),
    [
        ("zéro six, quarante-huit, vingt-sept, seize, trente-neuf", "0648271639"),
        ("zéro sept soixante-dix-huit quatre-vingt-onze quatre-vingt-deux", "07789182"),
        ("seis cuatro cinco, dieciocho, veintisiete, treinta y nueve", "645182739"),
        ("seiscientos cuarenta y cinco, ciento ochenta y dos, setecientos treinta y nueve", "645182739"),
        ("null achtundneunzig, vierundachtzig, siebenundzwanzig, sechzehn", "098842716"),
        ("nul zes achtenveertig zevenentwintig zestien negenendertig", "0648271639"),
        ("восемь девятьсот шестнадцать четыреста восемьдесят два семьдесят один шестьдесят три", "89164827163"),
        ("beş yüz otuz iki dört yüz seksen iki yetmiş bir altmış üç", "5324827163"),
        ("नौ आठ चार आठ दो सात एक छह तीन नौ", "9848271639"),
        ("〇九〇の四八二七の一六三九", "09048271639"),
    ],
)
def test_numbers_said_in_pairs_and_threes(text: str, digits: str) -> None:
    assert spelled_digits.to_digits(text) == digits
