"""The date that a text, a title or a file's name states of itself, and dates that are of something else."""

from __future__ import annotations

from datetime import date

import pytest

from relrag_pipelines.text.written_dates import stated_date, title_date, title_year

DAY = date(2025, 11, 12)


@pytest.mark.parametrize(
    "text",
    [
        "Quote N-31\nFor: Mr Almog\nDate: 12 November 2025\n\nGrand piano",
        "**Date:** Wed, 12 Nov 2025\n\nDear Sir,",
        "Invoice 7        Issue date: November 12th, 2025\nTotal 3",
        "London, 12 November 2025\n\nDear Noa,",
        "Faktura č. 7\nDatum vystavení: 12. 11. 2025, splatnost 26. 11. 2025",
        "Smlouva o dílo\nČl. 1 ...\n\nV Brně dne 12. 11. 2025          V Praze dne 12.11.2025\n\n......   ......",
        "V Ostravě 12. listopadu 2025\nVážená paní,",
        "Praha, dne 12. 11. 2025",
        "קבלה 31\nתאריך: 12 בנובמבר 2025\nסכום 300",
        "תל אביב, 12.11.2025\nלכבוד",
        "נחתם בתל אביב ביום 12/11/2025",
        "# 2025-11-12\n\nNotes",
    ],
)
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


@pytest.mark.parametrize(
    ("titles", "year"),
    [
        (("Chata Karlov - ceník 2025",), 2025),
        (("rezervace_2025", "Reservations"), 2025),
        (("מחירון 2025", "prices-2025"), 2025),
        (("Izrael 5.-19. 5. 2025",), 2025),
        (("nabidka_N-2025-31",), None),
        (("Protokol č. 2025/118",), None),
        (("school year 2024-2025",), None),
        (("a 2024", "b 2025"), None),
        (("debt of 2025 EUR",), None),
        (("Dluh 2025 Kč",), None),
        (("חוב 2025 ₪",), None),
        (("Canon 2025D",), None),
    ],
)
def test_years(titles: tuple[str, ...], year: int | None) -> None:
    assert title_year(*titles) == year
