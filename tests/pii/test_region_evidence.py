"""The countries that an archive is at home in."""

from __future__ import annotations

from typing import Any

import pytest

from relrag_pipelines.pii import region_evidence
from relrag_pipelines.records import Record
from relrag_pipelines.stores.table_schema import arrow_schema
from tests.cases import cases

SPANISH = "Mañana por la tarde quedamos en la puerta del colegio para llevar a los niños al parque, ¿te parece bien?"


def month(numbers: list[str], texts: list[str] = []) -> dict[str, Any]:  # noqa: B006
    """The evidence of a month of messages, each from a number."""
    import pyarrow as pa

    schema = arrow_schema(Record)
    empty: dict[str, Any] = {
        one.name: [] if pa.types.is_list(one.type) else None if one.nullable else _zero(one.type) for one in schema
    }
    senders = numbers or [""] * len(texts)
    rows = [
        {
            **empty,
            "asset_id": f"whatsapp:{place:03}",
            "from": sender,
            "text": (texts or [""])[place % max(1, len(texts))],
        }
        for place, sender in enumerate(senders)
    ]
    return region_evidence.month_evidence(
        pa.Table.from_pylist(rows, schema), lambda number: f"{hash(number) & 0xFFFFFFFF:08x}"
    )


def _zero(kind: Any) -> Any:
    import pyarrow as pa

    return "" if pa.types.is_string(kind) else 0 if pa.types.is_integer(kind) else False


def spain(count: int, first: int = 0) -> list[str]:
    return [f"+34 612 34 {first + place:02} 78" for place in range(count)]


def test_several_numbers_of_a_country_make_it_a_region() -> None:
    assert region_evidence.regions([month(spain(3))]) == ("ES",)
    assert region_evidence.regions([month(spain(2))]) == ()


def test_one_number_in_many_months_is_one() -> None:
    assert region_evidence.regions([month(spain(1)) for _ in range(24)]) == ()
    assert region_evidence.regions([month(spain(1, first)) for first in range(3)]) == ("ES",)


def test_one_new_foreign_number_changes_nothing() -> None:
    at_home = [month(spain(40))]
    assert region_evidence.regions([*at_home, month(["+49 171 2345678"])]) == ("ES",)
    assert region_evidence.regions([*at_home, month([f"+49 171 234567{last}" for last in range(8)])]) == ("ES", "DE")
    crowd = [month(spain(90, 0))] * 20
    assert region_evidence.regions([*crowd, month([f"+49 171 234567{last}" for last in range(3)])]) == ("ES",)


def test_an_account_of_whatsapp_tells_its_country() -> None:
    accounts = [f"3461234{place:02}78@s.whatsapp.net" for place in range(3)]
    assert region_evidence.regions([month(accounts)]) == ("ES",)


def test_texts_tell_the_country_of_their_language() -> None:
    assert region_evidence.regions([month([], [SPANISH] * 6)]) == ("ES",)
    assert region_evidence.regions([month([], ["ok"] * 50)]) == ()


@pytest.mark.parametrize(*cases(__file__, "a_time_zone_tells_its_country"))
def test_a_time_zone_tells_its_country(zone: str, region: str) -> None:
    assert region_evidence.region_of_zone(zone) == region


def test_what_is_set_comes_first_and_the_order_is_stable() -> None:
    evidence = [month([*spain(20), *(f"+49 171 23456{last:02}" for last in range(20))])]
    assert region_evidence.regions(evidence, ["Europe/Prague"]) == ("CZ", "DE", "ES")
    more = [month([*spain(25), *(f"+49 171 23456{last:02}" for last in range(20))])]
    assert region_evidence.regions(more, ["Europe/Prague"]) == ("CZ", "DE", "ES")
