"""Files and functions are short enough to be read in one go."""

import ast
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import pytest

from tests import ROOT

PACKAGES = ("relrag_pipelines", "relrag_query")
FILE_LINES, MEDIAN_LINES, BODY_LINES = 300, 110, 40
DECLARATIONS = {
    "relrag_pipelines/records.py": "the columns of every stored table, each with its meaning",
    "relrag_pipelines/settings/models.py": "every setting with its description and default",
}
"""files that may be longer, since they only declare, and what they declare"""


def modules(package: str) -> dict[str, str]:
    """The sources of a package, by path from the root of the project."""
    paths = sorted((ROOT / package).rglob("*.py"))
    return {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in paths}


def body_lengths(source: str) -> Iterator[tuple[str, int]]:
    """Each function with the lines of its body; signature and docstring, which explain it, do not count."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            yield node.name, (node.end_lineno or 0) - body[0].lineno + 1 if body else 0


@pytest.mark.parametrize("package", PACKAGES)
def test_no_file_is_long_unless_it_only_declares(package: str) -> None:
    lengths = {path: len(source.splitlines()) for path, source in modules(package).items()}
    assert {path: count for path, count in lengths.items() if count > FILE_LINES and path not in DECLARATIONS} == {}


@pytest.mark.parametrize("path", DECLARATIONS)
def test_each_exception_is_needed(path: str) -> None:
    assert len((ROOT / Path(path)).read_text(encoding="utf-8").splitlines()) > FILE_LINES


@pytest.mark.parametrize("package", PACKAGES)
def test_half_of_the_files_are_short(package: str) -> None:
    assert median(len(source.splitlines()) for source in modules(package).values()) <= MEDIAN_LINES


@pytest.mark.parametrize("package", PACKAGES)
def test_no_function_is_long(package: str) -> None:
    long = [
        (path, name, count)
        for path, source in modules(package).items()
        for name, count in body_lengths(source)
        if count > BODY_LINES
    ]
    assert long == []
