"""The date that a text, a title or a file's name states of itself, and dates that are of something else."""

from __future__ import annotations

from datetime import date

import pytest

from relrag_pipelines.text.month_names import month_names, without_accents
from relrag_pipelines.text.written_dates import LANGUAGES, stated_date, title_date, title_year, whole_date

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


SPRING = date(2016, 3, 3)


@pytest.mark.parametrize(
    "text",
    [
        "Berlin, den 3. März 2016",
        "Wien, am 3. März 2016",
        "Rechnungsdatum: 3. Mär 2016",
        "Geschehen zu Bonn am 3. März 2016",
        "Paris, le 3 mars 2016",
        "Fait à Saint-Étienne, le jeudi 3 mars 2016",
        "Date : 03/03/2016",
        "Madrid, 3 de marzo de 2016",
        "En Sevilla, a 3 de marzo del 2016",
        "Fecha de emisión: 3/mar/2016",
        "Roma, lì 3 marzo 2016",
        "L'Aquila, 3 marzo 2016",
        "Data: 3 mar. 2016",
        "Lisboa, 3 de março de 2016",
        "Data de emissão: 3 de Março de 2016",
        "Utrecht, 3 maart 2016",
        "Factuurdatum: 3 mrt 2016",
        "Warszawa, dnia 3 marca 2016 r.",
        "Data wystawienia: 3 marca 2016 roku",
        "г. Москва, «03» марта 2016 г.",
        "Москва        3 марта 2016 года",
        "Дата: 03.03.2016 г.",
        "м. Київ, 3 березня 2016 р.",
        "Stockholm den 3 mars 2016",
        "Fakturadatum: 2016-03-03",
        "Budapest, 2016. március 3.",
        "Kelt: Szeged, 2016. márc. 3.",
        "Dátum: 2016. 03. 03.",
        "İstanbul, 3 Mart 2016",
        "Fatura tarihi: 03.03.2016",
        "القاهرة، ٣ مارس ٢٠١٦",
        "التاريخ: 3 مارس 2016",
        "بيروت في 3 آذار 2016",
        "التاريخ: ٠٣/٠٣/٢٠١٦",
        "2016年3月3日",
        "日期：2016年03月03日",
        "北京，二〇一六年三月三日",
        "Bratislava, dňa 3. marca 2016",
        "Thursday, March 3, 2016",
        "Oslo, 3. mars 2016",
    ],
)
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


@pytest.mark.parametrize(
    "text",
    [
        "geboren am 3. März 2016",
        "Fällig am: 3. März 2016",
        "valable jusqu'au 3 mars 2016",
        "Née le 3 mars 2016",
        "Vencimiento: 3 de marzo de 2016",
        "nato il 3 marzo 2016",
        "Termin płatności: 3 marca 2016 r.",
        "Срок действия до 3 марта 2016 г.",
        "Förfallodatum: 2016-03-03",
        "Fizetési határidő: 2016. március 3.",
        "Son ödeme tarihi: 3 Mart 2016",
        "有效期至 2016年3月3日",
        "3 apples in 2016",
        "3 Marken 2016",
    ],
)
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
