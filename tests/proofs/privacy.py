"""Shows that a day with the runs that sensors launch sends nothing and writes for the owner only (`make privacy`)."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests import archive
from tests.end_to_end.test_privacy import files, open_to_others, spend_day


def main() -> None:
    """Spends the day in a temporary folder and prints what was seen."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        day, unseen = spend_day(folder, "--runs")
        print(day.said)
        assert day.code == 0
        print(f"not seen: what was sent ({unseen})" if unseen else f"sent to other machines: {day.sent or 'nothing'}")
        assert day.sent == []
        assert (left := files(folder / "user")) == [], left
        assert (open_files := open_to_others(archive.home(folder))) == [], open_files
        print("seen: no file in the user's folder, and no file of the home that others can read")


if __name__ == "__main__":
    main()
