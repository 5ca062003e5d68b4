"""How much code one may have to read to see how an answer is chosen: all that relrag_query/pipeline.py imports.

MODULES and LINES are the figures of today: they are lowered when the code falls below them, and never raised.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests import ROOT

START = "relrag_query.pipeline"
PACKAGES = ("relrag_pipelines", "relrag_query")
MODULES, LINES = 93, 11_600
SLACK = 0.03
"""share by which a figure may fall before its limit is to be lowered"""


def file_of(name: str, root: Path = ROOT) -> Path | None:
    """The file of a module or package; None for a name that a module holds."""
    path = root.joinpath(*name.split("."))
    files = (path / "__init__.py", path.with_suffix(".py"))
    return next((file for file in files if file.is_file()), None)


def imported(source: str) -> Iterator[str]:
    """The names that a module imports, within functions and for types too."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def closure(start: str, packages: tuple[str, ...] = PACKAGES, root: Path = ROOT) -> dict[str, int]:
    """The modules that a module leads to, itself and the packages that hold them included, with their lines."""
    lines: dict[str, int] = {}
    names = [start]
    while names:
        parts = names.pop().split(".")
        if parts[0] not in packages:
            continue
        for end in range(1, len(parts) + 1):
            module = ".".join(parts[:end])
            file = file_of(module, root)
            if file is not None and module not in lines:
                source = file.read_text(encoding="utf-8")
                lines[module] = len(source.splitlines())
                names += imported(source)
    return lines


def test_imports_in_functions_and_packages_count(tmp_path: Path) -> None:
    (tmp_path / "house" / "room").mkdir(parents=True)
    (tmp_path / "house" / "__init__.py").write_text("import json\n")
    (tmp_path / "house" / "door.py").write_text("def open():\n    from house.room.lamp import light\n    light()\n")
    (tmp_path / "house" / "room" / "__init__.py").write_text("from house.room import chair\n")
    (tmp_path / "house" / "room" / "lamp.py").write_text("light = print\n")
    (tmp_path / "house" / "room" / "chair.py").write_text("")
    (tmp_path / "house" / "room" / "table.py").write_text("")
    modules = {"house": 1, "house.door": 3, "house.room": 1, "house.room.lamp": 1, "house.room.chair": 0}
    assert closure("house.door", ("house",), tmp_path) == modules


def test_an_answer_needs_no_more_code() -> None:
    modules = closure(START)
    check("MODULES", len(modules), MODULES)
    check("LINES", sum(modules.values()), LINES)


def check(constant: str, figure: int, limit: int) -> None:
    """Fails where a figure is over its limit, and where it is so far below that the limit is to follow."""
    assert figure <= limit, f"{START} leads to {figure} {constant.lower()}; {constant} allows {limit}"
    assert figure >= limit * (1 - SLACK), f"well done, there are only {figure}: lower {constant} from {limit} to that"
