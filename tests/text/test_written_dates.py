"""The date that a text, a title or a file's name states of itself, and dates that are of something else."""

from __future__ import annotations

from datetime import date

import pytest

from relrag_pipelines.text.month_names import month_names, without_accents
from relrag_pipelines.text.written_dates import LANGUAGES, stated_date, title_date, title_year, whole_date
from tests.cases import cases

DAY = date(2025, 11, 12)


@pytest.mark.parametrize(*cases(__file__, "what_a_text_says_of_itself"))
def test_what_a_text_says_of_itself(text: str) -> None:
    assert stated_date(text) == DAY


@pytest.mark.parametrize(
    "text",
    [
        "Lease\nDue date: 12 November 2025",
        "Due, 12 November 2025",
        "Smlouva\nNájem začíná 12. listopadu 2025",
        "Datum narození: 12. 11. 2025",
        "Splatnost do 12. 11. 2025",
        "Uvedeno do provozu: 12. listopadu 2025",
        "Born on 12 November 2025.",
        "נולד 12.11.2025",
        "Date: 30 February 2025",
        "Workshop diary\n## 2025-11-12\nStrings\n## 2025-12-01\nHammers",
        "Workshop diary\n## 2025-11-12\n" + "Strings\n" * 20 + "## 2025-12-01\n" + "Hammers\n" * 20,
        "line\n" * 20 + "Date: 12 November 2025\n" + "line\n" * 20,  # neither head nor foot
    ],
)
def test_dates_of_something_else(text: str) -> None:
    assert stated_date(text) is None


@pytest.mark.parametrize(
    ("title", "day"),
    [
        ("Výbor Collegia, 12. 11. 2025", DAY),
        ("zápis z 12. listopadu 2025", DAY),
        ("smlouva_12.11.2025", DAY),
        ("2025_11_12 report", DAY),
        ("סיכום ישיבה 12.11.2025", DAY),
        ("Minutes of 12 November 2025", DAY),
        ("Noa, born 12 November 2025", None),
        ("Brok - beagle, nar. 12. 11. 2025", None),
        ("Brok, 12. 11. 2025, čip v pořádku", None),
        ("Izrael 5.-12. 11. 2025", None),
        ("Izrael 28. 10. - 12. 11. 2025", None),
        ("Nájem od 12. 11. 2025", None),
        ("שכירות עד 12.11.2025", None),
        ("from 1.1.2025 to 12.11.2025", None),
    ],
)
def test_titles(title: str, day: date | None) -> None:
    assert title_date(title) == day


@pytest.mark.parametrize(*cases(__file__, "years"))
def test_years(titles: tuple[str, ...], year: int | None) -> None:
    assert title_year(*titles) == year


SPRING = date(2016, 3, 3)


@pytest.mark.parametrize(*cases(__file__, "documents_in_many_languages"))
def test_documents_in_many_languages(text: str) -> None:
    assert stated_date(f"Nr. 17\n{text}\nDOC") == SPRING


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("Invoice Date: 03/14/2015", date(2015, 3, 14)),  # only one order is possible
        ("Date: 3-14-2015", date(2015, 3, 14)),
        ("Invoice Date: 03/04/2015", date(2015, 4, 3)),  # day first, where both are possible
        ("Date: 14/03/2015", date(2015, 3, 14)),
        ("Date: 31/14/2015", None),
        ("Date: 2015-14-03", None),
    ],
)
def test_orders_of_figures(text: str, day: date | None) -> None:
    assert stated_date(text) == day


@pytest.mark.parametrize(*cases(__file__, "what_many_languages_say_of_something_else"))
def test_what_many_languages_say_of_something_else(text: str) -> None:
    assert stated_date(f"Nr. 17\n{text}\nDOC") is None


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("3. März 2016", SPRING),
        ("March 3, 2016", SPRING),
        ("2016年3月3日", SPRING),
        ("3 March 2016 or later", None),
        ("soon", None),
    ],
)
def test_a_text_that_is_a_date(text: str, day: date | None) -> None:
    assert whole_date(text) == day


def test_no_name_means_two_months() -> None:
    numbers: dict[str, set[int]] = {}
    for language in LANGUAGES:
        for name, number in month_names(language).items():
            numbers.setdefault(without_accents(name), set()).add(number)
    assert {name for name, found in numbers.items() if len(found) > 1} == set()
