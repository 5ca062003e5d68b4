"""Every command that README and docs name in a shell block is run, and README's answer is the one that is given."""

import functools
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from relrag_pipelines.settings import POLICIES
from tests import ROOT, demo_archive

PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]
NOW = "2025-01-20T12:00:00+00:00"


def blocks() -> list[list[str]]:
    """The lines of every shell block."""
    found = [
        block.strip().splitlines()
        for page in PAGES
        for block in re.findall(r"^```sh\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)
    ]
    return [[line for line in block if line and not line.startswith("#")] for block in found]


MAKE = sorted({line for block in blocks() for line in block if line.startswith("make")})
OWN = [block for block in blocks() if any("init" in line for line in block)]
ASKED = [line for block in blocks() if block not in OWN for line in block if line.startswith("relrag ")]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the demo archive, synced, and asked once, so that a follow-up has something to go on from."""
    folder = demo_archive.synced(tmp_path_factory.mktemp("demo")).parent
    assert run_once(next(line for line in ASKED if line.startswith("relrag ask ")), folder).returncode == 0
    return folder


def run(command: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs a line as typed in that folder, with `relrag` on PATH."""
    scripts = str(Path(sys.executable).parent)
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("RELRAG_", "DAGSTER_"))}
    clean |= {"PATH": f"{scripts}:{os.environ['PATH']}", "RELRAG_NOW": NOW, **environment}
    return subprocess.run(  # noqa: S602  the documented line itself, through a shell as a reader types it
        command, shell=True, cwd=folder, env=clean, text=True, capture_output=True, timeout=300
    )


@functools.cache
def run_once(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """The same where several tests look at what one line of the pages does: a process loads the model anew."""
    return run(command, folder)


@pytest.mark.parametrize("line", MAKE)
def test_a_make_command_is_known(line: str) -> None:
    said = run(line.replace("make", "make -n", 1), ROOT)
    assert said.returncode == 0, said.stderr


@pytest.mark.parametrize("line", ASKED)
def test_a_command_does_what_it_should(line: str, demo: Path) -> None:
    said = run_once(line, demo)
    assert said.returncode == 0, said.stdout + said.stderr
    assert said.stdout


@pytest.mark.parametrize("block", OWN, ids=lambda block: block[0])
def test_an_archive_of_ones_own(block: list[str], tmp_path: Path) -> None:
    memory = tmp_path / "memory"
    memory.mkdir()
    (memory / "lease.md").write_text("# Lease\n\nWe talked about the lease on Monday.\n")
    shutil.copy(ROOT / "examples" / "archive" / "whatsapp" / "WhatsApp Chat with Alex Rubin.txt", memory)
    script = " && ".join(line.replace(".venv/bin/relrag", "relrag") for line in block)
    said = run(script, ROOT, HOME=str(tmp_path))
    assert said.returncode == 0, said.stdout + said.stderr
    assert "We talked about the lease on Monday." in said.stdout


def test_the_answer_in_the_readme_is_the_one_that_is_given(demo: Path) -> None:
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    found = re.search(r'^> (relrag ask ".*")\n\n(.*?)^```', page, re.M | re.S)
    assert found
    assert run_once(found[1], demo).stdout.strip() == found[2].strip()


def test_the_themes_in_the_docs_are_those_of_the_demo(demo: Path) -> None:
    page = (ROOT / "docs" / "graphrag.md").read_text(encoding="utf-8")
    found = re.search(r"^> (relrag graphrag query [^\n]*)\n\n(.*?)\n\.\.\.\n```", page, re.M | re.S)
    assert found
    assert run_once(found[1], demo).stdout.startswith(found[2])


@pytest.mark.requirement("S0-71", "S0-72", "S0-73", "S0-74")
def test_the_table_of_what_is_replaced_is_that_of_the_policies() -> None:
    """A row a channel: which entities its default policy names, and by what it replaces them."""
    columns = ("PHONE_NUMBER", "EMAIL_ADDRESS", "CREDIT_CARD", "IBAN_CODE", "NATIONAL_ID")
    channels = {
        "WhatsApp": "whatsapp",
        "other chats": "chat",
        "mail": "gmail",
        "Paperless": "paperless",
        "calls": "call_recording",
        "everything else": "default",
    }
    actions = {"pseudonym": "pseudonymize", "type": "replace", "nothing": "redact"}
    page = (ROOT / "docs" / "privacy.md").read_text(encoding="utf-8")
    table = page[page.index("| channel | phones |") :].split("\n\n")[0].splitlines()[2:]
    rows = [[cell.strip() for cell in line.strip(" |").split("|")] for line in table]
    assert {channels[row[0]] for row in rows} == POLICIES.keys()
    for name, *cells, replaced in rows:
        policy = POLICIES[channels[name]]
        shown = {entity for entity, cell in zip(columns, cells, strict=True) if cell == "✓"}
        assert (shown, actions[replaced.split(":")[0]]) == ({*policy["entities"]} & {*columns}, policy["action"]), name
