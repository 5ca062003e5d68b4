"""Findings of one kind that overlap."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from relrag_pipelines.pii.spans import Span, resolve_overlaps
from tests import cost

TEXT = "0123 (4567) abc-89, 0123456789 def"
SPANS = st.tuples(st.integers(0, len(TEXT) - 1), st.integers(1, 12), st.sampled_from([0.4, 0.5, 0.75])).map(
    lambda one: Span(one[0], min(len(TEXT), one[0] + one[1]), one[2])
)


def test_the_surest_stays_whole_and_what_the_others_leave_over_stays() -> None:
    assert resolve_overlaps([Span(0, 8, 0.4), Span(5, 11, 0.75)], "1234 05212345") == [
        Span(0, 5, 0.4),
        Span(5, 11, 0.75),
    ]
    assert resolve_overlaps([Span(0, 4, 0.4), Span(1, 4, 0.75)], "(123") == [Span(1, 4, 0.75)]
    assert resolve_overlaps([Span(0, 4, 0.4), Span(0, 4, 0.4)], "1234") == [Span(0, 4, 0.4)]
    assert resolve_overlaps([Span(0, 9, 0.4), Span(3, 6, 0.75)], "123456789") == [
        Span(0, 3, 0.4),
        Span(3, 6, 0.75),
        Span(6, 9, 0.4),
    ]


@given(st.lists(SPANS, max_size=8))
def test_nothing_overlaps_and_every_letter_and_digit_stays_found(spans: list[Span]) -> None:
    kept = resolve_overlaps(spans, TEXT)
    assert all(one.end <= other.start for one, other in itertools.pairwise(kept))
    before, after = ({place for one in many for place in range(one.start, one.end)} for many in (spans, kept))
    assert after <= before
    assert not any(TEXT[place].isalnum() for place in before - after)


def test_thousands_of_findings_are_quick() -> None:
    text = "1234 " * 20_000
    spans = [Span(place, place + 4, 0.4) for place in range(0, len(text), 5)]
    assert resolve_overlaps(spans, text) == spans


def test_thousands_of_findings_that_overlap_are_quick() -> None:
    """As in a column of numbers of which any two together could be a card."""

    def column(rows: int) -> tuple[list[Span], str]:
        text = "123456789 " * rows
        return [Span(place, place + 19, 0.9) for place in range(0, len(text) - 10, 10)], text

    kept = resolve_overlaps(*column(30_000))
    assert (len(kept), kept[:2]) == (29_999, [Span(0, 19, 0.9), Span(19, 29, 0.9)])
    assert cost.exponent(lambda found: resolve_overlaps(*found), column, 30_000) < cost.LINEAR
