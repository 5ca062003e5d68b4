"""The length of a recording, and whether it is complete, from its header. No sound is decoded."""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import BinaryIO

from tinytag import TinyTag, TinyTagException, UnsupportedFormatError

from relrag_pipelines.files.regular_files import open_plain

_ISO_MEDIA = {".m4a", ".mp4", ".3gp"}


class AudioError(Exception):
    """The header cannot be read or promises more than the file holds; the message says so."""


def seconds(file: Path) -> float | None:
    """The length of a recording; None where its format doesn't state it. Raises AudioError and OSError."""
    suffix = file.suffix.lower()
    with open_plain(file) as opened:
        if missing := _missing_bytes(opened, suffix):
            raise AudioError(f"cut off: {missing} bytes are missing that its header promises; copy the recording again")
        opened.seek(0)
        try:
            length = TinyTag.get(file, tags=False, file_obj=opened).duration
        except UnsupportedFormatError:
            return None
        except (TinyTagException, struct.error, ValueError, IndexError, KeyError, TypeError, OverflowError):
            length = None
    if not length or length < 0:
        raise AudioError(f"its header does not read as {suffix}; the file is damaged or something else")
    return round(length, 1)


def _missing_bytes(opened: BinaryIO, suffix: str) -> int:
    """Bytes by which the file is shorter than the sizes in its outermost boxes or chunks."""
    size = os.fstat(opened.fileno()).st_size
    if suffix == ".wav":
        head = opened.read(8)
        return max(0, struct.unpack("<I", head[4:])[0] + 8 - size) if head[:4] == b"RIFF" and len(head) == 8 else 0
    offset = 0
    while suffix in _ISO_MEDIA and offset < size:
        opened.seek(offset)
        head = opened.read(16)
        if len(head) < 8:
            return 8 - len(head)
        length = struct.unpack(">I", head[:4])[0]
        if length == 1 and len(head) == 16:
            length = struct.unpack(">Q", head[8:])[0]
        if length < 8:  # 0 means up to the end of the file; other values are no box
            break
        offset += length
    return max(0, offset - size)
