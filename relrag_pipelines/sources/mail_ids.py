"""Ids of mails that share a Message-ID: which of them bears it alone, and what the others are called.

A mail is read as `gmail:<Message-ID>~<hash of what it says>`, since a file cannot know what the others hold. Of all
mails of a source with that Message-ID the oldest is then called `gmail:<Message-ID>`, as references name it, of equally
old ones the one with the lowest hash; the others keep their hash. So the names follow from which mails there are, and
not from the order in which they were read. What is attached to a mail begins with the mail's name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator

import pyarrow as pa
import pyarrow.compute as pc

_HASH = r"~[0-9a-f]{16}"
_PARTS = r"(?::[0-9]+)*"
_OF_MAIL = re.compile(rf"(.+{_HASH}){_PARTS}", re.DOTALL)
_WITH_HASH = rf"{_HASH}({_PARTS})$"
_PLAIN = re.compile(_WITH_HASH)
_STORED_HASH = r'"text_hash":"(?P<hash>[0-9a-f]{16})"'


def make_text_hash(fingerprint: str, keyed: Callable[[str], str]) -> str:
    """The keyed hash of what a mail says; it always holds a letter, so that it can't be taken for a number."""
    hashed = keyed(fingerprint)
    while hashed.isdecimal():
        hashed = keyed(hashed)
    return hashed


def with_text_hash(native_id: str, own_id: str, text_hash: str) -> str:
    """The id of a mail, or of what is attached to the mail `own_id`, with the hash of what the mail says."""
    return f"{own_id}~{text_hash}{native_id[len(own_id) :]}"


def plain_id(asset_id: str) -> str:
    """An id without the hash of what its mail says."""
    return _PLAIN.sub(r"\1", asset_id) if "~" in asset_id else asset_id


def plain_ids(asset_ids: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """The ids without the hashes of what their mails say."""
    return pc.replace_substring_regex(asset_ids, _WITH_HASH, r"\1")


def ids_as_read(records: pa.Table) -> list[str]:
    """The ids that private records were read under, whatever they are called now.

    Needs `asset_id`, `extra` and, for what is attached, the row of its mail.
    """
    ids = records["asset_id"].to_pylist()
    hashes = pc.struct_field(pc.extract_regex(records["extra"], _STORED_HASH), "hash").to_pylist()
    own = {one: f"{plain_id(one)}~{hashed}" for one, hashed in zip(ids, hashes, strict=True) if hashed}
    return [rename(one, own) for one in ids]


def rename(asset_id: str, names: dict[str, str]) -> str:
    """The id of a mail, or of what is attached to it, by the new name of the mail; as it is where that has none."""
    for mail in _mails_of(asset_id):
        if mail in names:
            return names[mail] + asset_id[len(mail) :]
    return asset_id


def _mails_of(asset_id: str) -> Iterator[str]:
    """The id itself, then those that it may be a part of, the nearest first."""
    yield asset_id
    while True:
        asset_id, colon, number = asset_id.rpartition(":")
        if not colon or not number.isdecimal():
            return
        yield asset_id


class SharedIds:
    """The mails of a source whose Message-ID others have too, and what each of them is called."""

    def __init__(
        self, ids: pa.ChunkedArray, times: pa.ChunkedArray, is_reserved: Callable[[str], bool] | None = None
    ) -> None:
        """`ids` are ids as read, `times` seconds or none; `is_reserved` says that no mail may bear a plain id."""
        mails = pc.unique(ids.filter(pc.match_substring_regex(ids, rf"{_HASH}$")))
        plain = plain_ids(mails)
        counts = plain.value_counts()
        names, numbers = counts.field("values"), counts.field("counts")
        reserved = set(filter(is_reserved, names.to_pylist())) if is_reserved else set()
        self.plain = reserved.union(names.filter(pc.greater(numbers, 1)).to_pylist())
        """Message-IDs, as ids, that several mails have, or that none may bear"""
        wanted = mails.filter(pc.is_in(plain, pa.array(sorted(self.plain), pa.string())))
        self._keep_hash = set(wanted.to_pylist()) - _oldest(ids, times, wanted, reserved)

    def name(self, id_as_read: str) -> str:
        """What a mail, or a part of it, is called."""
        mail = _OF_MAIL.fullmatch(id_as_read)
        return id_as_read if mail and mail[1] in self._keep_hash else plain_id(id_as_read)

    def names(self, ids_as_read: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
        """What mails and their parts are called."""
        if not self.plain:
            return plain_ids(ids_as_read)
        return pa.array([self.name(one) for one in ids_as_read.to_pylist()], pa.string())


def _oldest(ids: pa.ChunkedArray, times: pa.ChunkedArray, wanted: pa.Array, reserved: Collection[str]) -> set[str]:
    """Of these mails the oldest of each Message-ID, but for reserved ones."""
    rows = pa.table({"id": ids, "ts": times}).filter(pc.is_in(ids, wanted))
    mails = rows.group_by("id").aggregate([("ts", "min")])
    oldest: dict[str, str] = {}
    for one, _ in sorted(zip(mails["id"].to_pylist(), mails["ts_min"].to_pylist(), strict=True), key=_age):
        oldest.setdefault(plain_id(one), one)
    return {one for name, one in oldest.items() if name not in reserved}


def _age(mail: tuple[str, int | None]) -> tuple[bool, int, str]:
    """The order of mails: the oldest first, those without a time last."""
    own, ts = mail
    return ts is None, ts or 0, own
