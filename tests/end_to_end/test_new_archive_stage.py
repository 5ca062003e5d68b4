"""A new stage over the whole archive takes a row and its tables' declarations: a copy of the project gets two of them.

Nothing else in it changes, and all that deals with what is stored knows them: the plan, Dagster, the generation,
`forget`, `verify`, backup and `status`.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests import ROOT, archive

MODULE = '''\
"""How much each sender wrote."""

import os

import pyarrow as pa

from relrag_pipelines.stages.whole_archive import ArchiveOutput
from relrag_pipelines.stores import catalog

MADE = []


def count(workspace, inputs):
    MADE.append("sender_counts")
    if "FAIL" in os.environ:
        raise RuntimeError("out of order")
    with catalog.connect() as connection:
        connection.register("records", inputs["records"])
        rows = connection.sql(
            'SELECT "from" AS sender, count(DISTINCT asset_id) AS records FROM records '
            'WHERE "from" IS NOT NULL GROUP BY ALL HAVING records >= $least',
            params={"least": 2 if workspace.settings.search_limit == 7 else 1},
        )
        return ArchiveOutput({"sender_counts": rows.to_arrow_table()}, {"senders": rows.shape[0]})


def busiest(workspace, inputs):
    MADE.append("busiest")
    most = inputs["sender_counts"].to_table().sort_by([("records", "descending"), ("sender", "ascending")])
    return ArchiveOutput({"busiest": most.slice(0, 1).select(["sender"])})
'''
ROWS = """
def _count(workspace, inputs):
    from relrag_pipelines import senders

    return senders.count(workspace, inputs)


def _busiest(workspace, inputs):
    from relrag_pipelines import senders

    return senders.busiest(workspace, inputs)


STAGES: tuple[ArchiveStage, ...] = check_declarations(
    ArchiveStage(
        "senders",
        ("records",),
        ("sender_counts",),
        1,
        "How many records each sender wrote.",
        _count,
        lambda workspace: {"search_limit": workspace.settings.search_limit},
    ),
    ArchiveStage("busiest_sender", ("sender_counts",), ("busiest",), 1, "Who wrote most.", _busiest),
)
"""
ROW_TYPES = '''
@dataclass(slots=True)
class SenderCount:
    """How much somebody wrote."""

    sender: Annotated[str, "as in records"]
    records: Annotated[int, "how many"]


@dataclass(slots=True)
class Busiest:
    """Who wrote most."""

    sender: Annotated[str, "as in records"]


'''
TABLES = """\
        Table("sender_counts", SenderCount, ("sender",), "lake/sender_counts/archive.parquet, catalog"),
        Table("busiest", Busiest, ("sender",), "lake/busiest/archive.parquet, published/<N>/<table>.parquet"),
"""
FORKS = """
import pytest, traceback
from relrag_pipelines.orchestration import runner
from relrag_pipelines.pii import engine, redactor

for line in sys.stdin:
    asked = json.loads(line)
    child = os.fork()
    if not child:
        code = 1
        try:
            for place, name in enumerate((os.devnull, asked["out"], asked["err"])):
                os.dup2(os.open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC), place)
            os.chdir(asked["folder"])
            os.environ.update(asked["environment"])
            exec(asked["script"], {"__name__": "__main__"})
            code = 0
        except BaseException:
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
"""imports what most scripts import, which takes seconds, and makes a process of its own for each of them"""
WRITER = {"id": "n3", "text": "The orchard gate squeaks.", "timestamp": "2024-02-21T08:00:00Z", "from": "Wilma Quist"}

