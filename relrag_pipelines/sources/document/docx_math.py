"""Office Math (OMML, ECMA-376 part 1, chapter 22.1) as plain text on one line.

Fractions become `(a)/(b)`, powers `a^b`, indices `a_b`, roots `√(a)`, sums `∑_(i=1)^n`. All printed text is kept;
operators and brackets that the format leaves implicit are written out.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from lxml import etree

MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"

_BARE = re.compile(r"[\w.,∞°∘']*")
_APPLY = "\u2061"
"""the invisible mark between a function and its argument"""


def to_text(element: etree._Element) -> str:
    """The formula as text."""
    name = etree.QName(element).localname
    if name == "t":
        return (element.text or "").replace(_APPLY, " ")
    write = _WRITERS.get(name)
    return write(element) if write else "".join(to_text(child) for child in element if isinstance(child.tag, str))


def _part(element: etree._Element, name: str) -> str:
    part = element.find(f"{MATH}{name}")
    return "" if part is None else to_text(part).strip()


def _bracket(element: etree._Element, name: str) -> str:
    """A part in brackets; a single number or name needs none."""
    text = _part(element, name)
    return text if _BARE.fullmatch(text) else f"({text})"


def _property(element: etree._Element, properties: str, name: str, default: str) -> str:
    """A character from the properties; a property without a value means none."""
    character = element.find(f"{MATH}{properties}/{MATH}{name}")
    return default if character is None else character.get(f"{MATH}val", "")


def _scripts(element: etree._Element) -> str:
    low, high = _bracket(element, "sub"), _bracket(element, "sup")
    return (f"_{low}" if low else "") + (f"^{high}" if high else "")


def _fraction(element: etree._Element) -> str:
    if _property(element, "fPr", "type", "") == "noBar":
        return f"({_part(element, 'num')} over {_part(element, 'den')})"
    return f"{_bracket(element, 'num')}/{_bracket(element, 'den')}"


def _root(element: etree._Element) -> str:
    degree = _part(element, "deg")
    return (f"√[{degree}]" if degree else "√") + f"({_part(element, 'e')})"


def _brackets(element: etree._Element) -> str:
    begin, end = _property(element, "dPr", "begChr", "("), _property(element, "dPr", "endChr", ")")
    between = _property(element, "dPr", "sepChr", "|")
    return begin + between.join(to_text(part) for part in element.findall(f"{MATH}e")) + end


def _matrix(element: etree._Element) -> str:
    rows = (", ".join(to_text(cell) for cell in row.findall(f"{MATH}e")) for row in element.findall(f"{MATH}mr"))
    return f"[{'; '.join(rows)}]"


_WRITERS: dict[str, Callable[[etree._Element], str]] = {
    "ctrlPr": lambda _: "",
    "rPr": lambda _: "",
    "f": _fraction,
    "rad": _root,
    "d": _brackets,
    "m": _matrix,
    "sSup": lambda e: _bracket(e, "e") + _scripts(e),
    "sSub": lambda e: _bracket(e, "e") + _scripts(e),
    "sSubSup": lambda e: _bracket(e, "e") + _scripts(e),
    "sPre": lambda e: _scripts(e) + _bracket(e, "e"),
    "nary": lambda e: f"{_property(e, 'naryPr', 'chr', '∫')}{_scripts(e)} {_part(e, 'e')}",
    "func": lambda e: f"{_part(e, 'fName')} {_part(e, 'e')}",
    "acc": lambda e: _part(e, "e") + _property(e, "accPr", "chr", "\u0302"),
    "bar": lambda e: _part(e, "e") + ("\u0332" if _property(e, "barPr", "pos", "bot") == "bot" else "\u0305"),
    "limLow": lambda e: f"{_part(e, 'e')}_{_bracket(e, 'lim')}",
    "limUpp": lambda e: f"{_part(e, 'e')}^{_bracket(e, 'lim')}",
    "eqArr": lambda e: "; ".join(to_text(part) for part in e.findall(f"{MATH}e")),
}
