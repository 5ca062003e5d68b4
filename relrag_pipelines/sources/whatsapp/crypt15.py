"""Backups of WhatsApp on Android, `msgstore.db.crypt15`, decrypted with the 64 digits that WhatsApp shows once.

A file is a header, the encrypted database, and its authentication tag; where the backup is a single file, an MD5 of all
of that stands behind. The header is its length in one byte, a byte 1 if a table of features is in it, and a protobuf
message whose field 3 holds the initialisation vector in its field 1. The database is compressed with zlib and encrypted
with AES-256-GCM. The key follows from the 32 bytes of the owner by two HMACs with SHA-256. WhatsApp does not publish
the format; it is described at https://github.com/ElDavoo/wa-crypt-tools/wiki.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers import AEADDecryptionContext, Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES256
from cryptography.hazmat.primitives.ciphers.modes import GCM

from relrag_pipelines.errors import SafeError
from relrag_pipelines.files.atomic import make_private
from relrag_pipelines.files.regular_files import open_plain

SUFFIX = ".crypt15"
_KEY_BYTES, _TAG_BYTES, _MD5_BYTES = 32, 16, 16
_PURPOSE = b"backup encryption\x01"
_WITH_FEATURES = 1
_IV_FIELD = (3, 1)
"""numbers of the field that holds the initialisation vector, and of the message that holds the field"""
_BYTES_FIELD = 2
"""type of a protobuf field that is a length and as many bytes"""
_BLOCK = 2**20


class UnreadableBackup(SafeError):
    """A backup cannot be decrypted; the message says what to do."""


def is_backup(file: Path) -> bool:
    """Whether a file begins like a backup. Raises OSError."""
    with open_plain(file) as stream:
        try:
            return bool(_initialisation_vector(_header(stream)))
        except UnreadableBackup:
            return False


@contextmanager
def decrypted(file: Path, key: str, scratch: Path | None, max_bytes: int) -> Iterator[Path]:
    """The database of a backup, with that of the names beside it, in a folder that is removed afterwards.

    `key` is the owner's 64 hex digits, in any grouping. Raises UnreadableBackup and OSError.
    """
    if scratch is not None:
        make_private(scratch)
    with tempfile.TemporaryDirectory(prefix="relrag-", dir=scratch) as folder:
        database = Path(folder) / file.name.removesuffix(SUFFIX)
        _decrypt(file, _backup_key(key), database, max_bytes)
        names = file.with_name(f"wa.db{SUFFIX}")
        if names.is_file():
            _decrypt(names, _backup_key(key), Path(folder) / "wa.db", max_bytes)
        yield database


def _backup_key(key: str) -> bytes:
    """The key of the cipher."""
    try:
        own = bytes.fromhex("".join(key.split()))
    except ValueError:
        own = b""
    if len(own) != _KEY_BYTES:
        raise UnreadableBackup("the secret of the source is not the 64 digits (0-9, a-f) of WhatsApp's backup key")
    return hmac.digest(hmac.digest(bytes(_KEY_BYTES), own, "sha256"), _PURPOSE, "sha256")


def _decrypt(file: Path, key: bytes, target: Path, max_bytes: int) -> None:
    """Writes the database of a backup; nothing of it is used before the tag behind it has been checked."""
    with open_plain(file) as stream, target.open("xb") as written:
        vector = _initialisation_vector(_header(stream))
        start = stream.tell()
        end = os.fstat(stream.fileno()).st_size - (_MD5_BYTES if _has_checksum(stream) else 0) - _TAG_BYTES
        if end <= start:
            raise UnreadableBackup("the backup is shorter than its header says; copy it again")
        stream.seek(end)
        tag = stream.read(_TAG_BYTES)
        stream.seek(start)
        try:
            _write_plain(stream, end - start, Cipher(AES256(key), GCM(vector, tag)).decryptor(), written, max_bytes)
        except (InvalidTag, zlib.error):  # with another key the bytes are random, which zlib notices first
            raise UnreadableBackup(
                "the key does not fit the backup, or the backup is damaged; check the 64 digits, or copy it again"
            ) from None


def _write_plain(stream: BinaryIO, size: int, cipher: AEADDecryptionContext, target: BinaryIO, max_bytes: int) -> None:
    """Decrypts and decompresses `size` bytes. Raises InvalidTag, zlib.error."""
    inflate, written = zlib.decompressobj(), 0
    while size:
        block = stream.read(min(size, _BLOCK))
        if not block:
            raise UnreadableBackup("the backup changed while it was read; run `relrag sync` again")
        size -= len(block)
        plain = cipher.update(block)
        while plain:
            part = inflate.decompress(plain, _BLOCK)
            plain = inflate.unconsumed_tail
            written += target.write(part)
            if written > max_bytes:
                raise UnreadableBackup(f"the backup holds more than {max_bytes:,} bytes: raise archive_max_bytes")
            if not part and not plain:
                break
    cipher.finalize()


def _has_checksum(stream: BinaryIO) -> bool:
    """Whether the last bytes are the MD5 of all before them."""
    stream.seek(0)
    remaining, digest = os.fstat(stream.fileno()).st_size - _MD5_BYTES, hashlib.md5(usedforsecurity=False)
    while remaining > 0 and (block := stream.read(min(remaining, _BLOCK))):
        digest.update(block)
        remaining -= len(block)
    return stream.read(_MD5_BYTES) == digest.digest()


def _header(stream: BinaryIO) -> bytes:
    """The protobuf message at the beginning."""
    first = stream.read(2)
    if len(first) < 2:
        raise UnreadableBackup("the backup is empty; copy it again")
    if first[1] != _WITH_FEATURES:
        stream.seek(1)
    return stream.read(first[0])


def _initialisation_vector(header: bytes) -> bytes:
    value = header
    for number in _IV_FIELD:
        value = _field(value, number)
    if not value:
        raise UnreadableBackup(
            "the file is no crypt15 backup; a crypt14 has to be made again with end-to-end encryption"
        )
    return value


def _field(message: bytes, number: int) -> bytes:
    """The bytes of a field of a protobuf message; empty if it has none. https://protobuf.dev/programming-guides/encoding"""
    position = 0
    while position < len(message):
        tag, position = _varint(message, position)
        if tag & 7 != _BYTES_FIELD:
            if tag & 7:  # neither bytes nor a number: no backup has that
                return b""
            _, position = _varint(message, position)
            continue
        size, position = _varint(message, position)
        if tag >> 3 == number:
            return message[position : position + size]
        position += size
    return b""


def _varint(message: bytes, position: int) -> tuple[int, int]:
    """A number of variable length, and the position behind it."""
    value = shift = 0
    while position < len(message):
        byte = message[position]
        value |= (byte & 0x7F) << shift
        position, shift = position + 1, shift + 7
        if byte < 0x80:
            break
    return value, position
