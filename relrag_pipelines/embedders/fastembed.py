"""Any ONNX text model through fastembed: by a name that fastembed knows, or from a folder of this machine.

A folder holds what sentence-transformers publishes: model.onnx (or onnx/model.onnx), tokenizer.json,
tokenizer_config.json, config.json, and for a pooling other than the mean 1_Pooling/config.json. A model that is named
must be in fastembed's cache (FASTEMBED_CACHE_PATH): nothing is downloaded here.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from relrag_pipelines import languages
from relrag_pipelines.embedders.protocol import ModelInfo, check_vectors
from relrag_pipelines.files.sealed_json import file_hash
from relrag_pipelines.model_service import EmbeddingError
from relrag_pipelines.settings import Settings, SettingsError
from relrag_pipelines.stores.vectors.protocol import Vectors

if TYPE_CHECKING:
    from fastembed import TextEmbedding

_FILES = ("model.onnx", "onnx/model.onnx")
_USUAL_TOKENS = 512
_AT_ONCE = 1
"""texts in one run of the model: padding to the longest of more costs more than it saves"""


def model(settings: Settings) -> ModelInfo:
    """What the folder or fastembed's list says of the model; SettingsError where neither knows it."""
    folder = _folder(settings)
    if folder is None:
        return _model_info(settings.embedding_model)
    config, limits = _json(folder / "config.json"), _json(folder / "tokenizer_config.json")
    dimension = settings.embedding_dimension or config.get("hidden_size")
    if not isinstance(dimension, int):
        raise SettingsError(f"relrag.toml: embedding_dimension is needed: {folder}/config.json has no hidden_size")
    weights = _weights(folder)
    state = weights.stat()
    name = f"{folder.name}:{_fingerprint(weights, state.st_size, state.st_mtime_ns)}"
    limits_ = [limits[name] for name in ("model_max_length", "max_length") if isinstance(limits.get(name), int)]
    return ModelInfo(name, dimension, min(limits_, default=_USUAL_TOKENS))


def load(settings: Settings) -> FastEmbed:
    """The model, ready; EmbeddingError where fastembed or the model is missing."""
    try:
        from fastembed import TextEmbedding
    except ImportError:
        raise EmbeddingError('embedder "fastembed" needs the package fastembed; install relrag[fastembed]') from None
    described, folder = model(settings), _folder(settings)
    name = settings.embedding_model
    if folder is not None:
        name = described.name
        _register(name, folder, described.dimension)
    model_path = None if folder is None else str(folder)
    try:
        loaded = TextEmbedding(
            name, specific_model_path=model_path, local_files_only=True, enable_cpu_mem_arena=False, providers=_CPU
        )
    except (ValueError, OSError) as error:
        fault = type(error).__name__
    else:
        return FastEmbed(loaded, described)
    where = folder or "fastembed's cache (FASTEMBED_CACHE_PATH), into which fastembed itself can fetch it"
    raise EmbeddingError(f"the model cannot be loaded from {where} ({fault})")


_CPU = ["CPUExecutionProvider"]


class FastEmbed:
    """The model in memory."""

    def __init__(self, loaded: TextEmbedding, described: ModelInfo) -> None:
        self._loaded = loaded
        self._model = described

    def documents(self, texts: Sequence[str]) -> tuple[Vectors, int]:
        """A vector for each text, and their tokens before they are cut."""
        rows = list(self._loaded.passage_embed(list(texts), batch_size=_AT_ONCE))
        tokens = int(self._loaded.token_count(list(texts)))
        return check_vectors(rows, len(texts), self._model.dimension, self._model.name), tokens

    def query(self, text: str) -> Vectors:
        """The vector of a question."""
        rows = list(self._loaded.query_embed(text))
        vector: Vectors = check_vectors(rows, 1, self._model.dimension, self._model.name)[0]
        return vector


def _folder(settings: Settings) -> Path | None:
    """The model's folder; None where a name is set."""
    if not settings.embedding_model:
        raise SettingsError('relrag.toml: embedder "fastembed" needs embedding_model, a name or a folder')
    folder = (settings.folder / Path(settings.embedding_model).expanduser()).resolve()
    return folder if folder.is_dir() else None


def _model_info(name: str) -> ModelInfo:
    try:
        from fastembed import TextEmbedding
    except ImportError:
        raise EmbeddingError('embedder "fastembed" needs the package fastembed; install relrag[fastembed]') from None
    models = {description["model"]: description for description in TextEmbedding.list_supported_models()}
    if name not in models:
        raise SettingsError(
            f'relrag.toml: embedding_model is "{name}", neither a folder nor one of fastembed\'s models: '
            + ", ".join(sorted(models))
        )
    default = languages.language(languages.DEFAULT)
    of_default = default.name in models[name]["description"].lower()
    codes = (default.code,) if of_default else ()
    return ModelInfo(f"{name}:{models[name]['dim']}", models[name]["dim"], _USUAL_TOKENS, codes)


def _weights(folder: Path) -> Path:
    for name in _FILES:
        if (folder / name).is_file():
            return folder / name
    raise SettingsError(f"relrag.toml: embedding_model: {folder} holds neither {' nor '.join(_FILES)}")


@functools.cache
def _fingerprint(weights: Path, size: int, mtime_ns: int) -> str:
    return file_hash(weights)[:8]


def _register(name: str, folder: Path, dimension: int) -> None:
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType

    if any(description["model"] == name for description in TextEmbedding.list_supported_models()):
        return
    first_only = _json(folder / "1_Pooling" / "config.json").get("pooling_mode_cls_token") is True
    TextEmbedding.add_custom_model(
        model=name,
        pooling=PoolingType.CLS if first_only else PoolingType.MEAN,
        normalization=True,
        sources=ModelSource(hf=name),
        dim=dimension,
        model_file=_weights(folder).relative_to(folder).as_posix(),
    )


def _json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError):
        raise SettingsError(f"relrag.toml: embedding_model: {path} cannot be read as JSON") from None
    return content if isinstance(content, dict) else {}
