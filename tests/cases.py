"""Cases of parametrised tests, as tables below data/cases: a file a test, a row a case, a column an argument.

The first line names the columns. A cell is text, with the escapes of a JSON string but for quotes; `=` begins any other
Python literal. A line that begins with `# ` says what the rows below it have in common.
"""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

_TESTS = Path(__file__).resolve().parent


def cases(test_file: str, name: str) -> tuple[str, list[Any]]:
    """The names and the values of a table, as `pytest.mark.parametrize` takes them; `test_file` is `__file__`."""
    module = Path(test_file).resolve().relative_to(_TESTS).with_suffix("")
    header, *lines = (_TESTS / "data" / "cases" / module / f"{name}.tsv").read_text(encoding="utf-8").split("\n")[:-1]
    names = header.split("\t")
    cells = [[_value(cell) for cell in line.split("\t")] for line in lines if not line.startswith("# ")]
    assert all(len(row) == len(names) for row in cells), f"{module}/{name}.tsv"
    return ",".join(names), [tuple(row) if len(names) > 1 else row[0] for row in cells]


def case_values(test_file: str, name: str) -> list[Any]:
    """The values alone."""
    return cases(test_file, name)[1]


def _value(cell: str) -> Any:
    if cell.startswith("="):
        return ast.literal_eval(cell[1:])
    return json.loads('"' + cell.replace('"', '\\"') + '"')
