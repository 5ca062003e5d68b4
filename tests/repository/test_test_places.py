"""Where a test lies tells what it is about: it is in the folder of its module and bears its name."""

from pathlib import Path

import pytest

from tests import ROOT

ELSEWHERE = {
    "end_to_end": "several modules together",
    "repository": "the project itself",
    "interop": "Microsoft's graphrag, which is no module of ours",
}
"""folders of tests that have no module, and what they are about"""
TESTS = sorted(path.relative_to(ROOT / "tests") for path in (ROOT / "tests").rglob("test_*.py"))


def modules(test: Path) -> list[Path]:
    """What a test may be about: a module or package of its name, or the package in whose folder it is."""
    name = test.stem.removeprefix("test_")
    own = [test.parent] if test.parent.name == name else []
    return [test.parent / f"{name}.py", test.parent / name, *own]


@pytest.mark.parametrize("test", [path for path in TESTS if path.parts[0] not in ELSEWHERE], ids=str)
def test_each_test_lies_where_its_module_lies(test: Path) -> None:
    places = (ROOT / "relrag_pipelines", ROOT / "relrag_query", ROOT)
    assert any((place / module).exists() for place in places for module in modules(test)), (
        f"there is no module {modules(test)[0]}: name tests/{test} after its module, or move it to tests/end_to_end"
    )


@pytest.mark.parametrize("folder", ELSEWHERE)
def test_each_exception_is_needed(folder: str) -> None:
    assert any(path.parts[0] == folder for path in TESTS)
