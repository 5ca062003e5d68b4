"""Numbers and dates as a spreadsheet shows them; the expected texts are those of Excel and LibreOffice."""

import pytest

from relrag_pipelines.sources.document.number_formats import BUILT_IN, shown


@pytest.mark.parametrize(
    ("value", "number_format", "text"),
    [
        (0.21, "0%", "21%"),
        (0.215, "0.0%", "21.5%"),
        (71, "00000", "00071"),
        (48250.5, "#,##0.00", "48,250.50"),
        (48250.5, "#,##0.00\\ [$Kč-405]", "48,250.50 Kč"),
        (48250.5, '"€ "0.00', "€ 48250.50"),
        (-12.5, "#,##0.00;(#,##0.00)", "(12.50)"),
        (-12.5, "0.00", "-12.50"),
        (0, '0;-0;"none"', "none"),
        (1234567, "0.0,,\\M", "1.2M"),
        (2.5, "0.##", "2.5"),
        (2, "0.##", "2"),
        (12345, "0.00E+00", "1.23E+04"),
        (45325, "d\\.\\ m\\.\\ yyyy", "3. 2. 2024"),
        (45325, BUILT_IN[14], "2024-02-03"),
        (45325.75, BUILT_IN[22], "2024-02-03 18:00"),
        (45325, "[$-405]d\\.\\ mmmm\\ yyyy", "3. února 2024"),
        (45325, "[$-407]dddd, d\\. mmmm yyyy", "Samstag, 3. Februar 2024"),
        (45325, "[$-F800]dddd\\,\\ mmmm\\ dd\\,\\ yyyy", "2024-02-03"),
        (0.5208333333, "h:mm AM/PM", "12:30 PM"),
        (1.5, "[h]:mm", "36:00"),
        (0.00069444, "mm:ss", "01:00"),
        (3.0, "General", "3"),
        (0.1 + 0.2, "General", "0.3"),
        (1e300, "yyyy-mm-dd", "1e+300"),
        (7, "@", "7"),
        # groups of digits: numbers of people, phones and accounts, also by a condition
        (123456789, "000-00-0000", "123-45-6789"),
        (1234567, "000\\-00\\-0000", "001-23-4567"),
        (5551234567, "(000) 000-0000", "(555) 123-4567"),
        (5551234567, "[<=9999999]###-####;(###) ###-####", "(555) 123-4567"),
        (5551234, "[<=9999999]###-####;(###) ###-####", "555-1234"),
        (12345678, "00\\ 00\\ 00\\ 00", "12 34 56 78"),
        (11000, "000\\ 00", "110 00"),
        (-1234567.5, "#\\ ##0.00", "-1234 567.50"),
        # General beside other things
        (12.5, 'General" kg"', "12.5 kg"),
        (12, "[Red]General", "12"),
        (-3, "General;[Red]-General", "-3"),
        (7, '"No. "General', "No. 7"),
        (0, '[=1]"yes";[=0]"no";General', "no"),
        (2, '[=1]"yes";[=0]"no";General', "2"),
        # fractions
        (1.5, "# ?/?", "1 1/2"),
        (0.25, "# ?/?", "1/4"),
        (-1.5, "# ?/?", "-1 1/2"),
        (2, "# ?/?", "2"),
        (0, "# ?/?", "0"),
        (0.996, "# ?/?", "1"),
        (0.375, "?/?", "3/8"),
        (2.3, "# ?/8", "2 2/8"),
        (0.5, "# ??/100", "50/100"),
    ],
)  # fmt: skip
def test_shown(value: float, number_format: str, text: str) -> None:
    assert shown(value, number_format) == text


def test_dates_of_workbooks_that_count_from_1904() -> None:
    assert shown(43863, "yyyy-mm-dd", since_1904=True) == "2024-02-03"
