"""Values as people write them every day, what is written alike and is none, and what single recognisers find."""

from __future__ import annotations

import pytest

from bench import findings_by_country, pii_scores
from relrag_pipelines.pii import entities, policies
from relrag_pipelines.pii.entities import ENTITIES, FURTHER
from tests.cases import case_values, cases


def matches(entity: str, text: str) -> list[str]:
    return [text[start:end] for start, end, _ in ENTITIES[entity].find(text)]


def _sole(entity: str, *values: str) -> list[tuple[str, str, str]]:
    """Each value alone, in a sentence, and in a line of its own."""
    return [(entity, text, one) for one in values for text in (one, f"so {one} it is", f"hello\n\n{one}\n\nbye")]


@pytest.mark.parametrize(
    ("entity", "text", "value"),
    [
        *_sole(
            "PHONE_NUMBER",
            "606/452714", "734307 566", "055_487_7037", "055_4877037", "052·683·9157", "052•683•9157", "777·123·456",
            "052&nbsp;683&nbsp;9157", "777&nbsp;123&nbsp;456", "+420&nbsp;777&nbsp;123&nbsp;456",
            "052&#160;683&#xa0;9157",
            "777\n123 456", "777 123\n456", "777-\n123-456", "+420\n777 123 456", "052\n683 9157", "+972_52_683_9157",
        ),
        ("PHONE_NUMBER", "WhatsApp_055_487_7037_20250101.txt", "055_487_7037"),
        ("PHONE_NUMBER", "tel. 777_123_456", "777_123_456"),
        *_sole(
            "EMAIL_ADDRESS",
            "petra @ walla.co.il", "petra @walla.co.il", "petra@ walla.co.il", "petra&nbsp;@&nbsp;walla.co.il",
            "petra&#64;walla.co.il", "petra&commat;walla&period;co.il",
        ),
        ("EMAIL_ADDRESS", "write x at firma dot cz", "x at firma dot cz"),
        ("EMAIL_ADDRESS", "jan.novak at firma dot co dot il!", "jan.novak at firma dot co dot il"),
        ("EMAIL_ADDRESS", "petra at gmail.com", "petra at gmail.com"),
        ("EMAIL_ADDRESS", "mail: x zavináč firma.cz", "x zavináč firma.cz"),
        ("EMAIL_ADDRESS", "jan tečka novak zavinac seznam tecka cz", "jan tečka novak zavinac seznam tecka cz"),
        ("EMAIL_ADDRESS", "dana שטרודל gmail נקודה com", "dana שטרודל gmail נקודה com"),
        ("EMAIL_ADDRESS", "דנה שטרודל ג'ימייל נקודה קום", "דנה שטרודל ג'ימייל נקודה קום"),
        *_sole(
            "CREDIT_CARD",
            "4111  1111  1111  1111", "4111\t1111\t1111\t1111", "4111,1111,1111,1111", "4111, 1111, 1111, 1111",
            "4111|1111|1111|1111", "4111 | 1111 | 1111 | 1111", "4111\n1111\n1111\n1111", "4111 1111\n1111 1111",
            "4111&nbsp;1111&nbsp;1111&nbsp;1111", "3782\t822463\t10005",
        ),
        # announced, it may stand in a table
        ("CREDIT_CARD", "name|city\ncard|4111|1111|1111|1111", "4111|1111|1111|1111"),
        *_sole(
            "IBAN_CODE",
            "I L 6 2 0 1 0 8 0 0 0 0 0 0 0 9 9 9 9 9 9 9 9", "C-Z-6-5-0-8-0-0-0-0-0-0-1-9-2-0-0-0-1-4-5-3-9-9",
            "I L 6 2  0 1 0 8  0 0 0 0  0 0 0 9  9 9 9 9  9 9 9", "IL62\n0108\n0000\n0009\n9999\n999",
            "IL62&nbsp;0108&nbsp;0000&nbsp;0009&nbsp;9999&nbsp;999",
        ),
        ("CZ_BIRTH_NUMBER", "rč 780123\n3540", "780123\n3540"),
        ("CZ_BIRTH_NUMBER", "rč\n7801233540", "7801233540"),
        ("CZ_BIRTH_NUMBER", "RČ7801233540", "7801233540"),
        ("CZ_BIRTH_NUMBER", "r.č. 780123-3540", "780123-3540"),
        ("CZ_BIRTH_NUMBER", "rč. č. 785523/1234", "785523/1234"),
        ("CZ_BIRTH_NUMBER", "rč Jana Nováka 7801233540", "7801233540"),
        ("CZ_BIRTH_NUMBER", "rodne cislo: 785523 1234", "785523 1234"),
        ("CZ_BIRTH_NUMBER", "narozen, 780123/\n3540", "780123/\n3540"),
        ("CZ_BIRTH_NUMBER", "780123&nbsp;/&nbsp;3540", "780123&nbsp;/&nbsp;3540"),
        ("IL_ID_NUMBER", "customer 123456782", "123456782"),
        ("IL_ID_NUMBER", "customer ID 123456782", "123456782"),
        ("IL_ID_NUMBER", "customer Dana Levi 123456782", "123456782"),
        ("IL_ID_NUMBER", "the order of Dana Levi, 123456782", "123456782"),
        ("IL_ID_NUMBER", "הזמנה על שם דנה 123456782", "123456782"),
        ("IL_ID_NUMBER", "הלקוחה דנה לוי 123456782", "123456782"),
        ("IL_ID_NUMBER", "123456782 ביטלה את ההזמנה", "123456782"),
    ],
)  # fmt: skip
def test_everyday_spellings(entity: str, text: str, value: str) -> None:
    assert matches(entity, text) == [value]


