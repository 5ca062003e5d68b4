"""A new kind of source takes one module and one row: a copy of the project gets both, and nothing else in it changes.

The row alone decides what the records are called, how they are redacted and shown, and how a sync is estimated.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

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
                    channel="paperless",
                    label="diary",
                    about="A diary: type=diary; from=who keeps it.",
                ),
            ),
            source_name="diaries",
            record_mark=b"\\n",
        ),
"""
WORDS = {"en": "diary", "cs": "deník deníku"}
"""language -> words by which a question names it"""
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
from relrag_query.answering.reader.protocol import INSTRUCTIONS
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


FEED_MODULE = '''\
"""What a service says of its notes: for each change a line with id, version and text, without text if it is gone."""

from relrag_pipelines.records import Record
from relrag_pipelines.sources import Listing, UnitRef


def units(place):
    lines = (place.root / "feed").read_text(encoding="utf-8").splitlines()
    print("listed after", place.cursor or "nothing")
    latest = {line.split()[0]: line.split()[1:] for line in lines[int(place.cursor or 0) :]}
    refs = tuple(UnitRef(id, rest[0]) for id, rest in latest.items() if len(rest) > 1)
    removed = frozenset(id for id, rest in latest.items() if len(rest) == 1)
    return Listing(refs, str(len(lines)), removed if place.cursor else None)


def read(unit, reading):
    print("opened", unit.path, unit.version)
    lines = (unit.file / "feed").read_text(encoding="utf-8").splitlines()
    (text,) = [line.split(" ", 2)[2] for line in lines if line.startswith(f"{unit.path} {unit.version} ")]
    yield Record(unit.path, text=text, ts=1736000000)
'''
FEED_ROW = """\
        Kind("feed", "notes of a service", 1, (), (RecordType("service_note"),), discovers_units=True),
"""
FEED_SCRIPT = """
from pathlib import Path

from relrag_pipelines.stores import lake
from tests import archive

feed = Path("mine/feed")
for change in ("a 1 Apples. b 1 Pears. c 1 Plums.", "b 2 Ripe pears.", "c 2", ""):
    with feed.open("a") as file:
        file.writelines(f"{line}\\n" for line in change.replace(". ", ".|").split("|") if line)
    home = archive.sync(Path("relrag.toml").resolve()).home
    print(lake.read(home, "private_records", "mine", "2025-01")["text"].sort().to_pylist())
    print("---")
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with two further kinds."""
    project = tmp_path_factory.mktemp("project")
    for name in ("relrag_pipelines", "relrag_query"):
        shutil.copytree(ROOT / name, project / name)
    table = project / "relrag_pipelines/sources/kinds.py"
    rows = table.read_text(encoding="utf-8")
    assert rows.count(BEFORE) == 1
    table.write_text(rows.replace(BEFORE, ROW + FEED_ROW + BEFORE), encoding="utf-8")
    for code, words in WORDS.items():
        with (project / "relrag_pipelines/languages" / code / "kinds.toml").open("a", encoding="utf-8") as file:
            file.write(f'diary_entry = "{words}"\n')
    (project / "relrag_pipelines/sources/diary.py").write_text(MODULE, encoding="utf-8")
    (project / "relrag_pipelines/sources/feed.py").write_text(FEED_MODULE, encoding="utf-8")
    return project


def run(project: Path, home: Path, script: str) -> list[str]:
    """What a script prints that runs in `home` with that copy of the project."""
    path = os.pathsep.join((str(project), str(ROOT)))
    done = subprocess.run(
        [sys.executable, "-P", "-c", script],
        cwd=home,
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


def test_a_new_kind_takes_one_module_and_one_row(project: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "2024.diary").write_text(DIARY, encoding="utf-8")
    (tmp_path / "relrag.toml").write_text(CONFIG)
    assert run(project, tmp_path, SCRIPT) == [
        str(project),
        "[('diaries', 'diary', 1, 3)]",
        """['"May 2024": from 2024-05-01 to 2024-05-31.', '2 records: 2 entries of a diary; newest first.']""",
        "['Paid the roofer with card , call 052-123-4567 for the rest.']",
        *("True", "True"),
        "type=diary; from=Ota; when=2024-05-09",
    ]


def test_a_kind_with_a_cursor_lists_only_what_changed_and_its_units_are_no_files(project: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "relrag.toml").write_text(CONFIG.replace("diary", "feed"))
    said = "\n".join(run(project, tmp_path, FEED_SCRIPT)).split("\n---")
    # each sync lists once, and the check after it that nothing is left to do once more
    assert [part.strip().splitlines() for part in said] == [
        [
            "listed after nothing",
            *("opened a 1", "opened b 1", "opened c 1"),
            "listed after 3",
            "['Apples.', 'Pears.', 'Plums.']",
        ],
        ["listed after 3", "opened b 2", "listed after 4", "['Apples.', 'Plums.', 'Ripe pears.']"],
        ["listed after 4", "listed after 5", "['Apples.', 'Ripe pears.']"],
        ["listed after 5", "listed after 5", "['Apples.', 'Ripe pears.']"],
        [],
    ]
