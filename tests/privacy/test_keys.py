"""Ids that show nothing, whatever the policy; key files that are whole or absent, and never replaced."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relrag_pipelines.files import failpoints
from relrag_pipelines.privacy.key_stores import KeyFile
from relrag_pipelines.privacy.keys import Keys, safe_native_id
from tests.cases import cases


@pytest.mark.parametrize(*cases(__file__, "a_day_in_an_id_is_no_phone_number"))
def test_a_day_in_an_id_is_no_phone_number(native_id: str, kept: bool, keys: Keys) -> None:
    assert (safe_native_id(native_id, keys) == native_id) is kept


_PARTS = st.one_of(
    st.from_regex(r"[a-z_]{0,9}", fullmatch=True),
    st.from_regex(r"[a-z_]{0,2}[0-9]{6,8}", fullmatch=True),
    st.from_regex(
        r"[0-9a-f]{14,18}|20250114T093[0-9]{2,4}|[0-9]{3}[-. ][0-9]{3,4}|[0-9]{3}_[0-9]{3}_[0-9]{3}|a@b[.]c",
        fullmatch=True,
    ),
    st.text("abc019:@-_T\n", max_size=12),
)


@given(st.lists(_PARTS, min_size=1, max_size=4).map(":".join))
def test_every_part_that_could_reveal_something_is_replaced_and_no_other(native_id: str) -> None:
    keys = Keys(b"i" * 32, b"p" * 32, "k1")
    revealing = re.compile(r"[@＠﹫]|%40|(?:\d[^\w\n]{0,3}){7}|(?<!\d)\d{3,4}_\d{3}_\d{3,4}(?!\d)")
    date = re.compile(r"(?<!\d)(?:19|20)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?!\d)")
    own = re.compile(r"(?=\d*[a-f])[0-9a-f]{16,}|\d{8}T\d{6}")
    mac = re.compile(r"(?<![0-9A-Za-z])[0-9A-Fa-f]{2}(?:[:-][0-9A-Fa-f]{2}){5}(?![0-9A-Za-z])")
    whole = mac.sub(lambda match: f"h{keys.id_hash(match[0])}", native_id)
    expected = [
        f"h{keys.id_hash(part)}" if revealing.search(date.sub("-", part)) and not own.fullmatch(part) else part
        for part in whole.split(":")
    ]
    assert safe_native_id(native_id, keys).split(":") == expected


@pytest.mark.parametrize("place", ["keys.write", "keys.fsync", "keys.link"])
def test_a_file_that_was_not_finished_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    def interrupt(name: str, path: Path) -> None:
        if name == place:
            raise KeyboardInterrupt

    path = tmp_path / "test.keys"
    monkeypatch.setattr(failpoints, "watch", interrupt)
    with pytest.raises(KeyboardInterrupt):
        KeyFile(path).create()
    monkeypatch.undo()
    assert not path.exists()
    made = KeyFile(path).create()
    assert KeyFile(path).load() == made
    assert path.stat().st_mode & 0o777 == 0o600


def test_keys_that_are_there_are_never_replaced(tmp_path: Path) -> None:
    path = tmp_path / "test.keys"
    made = KeyFile(path).create()
    assert KeyFile(path).create() == made == KeyFile(path).load()
