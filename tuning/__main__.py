"""Writes what is learned: `python -m tuning` (`make tune`), some minutes.

From the archives that are not held back; `python -m tuning.measure` says how well the others are answered.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import orjson

from relrag_query.answering import ranker
from tuning import archives, dataset, fit, means


def main() -> None:
    """Makes the means of e5, then the weights of `weights.json`."""
    parser = argparse.ArgumentParser(prog="python -m tuning", description=__doc__)
    parser.add_argument("--work", type=Path, help="keep the synced archives in this folder")
    parser.add_argument("--keep-means", action="store_true", help="learn only how sure an answer is")
    given = parser.parse_args()
    names = archives.names()
    with tempfile.TemporaryDirectory() as folder:
        work = given.work or Path(folder)
        if not given.keep_means:
            means.write(names)
        made = {}
        for how, embedder in (("by_meaning", "e5"), ("by_words", "none")):
            asked = [one for name in names for one in dataset.collect(name, work, embedder)]
            made[how] = fit.model(asked, by_meaning=how == "by_meaning")
            print(how, made[how]["measured"])
    ranker.FILE.write_bytes(orjson.dumps(made, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


if __name__ == "__main__":
    main()
