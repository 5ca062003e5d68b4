"""Which of two records is newer, whether they are of one matter, and of which values one says that it replaces them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from relrag_query.answering.record_claims import Claim, claim, claim_of, is_newer, same_matter
from relrag_query.retrieval.hit import Hit
from tests.query_hits import passages, record


def hit(text: str = "Windows", file_name: str | None = None, quality: str = "", **fields: str) -> Hit:
    said = record(f"mail:{file_name or text}", text, "2025-03-04T08:00:00Z", file_name=file_name, **fields)
    return Hit(passages(said)[0], 1.0, 1.0, date_quality=quality)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Bösendorfer: a crack, and a new date", "times"),
        ("The windows moved to 14:00", "times"),
        ("Noa Levi - změna termínu", "times"),
        ("Nový termín nasazení je středa", "times"),
        ("Zkouška je přesunutá na čtvrtek", "times"),
        ("התור נדחה", "times"),
        ("מועד חדש לתור", "times"),
        ("Invoice INV-1187, corrected\nDate: 13 January", "values"),
        ("New date, and a new price", "values"),
        ("OPRAVA: Re: Přiznání a zálohy", "values"),
        ("Nový termín a nová cena", "values"),
        ("תיקון: החלונות יעלו 7,950 שקל", "values"),
        ("I have not corrected the windows yet", "values"),
        ("The windows look fine", ""),
        ("Uvedeno do provozu", ""),
        ("החלונות יפים", ""),
    ],
)
def test_what_is_said_to_be_replaced(text: str, said: Claim) -> None:
    assert claim_of(text) == said


def test_a_file_that_says_so_in_its_name_replaces_one_that_does_not() -> None:
    first, second = hit(file_name="lease_v1.txt"), hit(file_name="lease_v2_updated.txt")
    assert (claim(second, first), claim(first, second)) == ("values", "")
    assert claim(second, second) == ""


@pytest.mark.parametrize("quality", ["modified", "outside"])
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("lease_flat_v1.txt", "lease_flat_v2_updated.txt"),
        ("smlouva_byt_v1.txt", "smlouva_byt_v2_oprava.txt"),
        ("חוזה דירה 1.txt", "חוזה דירה 2 עדכון.txt"),
    ],
)
def test_the_time_of_a_file_does_not_tell_which_version_is_newer(first: str, second: str, quality: str) -> None:
    """A copy of the first version may be the newest file, or one of tomorrow; then the name of the second tells."""
    old, new = hit(file_name=first, quality=quality), hit(file_name=second, quality=quality)
    for new_ts, old_ts in ((1, 2), (2, 1)):
        assert is_newer(new, old, new_ts, old_ts)
        assert not is_newer(old, new, old_ts, new_ts)
    neither = replace(new, chunk=replace(new.chunk, file_name=first))
    assert not is_newer(neither, old, 2, 1)


@pytest.mark.parametrize("quality", ["", "exact", "day"])
def test_a_time_of_its_own_tells(quality: str) -> None:
    old, new = hit(quality=quality), hit(quality=quality)
    assert is_newer(new, old, 2, 1)
    assert not is_newer(new, old, 1, 2)
    assert not is_newer(new, old, 2, None)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (hit(thread_id="t"), hit(thread_id="t"), True),
        (hit(thread_id="t"), hit(thread_id="u"), False),
        (hit(file_name="lease_flat_v1.txt"), hit(file_name="lease_flat_v2_updated.txt"), True),
        (hit(file_name="lease.txt"), hit(file_name="loan_updated.txt"), False),
        (hit(file_name="2024-11-01 report.txt"), hit(file_name="2025-01-04 report.txt"), True),
        (hit(subject="Nabídka oken"), hit(subject="Re: Oprava: Nabídka oken"), True),
    ],
)
def test_of_one_matter(one: Hit, other: Hit, same: bool) -> None:
    assert same_matter(one, other) == same


def test_a_day_is_not_newer_than_the_year_that_it_lies_in() -> None:
    """A document of which only the year is known stands at the first of January."""
    prices, note = hit(quality="year"), hit()
    assert not is_newer(note, prices, 2, 1)
    later = replace(note, chunk=replace(note.chunk, timestamp="2026-05-04T10:00:00Z"))
    assert is_newer(later, prices, 2, 1)