@pytest.mark.parametrize(
    ("entity", "text"),
    [
        *(
            ("PHONE_NUMBER", text)
            for text in (
                "https://shop.cz/606/452714/x", "papers/606/452714/", "faktura 606/452714", "734307 566 Kč",
                "734307 000",
                "order 734307 566", "LIMIT = 777_123_456", "range(602_123_456)", "build_055_48_7037", "1_055_487_7037",
                "12·683·9157", "isbn 978·0306·40615", "777&nbsp;123&nbsp;456&nbsp;Kč", "1&nbsp;234&nbsp;567",
                "602\t123\t456", "602,123,456", "602|123|456", "10:30\n777 rows", "03.04.2025\n9:15", "v2.777.123",
                "777 123 456 789\n602", "4fd71ac0606452714e", "50.0755381, 14.4378005", "192.168.\n10.7",
            )
        ),
        *(
            ("EMAIL_ADDRESS", text)
            for text in (
                "let's meet at six dot", "we laughed at the dot com bubble", "look at amazon dot com", "12 @ 3.50",
                "lunch @ hapoel.co.il", "see you @ kino.cz", "a @ b.com", "he works at firma.cz",
                "available at example.com",
                "koupil zavináč v obchodě tečka", "אכלנו שטרודל תפוחים נקודה", "meet @ noon. com", "2 pcs @ 4.99",
                "look at this dot com thing", "the page at www.firma.cz", "AT&T dot com", "arrive at 6.30 dot",
                "I was at gmail.com yesterday", "&nbsp;@&nbsp;", "R&amp;D at home. It is",
            )
        ),
        *(
            ("CREDIT_CARD", text)
            for text in (
                "4111,1111,1111,1112",  # checksum
                "7,4111,1111,1111,1111", "4111,1111,1111,1111,7", "x,4111,1111,1111,1111,y",  # cells of a longer row
                "| 4111 | 1111 | 1111 | 1111 |", "Q1\t4111\t1111\t1111\t1111",
                "2023,1200,4300\n4111,1111,1111,1111", "4111,1111,1111,1111\n4300,1200,5400,1300",  # a table
                "a|b|c|d\n4111|1111|1111|1111", "4111\n1111\n1111\n1111\n4300", "4300\n4111\n1111\n1111\n1111",
                "4111,1111,1111,1111 EUR", "€4111,1111,1111,1111", "orders 4111, 1111, 1111, 1111",
                "4111;1111|1111;1111", "4111, 1111 1111|1111", "411,1111,1111,11111", "2019,2020,2021,2022",
                "4012888,888881,881", "978\t0306\t406157",
            )
        ),
        ("IBAN_CODE", "I L 6 2 0 1 0 8 0 0 0 0 0 0 0 9 9 9 9 9 9 9 8"),
        ("IBAN_CODE", "I L 6 2"),
        ("IBAN_CODE", "X I L 6 2 0 1 0 8 0 0 0 0 0 0 0 9 9 9 9 9 9 9 9 9"),
        ("CZ_BIRTH_NUMBER", "780123 3540"),
        ("CZ_BIRTH_NUMBER", "780123-3540"),
        ("CZ_BIRTH_NUMBER", "order 780123\n3540"),
        ("CZ_BIRTH_NUMBER", "rč neuvedl. Tel. 785523 1234"),  # near, but no day
        ("CZ_BIRTH_NUMBER", "parč 785523/1234"),
        ("IL_ID_NUMBER", "customer no. 123456782"),
        ("IL_ID_NUMBER", "customer number: 123456782"),
        ("IL_ID_NUMBER", "order placed yesterday 123456782"),
        ("IL_ID_NUMBER", "tracking code 123456782"),
        ("IL_ID_NUMBER", "מספר לקוח 123456782"),
        ("IL_ID_NUMBER", "הזמנה מספר 123456782"),
        ("IL_ID_NUMBER", "#123456782"),
        ("IL_ID_NUMBER", "123456782 is my order"),
        ("IL_ID_NUMBER", "$ 123456782"),
    ],
)  # fmt: skip
def test_near_misses(entity: str, text: str) -> None:
    assert matches(entity, text) == []


@pytest.mark.parametrize(*cases(__file__, "one_value_has_one_pseudonym_however_it_is_written"))
def test_one_value_has_one_pseudonym_however_it_is_written(entity: str, written: str, plain: str) -> None:
    normalise = ENTITIES[entity].normalise
    assert normalise(written) == normalise(plain)


FOUND = case_values(__file__, "found")


@pytest.mark.parametrize(("entity", "text", "values"), FOUND, ids=[f"{one[0]} {one[1][:30]}" for one in FOUND])
def test_what_is_found(entity: str, text: str, values: list[str]) -> None:
    found = pii_scores.redactor([entity]).detect(text, "default")
    assert [text[one.start : one.end] for one in found] == values


def test_every_entity_is_tried_here_or_in_a_file_of_its_own() -> None:
    assert {one[0] for one in FOUND} | ENTITIES.keys() | {"BANK_ACCOUNT"} == ENTITIES.keys() | FURTHER.keys()


@pytest.mark.parametrize("country", findings_by_country.countries())
def test_no_prefilter_drops_an_entity_that_its_finder_finds(country: str) -> None:
    table = entities.table(regions=(country,))
    policy = policies.compile_policy(table.values(), dict.fromkeys(table, "replace"))
    for labelled in findings_by_country.texts_of(country):
        text = labelled["text"]
        candidates = {entity.name for entity in policy.candidates(text)}
        matched = {entity.name for entity in table.values() if entity.find and entity.find(text)}
        assert matched <= candidates, text
        assert policy.may_change(text) or not matched
