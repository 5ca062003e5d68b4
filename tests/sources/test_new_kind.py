"""A new kind of source takes one module and one row: a copy of the project gets both, and nothing else in it changes.

The row alone decides what the records are called, how they are redacted and shown, and how a sync is estimated.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests import ROOT

MODULE = '''\
"""Diaries: a day and what happened on it, a line each."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from relrag_pipelines.records import Record
from relrag_pipelines.sources import ReadContext, Unit


def recognise(file: Path) -> bool:
    return file.suffix == ".diary"


def read(unit: Unit, reading: ReadContext) -> Iterator[Record]:
    for line in unit.file.read_text(encoding="utf-8").splitlines():
        day, _, text = line.partition(" ")
        ts = int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp())
        yield Record(reading.hash(day), text=text, ts=ts, from_="Ota", locations=[unit.path])
'''
ROW = """\
        Kind(
            "diary",
            "diaries",
            1,
            (".diary",),
            (
                RecordType(
                    "diary_entry",
                    "entry of a diary",
                    "entries of a diary",
                    en="diary",
                    cs="deník deníku",
                    channel="paperless",
                    label="diary",
                    about="A diary: type=diary; from=who keeps it.",
                ),
            ),
            source_name="diaries",
            record_mark=b"\\n",
        ),
"""
BEFORE = '        Kind(\n            "jsonl",\n'
"""the row that stays the last one"""
CONFIG = """
keys_file = "test.keys"
pii_redaction_enabled = true
embedder = "none"

[[sources]]
name = "mine"
kind = "diary"
path = "mine"
"""
DIARY = """\
2024-05-03 The swallows are back in the barn, two pairs of them.
2024-05-09 Paid the roofer with card 4111 1111 1111 1111, call 052-123-4567 for the rest.
2024-06-01 Mowed the meadow behind the barn.
"""
SCRIPT = """
from pathlib import Path

import relrag_pipelines
from relrag_pipelines.onboarding.discover import discover
from relrag_query.answering.generative import INSTRUCTIONS
from relrag_query.archive import Archive
from relrag_query.display.metadata_line import hit_line
from relrag_query.retrieval.term_coverage import kind_tokens, tokens
from tests import archive

print(Path(relrag_pipelines.__file__).parent.parent)
print([(one.name, one.kind, one.files, one.records) for one in discover(Path("mine")).sources])
archive.sync(Path("relrag.toml").resolve())
with Archive.open(Path("relrag.toml").resolve()) as opened:
    print(opened.ask("What came in May 2024?").head)
    print([quote.text for quote in opened.ask("roofer v deníku").quotes])
    print(tokens("deník") <= kind_tokens("diary_entry"))
    print("- A diary: type=diary; from=who keeps it." in INSTRUCTIONS.splitlines())
    print(hit_line(opened.search("roofer").hits[0]))
"""


def test_a_new_kind_takes_one_module_and_one_row(tmp_path: Path) -> None:
    project, home = tmp_path / "project", tmp_path / "archive"
    for name in ("relrag_pipelines", "relrag_query"):
        shutil.copytree(ROOT / name, project / name)
    table = project / "relrag_pipelines/sources/kinds.py"
    rows = table.read_text(encoding="utf-8")
    assert rows.count(BEFORE) == 1
    table.write_text(rows.replace(BEFORE, ROW + BEFORE), encoding="utf-8")
    (project / "relrag_pipelines/sources/diary.py").write_text(MODULE, encoding="utf-8")
    (home / "mine").mkdir(parents=True)
    (home / "mine" / "2024.diary").write_text(DIARY, encoding="utf-8")
    (home / "relrag.toml").write_text(CONFIG)
    path = os.pathsep.join((str(project), str(ROOT)))
    run = subprocess.run(
        [sys.executable, "-P", "-c", SCRIPT],
        cwd=home,
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.splitlines() == [
        str(project),
        "[('diaries', 'diary', 1, 3)]",
        """['"May 2024": from 2024-05-01 to 2024-05-31.', '2 records: 2 entries of a diary; newest first.']""",
        "['Paid the roofer with card , call 052-123-4567 for the rest.']",
        *("True", "True"),
        "type=diary; from=Ota; when=2024-05-09",
    ]
