"""Charsets that nobody wrote down: languages and encodings whose texts a person can check."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relrag_pipelines.sources.formats.charset_detection import CharsetError, decode

CZECH = "Dobrý den, posílám vám fakturu č. 2025/0042 za sanitární čerpadlo. Žluťoučký kůň úpěl ďábelské ódy."
FRENCH = "Bonjour, voilà le reçu du café à Genève; ça coûte douze francs. Merci, Hélène"
HEBREW = "שלום, מצורפת החשבונית עבור המשאבה. נדבר מחר בבוקר לפני הפגישה. תודה רבה, דניאלה"


@pytest.mark.parametrize(
    ("text", "charset"),
    [
        (CZECH, "utf-8"),
        (CZECH, "utf-8-sig"),
        (CZECH, "utf-16"),
        (CZECH, "utf-16-le"),  # without a mark
        (CZECH, "utf-16-be"),
        (CZECH, "cp1250"),
        (CZECH, "iso8859-2"),
        (CZECH, "cp852"),
        ("Účet č. 5, Jiří", "cp1250"),
        (FRENCH, "cp1252"),
        (FRENCH, "mac_roman"),
        ("Total is £30 for the naïve résumé", "cp1252"),
        ("The café is “closed” – see you later", "cp1252"),
        ("The café is “closed”" + " and plain English goes on and on." * 30, "cp1252"),
        ("Grüße aus München, die Straße ist gesperrt. Übermorgen schöne Äpfel.", "cp1252"),
        (HEBREW, "cp1255"),
        (HEBREW, "iso8859-8"),
        ("Привет, посылаю счёт за насос. Завтра созвонимся.", "cp1251"),
        ("Привет, посылаю счёт за насос. Завтра созвонимся.", "koi8-r"),
        ("これは日本語の文章です。東京に行きました。", "cp932"),
        ("これは日本語の文章です。東京に行きました。", "euc-jp"),
        ("これは日本語の文章です。東京に行きました。", "iso2022_jp"),
        ("这是中文句子。我们明天去北京开会。", "gb18030"),
        ("안녕하세요. 내일 회의가 있습니다.", "euc-kr"),
    ],
)
def test_charsets(text: str, charset: str) -> None:
    found = decode(text.encode(charset))
    assert (found.text, found.rivals) == (text, ())


RUSSIAN = "Привет, посылаю счёт за насос. Завтра созвонимся."
PARTS = "Grüße an Zoë und Jörg; près de la forêt, où l'élève préférait rêver."


@pytest.mark.parametrize(
    ("data", "text", "charset"),
    [
        # two languages of western Europe
        (PARTS.encode("cp1252"), PARTS, "cp1252"),
        ("Olá João! Señor Núñez, ¿cómo está?".encode("cp1252"), "Olá João! Señor Núñez, ¿cómo está?", "cp1252"),
        ("Cena 12 zł, Příští týden, łódź".encode("cp1250"), "Cena 12 zł, Příští týden, łódź", "cp1250"),
        # UTF-16 without a mark, where few letters have a zero byte
        (RUSSIAN.encode("utf-16-le"), RUSSIAN, "utf-16-le"),
        (RUSSIAN.encode("utf-16-be"), RUSSIAN, "utf-16-be"),
        (
            "这是中文句子。\n我们明天去北京开会。".encode("utf-16-le"),
            "这是中文句子。\n我们明天去北京开会。",
            "utf-16-le",
        ),
        # a stray byte
        (FRENCH.encode("cp1252") + b"\x81", f"{FRENCH}\ufffd", "cp1252"),
        (b"\x8d" + PARTS.encode("cp1252"), f"\ufffd{PARTS}", "cp1252"),
        (CZECH.encode("cp1250") + b"\x98", f"{CZECH}\ufffd", "cp1250"),
        (HEBREW.encode("cp1255") + b"\xd9", f"{HEBREW}\ufffd", "cp1255"),
        # programs with different charsets wrote the lines
        (
            f"{CZECH}\n".encode() + f"{FRENCH}\nplain\n".encode("cp1252"),
            f"{CZECH}\n{FRENCH}\nplain\n",
            "utf-8 and cp1252",
        ),
        (f"{RUSSIAN}\r\n".encode("cp1251") + RUSSIAN.encode(), f"{RUSSIAN}\r\n{RUSSIAN}", "utf-8 and cp1251"),
        (f"{CZECH}\n{CZECH}\n".encode() + "Jiří\n".encode("cp1250"), f"{CZECH}\n{CZECH}\nJiří\n", "utf-8 and cp1250"),
        (f"{FRENCH}\r{FRENCH}".encode("mac_roman"), f"{FRENCH}\r{FRENCH}", "mac_roman"),
    ],
)
def test_texts_that_no_one_language_explains(data: bytes, text: str, charset: str) -> None:
    found = decode(data)
    assert (found.text, found.charset) == (text, charset)


def test_the_charset_that_the_file_declares_is_used_where_it_fits() -> None:
    assert decode("שלום".encode("cp1255"), "windows-1255").rivals == ()
    assert decode("žluť".encode(), "windows-1255").text == "žluť"  # it is UTF-8 all the same
    for wrong in ("no-such-charset", "hex", "a\0b", "idna"):
        assert decode(CZECH.encode("cp1250"), wrong).text == CZECH


def test_few_letters_leave_rivals() -> None:
    found = decode("שלום דניאלה".encode("cp1255"))
    assert (found.text, found.charset) == ("שלום דניאלה", "cp1255")
    assert "cp1251" in found.rivals


def test_utf_8_with_a_few_damaged_bytes_stays_utf_8() -> None:
    data = (CZECH * 4).encode()
    at = data.index("č".encode(), 200)
    found = decode(data[:at] + data[at + 1 :])
    assert found.text.startswith(CZECH)
    assert found.text.count("\ufffd") == found.damaged_places == 1


@pytest.mark.parametrize(
    ("data", "fault", "told"),
    [
        (b"GIF89a\0\0\0\1", "binary", "4 NUL bytes"[2:]),
        (bytes(range(1, 32)) * 10, "binary", "control characters in 310"),
        (b"\xff\xfea", "charset", "no utf-16 at byte 2"),
        (bytes(range(128, 256)), "charset", "neither UTF-8 nor any of 18 older charsets"),
    ],
)
def test_what_is_no_text(data: bytes, fault: str, told: str) -> None:
    with pytest.raises(CharsetError, match=told) as raised:
        decode(data)
    assert raised.value.fault == fault


@given(st.binary(max_size=200))
def test_any_bytes_give_text_or_a_fault(data: bytes) -> None:
    try:
        decode(data).text.encode()
    except CharsetError as error:
        assert error.fault in ("binary", "charset")


@given(st.text(alphabet=st.characters(exclude_categories=["Cs", "Cc"]), max_size=50))
def test_utf_8_is_never_mistaken(text: str) -> None:
    assert decode(text.encode()).text.removeprefix("\ufeff") == text.removeprefix("\ufeff")


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"before\0after\nnext", "beforeafter\nnext"),
        ("Příliš žluťoučký kůň\0 úpěl".encode(), "Příliš žluťoučký kůň úpěl"),
        (b"padded to its length" + bytes(40), "padded to its length"),
    ],
)
def test_a_few_nuls_do_not_make_utf_16(data: bytes, text: str) -> None:
    assert decode(data).text == text


def test_utf_16_with_few_nuls_stays_utf_16() -> None:
    for text in (CZECH, "Привет, посылаю счёт за насос."):
        assert decode(text.encode("utf-16-le")).text == text


@pytest.mark.parametrize(
    "text",
    [
        "お世話になっております。請求書を送付いたします。よろしくお願いいたします。",
        "来週の会議は月曜日の午後三時からです。",
        "こんにちは、写真をありがとうございました。",
    ],
)
def test_japanese_is_not_taken_for_korean(text: str) -> None:
    assert decode(text.encode("cp932")).text == text


def test_characters_of_vendors_in_iso_2022_jp() -> None:
    assert decode(b"\x1b$B-!\x1b(B 1\x1b$B1_\x1b(B").text == "① 1円"


def test_a_short_text_with_a_bad_byte_stays_utf_8() -> None:
    assert decode("Příliš žluťoučký kůň".encode() + b" \xff.").text == "Příliš žluťoučký kůň \ufffd."
