"""Bundles the libraries of the graph page into one committed module (`make assets`; needs npm), and checks that it is.

The manifest beside the module names each package that is in it, with version, integrity and licence, and the hash of
the module: `--check` compares these with the lock file, without npm.
"""

from __future__ import annotations

import base64
import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
VENDOR = FOLDER.parent / "relrag_query" / "web" / "static" / "vendor"
MODULE, MANIFEST, LICENCES = (VENDOR / name for name in ("graph-libraries.js", "manifest.json", "LICENSES.txt"))
_ONLY_TO_BUILD = ("esbuild", "@esbuild/")


def main() -> None:
    """Makes the module anew, or ends with 1 where what is committed is not what the lock file says."""
    if "--check" in sys.argv:
        wrong = differences()
        sys.exit("\n".join(wrong) if wrong else 0)
    subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=FOLDER, check=True)
    VENDOR.mkdir(exist_ok=True)
    bundle = ["npx", "esbuild", "graph-libraries.js", "--bundle", "--format=esm", "--minify", "--target=es2022"]
    subprocess.run([*bundle, "--legal-comments=none", f"--outfile={MODULE}"], cwd=FOLDER, check=True)
    LICENCES.write_text("\n\n".join(f"{name}\n\n{_licence(name)}" for name in packages()), encoding="utf-8")
    MANIFEST.write_text(json.dumps(manifest(), indent=1, sort_keys=True) + "\n", encoding="utf-8")


def differences() -> list[str]:
    """What is committed and not what it should be."""
    kept = json.loads(MANIFEST.read_text(encoding="utf-8"))
    wrong = [f"{MANIFEST.name} is not what package-lock.json says; run `make assets`"] * (kept != manifest())
    named = LICENCES.read_text(encoding="utf-8")
    lacking = [name for name in packages() if f"{name}\n" not in named]
    return [*wrong, *(f"{LICENCES.name} lacks {name}; run `make assets`" for name in lacking)]


def manifest() -> dict[str, Any]:
    """The packages of the lock file, and the hash of the module."""
    digest = base64.b64encode(hashlib.sha384(MODULE.read_bytes()).digest()).decode()
    return {"module": MODULE.name, "integrity": f"sha384-{digest}", "packages": packages()}


def packages() -> dict[str, dict[str, str]]:
    """What goes into the module: every locked package but those that only build it."""
    locked = json.loads((FOLDER / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    named = {path.removeprefix("node_modules/"): one for path, one in locked.items() if path}
    return {
        name: {"version": one["version"], "integrity": one["integrity"], "licence": one["license"]}
        for name, one in sorted(named.items())
        if not name.startswith(_ONLY_TO_BUILD)
    }


def _licence(name: str) -> str:
    folder = FOLDER / "node_modules" / name
    found = next((path for path in sorted(folder.iterdir()) if path.name.upper().startswith("LICEN")), None)
    return found.read_text(encoding="utf-8").strip() if found else f"{packages()[name]['licence']} (no text is shipped)"


if __name__ == "__main__":
    main()
