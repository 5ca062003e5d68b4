"""Ids of mails that share a Message-ID.

A mail is read under the id `gmail:<Message-ID>~<hash of its content>`, since other files may have mails with the same
Message-ID. Of the mails of a source that share a Message-ID, the oldest then gets the plain id `gmail:<Message-ID>`,
which references use; of equally old mails, the one with the lowest hash. The others keep their hash. So ids depend on
the set of mails, not on the order in which they were read. Ids of attachments begin with the id of their mail.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator

import pyarrow as pa
import pyarrow.compute as pc

_HASH = r"~[0-9a-f]{16}"
_PARTS = r"(?::[0-9]+)*"
_MAIL_ID = re.compile(rf"(.+{_HASH}){_PARTS}", re.DOTALL)
_WITH_HASH = rf"{_HASH}({_PARTS})$"
_PLAIN = re.compile(_WITH_HASH)
_STORED_HASH = r'"text_hash":"(?P<hash>[0-9a-f]{16})"'


def make_text_hash(fingerprint: str, keyed: Callable[[str], str]) -> str:
    """The keyed hash of a mail's content; it always has a letter, so that it can't be taken for a number."""
    hashed = keyed(fingerprint)
    while hashed.isdecimal():
        hashed = keyed(hashed)
    return hashed


def with_text_hash(native_id: str, own_id: str, text_hash: str) -> str:
    """The id of the mail `own_id` or of its attachment, with the hash of the mail's content."""
    return f"{own_id}~{text_hash}{native_id[len(own_id) :]}"


def plain_id(asset_id: str) -> str:
    """An id without the content hash of its mail."""
    return _PLAIN.sub(r"\1", asset_id) if "~" in asset_id else asset_id


def plain_ids(asset_ids: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """The ids without the content hashes of their mails."""
    return pc.replace_substring_regex(asset_ids, _WITH_HASH, r"\1")


def ids_as_read(records: pa.Table) -> list[str]:
    """The ids that private records were read under, before any renaming.

    Needs `asset_id`, `extra` and, for attachments, the row of their mail.
    """
    ids = records["asset_id"].to_pylist()
    hashes = pc.struct_field(pc.extract_regex(records["extra"], _STORED_HASH), "hash").to_pylist()
    own = {asset_id: f"{plain_id(asset_id)}~{hashed}" for asset_id, hashed in zip(ids, hashes, strict=True) if hashed}
    return [rename(asset_id, own) for asset_id in ids]


def rename(asset_id: str, names: dict[str, str]) -> str:
    """The id of a mail or attachment under the mail's new id; unchanged if the mail has no new id."""
    for mail in _mails_of(asset_id):
        if mail in names:
            return names[mail] + asset_id[len(mail) :]
    return asset_id


def _mails_of(asset_id: str) -> Iterator[str]:
    """The id itself, then the ids that it may be a part of, nearest first."""
    yield asset_id
    while True:
        asset_id, colon, number = asset_id.rpartition(":")
        if not colon or not number.isdecimal():
            return
        yield asset_id


class SharedIds:
    """The mails of a source that share their Message-ID with others, and the id of each."""

    def __init__(
        self, ids: pa.ChunkedArray, times: pa.ChunkedArray, is_reserved: Callable[[str], bool] | None = None
    ) -> None:
        """`ids` are ids as read, `times` seconds or none; `is_reserved` tells plain ids that no mail may get."""
        mails = pc.unique(ids.filter(pc.match_substring_regex(ids, rf"{_HASH}$")))
        plain = plain_ids(mails)
        counts = plain.value_counts()
        names, numbers = counts.field("values"), counts.field("counts")
        reserved = set(filter(is_reserved, names.to_pylist())) if is_reserved else set()
        self.plain = reserved.union(names.filter(pc.greater(numbers, 1)).to_pylist())
        """plain ids that several mails share, or that are reserved"""
        shared = mails.filter(pc.is_in(plain, pa.array(sorted(self.plain), pa.string())))
        self._keep_hash = set(shared.to_pylist()) - _oldest(ids, times, shared, reserved)

    def name(self, id_as_read: str) -> str:
        """The id of a mail or of its part."""
        mail = _MAIL_ID.fullmatch(id_as_read)
        return id_as_read if mail and mail[1] in self._keep_hash else plain_id(id_as_read)

    def names(self, ids_as_read: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
        """The ids of mails and their parts."""
        if not self.plain:
            return plain_ids(ids_as_read)
        return pa.array([self.name(asset_id) for asset_id in ids_as_read.to_pylist()], pa.string())


def _oldest(ids: pa.ChunkedArray, times: pa.ChunkedArray, shared: pa.Array, reserved: Collection[str]) -> set[str]:
    """The oldest mail of each shared Message-ID that is not reserved."""
    rows = pa.table({"id": ids, "ts": times}).filter(pc.is_in(ids, shared))
    mails = rows.group_by("id").aggregate([("ts", "min")])
    oldest: dict[str, str] = {}
    for mail_id, _ in sorted(zip(mails["id"].to_pylist(), mails["ts_min"].to_pylist(), strict=True), key=_age):
        oldest.setdefault(plain_id(mail_id), mail_id)
    return {mail_id for name, mail_id in oldest.items() if name not in reserved}


def _age(mail: tuple[str, int | None]) -> tuple[bool, int, str]:
    """Sort key: oldest first, mails without a time last."""
    own, ts = mail
    return ts is None, ts or 0, own
