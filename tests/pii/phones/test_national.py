"""Phone numbers as people write them in their own country, and the numbers that only look like them."""

import pytest

from relrag_pipelines.pii import phones


def matches(text: str) -> list[str]:
    return [text[start:end] for start, end, _ in phones.find(text)]


@pytest.mark.parametrize(
    ("text", "number", "normal"),
    [
        ("Zavolej mi na 777 123 456 večer", "777 123 456", "+420777123456"),
        ("777123456", "777123456", "+420777123456"),
        ("602-123-456", "602-123-456", "+420602123456"),
        ("mob. 602 12 34 56", "602 12 34 56", "+420602123456"),
        ("777 123456", "777 123456", "+420777123456"),
        ("(777) 123 456", "(777) 123 456", "+420777123456"),
        ("777/123 456", "777/123 456", "+420777123456"),
        ("777 – 123 – 456", "777 – 123 – 456", "+420777123456"),
        ("420 777 123 456", "420 777 123 456", "+420777123456"),
        ("https://wa.me/420777123456", "420777123456", "+420777123456"),
        ("Petr_602345678_x.jpg", "602345678", "+420602345678"),
        ("222 333 444", "222 333 444", "+420222333444"),
        ("tel. 222333444", "222333444", "+420222333444"),
        ("☎ 222333444", "222333444", "+420222333444"),
        ("TEL;TYPE=CELL,VOICE;PREF=1:412345678", "412345678", "+420412345678"),
        ('{"phone": "412345678"}', "412345678", "+420412345678"),
        ("linka 800 123 456", "800 123 456", "+420800123456"),
        ("v 10:30 777 123 456", "777 123 456", "+420777123456"),
        ("0905 123 456", "0905 123 456", "+421905123456"),
        ("0905/123 456", "0905/123 456", "+421905123456"),
        ("421905123456", "421905123456", "+421905123456"),
        ("777\u2011123\u2011456", "777\u2011123\u2011456", "+420777123456"),
        ("pošli 500 Kč na 777 123 456", "777 123 456", "+420777123456"),
        ("objednávka 2024/118, kontakt Petr 777 123 456", "777 123 456", "+420777123456"),
        ("papers/777 123 456/2024/a.md", "777 123 456", "+420777123456"),
        ("ל777123456", "777123456", "+420777123456"),
        ("Phone: 020 7946 0958", "020 7946 0958", "+442079460958"),
        ("Tel. 030 901820", "030 901820", None),
        ("Tel. 0 30 / 90 18 20", "0 30 / 90 18 20", None),
        ("Tél. 01 42 68 53 00", "01 42 68 53 00", "+33142685300"),
        ("Phone:\n467 3395", "467 3395", None),
        ("my number is 4673395", "4673395", None),
        ("טל' 1234567", "1234567", "1234567"),
        ("cell: 555-0187", "555-0187", None),
        ("mobile no: 98765 43210", "98765 43210", None),
        ("Tel. 222.33.44.55", "222.33.44.55", "+420222334455"),
    ],
)
def test_phones(text: str, number: str, normal: str | None) -> None:
    assert matches(text) == [number]
    assert normal is None or phones.normalise(number) == normal


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("volejte 731 000 121 / 122 do pátku", "731 000 121 / 122"),
        ("tel. 731 000 121/122, Jana", "731 000 121/122"),
        ("+420 731 000 121/22", "+420 731 000 121/22"),
        ("052-1234567/8", "052-1234567/8"),
    ],
)
def test_another_end_behind_a_slash_goes_with_the_number(text: str, number: str) -> None:
    assert matches(text) == [number]
    assert phones.normalise(number) == phones.normalise(number.split("/")[0])


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("731 000 121 / 2025", "731 000 121"),
        ("731 000 121 / 12.5.", "731 000 121"),
        ("papers/777 123 456/024/a.md", "777 123 456"),
        ("03/6123456", "03/6123456"),
    ],
)
def test_what_else_stands_behind_a_slash_stays(text: str, number: str) -> None:
    assert matches(text) == [number]


def test_each_of_several() -> None:
    assert matches("tel/fax 224 123 456, 224 123 457") == ["224 123 456", "224 123 457"]
    assert matches("777 123 456 602 333 444") == ["777 123 456", "602 333 444"]
    assert matches("777123456/602333444") == ["777123456", "602333444"]
    assert matches("T: 541 234 567\nM: 777 888 999") == ["541 234 567", "777 888 999"]


def test_another_country_stays_another() -> None:
    assert phones.normalise("+49 602 123456") == "+49602123456"
    assert not phones.normalise("09 12 34 56 78").startswith("+421")  # pairs are French or German


