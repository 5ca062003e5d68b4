"""Encrypted backups of WhatsApp on Android: decrypted with the owner's key, refused where it does not fit."""

from __future__ import annotations

import hashlib
import hmac
import zlib
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from relrag_pipelines.records import Failure, Record
from relrag_pipelines.sources import KINDS, ReadContext
from relrag_pipelines.sources.unit_files import unit_of
from relrag_pipelines.sources.whatsapp.database_rows import number_of, written_number
from tests.sources.connector import keyed, mutations
from tests.whatsapp_databases import PETR, TS, message, msgstore

KEY = "0011223344556677 8899aabbccddeeff 0011223344556677 8899AABBCCDDEEFF"
VECTOR = bytes(range(16))
# lengths and numbers of fields: key type 1, the vector in field 1 of field 3, then a table of features
HEADER = b"\x08\x01" + b"\x1a\x12\x0a\x10" + VECTOR + b"\x22\x02\x08\x01"


def backup(database: bytes, *, features: bool = True, checksum: bool = True) -> bytes:
    """A database as WhatsApp backs it up."""
    own = bytes.fromhex(KEY.replace(" ", ""))
    key = hmac.digest(hmac.digest(bytes(32), own, "sha256"), b"backup encryption\x01", "sha256")
    whole = bytes([len(HEADER)]) + (b"\x01" if features else b"") + HEADER
    whole += AESGCM(key).encrypt(VECTOR, zlib.compress(database), None)
    return whole + hashlib.md5(whole, usedforsecurity=False).digest() if checksum else whole


@pytest.fixture
def database(tmp_path: Path) -> bytes:
    messages = [message(1, "Who has the key of the cabin?"), message(2, "Eva has it.", from_me=1)]
    (tmp_path / "plain").mkdir()
    return msgstore(tmp_path / "plain", messages, {}).read_bytes()


def read(file: Path, key: str = KEY, *, max_bytes: int = 2**30) -> list[Record | Failure]:
    scratch = file.parent / "scratch"
    reading = ReadContext(
        "sample", "Europe/Prague", keyed, owner="Dana", scratch=scratch, secret=lambda: key, archive_max_bytes=max_bytes
    )
    items = list(KINDS["whatsapp"].read(unit_of(file, file.parent), reading))
    assert not scratch.exists() or list(scratch.iterdir()) == []
    return [item for item in items if isinstance(item, Record | Failure)]


@pytest.mark.parametrize("features", [True, False])
@pytest.mark.parametrize("checksum", [True, False])
def test_the_messages_of_a_backup_are_those_of_its_database(
    tmp_path: Path, database: bytes, features: bool, checksum: bool
) -> None:
    file = tmp_path / "msgstore.db.crypt15"
    file.write_bytes(backup(database, features=features, checksum=checksum))
    items = read(file)
    assert [(item.text, item.ts) for item in items if isinstance(item, Record)] == [
        ("Who has the key of the cabin?", TS + 60), ("Eva has it.", TS + 120)
    ]  # fmt: skip
    assert len(items) == 2


def test_the_names_are_those_of_the_backup_of_the_address_book(tmp_path: Path, database: bytes) -> None:
    file = tmp_path / "msgstore.db.crypt15"
    file.write_bytes(backup(database))
    assert [item.from_ for item in read(file) if isinstance(item, Record)] == [written_number(number_of(PETR)), "Dana"]
    names = (tmp_path / "plain" / "wa.db").read_bytes()
    (tmp_path / "wa.db.crypt15").write_bytes(backup(names, features=False))
    assert [item.from_ for item in read(file) if isinstance(item, Record)] == ["Petr Kolář", "Dana"]


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("", "is not the 64 digits"),
        ("12345", "is not the 64 digits"),
        ("z" * 64, "is not the 64 digits"),
        ("0" * 64, "the key does not fit the backup"),
    ],
)
def test_a_key_that_does_not_fit_is_a_failure_that_says_so(
    tmp_path: Path, database: bytes, key: str, words: str
) -> None:
    file = tmp_path / "msgstore.db.crypt15"
    file.write_bytes(backup(database))
    (failure,) = read(file, key)
    assert isinstance(failure, Failure)
    assert failure.whole_unit
    assert words in failure.message
    assert "relrag failures retry" in failure.message
    assert not key or key not in failure.message


def test_a_backup_that_unpacks_beyond_the_limit_is_refused(tmp_path: Path, database: bytes) -> None:
    file = tmp_path / "msgstore.db.crypt15"
    file.write_bytes(backup(database + bytes(5_000_000)))
    (failure,) = read(file, max_bytes=1_000_000)
    assert isinstance(failure, Failure)
    assert "more than 1,000,000 bytes" in failure.message


def test_a_damaged_backup_is_one_failure(tmp_path: Path, database: bytes) -> None:
    whole = backup(database)
    file = tmp_path / "msgstore.db.crypt15"
    for damaged in [b"", b"\x00", b"\x01\x01", whole[:30], whole[:-40], *mutations(whole, 40, "crypt15")]:
        file.write_bytes(damaged)
        if damaged[:-16] == whole[:-16]:
            continue
        failures = [item for item in read(file) if isinstance(item, Failure)]
        assert len(failures) == 1, damaged[:40]
