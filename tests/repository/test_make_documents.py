"""The documents of the demo archive are what examples/make_documents.py makes of their originals."""

from __future__ import annotations

import importlib.util
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pypdfium2
import pytest

from tests import ROOT

ARCHIVE = ROOT / "examples" / "archive"


def words(text: str) -> str:
    return " ".join(text.split())


def pages(pdf: Path | bytes) -> list[str]:
    with pypdfium2.PdfDocument(pdf) as document:
        return [page.get_textpage().get_text_range() for page in document]


@pytest.fixture(scope="module")
def maker() -> Iterator[ModuleType]:
    """The script that makes the documents, where its libraries and font are there."""
    pytest.importorskip("reportlab", reason="reportlab makes the documents (extra dev)")
    spec = importlib.util.spec_from_file_location("make_documents", ROOT / "examples" / "make_documents.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    monkeypatch = pytest.MonkeyPatch()
    monkeypatch.setitem(sys.modules, spec.name, module)  # its dataclasses look themselves up there
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")  # the script sets it
    spec.loader.exec_module(module)
    yield module
    monkeypatch.undo()


def test_documents_say_what_their_originals_say(maker: ModuleType) -> None:
    originals = maker.originals()
    assert len(originals) == 13
    for original in originals:
        path = ARCHIVE / original.target
        if path.suffix == ".pdf":
            wanted = [words(page.replace("# ", "")) for page in original.body.split(maker.NEW_PAGE)]
            assert [words(page) for page in pages(path)] == wanted, original.target
        else:
            assert path.is_file(), original.target


def test_the_script_makes_the_same_documents_again(maker: ModuleType, tmp_path: Path) -> None:
    if not maker.FONT.is_file():
        pytest.skip(f"no font at {maker.FONT}; in Debian it comes with fonts-dejavu-core")
    for folder in ("first", "second"):
        maker.make(tmp_path / folder)
    made = sorted(path.relative_to(tmp_path / "first") for path in (tmp_path / "first").rglob("*") if path.is_file())
    assert len(made) == 14
    for name in made:
        data = (tmp_path / "first" / name).read_bytes()
        assert data == (tmp_path / "second" / name).read_bytes(), f"{name} differs between two runs"
        if name.suffix == ".pdf":
            assert pages(tmp_path / "first" / name) == pages(ARCHIVE / name), f"{name}: run examples/make_documents.py"
        else:
            assert members(tmp_path / "first" / name) == members(ARCHIVE / name), f"{name}: as above"


def members(path: Path) -> dict[str, Any]:
    """What a zip or DOCX holds; of a PDF in it the text, as its bytes depend on versions."""
    with zipfile.ZipFile(path) as packed:
        names = packed.namelist()
        return {name: pages(packed.read(name)) if name.endswith(".pdf") else packed.read(name) for name in names}
