"""A long passage is embedded in spans too: what they are, and that together they hold all of it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from relrag_pipelines.embedders.spans import spans

SHORT = "The plumber comes on Friday at nine. He brings the valve."
LONG = "The gutter over the back door leaks since the storm, and the roofer wants to see it before he tells"
"""99 characters, not yet a sentence"""


def test_a_passage_that_would_be_one_span_has_none() -> None:
    assert spans("") == []
    assert spans(SHORT) == []
    assert spans(f"{LONG} more. {SHORT}") == []


def test_whole_sentences_are_together_until_a_span_is_long_enough() -> None:
    first, second = f"{LONG} what it costs. {LONG} that in April.", "Ring him then."
    assert len(first) > 200
    assert spans(f"{first} {second}\n") == [first, second]
    assert spans(f"{first} {first} {first}") == [first, first, first]


def test_lines_of_a_chat_are_told_apart() -> None:
    lines = [f"Dana: {LONG}", f"Uri: {LONG}", "Dana: כן, ביום שישי"]
    assert spans("\n".join(lines)) == ["\n".join(lines[:2]), lines[2]]


@given(st.text(alphabet=st.sampled_from("ab. \n\fא?"), max_size=900))
def test_no_word_is_lost(text: str) -> None:
    """Together the spans are the text but for blanks between them; all but the last are long enough."""
    found = spans(text)
    assert "".join("".join(found).split()) == ("".join(text.split()) if found else "")
    assert all(len(one) >= 200 for one in found[:-1])
    assert len(found) != 1
