"""Texts in and out: whatever a connector reads ends as a record, at a location of a record, or as a failure.

For every kind of source: what its connector reads of each unit, one by one, against the tables that a sync leaves.
"""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from relrag_pipelines import settings
from relrag_pipelines.ingest.ingest import ingest
from relrag_pipelines.ingest.read_context import read_context, units_of_source
from relrag_pipelines.records import Failure, Record
from relrag_pipelines.settings import Source
from relrag_pipelines.sources import KINDS, Unit
from relrag_pipelines.sources.mail_ids import plain_id
from relrag_pipelines.stages.month_stages import STAGES, run
from relrag_pipelines.stores import lake, unit_state
from relrag_pipelines.workspace import Workspace
from tests import ROOT
from tests.cases import case_values
from tests.end_to_end.test_mail_archive import Archive, boxed

DEMO = [source.name for source in settings.load(ROOT / "relrag.toml", {}).sources]
BUGS = dict(case_values(__file__, "bugs"))
"""folders of data/bugs -> the kind that reads them"""


def items(workspace: Workspace, source: Source) -> Iterator[tuple[Unit, Record | Failure]]:
    """What the connector reads of each unit."""
    context = replace(read_context(workspace, source), keep=lambda unit, place, data: None)
    for unit in units_of_source(workspace, source):
        for item in KINDS[source.kind].read(unit, context):
            if isinstance(item, Record | Failure):
                yield unit, item


def published(workspace: Workspace, source: Source) -> tuple[list[dict[str, Any]], list[Failure]]:
    """The rows of the table of records after a sync, and the failures."""
    ingest(workspace, source)
    months = sorted(lake.manifest(workspace.home, "private_records", source.name))
    run(workspace, source, next(stage for stage in STAGES if stage.name == "redacted"), months)
    rows = [row for month in months for row in lake.read(workspace.home, "records", source.name, month).to_pylist()]
    return rows, unit_state.load_failures(workspace.home, source.name)


def said(text: str, extra: dict[str, Any] | str) -> str:
    """What a record says, without what the copies of a mail may have more or less of."""
    hashed = str(extra).partition("text_hash")[2]
    return hashed.strip("\"': ")[:16] if hashed else " ".join(text.split())


def check(workspace: Workspace, source: Source) -> int:
    """AssertionError names the first item that is lost; returns how many were read."""
    read = list(items(workspace, source))
    rows, failures = published(workspace, source)
    there = {(place, said(row["text"], row["extra"])) for row in rows for place in row["locations"]}
    refused = {(one.unit, one.location) for one in failures}
    for unit, item in read:
        if isinstance(item, Failure):
            assert (unit.path, item.location) in refused, f"a failure of {unit.path} is not told"
            continue
        place = item.locations[0] if item.locations else unit.path
        told = (unit.path, place) in refused
        assert told or (place, said(item.text, item.extra)) in there, f"{place} of {unit.path} is lost"
    assert len({row["asset_id"] for row in rows}) == len(rows)
    return len(read)


@pytest.mark.parametrize("name", DEMO)
def test_nothing_of_the_demo_archive_is_lost(name: str, tmp_path: Path) -> None:
    places = {"RELRAG_HOME": str(tmp_path / "home"), "RELRAG_KEYS_FILE": str(tmp_path / "keys")}
    more = {"RELRAG_EMBEDDER": "none", "RELRAG_PII_REDACTION_ENABLED": "false"}
    workspace = Workspace(settings.load(ROOT / "relrag.toml", places | more))
    assert check(workspace, workspace.settings.source(name)) > 0


@pytest.mark.parametrize("folder", BUGS)
def test_nothing_of_the_known_bugs_is_lost(folder: str, shared_data: Path, tmp_path: Path) -> None:
    if not (shared_data / "bugs" / folder).is_dir():
        pytest.skip("data/bugs is not here")
    assert check(*one_source(tmp_path, BUGS[folder], shared_data / "bugs" / folder)) > 0


