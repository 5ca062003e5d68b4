"""CSV and TSV: dialects, charsets, headers, and rows that stand on their own."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relrag_pipelines.sources.document import extract
from tests import cost


def test_real_japanese_file(shared_data: Path) -> None:
    found = extract(shared_data / "documents/markitdown/test_mskanji.csv", "test_mskanji.csv")
    assert found.text.splitlines() == [
        "名前, 年齢, 住所",
        "名前: 佐藤太郎; 年齢: 30; 住所: 東京",
        "名前: 三木英子; 年齢: 25; 住所: 大阪",
        "名前: 髙橋淳; 年齢: 35; 住所: 名古屋",
    ]
    assert found.failures == []


@pytest.mark.parametrize(
    ("name", "data", "lines"),
    [
        ("a.csv", b"who,what\nMia,birthday\n", ["who, what", "who: Mia; what: birthday"]),
        # an empty cell is left out, its neighbours keep their names
        ("a.csv", b"a,b,c\n1,,3\n,,\n,2,\n", ["a, b, c", "a: 1; c: 3", "b: 2"]),
        # a semicolon, with a comma as decimal mark, in Windows-1250
        ("a.csv", "jméno;částka\nJiří;1 200,50\n".encode("cp1250"), ["jméno, částka", "jméno: Jiří; částka: 1 200,50"]),
        ("a.tsv", b"a\tb\nx, y\tz\n", ["a, b", "a: x, y; b: z"]),
        ("a.csv", b"a|b\n1|2\n3|4\n", ["a, b", "a: 1; b: 2", "a: 3; b: 4"]),
        ("a.csv", b"sep=;\r\na;b\r\n1;2\r\n", ["a, b", "a: 1; b: 2"]),
        ("a.csv", b'a,b\n"line one\nline ""two""",x\n', ["a, b", 'a: line one line "two"; b: x']),
        ("a.csv", b"item,2023,2024-05\nrent,1,2\n", ["item, 2023, 2024-05", "item: rent; 2023: 1; 2024-05: 2"]),
        # no header: numbers, or names that repeat
        ("a.csv", b"1,2\n3,4\n", ["column 1: 1; column 2: 2", "column 1: 3; column 2: 4"]),
        ("a.csv", b"yes,yes\nno,yes\n", ["column 1: yes; column 2: yes", "column 1: no; column 2: yes"]),
        # a row that is longer than the header, and a column without a name
        ("a.csv", b"a,,c\n1,2,3,4\n", ["a, , c", "a: 1; column 2: 2; c: 3; column 4: 4"]),
        ("a.csv", b"name\nMia\n", ["name", "name: Mia"]),
        ("a.csv", "\ufeffa,b\n1,2\n".encode(), ["a, b", "a: 1; b: 2"]),
        ("a.csv", "a;b\n1;2\n".encode("utf-16"), ["a, b", "a: 1; b: 2"]),
    ],
)
def test_dialects(name: str, data: bytes, lines: list[str]) -> None:
    found = extract(data, name)
    assert found.text.splitlines() == lines
    assert found.failures == []


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        # a German bank
        (
            '"Konto:";"123 / Giro";\n\n"Von:";"01.01.2025";\n"Saldo:";"1.234,50";\n\n'
            '"Datum";"Name";"Zweck";"Betrag"\n"05.01.2025";"Gas AG";"Abschlag";"-35,00"\n',
            [
                *("Konto: 123 / Giro", "Von: 01.01.2025", "Saldo: 1.234,50", "Datum, Name, Zweck, Betrag"),
                "Datum: 05.01.2025; Name: Gas AG; Zweck: Abschlag; Betrag: -35,00",
            ],
        ),
        # a title, which Excel pads to the width of the table
        (
            "Umsätze 2025,,\n,,\nday,who,sum\n1.1.,Mia,3\n",
            ["Umsätze 2025", "day, who, sum", "day: 1.1.; who: Mia; sum: 3"],
        ),
        # a hint, a title and no empty line
        (
            "sep=;\nExport of 5 May\nday;who;sum\n1;Mia;3\n2;Ota;4\n",
            ["Export of 5 May", "day, who, sum", "day: 1; who: Mia; sum: 3", "day: 2; who: Ota; sum: 4"],
        ),
        ('"sep=\t"\nday\twho\n1\tMia\n', ["day, who", "day: 1; who: Mia"]),
        # two columns below one
        (
            "Members\n\nname,town\nMia,Brno\nOta,Praha\n",
            ["Members", "name, town", "name: Mia; town: Brno", "name: Ota; town: Praha"],
        ),
        # quoted line ends above and within
        ('"Report\nof May"\n\na;b\n"x\ny";2\n', ["Report of May", "a, b", "a: x y; b: 2"]),
        # no lines above: a longer row of words is a row
        (
            "name,town\nMia,Brno,extra\nOta,Praha\n",
            ["name, town", "name: Mia; town: Brno; column 3: extra", "name: Ota; town: Praha"],
        ),
    ],
)
def test_lines_above_the_names_of_columns_are_kept_as_text(data: str, lines: list[str]) -> None:
    assert extract(data.encode(), "a.csv").text.splitlines() == lines


def test_a_quotation_mark_that_is_never_closed_swallows_nothing() -> None:
    found = extract(b'a,b\n"open,1\n2,3\n4,5\n', "a.csv")
    assert found.text.splitlines() == ["a, b", 'a: "open; b: 1', "a: 2; b: 3", "a: 4; b: 5"]
    assert [(failure.location, failure.fault) for failure in found.failures] == [("rows", "open_quote")]


CELL = st.text(alphabet='abc ",\n1', min_size=1, max_size=6).filter(str.strip)


@given(st.lists(st.lists(CELL, min_size=3, max_size=3), min_size=1, max_size=6))
def test_every_cell_stands_under_its_column(rows: list[list[str]]) -> None:
    quoted = "\n".join(
        ",".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in [["x", "y", "z"], *rows]
    )
    expected = ["; ".join(f"{n}: {' '.join(v.split())}" for n, v in zip("xyz", row, strict=True)) for row in rows]
    assert extract(quoted.encode(), "a.csv").text.splitlines() == ["x, y, z", *expected]


def wide(count: int) -> bytes:
    """As many columns as that."""
    return (",".join(f"c{n}" for n in range(count)) + "\n" + ",".join("x" * count) + "\n").encode()


def long_name(count: int) -> bytes:
    """A column with a name of that length, and as many rows."""
    return b"a" * count + b",b\n" + b"1,2\n" * count


@pytest.mark.slow
@pytest.mark.parametrize("make", [wide, long_name])
def test_a_table_takes_time_in_proportion_to_its_size(make: Callable[[int], bytes]) -> None:
    assert not extract(make(32_000), "a.csv").failures
    assert cost.exponent(lambda data: extract(data, "a.csv"), make, 32_000) < cost.LINEAR


def test_a_table_of_200_000_columns_names_every_value() -> None:
    lines = extract(wide(200_000), "a.csv").text.splitlines()
    assert lines[0].endswith(", c199998, c199999")
    assert lines[1].endswith("; c199998: x; c199999: x")
    assert len(lines) == 2


def test_a_long_name_is_cut_in_the_rows() -> None:
    named = extract(b"Question " + b"a" * 300 + b",b\nyes,no\n", "a.csv").text.splitlines()
    assert named == [f"Question {'a' * 300}, b", f"Question {'a' * 191}: yes; b: no"]
