"""`make setup`: which Python it takes, what it says when there is none, and how it shows progress."""

import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import ROOT

BARE = {"PATH": "", "LC_ALL": "C.UTF-8"}


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """The Makefile with an installer that only says which Python runs it, and a PATH that holds no Python."""
    shutil.copyfile(ROOT / "Makefile", tmp_path / "Makefile")
    for name in ("requirements.lock", "pyproject.toml", "bin/", ".ci/", ".venv/"):
        if name.endswith("/"):
            (tmp_path / name).mkdir()
        else:
            (tmp_path / name).touch()
    (tmp_path / ".ci" / "install.py").write_text("")
    for tool in ("sh", "echo", "grep", "sed", "awk", "true"):
        found = shutil.which(tool)
        assert found
        (tmp_path / "bin" / tool).symlink_to(found)
    return tmp_path


def put_python(clone: Path, name: str, version: str) -> None:
    """A Python of that name and version; asked to install, it says so and leaves the stamp."""
    major, minor = version.split(".")
    allowed = 0 if major == "3" and 11 <= int(minor) <= 13 else 1
    script = clone / "bin" / name
    script.write_text(
        "#!/bin/sh\n"
        f'case "$1" in --version) echo "Python {version}.0";; -c) exit {allowed};;\n'
        f'*) echo "{name} installs"; : > .venv/.installed;; esac\n'
    )
    script.chmod(0o755)


def make(clone: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    program = shutil.which("make")
    if program is None:
        pytest.skip("make is not installed")
    environ = {**BARE, "PATH": str(clone / "bin")}
    return subprocess.run([program, "-C", str(clone), *arguments], capture_output=True, text=True, env=environ)


@pytest.mark.parametrize(
    ("there", "taken"),
    [
        ({"python3": "3.12"}, "python3"),
        ({"python3": "3.14", "python3.12": "3.12"}, "python3.12"),
        ({"python3": "3.9", "python3.11": "3.11", "python3.13": "3.13"}, "python3.13"),
        ({"python3.11": "3.11"}, "python3.11"),
    ],
)
def test_the_first_python_that_is_allowed_is_taken(clone: Path, there: dict[str, str], taken: str) -> None:
    for name, version in there.items():
        put_python(clone, name, version)
    assert f"{taken} installs\nReady. Next: make demo\n" in make(clone, "setup").stdout


def test_a_named_python_goes_first(clone: Path) -> None:
    put_python(clone, "python3", "3.12")
    put_python(clone, "mine", "3.13")
    assert "mine installs\n" in make(clone, "setup", "PYTHON=mine").stdout


def test_without_a_python_that_is_allowed_it_says_what_is_needed(clone: Path) -> None:
    put_python(clone, "python3", "3.9")
    done = make(clone, "demo")
    assert done.returncode == 2
    assert "relrag needs Python 3.11, 3.12 or 3.13; found: Python 3.9.0.\n" in done.stdout
    assert "name one: make PYTHON=/path/to/python3.12 demo\n" in done.stdout


def test_it_installs_again_only_when_the_lock_or_the_project_changed(clone: Path) -> None:
    put_python(clone, "python3", "3.12")
    assert "python3 installs" in make(clone, "setup").stdout
    assert "python3 installs" not in make(clone, "setup").stdout
    later = (clone / ".venv" / ".installed").stat().st_mtime + 10
    os.utime(clone / "requirements.lock", (later, later))
    assert "python3 installs" in make(clone, "setup").stdout


def test_make_alone_lists_every_target(clone: Path) -> None:
    listed = {line.split()[1] for line in make(clone).stdout.splitlines() if line.startswith("  make ")}
    assert {"help", "setup", "demo", "test", "check", "docs", "ui", "bench", "lock", "clean"} <= listed


def test_the_lock_has_hashes_and_names_no_host() -> None:
    lock = (ROOT / "requirements.lock").read_text()
    packages = [line for line in lock.splitlines() if "==" in line]
    assert len(packages) > 100
    assert lock.count("--hash=sha256:") >= len(packages)
    assert "://" not in lock
    assert "--index-url" not in lock
    assert "--find-links" not in lock


def watch(script: str, total: int) -> int:
    code: int = runpy.run_path(str(ROOT / ".ci" / "install.py"))["watch"]([sys.executable, "-c", script], total)
    return code


def test_installing_shows_a_count_and_hides_the_noise(capsys: pytest.CaptureFixture[str]) -> None:
    noise = "print('WARNING: noise'); print('  Downloading x'); print('Collecting a==1')\n"
    script = f"for _ in range(50):\n  {noise}\nprint('Installing collected packages: a')"
    assert watch(script, 60) == 0
    assert capsys.readouterr().out == "  25 of 60 packages\n  50 of 60 packages\n  putting them in place\n"


def test_a_failed_installation_says_what_pip_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert watch("print('Collecting a==1'); print('ERROR: no matching distribution'); raise SystemExit(1)", 3) == 1
    assert capsys.readouterr().out == "Collecting a==1\nERROR: no matching distribution\n"
