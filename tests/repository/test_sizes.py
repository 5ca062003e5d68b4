"""How dense the code is: functions are short enough to be read in one go, and hold few decisions.

DENSITY, DENSE_FUNCTIONS and VAGUE_NAMES are the figures of today: they are lowered when the code falls below them, and
never raised.
"""

import ast
import functools
from collections.abc import Iterator

import pytest

from tests import ROOT

PACKAGES = ("relrag_pipelines", "relrag_query")
BODY_LINES = 40
DENSITY = 3.67
"""decisions for every ten statements"""
MANY_DECISIONS = 10
DENSE_FUNCTIONS = 278
"""functions with so many decisions, the functions within them included"""
VAGUE_NAMES = 38
"""how often one of VAGUE is a variable, parameter, function or class; 150 would be too many"""
SLACK = 0.03
"""share by which a figure may fall before its limit is to be lowered"""
VAGUE = {
    "one", "found", "said", "told", "some", "asked", "place", "beside", "again", "wanted", "known", "kept", "held",
    "made", "stands",
}  # fmt: skip

Function = ast.FunctionDef | ast.AsyncFunctionDef
_DECISIONS = (ast.If, ast.IfExp, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.match_case, ast.Assert)


def modules(package: str) -> dict[str, str]:
    """The sources of a package, by path from the root of the project."""
    paths = sorted((ROOT / package).rglob("*.py"))
    return {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in paths}


parse = functools.cache(ast.parse)


@functools.cache
def nodes() -> tuple[ast.AST, ...]:
    """Every node of the syntax trees of both packages."""
    sources = (source for package in PACKAGES for source in modules(package).values())
    return tuple(node for source in sources for node in ast.walk(parse(source)))


def body_lengths(source: str) -> Iterator[tuple[str, int]]:
    """Each function with the lines of its body; signature and docstring, which explain it, do not count."""
    for node in ast.walk(parse(source)):
        if isinstance(node, Function):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            yield node.name, (node.end_lineno or 0) - body[0].lineno + 1 if body else 0


def decisions(node: ast.AST) -> int:
    """The decisions that a node makes itself: a branch or loop, each condition of a comprehension, `and` and `or`."""
    if isinstance(node, ast.comprehension):
        return 1 + len(node.ifs)
    if isinstance(node, ast.BoolOp):
        return len(node.values) - 1
    return int(isinstance(node, _DECISIONS))


def is_statement(node: ast.AST) -> bool:
    """Whether a node is a statement; a docstring is none."""
    is_constant = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return isinstance(node, ast.stmt) and not is_constant


def bound_name(node: ast.AST) -> str:
    """The name that a node binds; empty if it binds none."""
    if isinstance(node, ast.Name):
        return node.id if isinstance(node.ctx, ast.Store) else ""
    if isinstance(node, ast.arg):
        return node.arg
    return node.name if isinstance(node, Function | ast.ClassDef) else ""


@pytest.mark.parametrize("package", PACKAGES)
def test_no_function_is_long(package: str) -> None:
    long = [
        (path, name, count)
        for path, source in modules(package).items()
        for name, count in body_lengths(source)
        if count > BODY_LINES
    ]
    assert long == []


def test_decisions_are_counted() -> None:
    source = """
def choose(rows: list[int]) -> int:
    "Not a statement."
    for row in rows:
        if row and row > 1 or row < -1:
            return 1 if row else 2
    try:
        assert rows
    except AssertionError:
        return 0
    while any(row for row in rows if row if row > 1):
        match rows:
            case []:
                pass
    return 3
"""
    tree = list(ast.walk(ast.parse(source)))
    # for, if, or, and, conditional expression, assert, except, while, comprehension with two conditions, case
    assert sum(map(decisions, tree)) == 12
    assert sum(map(is_statement, tree)) == 11


def test_bound_names_are_counted() -> None:
    source = "class kept: ...\ndef found(said, *told):\n    one = [place for place in said]\n    one += said.made\n"
    names = sorted(filter(None, map(bound_name, ast.walk(ast.parse(source)))))
    assert names == ["found", "kept", "one", "one", "place", "said", "told"]


def test_decisions_do_not_become_denser() -> None:
    density = 10 * sum(map(decisions, nodes())) / sum(map(is_statement, nodes()))
    check("DENSITY", round(density, 2), DENSITY, "decisions for every ten statements; split functions or use a table")


def test_functions_with_many_decisions_do_not_increase() -> None:
    functions = (node for node in nodes() if isinstance(node, Function))
    dense = sum(sum(map(decisions, ast.walk(function))) >= MANY_DECISIONS for function in functions)
    check("DENSE_FUNCTIONS", dense, DENSE_FUNCTIONS, f"functions with {MANY_DECISIONS} or more decisions; split them")


def test_vague_names_do_not_increase() -> None:
    count = sum(bound_name(node) in VAGUE for node in nodes())
    check("VAGUE_NAMES", count, VAGUE_NAMES, "names that say nothing; name a value by its noun")


def check(constant: str, figure: float, limit: float, advice: str) -> None:
    """Fails where a figure is over its limit, and where it is so far below that the limit is to follow."""
    assert figure <= limit, f"there are {figure} {advice} ({constant} allows {limit})"
    assert figure >= limit * (1 - SLACK), f"well done, there are only {figure}: lower {constant} from {limit} to that"