IMPORTS = """
import io, json, os, sys
from contextlib import redirect_stdout
from pathlib import Path
from relrag_pipelines import senders
from relrag_pipelines.stores import archive_tables, catalog, generations
from relrag_query.cli import commands
from relrag_query.cli.commands import forget, plan, status, sync, verify
from relrag_query.forgetting import ForgetRequest
from tests import archive
"""
HEAD = (
    IMPORTS
    + """
config = Path("relrag.toml").resolve()
home = archive.home(config.parent)

def do_without_dagster():
    import pytest

    archive.do_without_dagster(pytest.MonkeyPatch())

def output_of(function, *args, **options):
    with redirect_stdout(io.StringIO()) as out:
        code = function(*args, **options)
    return code, out.getvalue().splitlines()

def made():
    found, senders.MADE[:] = list(senders.MADE), []
    return found

def counts():
    return {row["sender"]: row["records"] for row in archive_tables.read(home, "sender_counts").to_pylist()}

def published():
    path = generations.build_folder(home).with_name(str(generations.current_number(home)))
    with catalog.open(path / catalog.NAME) as connection:
        found = dict(connection.sql("SELECT sender, records FROM sender_counts").fetchall())
    files = generations.current_manifest(home)["files"]
    return [found, (path / "busiest.parquet").exists(), "busiest.parquet" in files]

"""
)


