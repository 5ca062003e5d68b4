"""Functions are short enough to be read in one go."""

import ast
from collections.abc import Iterator

import pytest

from tests import ROOT

PACKAGES = ("relrag_pipelines", "relrag_query")
BODY_LINES = 40


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
def test_no_function_is_long(package: str) -> None:
    long = [
        (path, name, count)
        for path, source in modules(package).items()
        for name, count in body_lengths(source)
        if count > BODY_LINES
    ]
    assert long == []
