"""Tables within 80 columns."""

import pytest

from relrag_query.cli.table import WIDTH, table_lines


def test_columns_are_as_wide_as_their_cells() -> None:
    rows = [("1", "Dana Levi", "12"), ("20", "Ota", "3")]
    assert table_lines(("id", "name", "records"), rows, right=("records",)) == [
        "id  name       records",
        "1   Dana Levi       12",
        "20  Ota              3",
    ]


@pytest.mark.parametrize(
    "row",
    [
        ("7", "x" * 200, "y" * 10),
        ("7", "x" * 90, "y" * 90),
        ("7", "שלום " * 30, "12"),
        ("1234567", "two\nlines " * 20, "\x1b[2J" * 20),
    ],
)
def test_the_widest_columns_are_cut_to_fit(row: tuple[str, ...]) -> None:
    lines = table_lines(("id", "name", "why"), [row])
    assert len(lines) == 2
    assert max(map(len, lines)) <= WIDTH
    assert lines[1].startswith(row[0])
    assert "…" in lines[1]
    assert "\x1b" not in lines[1]