@dataclass
class Project:
    """A copy of the project, and a process that has imported it."""

    folder: Path
    process: subprocess.Popen[str]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    project = tmp_path_factory.mktemp("project")
    for name in ("relrag_pipelines", "relrag_query"):
        shutil.copytree(ROOT / name, project / name)
    (project / "relrag_pipelines/senders.py").write_text(MODULE)
    stages = project / "relrag_pipelines/stages/whole_archive.py"
    functions, rows = ROWS.split("STAGES: tuple[ArchiveStage, ...] = check_declarations(\n")
    before = "STAGES: tuple[ArchiveStage, ...] = check_declarations(\n"
    insert(stages, before, functions.lstrip() + before + rows.rstrip().removesuffix(")"))
    records = project / "relrag_pipelines/records.py"
    before = "@dataclass(frozen=True)\nclass Table:"
    insert(records, before, ROW_TYPES.lstrip() + before)
    insert(records, '        Table("terms",', TABLES + '        Table("terms",')
    with subprocess.Popen(
        [sys.executable, "-P", "-c", IMPORTS + FORKS],
        env=os.environ | {"PYTHONPATH": os.pathsep.join((str(project), str(ROOT)))},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield Project(project, process)


def insert(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")


def ask(project: Project, home: Path, script: str, **environment: str) -> Any:
    """What the script prints last, run with the copy of the project on the archive in that folder."""
    out, err = project.folder / "out", project.folder / "err"
    asked = {"script": HEAD + script, "environment": environment, "folder": str(home), "out": str(out), "err": str(err)}
    assert project.process.stdin and project.process.stdout
    print(json.dumps(asked), file=project.process.stdin, flush=True)
    assert project.process.stdout.readline() == "0\n", err.read_text()
    return json.loads(out.read_text().splitlines()[-1])


@pytest.fixture(scope="module")
def first_sync(project: Project, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """An archive synced once, and what was planned and made."""
    folder = tmp_path_factory.mktemp("synced")
    archive.make(folder)
    archive.write_notes(folder, WRITER)
    script = """
planned = output_of(plan.plan, config)[1]
print(json.dumps([planned, output_of(sync.sync, config)[0], made(), counts(), published()]))
"""
    return folder, ask(project, folder, script)


@pytest.fixture
def archive_folder(first_sync: tuple[Path, Any], tmp_path: Path) -> Path:
    return archive.clone(first_sync[0], tmp_path / "synced")


ALL = {"Dana Levi": 3, "Petr Kolar": 2, "Ota": 1, "Wilma Quist": 1}


def test_a_sync_makes_and_publishes_it(first_sync: tuple[Path, Any]) -> None:
    planned, *first = first_sync[1]
    assert [line for line in planned if "sender" in line or "publish" in line] == [
        "make senders (new)",
        "make busiest_sender (new)",
        "publish a new generation (nothing is published yet)",
    ]
    assert first == [0, ["sender_counts", "busiest"], ALL, [ALL, True, True]]


def test_the_next_sync_makes_nothing(project: Project, archive_folder: Path) -> None:
    script = """
before = archive.contents(home)
second = output_of(sync.sync, config), made()
seen = json.loads("\\n".join(output_of(status.status, config, as_json=True)[1]))["tables"]
print(json.dumps([second, archive.changed(before, archive.contents(home)), seen, output_of(verify.verify, config)]))
"""
    second, changed, seen, verified = ask(project, archive_folder, script)
    assert second == [[0, ["Nothing to do: generation 1 is up to date."]], []]
    assert changed == []
    assert (seen["sender_counts"], seen["busiest"]) == (4, 1)
    assert verified[0] == 0


def test_a_generation_on_top_of_another_holds_the_table_as_it_is_now(project: Project, tmp_path: Path) -> None:
    archive.many_notes(tmp_path)
    script = """
do_without_dagster()
first = sync.sync(config), published()[0]
with (config.parent / "notes.jsonl").open("a") as notes:
    notes.write(json.dumps({"id": "last", "text": "Oil the gate.", "ts": 1740000000, "from": "Ota"}) + "\\n")
second = sync.sync(config), published()[0]
print(json.dumps([first, second, (home / "published/2" / catalog.BASE).exists()]))
"""
    assert ask(project, tmp_path, script) == [[0, {}], [0, {"Ota": 1}], True]


def test_dagster_shows_it_with_lineage_group_and_metadata(project: Project, archive_folder: Path) -> None:
    script = """
import dagster as dg
from relrag_pipelines.definitions import build_defs
from relrag_pipelines.orchestration import runner
graph = build_defs(archive.workspace(config)).get_repository_def().asset_graph
nodes = {name: graph.get(dg.AssetKey(name)) for name in ("sender_counts", "busiest", "duckdb_catalog")}
parents = {name: sorted(key.to_user_string() for key in node.parent_keys) for name, node in nodes.items()}
with runner.instance(home) as shared:
    event = shared.get_latest_materialization_event(dg.AssetKey("sender_counts"))
    metadata = {name: value.value for name, value in event.asset_materialization.metadata.items()}
node = nodes["sender_counts"]
print(json.dumps([parents, node.group_name, node.description, node.code_version, sorted(node.kinds),
    [column.name for column in node.metadata["dagster/column_schema"].columns], metadata,
    [check.name for check in graph.asset_check_keys if check.asset_key.path == ["sender_counts"]]]))
"""
    parents, group, description, version, kinds, columns, metadata, checks = ask(project, archive_folder, script)
    assert parents["sender_counts"] == ["chat/redacted", "notes/redacted", "papers/redacted"]
    assert parents["busiest"] == ["sender_counts"]
    assert {"sender_counts", "busiest"} <= set(parents["duckdb_catalog"])
    assert (group, version, kinds) == ("archive", "1", ["parquet"])
    assert description.endswith("How many records each sender wrote.")
    assert columns == ["sender", "records"]
    assert (metadata["dagster/row_count"], metadata["senders"]) == (4, 4)
    assert {"bytes", "seconds", "hash"} <= metadata.keys()
    assert checks == ["manifest_true"]


def test_it_is_made_again_when_a_file_or_a_setting_of_its_own_changes(project: Project, archive_folder: Path) -> None:
    script = """
do_without_dagster()
archive.write_notes(config.parent)
planned = output_of(plan.plan, config)[1]
changed = sync.sync(config), made(), counts(), published()[0]
archive.configure(config.parent, "search_limit = 7")
asked = output_of(plan.plan, config)[1]
seen = [line for line in output_of(status.status, config)[1] if line.startswith(("Of all sources", "A sync"))]
after = sync.sync(config), made(), published()[0]
print(json.dumps([planned, changed, asked, seen, after]))
"""
    planned, changed, asked, seen, after = ask(project, archive_folder, script)
    left = {name: count for name, count in ALL.items() if name != "Wilma Quist"}
    assert any(line.startswith("make senders, busiest_sender, ") for line in planned)
    assert changed == [0, ["sender_counts", "busiest"], left, left]
    assert asked == [
        "make senders (setting search_limit changed)",
        "make busiest_sender (rows of sender_counts change)",
        "publish a new generation (what it is made from changes)",
    ]
    assert "sender_counts (3), busiest (1)" in seen[0]
    assert seen[1:] == [
        "A sync would make senders, busiest_sender, publish a new generation.",
    ]
    assert after == [0, ["sender_counts", "busiest"], {"Dana Levi": 3, "Petr Kolar": 2}]


def test_the_sensor_asks_for_it_once_the_months_are_there(project: Project, archive_folder: Path) -> None:
    script = """
from relrag_pipelines.definitions import follow_up
def asked():
    found = list(follow_up(archive.workspace(config)))
    return [[one.job_name, [key.to_user_string() for key in one.asset_selection or []]] for one in found
        if hasattr(one, "job_name")]
archive_tables.drop(home, ["busiest"])
of_one = asked()
archive.configure(config.parent, "chunk_tokens = 64\\nsearch_limit = 7")
print(json.dumps([of_one, sorted({job for job, _ in asked()}), any("sender_counts" in keys for _, keys in asked())]))
"""
    assert ask(project, archive_folder, script) == [[["sync", ["busiest"]]], ["sync"], False]


def test_what_is_forgotten_is_gone_from_it_even_where_it_cannot_be_made_again(
    project: Project, archive_folder: Path
) -> None:
    other = archive.clone(archive_folder, archive_folder.with_name("other"))
    script = """
if "FAIL" not in os.environ:
    do_without_dagster()
wanted = ForgetRequest(refs=("jsonl:notes:n3",))
code, said = output_of(forget.forget, wanted, config, yes=True)
there = [path for path, (_, data) in archive.contents(home).items() if b"Wilma" in data]
print(json.dumps([code, there, counts() if archive_tables.entry(home, "sender_counts") else None, made(),
    sorted(generations.numbers(home)), generations.current_number(home)]))
"""
    left = {name: count for name, count in ALL.items() if name != "Wilma Quist"}
    assert ask(project, archive_folder, script) == [0, [], left, ["sender_counts", "busiest"], [2], 2]
    code, _, held, made, *_ = ask(project, other, script, FAIL="1")
    assert (code, held, made) == (2, None, ["sender_counts"])
    tables = {path.parent.name for path in (other / ".relrag/lake").glob("*/archive.parquet")}
    assert not tables & {"sender_counts", "busiest"}
    assert ask(project, other, "do_without_dagster(); print(json.dumps([sync.sync(config), counts()]))") == [0, left]


def test_a_damaged_table_is_named_and_made_again_and_only_a_whole_backup_holds_it(
    project: Project, archive_folder: Path
) -> None:
    script = """
from relrag_pipelines.maintenance import backup
table = archive_tables.path(home, "sender_counts")
settings = archive.workspace(config).settings
names = [[name for name in backup.files_to_back_up(settings, everything=every) if "archive.parquet" in name]
    for every in (True, False)]
table.write_bytes(table.read_bytes()[:-1] + b"x")
named = output_of(verify.verify, config)
repaired = output_of(verify.verify, config, repair=True)[0], made(), counts()
archive_tables.path(home, "busiest").with_name("MANIFEST.json").unlink()
unlisted = output_of(sync.sync, config)[0], made(), output_of(verify.verify, config)[0]
print(json.dumps([names, named, repaired, unlisted]))
"""
    names, named, repaired, unlisted = ask(project, archive_folder, script)
    assert {"lake/busiest/archive.parquet", "lake/sender_counts/archive.parquet"} <= {*names[0]}
    assert names[1] == []
    assert named[0] != 0 and any("lake/sender_counts/archive.parquet differs" in line for line in named[1])
    assert repaired == [0, ["sender_counts", "busiest"], ALL]
    assert unlisted == [0, ["busiest"], 0]
