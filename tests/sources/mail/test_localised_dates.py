"""Dates as programs of many languages write them into headers, with the moment that a person read in them."""

from datetime import UTC, datetime

import pytest

from relrag_pipelines.sources.mail import headers
from relrag_pipelines.sources.mail.localised_dates import LANGUAGES
from relrag_pipelines.text.month_names import month_names


def moment(written: str, zone: str = "UTC", encoding: str = "utf-8") -> str | None:
    ts = headers.date(written.encode(encoding), zone)
    return None if ts is None else datetime.fromtimestamp(ts, UTC).strftime("%Y-%m-%d %H:%M:%S")


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("lör, 29 maj 2021 00:24:04 +0200 (CEST)", "2021-05-28 22:24:04"),
        ("Di, 17 Mai 2022 12:31:00 0200", "2022-05-17 10:31:00"),
        ("po, 3 úno 2025 09:00:00 +0100", "2025-02-03 08:00:00"),
        ("mié, 15 ene 2025 09:00:00 -0300", "2025-01-15 12:00:00"),
        ("lun., 3 févr. 2025 09:00:00 +0100", "2025-02-03 08:00:00"),
        ("lundi 3 août 2025 à 09:00:00 +0200", "2025-08-03 07:00:00"),
        ("Seg, 3 Fev 2025 09:00:00 -0300", "2025-02-03 12:00:00"),
        ("gio, 4 set 2025 09:00:00 +0200", "2025-09-04 07:00:00"),
        ("ma, 3 mrt 2025 09:00:00 +0100", "2025-03-03 08:00:00"),
        ("pon, 3 lis 2025 09:00:00 +0100", "2025-11-03 08:00:00"),
        ("pon, 1 pro 2025 09:00:00 +0100", "2025-12-01 08:00:00"),
        ("Пн, 3 фев 2025 09:00:00 +0300", "2025-02-03 06:00:00"),
        ("Пн, 3 лют 2025 09:00:00 +0200", "2025-02-03 07:00:00"),
        ("man, 5 okt 2020 09:00:00 +0200", "2020-10-05 07:00:00"),
        ("ti, 4 helmik. 2025 09:00:00 +0200", "2025-02-04 07:00:00"),
        ("H, 3 febr. 2025 09:00:00 +0100", "2025-02-03 08:00:00"),
        ("Pzt, 3 Şub 2025 09:00:00 +0300", "2025-02-03 06:00:00"),
        ("Δευ, 3 Φεβ 2025 09:00:00 +0200", "2025-02-03 07:00:00"),
        ("יום ב׳, 3 בפברואר 2025 09:00:00 +0200", "2025-02-03 07:00:00"),
        ("周一, 3 2月 2025 09:00:00 +0800", "2025-02-03 01:00:00"),
        ("周一, 3 二月 2025 09:00:00 +0800", "2025-02-03 01:00:00"),
        ("月, 3 2月 2025 09:00:00 +0900", "2025-02-03 00:00:00"),
        ("월, 3 2월 2025 09:00:00 +0900", "2025-02-03 00:00:00"),
        ("2025年2月3日 09:00", "2025-02-03 09:00:00"),
        ("2025년 2월 3일 (월) 오후 3:05", "2025-02-03 15:05:00"),
        ("2025年2月3日(月) 9時05分", "2025-02-03 09:05:00"),
        ("الاثنين، ٣ فبراير ٢٠٢٥ ٠٩:٠٠:٠٠ +0200", "2025-02-03 07:00:00"),
        ("सोम, 3 फ़रवरी 2025 09:00:00 +0530", "2025-02-03 03:30:00"),
        ("3.2.2025 09:00", "2025-02-03 09:00:00"),
        ("03/02/2025 09:00", None),
        ("2025. febr. 3. du. 9:00", "2025-02-03 21:00:00"),
        ("3 thg 2 2025 09:00:00 +0700", "2025-02-03 02:00:00"),
        ("2025/02/03 09:00:00 +0900", "2025-02-03 00:00:00"),
        ("Freitag, 28. Mai 2021 um 14:00", "2021-05-28 14:00:00"),
        ("Mon, 3 Feb 2025 09:00:00 0100", "2025-02-03 08:00:00"),
        ("Mon, 3 Feb 2025 09:00:00 GMT+02:00", "2025-02-03 07:00:00"),
        ("Mon, 3 Feb 2025 09:00:00 +1", "2025-02-03 08:00:00"),
        ("Mon, 3 Feb 2025 09:00:00 +01:00", "2025-02-03 08:00:00"),
        ("xx, 3 Feb 2025 09:00:00 +0000", "2025-02-03 09:00:00"),
        ("=?utf-8?Q?po=2C_3_=C3=BAno_2025_09=3A00=3A00_+0100?=", "2025-02-03 08:00:00"),
        # a name of two months: the weekday tells
        ("pon, 2 lip 2025 09:00:00 +0000", "2025-06-02 09:00:00"),
        ("śr., 2 lip 2025 09:00:00 +0000", "2025-07-02 09:00:00"),
        ("pon, 6 listopad 2025 09:00:00 +0000", "2025-10-06 09:00:00"),
        # no dates
        ("yesterday at 09:00", None),
        ("3 Feb 2025", None),
        ("31 úno 2025 09:00", None),
        ("po, 3 úno 2025 29:00:00", None),
        ("version 3.2.1 at 10:00", None),
        ("", None),
    ],
)
def test_dates_in_other_languages(written: str, read: str | None) -> None:
    assert moment(written) == read


def test_a_date_in_the_charset_of_its_writer() -> None:
    assert moment("lör, 29 maj 2021 00:24:04 +0200", encoding="latin-1") == "2021-05-28 22:24:04"
    assert moment("po, 3 úno 2025 09:00:00 +0100", encoding="cp1250") == "2025-02-03 08:00:00"


def test_a_time_without_a_zone_is_local() -> None:
    assert moment("po, 3 úno 2025 09:00:00", "Europe/Prague") == "2025-02-03 08:00:00"


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_month_of_every_language_is_read(language: str) -> None:
    """Where the name means another month in a language that comes first, the first one counts."""
    seen: dict[str, int] = {}
    for earlier in LANGUAGES[: LANGUAGES.index(language)]:
        seen = month_names(earlier) | seen
    for name, month in month_names(language).items():
        number = seen.get(name, month)
        assert moment(f"17 {name} 2022 12:31:00 +0000") == f"2022-{number:02}-17 12:31:00", name
