"""Words that say what a number is, in the languages of the data files."""

from pathlib import Path

import pytest

from relrag_pipelines.pii import number_words
from relrag_pipelines.pii.number_words import NumberWordsError, labels

WANTED = "en de fr es it pt nl pl cs sk ru uk tr el he ar ko ja zh da sv no fi hu ro"


@pytest.mark.parametrize(
    "front",
    [
        "mi móvil es ", "мой номер ", "тел. ", "전화번호 ", "ring til mig på ", "Τηλ: ", "电话：", "call Petr on ",
        "Ruf Anna bitte unter ", "Tel (Praha): ", "zadzwoń do mnie pod ", "携帯は", "رقم جوالي: ", "טל׳ ",
        "my cell is now ", "Cep telefonu no: ", "soita mulle numeroon ", "Tel./Fax: ",
        "lámame al celular ", "komórka: ", "hívj a ",
    ],
)  # fmt: skip
def test_what_announces_a_phone(front: str) -> None:
    assert labels.phone_in_front(front)


@pytest.mark.parametrize(
    "front",
    [
        "", "see page ", "and ", "the telegraph ", "I told you ", "pedido ", "wir treffen uns um ", "zaplatil ",
        "в 2019 году ", "a 2,5 km de ",
    ],
)  # fmt: skip
def test_what_announces_no_phone(front: str) -> None:
    assert not labels.phone_in_front(front)


@pytest.mark.parametrize(
    "front",
    [
        "pedido n.º ", "Bestellnummer: ", "commande ", "faktura č. ", "Номер заказа: ", "订单号：", "송장번호 ",
        "ordernummer ",        "zgłoszenie ", "τιμολόγιο αρ. ", "הזמנה מספר ", "رقم الفاتورة ",
        "sipariş no: ", "注文番号は",
        "tilauksen numero on ", "Order no. ", "ISBN ",
    ],
)  # fmt: skip
def test_what_announces_another_number(front: str) -> None:
    assert labels.other_in_front(front)


@pytest.mark.parametrize(
    ("behind", "is_phone"),
    [
        (" (office)", True), (" fax", True), (", oficina", True), (" – Büro", True), ("に電話", True), (" бюро", False),
        (" offices were sold", False), (" office chairs", False), ("", False), (" and more", False),
    ],
)  # fmt: skip
def test_what_stands_behind_a_phone(behind: str, is_phone: bool) -> None:
    assert labels.phone_behind(behind) == is_phone


def test_every_language_has_the_words_that_matter() -> None:
    wanted = set(WANTED.split())
    found = {one.language: one for one in number_words.load()}
    assert wanted <= found.keys()
    for language in wanted:
        words = found[language]
        assert words.phone and words.other and words.between and words.after and words.region, language
        assert len(words.digits) == 10, language


def test_a_wrong_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "numbers.toml").write_text('phones = ["x"]')
    with pytest.raises(
        NumberWordsError, match=r"numbers\.toml: phones is not known; known: account, after, amount, at, between"
    ):
        number_words.read(tmp_path / "numbers.toml")
    (tmp_path / "numbers.toml").write_text('digits = ["a", "b"]')
    with pytest.raises(NumberWordsError, match=r"numbers\.toml: digits has 2 entries; write one for each of 0 to 9"):
        number_words.read(tmp_path / "numbers.toml")