@pytest.mark.parametrize(
    "text",
    [
        "777 123 456 Kč", "777 123 456,-", "777 123 456,50", "€ 602 123 456", "rozpočet 540 000 000", "602 123 456 USD",
        "zisk 777 123 456 tis. Kč", "602123456 bytes", "777 123 456 km", "733123456 rows",
        "IČO 602123456", "DIČ CZ602123456", "VS 777 123 456", "objednávka č. 777123456",
        "číslo objednávky: 777 123 456",
        "faktura 602123456", "order #777123456", "part no. 602-123-456", "SKU 777-123-456", "S/N 777123456",
        "č. ú. 777123456/0800", "777123456/0800", "19-777123456/0800", "account 777123456", "id=731123456",
        "kód produktu 731-123-456", "zákaznické číslo 731123456", "občanský průkaz 704567891",
        "reklamace č. 731 123 456",
        "https://shop.cz/produkt-605123456.html", "123 456 789", "301-302-303", "777 123 456 789", "0.777123456",
        "x605123456", "301234567", "222333444",
        "mobil za 6990 Kč", "telefon 125 000 Kč", "call me at 10:30", "SMS kód 482913", "tel. viz 2024/2025",
        "call 911",
        "order 052-123-4567", "The case number is 052-123-4567", "חשבונית 0521234567",
        "art. 030 901820", "Art.-Nr. 0123456789", "kat. č. 0221 456 789", "SN: 0123456789", "ref. 0123-456-789",
        "12 602 123 456,- Kč",
    ],
)  # fmt: skip
def test_other_numbers(text: str) -> None:
    assert matches(text) == []


def test_what_can_only_be_a_phone_is_one_whatever_stands_in_front() -> None:
    assert matches("order +972 52-123-4567") == ["+972 52-123-4567"]
    assert matches("ref. +420 777 123 456") == ["+420 777 123 456"]


@pytest.mark.parametrize(
    "text",
    [
        "The police reference for the burglary is 0347811926.",
        "Your order number for the two lamps was 0347811926",
        "The tracking number you asked for is 602345678",
        "Číslo jednací té krádeže je 0347811926",
        "Č. j.: 602345678",
        "Č. j. toho vloupání je 602345678",
        "Číslo zásilky od dopravce je 602345678",
        "מספר התלונה במשטרה הוא 0347811926",
        "האסמכתא של ההזמנה היא 0347811926",
    ],
)
def test_what_a_clause_calls_a_reference_is_no_phone(text: str) -> None:
    assert matches(text) == []


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("The tracking number to call is 602345678", "602345678"),
        ("For the order number, my phone is 0347811926", "0347811926"),
        ("The reference for the flat is Petr, 602345678", "602345678"),
        ("The order number is in the mail. Petr is 602345678", "602345678"),
        ("Číslo zásilky nemám, kurýr má telefon 602345678", "602345678"),
        ("Číslo objednávky řekne mobil Petra: 602345678", "602345678"),
        ("As a reference ask Jana Nováková: 602 345 678", "602 345 678"),
        ("Reference podá Jana Nováková – 602345678", "602345678"),
        ("Reference na uklízečku je 602345678", "602345678"),
        ("tracking courier Petr: 602345678", "602345678"),
        ("tracking courier petr: 602345678", "602345678"),
        ("policy number of Petr Novák: 602345678", "602345678"),
        ("Číslo objednávky Šárky je 602345678", "602345678"),
        ("The order number that Petr has is 602345678", "602345678"),
        ("מספר ההזמנה אצל יוסי: 0347811926", "0347811926"),
        ("מספר ההזמנה והטלפון של השליח הוא 0347811926", "0347811926"),
    ],
)
def test_a_phone_beside_a_reference_stays_one(text: str, number: str) -> None:
    assert matches(text) == [number]


@pytest.mark.parametrize(
    ("region", "text"),
    [
        ("IL", "הזמנה 0524827163 נשלחה"),
        ("IL", 'מק"ט 034827163'),
        ("TR", "sipariş numarası 5324827163"),
        ("BR", "CEP 01310-100, Av. Paulista"),
        ("RU", "бюджет 732 482 716 рублей"),
        ("MX", "602 482 716 habitantes"),
        ("JP", "注文ID 09048271639"),
        ("US", "https://cdn.example.com/5124827163.jpg"),
        ("US", "Mozilla/5.0 Chrome/121.0.6167.160"),
    ],
)
def test_words_around_a_number_protect_it(region: str, text: str) -> None:
    assert phones.find(text, (region,)) == []


@pytest.mark.parametrize(
    ("region", "text", "number"),
    [
        ("GB", "telephone: 482716", "482716"),
        ("DE", "Telefon 48271", "48271"),
        ("US", "number: 482-7163", "482-7163"),
        ("BR", "fone 3482-7163", "3482-7163"),
        ("TR", "cep 532 482 71 63", "532 482 71 63"),
    ],
)
def test_short_numbers_that_a_text_calls_a_phone(region: str, text: str, number: str) -> None:
    assert [text[start:end] for start, end, _ in phones.find(text, (region,))] == [number]
