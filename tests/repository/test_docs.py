"""Docs in step: generated pages, the numbers of requirements, and the commands that texts and messages name."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from docs import generate
from relrag_query.cli import app
from tests import ROOT

PAGES = [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")] + sorted(
    (ROOT / "docs").glob("*.md")
)
SOURCES = [
    path for name in ("relrag_pipelines", "relrag_query", "docs") for path in sorted((ROOT / name).rglob("*.py"))
]
MODULES = [path.as_posix() for path in ROOT.glob("[a-z]*/**/*.py")]
GROUP = typer.main.get_command(app)


@pytest.mark.parametrize("page", generate.PAGES)
def test_a_generated_page_says_what_the_code_says(page: str) -> None:
    assert (ROOT / "docs" / page).read_text(encoding="utf-8") == generate.PAGES[page](), "run `make docs`"


def test_requirement_markers_hold_numbers_of_requirements() -> None:
    numbers = re.findall(r"^\| (\S+) \|", generate.requirements(), re.MULTILINE)[1:]
    assert numbers
    assert [number for number in numbers if not re.fullmatch(r"S[0-4]-\d{1,3}a?", number)] == []
    assert numbers == sorted(set(numbers), key=generate.natural)


def commands(text: str) -> Iterator[str]:
    """What a text tells the reader to type: lines of code blocks, and code within a sentence."""
    for block in re.findall(r"^```(?:sh|bash|console)?\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        for line in block.replace("\\\n", " ").splitlines():
            if found := re.match(r"(?:[$>] )?(?:\S*/)?(relrag .*|make .*)", line.strip()):
                yield found[1]
    yield from re.findall(r"(?<!`)`((?:relrag|make) [^`]+)`(?!`)", text)


def wrong(command: str) -> str:
    """Why a command cannot be typed like this; empty where it can."""
    words = [word for word in shlex.split(command.replace("...", ""), comments=True) if "=" not in word]
    if words[0] == "make":
        targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
        return next((f"make {word}" for word in words[1:] if word not in targets), "")
    if len(words) == 2 and words[1] in {"--help", *(name for one in GROUP.params for name in one.opts)}:
        return ""
    found = GROUP.commands.get(words[1])
    if isinstance(found, typer.core.TyperGroup):
        if len(words) == 2:
            return ""
        if not (found.invoke_without_command and words[2].startswith("-")):
            found, words = found.commands.get(words[2]), words[1:]
    if found is None:
        return f"no command {words[1]}"
    known = {"--help"} | {name for one in found.params for name in (*one.opts, *one.secondary_opts)}
    return next((f"{words[1]} {word}" for word in words[2:] if word.startswith("-") and word not in known), "")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_in_the_docs_can_be_typed(page: Path) -> None:
    assert [
        f"{command}: {why}" for command in commands(page.read_text(encoding="utf-8")) if (why := wrong(command))
    ] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_modules_that_the_docs_name_exist(page: Path) -> None:
    named = re.findall(r"`([\w./]+\.py)`", page.read_text(encoding="utf-8"))
    assert [name for name in named if not any(path.endswith(f"/{name}") for path in MODULES)] == []


def test_commands_in_messages_can_be_typed() -> None:
    told = [
        (path.name, command)
        for path in SOURCES
        for command in re.findall(r"(?<!`)`((?:relrag|make) [a-z][^`{]*)`", path.read_text(encoding="utf-8"))
    ]
    assert len(told) > 10
    assert [f"{name}: {command}: {why}" for name, command in told if (why := wrong(command))] == []


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("relrag sync", ""),
        ("relrag ask --source chat 'Who has the key?'", ""),
        ("relrag snyc", "no command snyc"),
        ("relrag calls approve --all", ""),
        ("relrag calls aprove", "no command aprove"),
        ("relrag sync --fast", "sync --fast"),
        ("relrag backfill --source chat", ""),
        ("relrag backfill --fast", "backfill --fast"),
        ("relrag backfill legacy --dry-run", ""),
        ("relrag backfill legcy", "no command legcy"),
        ("make demo", ""),
        ("make tea", "make tea"),
    ],
)
def test_the_check_itself(command: str, why: str) -> None:
    assert wrong(command) == why
