"""Mails as records: every sample, and the fields of mails and attachments."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from relrag_pipelines.keys import Keys
from relrag_pipelines.records import Failure, Record
from relrag_pipelines.sources import Reading, Unit
from relrag_pipelines.sources.mail import read

NOT_MAIL = ("SOURCE.md", "LICENSE.txt", "MIT-LICENSE")


@pytest.fixture
def reading(keys: Keys) -> Reading:
    return Reading("mail", "UTC", keys.id_hash)


def items(file: Path, reading: Reading) -> list[Record | Failure]:
    return list(read(Unit(file.name, file, file.stat().st_size, 0), reading))


def samples(shared_data: Path) -> Iterator[Path]:
    return (path for path in sorted((shared_data / "mail").rglob("*")) if path.is_file() and path.name not in NOT_MAIL)


def test_every_sample_is_one_mail(shared_data: Path, reading: Reading) -> None:
    """Figures of SOURCE.md: 129 mails, 10 without From, 28 without Date and two whose date nobody can read."""
    mails = []
    for file in samples(shared_data):
        found = items(file, reading)
        own = [one for one in found if isinstance(one, Record) and one.rag_source_type == "email"]
        assert len(own) == 1, file.name
        assert {one.fault for one in found if isinstance(one, Failure)} <= {"damaged"}, file.name
        mails += own
    assert len(mails) == 129
    assert sum(mail.from_ is None for mail in mails) == 10
    assert sum(mail.ts is None for mail in mails) == 30