def test_nothing_of_the_forms_of_mail_is_lost(tmp_path: Path) -> None:
    assert check(*one_source(tmp_path, "gmail", ROOT / "tests" / "data" / "mail")) > 80


def test_nothing_of_mails_of_other_projects_is_lost(shared_data: Path, tmp_path: Path) -> None:
    folder = tmp_path / "mails"
    folder.mkdir()
    for number, file in enumerate(sorted((shared_data / "mail").rglob("*.*"))):
        shutil.copy(file, folder / f"{number}.eml")
    assert check(*one_source(tmp_path, "gmail", folder)) > 129


def one_source(folder: Path, kind: str, path: Path) -> tuple[Workspace, Source]:
    (folder / "relrag.toml").write_text(
        f'archive = "one"\nkeys_file = "one.keys"\nembedder = "none"\npii_redaction_enabled = false\n'
        f'[[sources]]\nname = "one"\nkind = "{kind}"\npath = "{path}"\n'
    )
    workspace = Workspace(settings.load(folder / "relrag.toml", {}))
    return workspace, workspace.settings.sources[0]


TEXTS = ("The gate is open.", "The gate is locked.", "", "The pump leaks.\nFrom here it drips.\n> and below")
MAIL = st.tuples(
    st.sampled_from(("one@host.example", "two@host.example", "three", "")),
    st.sampled_from(TEXTS),
    st.sampled_from(("3 Feb 2025 09:00:00 GMT", "po, 3 bře 2025 09:00:00", "garbage", "")),
    st.sampled_from(("", "Received: from a by b; Tue, 4 Feb 2025 10:00:00 GMT\n", "X-Note: kept\n")),
)
FILES = st.dictionaries(
    st.sampled_from([f"{name}{suffix}" for name in "abc" for suffix in (".eml", ".mbox")]),
    st.lists(MAIL, min_size=1, max_size=4),
    max_size=6,
)


def written(mail: tuple[str, str, str, str]) -> bytes:
    own, text, date, more = mail
    head = f"From: jana@host.example\nSubject: gate\nDate: {date}\n{more}" + (f"Message-ID: <{own}>\n" if own else "")
    return f"{head}\n{text}\n".encode()


def lay_out(folder: Path, files: dict[str, list[tuple[str, str, str, str]]]) -> list[tuple[str, str]]:
    """Writes the files, and returns Message-ID and text of all that is in them."""
    for old in folder.iterdir():
        old.unlink()
    inside = []
    for name, mails in files.items():
        some = mails if name.endswith(".mbox") else mails[:1]
        data = [written(one).replace(b"\nFrom here", b"\n>From here") for one in some]
        (folder / name).write_bytes(boxed(*data) if name.endswith(".mbox") else written(some[0]))
        inside += [(own, " ".join(text.split())) for own, text, *_ in some]
    return inside


@hypothesis_settings(
    max_examples=15, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(steps=st.lists(FILES, min_size=1, max_size=3))
def test_texts_in_are_texts_out_after_any_changes(
    steps: list[dict[str, list[tuple[str, str, str, str]]]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Each mail with its Message-ID and text is one record, and each place that holds it one of its locations."""
    archive = Archive(tmp_path_factory.mktemp("mails"))
    for files in steps:
        inside = lay_out(archive.mails, files)
        archive.export(accept_deletions=True)
        rows = archive.rows()
        told = sorted(" ".join("\n".join([row["text"], row["extra"]]).split()) for row in rows)
        assert len(rows) == len(inside), told
        assert len({place for row in rows for place in row["locations"]}) == len(inside)
        with_id = {(own, text) for own, text in inside if own}
        ids = {row["asset_id"] for row in rows if "text_hash" in row["extra"]}
        assert len(ids) == len(with_id)
        assert {plain_id(one) for one in ids} <= ids
        assert len({plain_id(one) for one in ids}) == len({own for own, _ in with_id})
    archive.stages()
    step_by_step = archive.rows("records")
    shutil.rmtree(archive.workspace.home)
    archive.export()
    archive.stages()
    assert archive.rows("records") == step_by_step
