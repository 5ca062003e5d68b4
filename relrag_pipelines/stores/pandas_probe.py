"""Keeps pyarrow from importing pandas before a data frame is asked for.

With the first value that it converts pyarrow imports pandas where it is installed, which takes 0.3 s, more than many a
command. Where this fails it goes on without, and imports pandas when a data frame comes or is asked for. So it converts
one value while pandas cannot be found (pyarrow 26: pandas-shim.pxi and python/helpers.cc).

The price: in this process pyarrow refuses `pandas.NA` and `NaT` in columns of Python objects. Ours hold None.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

import pyarrow as pa


class _NoPandas(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname == "pandas":
            raise ModuleNotFoundError(fullname)
        return None


def probe() -> None:
    """Lets pyarrow look for pandas and not find it; does nothing where pandas is imported already."""
    if "pandas" in sys.modules:
        return
    finder = _NoPandas()
    sys.meta_path.insert(0, finder)
    try:
        pa.array([""])
    finally:
        sys.meta_path.remove(finder)
