"""What was stated later comes first: the folder `bugs/superseded-values`."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from relrag_query.archive import Archive
from tests import archive

CONFIG = """
archive = "superseded"
keys_file = "test.keys"
pii_redaction_enabled = true

[[sources]]
name = "mail"
kind = "gmail"
path = "{path}"
"""
OLDER_FIRST = pytest.mark.xfail(strict=True, reason="the issue on answers: the older value is quoted first")


@pytest.fixture(scope="module")
def opened(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Archive]:
    config = tmp_path_factory.mktemp("superseded") / "relrag.toml"
    config.write_text(CONFIG.format(path=shared_data / "bugs" / "superseded-values"))
    with pytest.MonkeyPatch.context() as patch:
        archive.do_without_dagster(patch)
        patch.setenv("RELRAG_NOW", "2025-06-01T12:00:00+00:00")
        archive.sync(config)
        with Archive.open(config) as built:
            yield built


@pytest.mark.parametrize(
    ("question", "value"),
    [
        pytest.param("Where does Ivo Kral live?", "Harborne", marks=OLDER_FIRST),
        ("What is the status of project Heron?", "beta testing"),
        ("What is the wifi password?", "kaktus88"),
    ],
)
def test_the_value_of_may_is_quoted_first(opened: Archive, question: str, value: str) -> None:
    assert value in opened.ask(question).quotes[0].text
