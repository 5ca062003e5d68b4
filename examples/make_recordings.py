"""Makes the recordings of the demo archive: MP4 containers with a header that tells their length, and no sound.

What is said in the calls stands in the transcripts beside them, which were written by hand. `python
examples/make_recordings.py` writes the files of examples/archive/calls again, byte for byte.
"""

from __future__ import annotations

import struct
from datetime import UTC, datetime
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "archive" / "calls"

RECORDINGS = {
    "Call_recording_Doron_Levi_241216_083102.m4a": 97,
    "Call_recording_Eitan_Pickel_241223_201145.m4a": 254,
    "Call_recording_Shely_Yakov_241224_110510.m4a": 188,
    "Call_recording_Riki_Pickel_241226_164022.m4a": 301,
    "Call_recording_Shlomo_Pickel_250106_091537.m4a": 215,
    "Call_recording_Petr_Svoboda_250107_140250.m4a": 326,
    "Call_recording_Alex_Rubin_250116_183005.m4a": 431,
}
"""name -> length in seconds"""

_SINCE_1904 = 2_082_844_800
"""seconds between the epochs of MP4 and Unix"""


def m4a(seconds: float, made_at: int = 0) -> bytes:
    """An MP4 container of that length (ISO/IEC 14496-12: ftyp, moov with mvhd, an empty mdat)."""
    moment = made_at + _SINCE_1904
    unity = (0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000)
    header = struct.pack(">B3xIIIIiH10x", 0, moment, moment, 1000, round(seconds * 1000), 0x10000, 0x100)
    mvhd = header + struct.pack(">9I", *unity) + bytes(24) + struct.pack(">I", 1)
    return _box(b"ftyp", b"M4A \0\0\0\0M4A isom") + _box(b"moov", _box(b"mvhd", mvhd)) + _box(b"mdat", b"")


def make(folder: Path) -> None:
    """Writes all recordings into that folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, seconds in RECORDINGS.items():
        day = datetime.strptime(name[-17:-4], "%y%m%d_%H%M%S").replace(tzinfo=UTC)
        (folder / name).write_bytes(m4a(seconds, int(day.timestamp())))


def _box(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data) + 8) + kind + data


if __name__ == "__main__":
    make(FOLDER)
