"""Archives that several modules of these tests read."""

from pathlib import Path

import pytest

from tests.web.team_archive import ACME, GLOBEX, make, of


@pytest.fixture(scope="session")
def team_archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """relrag.toml of an archive with records of two clients; nobody writes into it."""
    return make(tmp_path_factory.mktemp("team") / "shared", [*of("acme", ACME), *of("globex", GLOBEX)])
