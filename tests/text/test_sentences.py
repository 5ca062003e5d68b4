"""Where sentences and lines end, in three languages."""

import pytest

from relrag_pipelines.text.sentences import sentences
from tests.cases import cases


@pytest.mark.parametrize(*cases(__file__, "sentences"))
def test_sentences(text: str, parts: list[str]) -> None:
    """Ends of sentences and lines; no end at abbreviations, ordinals and wrapped lines."""
    ends = sentences(text)
    assert [text[start:end] for start, end in zip([0, *ends], ends, strict=False)] == parts
