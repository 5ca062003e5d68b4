"""Headers as mail programs write them, and as broken ones do."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relrag_pipelines.sources.mail import headers, mime
from relrag_pipelines.sources.mail.body import name_of
from tests import cost
from tests.cases import cases


@pytest.mark.parametrize(*cases(__file__, "addresses"))
def test_addresses(value: str, found: list[str]) -> None:
    assert list(map(str, headers.addresses([value.encode()]))) == found


@pytest.mark.parametrize(*cases(__file__, "encoded_words"))
def test_encoded_words(value: str, text: str) -> None:
    assert headers.decode(value.encode()) == text


@pytest.mark.parametrize(*cases(__file__, "dates"))
def test_dates(value: str, utc: str | None) -> None:
    """What has no zone is local, in Prague here; what nobody can read is none."""
    found = headers.date(value.encode(), "Europe/Prague")
    assert (None if found is None else f"{datetime.fromtimestamp(found, UTC):%Y-%m-%d %H:%M}") == utc


@pytest.mark.parametrize(*cases(__file__, "names_of_files"))
def test_names_of_files(kind: str, disposition: str, name: str) -> None:
    """RFC 2231, RFC 2047 where it is not allowed but usual, raw bytes, and places on other machines."""
    head = f"Content-Type: {kind}\n" + (f"Content-Disposition: {disposition}\n" if disposition else "")
    assert name_of(mime.parse(f"{head}\nx".encode())) == name


@pytest.mark.parametrize(*cases(__file__, "ids"))
def test_ids(value: str, ids: list[str]) -> None:
    assert headers.message_ids([value.encode()]) == ids


@given(st.text(alphabet='a@b.c<>,;:"()\\ =?utf-8Q\u200f', max_size=80))
def test_any_addresses_are_read(text: str) -> None:
    for one in headers.addresses([text.encode()]):
        assert one.name or one.address
        assert not set("<>\u200f") & set(one.name)
        assert one.address == one.address.lower()


@pytest.mark.slow
@pytest.mark.parametrize("piece", ["<", '"', "(", "a@b ", "a, ", "=?utf-8?q?", "<a@b>", "\\", ":", "=?x?q?a?= "])
def test_hostile_addresses_cost_time_in_proportion(piece: str) -> None:

    def value(size: int) -> list[bytes]:
        return [(piece * size).encode()[:size]]

    assert cost.exponent(headers.addresses, value, headers.MAX_VALUE) < cost.LINEAR
