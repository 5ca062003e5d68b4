from hypothesis import given
from hypothesis import strategies as st

from relrag_pipelines.text.letter_case import lower


def test_every_letter_stays_in_its_place() -> None:
    assert lower("İzmir, ŽIŽKOV, דנה") == "İzmir, žižkov, דנה"


@given(st.text())
def test_a_text_keeps_its_length(text: str) -> None:
    assert len(lower(text)) == len(text)
