"""The tesseract program, which reads texts in pictures. It is called in the sandbox, whose limits it inherits."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
from collections.abc import Sequence

TESSERACT = "tesseract"
"""name of the program, and the value of the setting `ocr`"""
MISSING = "tesseract is missing"
"""what `ReadContext.ocr` says where the program is wanted and not installed"""
INSTALL = "apt install tesseract-ocr, and tesseract-ocr-ces or the like for each language; brew install tesseract"
_SCRIPTS = frozenset({"osd", "equ", "snum"})
"""data of tesseract that are no languages"""
_LONGEST_RUN = 300
"""seconds that the program may take to list its languages or to read a page"""


class OCRError(Exception):
    """A picture could not be read; the message says what to do."""


def program(setting: str) -> str:
    """What reads scans with that setting of `ocr`; MISSING where it is not installed, empty where nothing is to."""
    if setting != TESSERACT:
        return ""
    return TESSERACT if shutil.which(TESSERACT) else MISSING


def read_picture(picture: bytes, languages: Sequence[str]) -> str:
    """The text in a picture, in these languages or in all that are installed. Raises OCRError."""
    return _run(["stdin", "stdout", "-l", "+".join(languages or installed_languages())], picture)


@functools.cache
def installed_languages() -> tuple[str, ...]:
    """The languages that tesseract has data for."""
    names = _run(["--list-langs"], b"").splitlines()[1:]
    return tuple(name for name in map(str.strip, names) if name and name not in _SCRIPTS) or ("eng",)


def _run(arguments: Sequence[str], data: bytes) -> str:
    path = shutil.which(TESSERACT)
    if path is None:
        raise OCRError(f"tesseract is gone; {INSTALL}")
    environment = {"PATH": os.defpath, "OMP_THREAD_LIMIT": "1", "LC_ALL": "C"}
    if prefix := os.environ.get("TESSDATA_PREFIX"):
        environment["TESSDATA_PREFIX"] = prefix
    try:
        done = subprocess.run(
            [path, *arguments], input=data, capture_output=True, env=environment, timeout=_LONGEST_RUN, check=False
        )
    except subprocess.TimeoutExpired:
        raise OCRError("tesseract did not end in time; leave the file out, or run OCR over it") from None
    if done.returncode:
        raise OCRError("tesseract failed; look whether it has the languages of ocr_languages (tesseract --list-langs)")
    return done.stdout.decode("utf-8", "replace")
