"""Numbers of passports, identity cards and driving licences."""

import pytest

from relrag_pipelines.pii import identity_documents
from relrag_pipelines.pii.identity_documents import ID_CARD, LICENCE, PASSPORT
from tests import cost
from tests.pii.repeated import repeated


def found(text: str, *kinds: str) -> list[str]:
    return [text[start:end] for start, end, _ in identity_documents.finder(*kinds)(text)]


@pytest.mark.parametrize(
    ("kind", "text", "number"),
    [
        (PASSPORT, "pasaporte PAF482017, vuelo el martes", "PAF482017"),
        (PASSPORT, "Reisepassnummer: C4VX7PL21", "C4VX7PL21"),
        (PASSPORT, "паспорт серия 46 11 номер 382705", "46 11 номер 382705"),
        (PASSPORT, "旅券番号 TK4827163", "TK4827163"),
        (PASSPORT, "הדרכון שלי 31847562", "31847562"),
        (PASSPORT, "Passport No. 538 201 746", "538 201 746"),
        (PASSPORT, "dit pas er 207461835", "207461835"),
        (PASSPORT, "Passport No.\n4827163", "4827163"),
        (PASSPORT, "Bring the passport:\n\n# 7654321 is on the ticket", "7654321"),
        (ID_CARD, "dowodem osobistym CEK 148207", "CEK 148207"),
        (ID_CARD, "carte d'identité n° X4RTBPFW4", "X4RTBPFW4"),
        (ID_CARD, "Perso-Nr. L3F8TK2949, gültig bis 2031", "L3F8TK2949"),
        (LICENCE, "driving licence HARRI 855167 KM9TS", "HARRI 855167 KM9TS"),
        (LICENCE, "TX DL# 48271639", "48271639"),
        (LICENCE, "prawo jazdy 48271/16/3948", "48271/16/3948"),
    ],
)
def test_the_number_behind_a_word_is_found(kind: str, text: str, number: str) -> None:
    assert found(text, kind) == [number]


@pytest.mark.parametrize(
    "text",
    [
        "my passport expires on 12 03 2027", "passport renewed 2019-2029", "the passport is ready, call 482 716 394",
        "passport office, invoice 48271639", "bypass 48271639", "passport photos\n48271639", "passport 4827",
    ],
)  # fmt: skip
def test_other_numbers_are_none(text: str) -> None:
    assert found(text, PASSPORT) == []


def test_equal_numbers_are_written_alike() -> None:
    assert identity_documents.normalise("46 11 номер 382705") == identity_documents.normalise("4611 382705")


@pytest.mark.parametrize("pattern", ["passport ", "passport A1 ", "pas 1", "A1-", "passport AB 12 no 3 "])
def test_the_time_grows_with_the_length(pattern: str) -> None:
    find = identity_documents.finder(PASSPORT, LICENCE)
    assert cost.exponent(find, lambda size: repeated(pattern, size), 40_000) < cost.LINEAR
