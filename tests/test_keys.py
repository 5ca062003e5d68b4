"""Ids that show nothing, whatever the policy."""

import pytest

from relrag_pipelines.keys import Keys, safe_native_id


@pytest.mark.parametrize(
    ("native_id", "kept"),
    [
        ("meeting-meeting-2025-01-08.txt", True),
        ("2025-01-08", True),
        ("052-555-0163", False),
        ("call 2025-01-08 052-555-0163.m4a", False),
        ("1234-2025-01-08", True),
        ("12345-2025-01-08-67", False),
        ("99992025-01-08", False),
        ("someone@firma.example", False),
    ],
)
def test_a_day_in_an_id_is_no_phone_number(native_id: str, kept: bool, keys: Keys) -> None:
    assert (safe_native_id(native_id, keys) == native_id) is kept
