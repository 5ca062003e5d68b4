"""The tables of cases: what a cell says."""

from pathlib import Path

import pytest

from tests import cases


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("plain", "plain"),
        ('a "b"\\n\\u202b', 'a "b"\n\u202b'),
        ("\\u003d1", "=1"),
        ("=[1, None]", [1, None]),
        ("=''", ""),
    ],
)
def test_a_cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cell: str, value: object) -> None:
    monkeypatch.setattr(cases, "_TESTS", tmp_path)
    table = tmp_path / "data" / "cases" / "folder" / "test_it" / "names.tsv"
    table.parent.mkdir(parents=True)
    table.write_text(f"first\tsecond\n# what the next row is\n{cell}\tx\n", encoding="utf-8")
    assert cases.cases(str(tmp_path / "folder" / "test_it.py"), "names") == ("first,second", [(value, "x")])
    table.write_text(f"first\n{cell}\n", encoding="utf-8")
    assert cases.case_values(str(tmp_path / "folder" / "test_it.py"), "names") == [value]
