"""Makes .venv from requirements.lock and puts this project into it, showing how far it is.

Run by `make setup` with any Python 3 that is allowed; needs nothing beyond the standard library.
"""

import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
LOCK = ROOT / "requirements.lock"
PYTHON = VENV / "bin" / "python"
STAMP = VENV / ".installed"
BEGINS = ("Collecting ", "Processing ", "Requirement already satisfied: ")
"""how pip begins the line of a package"""
PIP = [str(PYTHON), "-m", "pip", "--disable-pip-version-check", "--no-input"]


def main() -> int:
    started = time.monotonic()
    version = "{}.{}".format(*sys.version_info)
    if not usable(version):
        print(f"Making .venv with Python {version}.", flush=True)
        made = subprocess.run([sys.executable, "-m", "venv", "--clear", str(VENV)], capture_output=True, text=True)
        if made.returncode:
            print((made.stdout + made.stderr).strip())
            print(f"Python {version} cannot make an environment; on Debian and Ubuntu: apt install python3-venv")
            return 2
    total = sum("==" in line for line in LOCK.read_text().splitlines())
    install = ["install", "--require-hashes", "--no-deps", "-r", str(LOCK)]
    code = watch([*PIP, *install], total) or watch(
        [*PIP, "install", "--no-deps", "--no-build-isolation", "--editable", str(ROOT)], 0
    )
    if code:
        print("Nothing was half-installed that a second `make setup` would not put right.")
        return code
    STAMP.touch()
    print(f"Installed {total} packages in {time.monotonic() - started:.0f} s.", flush=True)
    return 0


def usable(version: str) -> bool:
    """The environment is there, works and is of that Python version."""
    ask = "import sys; print('{}.{}'.format(*sys.version_info))"
    try:
        said = subprocess.run([str(PYTHON), "-c", ask], capture_output=True, text=True)
    except OSError:
        return False
    return said.stdout.strip() == version


def watch(command: list[str], total: int) -> int:
    """Runs pip; its lines become a count, and are shown only when it fails."""
    live, seen, lines = sys.stdout.isatty(), 0, []
    both = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen(command, **both, text=True, errors="replace") as pip:
        assert pip.stdout is not None
        for line in pip.stdout:
            lines.append(line)
            if total and line.startswith("Installing collected packages"):
                print("\r\033[K  putting them in place" if live else "  putting them in place", flush=True)
            begin = next((known for known in BEGINS if line.startswith(known)), None)
            if not total or begin is None:
                continue
            seen += 1
            name = line.removeprefix(begin).strip().split("==")[0].rsplit("/", 1)[-1]
            if live:
                print(f"\r\033[K  {seen} of {total}: {name}", end="", flush=True)
            elif seen % 25 == 0 or seen == total:
                print(f"  {seen} of {total} packages", flush=True)
    if pip.returncode:
        print("".join(lines[-20:]).rstrip())
    return pip.returncode


if __name__ == "__main__":
    sys.exit(main())
