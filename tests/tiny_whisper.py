"""A Whisper model of a megabyte with random weights, in the format that faster-whisper loads, and a voice to hear.

It says the same letter whatever it hears. That is enough to show that a model's folder is loaded, fed and read right
with the real library, without a download.
"""

from __future__ import annotations

import io
import wave
from pathlib import Path
from typing import Any

import ctranslate2
import numpy as np
import numpy.typing as npt
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

HEADS, WIDTH, MELS, FRAMES, CONTEXT = 2, 32, 80, 1500, 448
LETTER = "h"
RATE = 16_000
VOWELS = ((700, 1220, 2600), (300, 2300, 3000), (500, 1000, 2400), (350, 800, 2400))
"""formants, Hz"""

_RANDOM = np.random.default_rng(0)


def write(folder: Path) -> None:
    """Writes model.bin, config.json, vocabulary.json and tokenizer.json."""
    tokenizer = _tokenizer()
    tokenizer.save(str(folder / "tokenizer.json"))
    spec = ctranslate2.specs.WhisperSpec(1, HEADS, 1, HEADS)
    encoder, decoder, size = spec.encoder, spec.decoder, tokenizer.get_vocab_size()
    encoder.conv1.weight, encoder.conv1.bias = _weights(WIDTH, MELS, 3), _weights(WIDTH)
    encoder.conv2.weight, encoder.conv2.bias = _weights(WIDTH, WIDTH, 3), _weights(WIDTH)
    encoder.position_encodings.encodings = _weights(FRAMES, WIDTH)
    decoder.embeddings.weight = _weights(size, WIDTH)
    decoder.position_encodings.encodings = _weights(CONTEXT, WIDTH)
    decoder.scale_embeddings = False
    decoder.projection.weight, decoder.projection.bias = _weights(size, WIDTH), np.zeros(size, np.float32)
    decoder.projection.bias[tokenizer.token_to_id(LETTER)] = 50
    for norm in (encoder.layer_norm, decoder.layer_norm):
        _norm(norm)
    for layer in (*encoder.layer, *decoder.layer):
        _attention(layer.self_attention, (3 * WIDTH, WIDTH))
        if hasattr(layer, "attention"):
            _attention(layer.attention, (WIDTH, 2 * WIDTH, WIDTH))
        _norm(layer.ffn.layer_norm)
        _linear(layer.ffn.linear_0, 4 * WIDTH, WIDTH)
        _linear(layer.ffn.linear_1, WIDTH, 4 * WIDTH)
    spec.register_vocabulary([name for name, _ in sorted(tokenizer.get_vocab().items(), key=lambda one: one[1])])
    spec.config.suppress_ids = spec.config.suppress_ids_begin = []
    spec.config.lang_ids = [tokenizer.token_to_id(f"<|{language}|>") for language in ("en", "he")]
    spec.config.alignment_heads = [[0, 0]]
    spec.validate()
    spec.optimize()
    spec.save(str(folder))


def voice(seconds: float) -> bytes:
    """A WAV file of vowels hummed four a second, which the library's voice detector takes for speech."""
    times = np.arange(int(RATE * seconds)) / RATE
    pitch = 120 + 15 * np.sin(2 * np.pi * 0.7 * times)
    phase = 2 * np.pi * np.cumsum(pitch) / RATE
    formants = np.array(VOWELS)[(times * 4).astype(int) % len(VOWELS)]
    sound = np.zeros_like(times)
    for harmonic in range(1, 30):
        loudness = np.exp(-((((pitch * harmonic)[:, None] - formants) / 120) ** 2)).sum(axis=1)
        sound += loudness * np.sin(phase * harmonic)
    sound *= 0.5 + 0.5 * np.sin(2 * np.pi * 4 * times - np.pi / 2)
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes((sound / np.abs(sound).max() * 16_000).astype("<i2").tobytes())
    return out.getvalue()


def _tokenizer() -> Any:
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    tasks = ["endoftext", "startoftranscript", "en", "he", "translate", "transcribe", "startoflm", "startofprev"]
    special = [f"<|{name}|>" for name in (*tasks, "nospeech", "notimestamps")]
    special += [f"<|{step * 0.02:.2f}|>" for step in range(1501)]
    tokenizer = Tokenizer(models.BPE(vocab={letter: place for place, letter in enumerate(letters)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(name, special=True) for name in special])
    return tokenizer


def _weights(*shape: int) -> npt.NDArray[np.float32]:
    return (_RANDOM.standard_normal(shape) * 0.05).astype(np.float32)


def _norm(norm: Any) -> None:
    norm.gamma, norm.beta = np.ones(WIDTH, np.float32), np.zeros(WIDTH, np.float32)


def _linear(linear: Any, outputs: int, inputs: int) -> None:
    linear.weight, linear.bias = _weights(outputs, inputs), np.zeros(outputs, np.float32)


def _attention(attention: Any, outputs: tuple[int, ...]) -> None:
    _norm(attention.layer_norm)
    for linear, size in zip(attention.linear, outputs, strict=True):
        _linear(linear, size, WIDTH)
