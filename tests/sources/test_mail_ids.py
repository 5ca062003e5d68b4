"""Ids of mails that share a Message-ID."""

import pyarrow as pa
import pytest

from relrag_pipelines.privacy.keys import Keys, safe_native_id
from relrag_pipelines.sources.mail_ids import SharedIds, ids_as_read, make_text_hash, plain_id, with_text_hash

A, B, C = "gmail:x~aaaaaaaaaaaaaaaa", "gmail:x~bbbbbbbbbbbbbbbb", "gmail:x~cccccccccccccccc"


def named(mails: list[tuple[str, int | None]], reserved: str = "") -> list[str]:
    ids, times = zip(*mails, strict=True)
    columns = pa.chunked_array([ids], pa.string()), pa.chunked_array([times], pa.int64())
    shared = SharedIds(*columns, (lambda one: one == reserved) if reserved else None)
    return list(shared.names(columns[0]).to_pylist())


@pytest.mark.parametrize(
    ("mails", "names"),
    [
        ([(A, 5)], ["gmail:x"]),
        ([(A, 5), (A, 9)], ["gmail:x", "gmail:x"]),
        ([(A, 5), (B, 3)], [A, "gmail:x"]),
        ([(A, 5), (B, 5)], ["gmail:x", B]),
        ([(A, None), (B, 5)], [A, "gmail:x"]),
        ([(C, 7), (A, 9), (B, None), (A, 1)], [C, "gmail:x", B, "gmail:x"]),
        ([(A, 5), (f"{A}:0", 5), (B, 3), (f"{B}:1:0", 3)], [A, f"{A}:0", "gmail:x", "gmail:x:1:0"]),
        ([("gmail:0123456789abcdef", 1), ("gmail:y:z", 2)], ["gmail:0123456789abcdef", "gmail:y:z"]),
    ],
)
def test_the_oldest_of_the_mails_with_an_id_bears_it(mails: list[tuple[str, int | None]], names: list[str]) -> None:
    assert named(mails) == names
    assert sorted(named(mails[::-1])) == sorted(names)


def test_none_bears_the_id_of_a_forgotten_mail() -> None:
    assert named([(A, 5)], "gmail:x") == [A]
    assert named([(A, 5), (B, 3)], "gmail:x") == [A, B]


def test_stored_records_tell_the_id_that_they_were_read_under() -> None:
    rows = [("gmail:x", A), ("gmail:x:0", None), (B, B), (f"{B}:2:0", None), ("gmail:old", None)]
    extra = [f'{{"text_hash":"{one[-16:]}"}}' if one else '{"apart":"\\"text_hash\\":\\"0"}' for _, one in rows]
    table = pa.table({"asset_id": [name for name, _ in rows], "extra": extra})
    assert ids_as_read(table) == [A, f"{A}:0", B, f"{B}:2:0", "gmail:old"]


def test_the_hash_survives_where_the_id_is_replaced(keys: Keys) -> None:
    safe = safe_native_id(with_text_hash("jana@host.example:0", "jana@host.example", "0123456789abcdef"), keys)
    assert safe == f"h{keys.id_hash('jana@host.example')}~0123456789abcdef:0"
    assert plain_id(safe) == safe_native_id("jana@host.example:0", keys)
    assert "777" not in safe_native_id("777123456~0123456789abcdef", keys)
    assert "4111111111111111" not in safe_native_id("order~4111111111111111", keys)
    numbers = iter(["1234567890123456", "123456789012345a"])
    assert make_text_hash("said", lambda _: next(numbers)) == "123456789012345a"
