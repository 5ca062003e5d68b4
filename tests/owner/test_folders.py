"""Folders are listed below the allowed roots alone, and what is in them is found as `init` finds it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from relrag_query.owner import folders
from relrag_query.owner.folders import FolderRefused
from relrag_query.owner.switch import OnlyReads
from relrag_query.service import Service
from tests import archive

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def exports(tmp_path: Path) -> Path:
    folder = tmp_path / "exports"
    (folder / "papers").mkdir(parents=True)
    (folder / "papers" / "lease.md").write_text("# Lease\n\nThe tenant pays nine hundred a month.\n")
    (folder / "papers" / "broken.pdf").write_bytes(b"%PDF-1.4 nothing")
    (folder / HOSTILE.replace("/", "_")).mkdir()
    (folder / ".hidden").mkdir()
    (folder / "way out").symlink_to(tmp_path)
    return folder


@pytest.fixture
def service(tmp_path: Path, exports: Path) -> Iterator[Service]:
    home = tmp_path / "archive"
    home.mkdir()
    extra = f'web_writes_enabled = true\nbrowse_roots = ["{exports}", "{tmp_path}/none"]'
    with Service.open(archive.make(home, extra)) as opened:
        yield opened


def test_roots_and_folders_are_listed_without_hidden_ones_and_links(service: Service, exports: Path) -> None:
    roots = folders.browse(service)
    assert [entry.path for entry in roots.folders] == [str(exports.parent / "archive"), str(exports)]
    listed = folders.browse(service, str(exports))
    assert [entry.name for entry in listed.folders] == [HOSTILE.replace("/", "_"), "papers"]
    assert (listed.parent, listed.files) == ("", 0), "above a root is the list of roots"
    assert folders.browse(service, str(exports / "papers")).files == 2
    assert folders.browse(service, str(exports / "papers")).parent == str(exports)


@pytest.mark.parametrize(
    "path",
    [
        *("/", "/etc", "..", "papers", "{exports}/..", "{exports}/way out", "{exports}/.hidden", "{exports}/none"),
        *("{exports}/papers/lease.md", "{exports}/papers/../../archive/.relrag", "{exports}\0", "~"),
    ],
)
def test_no_path_leads_out_of_the_roots(service: Service, exports: Path, path: str) -> None:
    service.settings.home_path.mkdir()
    for look in (folders.browse, folders.recognise):
        with pytest.raises(FolderRefused):
            look(service, path.format(exports=exports))


def test_what_is_in_a_folder_is_counted_and_what_cannot_be_read_is_named(service: Service, exports: Path) -> None:
    found = folders.recognise(service, str(exports))
    (papers,) = found.sources
    assert (papers.name, papers.kind, papers.path, papers.files, papers.present) == (
        *("papers", "document", "papers"),
        *(2, False),
    )
    assert papers.records >= 1
    assert papers.seconds > 0
    own = folders.recognise(service, str(service.settings.folder))
    assert {source.name: source.present for source in own.sources}["papers"]


def test_pages_that_only_read_list_nothing(tmp_path: Path) -> None:
    with Service.open(archive.make(tmp_path)) as service, pytest.raises(OnlyReads):
        folders.browse(service, str(tmp_path))
