"""Dates as programs of many languages write them into headers, with the moment that a person read in them."""

from datetime import UTC, datetime

import pytest

from relrag_pipelines.sources.mail import headers
from relrag_pipelines.sources.mail.localised_dates import LANGUAGES
from relrag_pipelines.text.month_names import month_names
from tests.cases import cases


def moment(written: str, zone: str = "UTC", encoding: str = "utf-8") -> str | None:
    ts = headers.date(written.encode(encoding), zone)
    return None if ts is None else datetime.fromtimestamp(ts, UTC).strftime("%Y-%m-%d %H:%M:%S")


@pytest.mark.parametrize(*cases(__file__, "dates_in_other_languages"))
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
