"""Tests, in folders that mirror the packages; `end_to_end/` holds what covers several modules."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
"""the repository"""
