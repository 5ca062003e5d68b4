"""Zips that expand too far, at the first level or below, are refused; those with something to read are not."""

import io
import zipfile
from pathlib import Path

import pytest

from relrag_pipelines.ingest import uploaded_zip
from relrag_pipelines.ingest.zip_contents import ZipLimits

LIMITS = ZipLimits(max_ratio=20, max_bytes=2**22)


def packed(method: int = zipfile.ZIP_DEFLATED, **files: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(name.replace("_", "."), data)
    return buffer.getvalue()


def lying(data: bytes, size: int) -> bytes:
    """The zip with another size in all its headers."""
    true = len(zipfile.ZipFile(io.BytesIO(data)).read(zipfile.ZipFile(io.BytesIO(data)).namelist()[0]))
    return data.replace(true.to_bytes(4, "little"), size.to_bytes(4, "little"))


BOMB = packed(a_txt=b"0" * 2**23)
CASES = {
    "fine": (packed(lease_txt=b"The tenant pays nine hundred a month."), ""),
    "bomb": (BOMB, "this zip is refused"),
    "bomb that lies": (lying(BOMB, 100), "this zip is refused"),
    "bomb in a zip": (
        packed(zipfile.ZIP_STORED, b_zip=BOMB, lease_txt=b"The tenant pays."),
        "a zip in this zip is refused",
    ),
    "four deep": (packed(c_zip=packed(c_zip=packed(c_zip=packed(a_txt=b"x")))), "a zip in this zip is refused"),
    "no zip": (b"PK\x03\x04 not really", "this zip is refused"),
    "nothing to read": (packed(a_exe=b"MZ"), "relrag reads nothing"),
}


@pytest.mark.parametrize(("data", "said"), CASES.values(), ids=CASES)
def test_a_zip_is_checked_as_a_whole(tmp_path: Path, data: bytes, said: str) -> None:
    file = tmp_path / "upload.zip"
    file.write_bytes(data)
    problem = uploaded_zip.problem(file, LIMITS)
    assert (problem.message if problem else "").startswith(said)
    assert bool(problem) == bool(said)
    assert [path.name for path in tmp_path.iterdir()] == ["upload.zip"], "nothing is unpacked beside it"
