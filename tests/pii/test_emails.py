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


@pytest.mark.parametrize("address", ["dana@123.com.au", "info@3dprint.au", "crew@365.mov", "ota@7.studio.gov.au"])
def test_a_host_that_begins_with_a_digit_is_no_file(address: str) -> None:
    assert matches(f"write to {address} today") == [address]


def test_equal_addresses_are_written_alike() -> None:
    assert emails.normalise("Dana.Levi@Example.COM") == "dana.levi@example.com"


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("jess.t.moreno AT gmail DOT com (spam bots)", "jess.t.moreno@gmail.com"),
        ("petra AT firma.cz", "petra@firma.cz"),
        ("petra at firma dot cz", "petra@firma.cz"),
        ("info-at-gaertnerei-buhl.de", "info@gaertnerei-buhl.de"),
        ("lena_vdovina_at_mail.ru", "lena_vdovina@mail.ru"),
        ("ola-at-interia-dot-pl", "ola@interia.pl"),
        ("dev.raj<at>pixelmoor.co.uk", "dev.raj@pixelmoor.co.uk"),
        ("dev.raj < at > pixelmoor (dot) co (dot) uk", "dev.raj@pixelmoor.co.uk"),
        ("dana {at} mail [.] corp", "dana@mail.corp"),
        ("sian@@llanbedr-cottages.wales", "sian@llanbedr-cottages.wales"),
        ("petra[@]walla.co.il", "petra@walla.co.il"),
        ("petra@walla dot co dot il", "petra@walla.co.il"),
        ("nuria.belmonte ARROBA gmail PUNTO com", "nuria.belmonte@gmail.com"),
        ("accueil arobase gite-des-sources.fr", "accueil@gite-des-sources.fr"),
        ("marta chiocciola libero punto it", "marta@libero.it"),
        ("kostya СОБАКА yandex ТОЧКА ru", "kostya@yandex.ru"),
        ("kenta.ogawa アット gmail ドット com", "kenta.ogawa@gmail.com"),
        ("ｄａｎａ＠ｅｘａｍｐｌｅ｡ｃｏｍ", "dana@example.com"),
        ("jo\u0308rg@mu\u0308nchen.de", "jörg@münchen.de"),
        ("ժան.平@例え.jp", "ժան.平@例え.jp"),
    ],
)
def test_unusual_spelling(text: str, address: str) -> None:
    found = matches(f"pište {text}, prosím" if text.isascii() else text)
    assert [emails.normalise(one) for one in found] == [address]


@pytest.mark.parametrize(
    "text",
    [
        "meet at home.now", "Meet at home.no", "MEET AT HOME.NO", "3 @ 5.00", "2 at 3.50", "lunch @ noon.",
        "5pm @ cafe.cz",
        "https://look-at-me.com/x", "stay-at-home.com", "look at the dot com", "photo_at_beach.jpg", "icon@2x.png",
        "photo_1@05-03-2024_10-05-00.jpg", "video_files/video_12@28-11-2023_08-00-00.mp4", "file_3@1.gif",
        "logo@1.5x.jpg", "lodash@4.17.21-rc.next", "git clone git@github.com:moorside/ledger.git",
        "@@ -1,3 +1,4 @@ def run", "works-at-home.org/join",
    ],
)  # fmt: skip
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


@pytest.mark.parametrize(
    "text",
    [
        "write to him@work. In the evening", "option (a) see example.com", "lemonde.fr et orange.fr",
        "Paul en casa.com", "five ★ hotel.com",
    ],
)  # fmt: skip
def test_signs_in_sentences(text: str) -> None:
    assert matches(text) == []
