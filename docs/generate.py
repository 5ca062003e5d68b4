"""Writes the generated pages of docs/ again; with --check it only says which are out of step.

records.md and journal.md come from the declarations (tables.py), settings.md from those of settings, sources.md from
the table of kinds and its samples (kinds.py), jsonl.md from its connector, commands.md from the commands' own help,
requirements.md from the `requirement` markers of the tests.
"""

import ast
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import typer

from docs import kinds, tables
from relrag_pipelines import settings
from relrag_pipelines.sources import jsonl
from relrag_query.cli import app

DOCS = Path(__file__).resolve().parent
TESTS = DOCS.parent / "tests"


def commands() -> str:
    """docs/commands.md."""
    group = typer.main.get_command(app)
    assert isinstance(group, typer.core.TyperGroup)
    lines = ["# Commands", "", "Generated from the commands' own help by `make docs`; do not edit.", ""]
    lines += ["Exit codes: 0 done, 1 done with failures that are listed, 2 could not run."]
    lines += [
        "A failure that the last `sync` or `backfill` reported no longer counts, except with `--strict`.",
        "",
    ]
    for name, command in every_command(group):
        context = typer.Context(command, info_name=f"relrag {name}", terminal_width=100)
        lines += [f"## relrag {name}", "", "```text", command.get_help(context).strip(), "```", ""]
    return "\n".join(lines)


def every_command(
    group: typer.core.TyperGroup, before: str = ""
) -> Iterator[tuple[str, typer.core.TyperCommand | typer.core.TyperGroup]]:
    """Every command with its whole name, those of groups too; a group that does something itself comes first."""
    for name, command in sorted(group.commands.items()):
        if isinstance(command, typer.core.TyperGroup):
            if command.invoke_without_command:
                yield f"{before}{name}", command
            yield from every_command(command, f"{before}{name} ")
        else:
            yield f"{before}{name}", command


def requirements() -> str:
    """docs/requirements.md: each requirement with the tests that show it."""
    shown: dict[str, list[str]] = {}
    for path in sorted(TESTS.rglob("test_*.py")):
        if ".venv" in path.parts:  # of tests/interop, where somebody has run them
            continue
        for number, test in marked(ast.parse(path.read_text(encoding="utf-8"))):
            name = f"{path.relative_to(DOCS.parent).as_posix()}{f'::{test}' if test else ''}"
            shown.setdefault(number, []).append(name)
    lines = ["# Requirements", ""]
    lines += [
        "Generated from the `requirement` markers of the tests by `make docs`; do not edit. The numbers are those of"
    ]
    lines += ["the project's requirements; a number without a line here has no test yet.", ""]
    lines += ["| requirement | tests |", "|---|---|"]
    for number in sorted(shown, key=natural):
        tests = "<br>".join(f"`{test}`" for test in dict.fromkeys(shown[number]))
        lines.append(f"| {number} | {tests} |")
    return "\n".join([*lines, ""])


def marked(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """(requirement, test) for every marker: on a test, a class of tests, a parameter, or the whole module (test "")."""
    for statement in tree.body:
        name = getattr(statement, "name", "")
        for node in ast.walk(statement):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "requirement":
                for argument in node.args:
                    yield ast.literal_eval(argument), name


def natural(number: str) -> list[tuple[int, str]]:
    """Sorts S0-9 before S0-10."""
    return [(int(part), "") if part.isdigit() else (0, part) for part in re.split(r"(\d+)", number)]


def json_lines() -> str:
    """docs/jsonl.md."""
    title, _, rest = (jsonl.__doc__ or "").partition("\n\n")
    return f"# JSON Lines\n\nGenerated from `sources/jsonl.py` by `make docs`; do not edit.\n\n{title}\n\n{rest}"


PAGES: dict[str, Callable[[], str]] = {
    "jsonl.md": json_lines,
    "records.md": tables.records,
    "journal.md": tables.journal,
    "settings.md": settings.markdown,
    "sources.md": kinds.page,
    "commands.md": commands,
    "requirements.md": requirements,
}


def main(arguments: list[str]) -> int:
    stale = []
    for name, page in PAGES.items():
        path, text = DOCS / name, page()
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(f"docs/{name}")
        if "--check" not in arguments:
            path.write_text(text, encoding="utf-8")
    if stale:
        print(f"{', '.join(stale)} {'out of step; run `make docs`' if '--check' in arguments else 'written'}")
    return 1 if stale and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
