"""What the embedders of services share: keys from the environment, patience, and errors that show no text and no key.

The SDKs retry by themselves what a service refuses for now (429 and 5xx), with growing pauses or those that it asks
for (Retry-After). Answers that break off or cannot be read are asked for again here.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import urlsplit

from relrag_pipelines.errors import SafeError
from relrag_pipelines.settings import Settings, SettingsError

RETRIES = 6
TIMEOUT_SECONDS = 60.0
PAUSES = (1.0, 4.0)
"""seconds before an answer that could not be read is asked for again"""

Answer = TypeVar("Answer")


class EmbeddingError(SafeError):
    """Texts could not be embedded; the message says why and what to do, and holds neither text nor key."""


def has_key(variable: str) -> bool:
    """Whether a key is set."""
    return bool(os.environ.get(variable, "").strip())


def key(service: str, *variables: str) -> str:
    """The key in the first of these variables; EmbeddingError where none is set."""
    for variable in variables:
        if value := os.environ.get(variable, "").strip():
            return value
    raise EmbeddingError(f"{service} needs a key: set {variables[0]} in the environment")


def host(settings: Settings, usual: str) -> str:
    """The host that texts are sent to."""
    return host_of(settings.embedding_url, "embedding_url") if settings.embedding_url else usual


def host_of(url: str, setting: str) -> str:
    """The host of an address; SettingsError, which does not repeat it, where it is none that is plain."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query:
        raise SettingsError(f"relrag.toml: {setting} is not a plain http(s) address; write it as https://host/v1")
    return parts.netloc


def dimension(settings: Settings, model_length: int | None) -> int:
    """Length of the vectors: the setting, else that of the model; SettingsError if neither is known."""
    if length := settings.embedding_dimension or model_length:
        return length
    raise SettingsError(
        f'relrag.toml: embedding_model is "{settings.embedding_model}", whose vectors have no known length; '
        "set embedding_dimension"
    )


def with_retries(ask: Callable[[], Answer], unreadable: tuple[type[Exception], ...], service: str) -> Answer:
    """What `ask` returns; again after each pause while it raises one of `unreadable`, then EmbeddingError."""
    fault = ""
    for pause in (*PAUSES, None):
        try:
            return ask()
        except unreadable as error:
            fault = type(error).__name__
        if pause is not None:
            time.sleep(pause)
    times = f"{len(PAUSES) + 1} times"
    raise EmbeddingError(f"{service} gave no answer that can be read, {times} ({fault}); try again later")


def describe_refusal(service: str, status: int | None, variable: str) -> EmbeddingError:
    """Why a service did not embed, by the HTTP status of its last answer."""
    done = "what was embedded is kept, and the next `relrag sync` goes on from there"
    reasons = {
        400: "did not accept the request (400); check embedding_model and embedding_dimension",
        401: f"did not accept the key (401); check {variable}",
        403: f"does not allow this key to embed (403); check {variable} and your account",
        404: "does not know the model or the address (404); check embedding_model and embedding_url",
        429: f"still refuses for too many requests or an empty account (429); {done}",
        None: f"could not be reached; {done}",
    }
    return EmbeddingError(f"{service} {reasons.get(status, f'failed ({status}); {done}')}")


@dataclass(frozen=True)
class Fault:
    """Why a service gave no answer."""

    message: str
    """behind the service's name; holds neither text nor key"""
    status: int | None = None
    """HTTP status of its answer, where there was one"""


def fault(error: Exception, refused: type[Exception], unreached: type[Exception]) -> Fault | None:
    """Why a service gave no answer, by what its SDK raised: `refused` with a status, `unreached` without an answer.

    None for what is no fault of a service's answer.
    """
    if isinstance(error, refused):
        status = getattr(error, "status_code", None)
        return Fault(f"answered {status}", status)
    if isinstance(error, unreached):
        return Fault(f"could not be reached ({type(error).__name__})")
    if isinstance(error, ValueError | TypeError | AttributeError | LookupError):
        return Fault(f"gave no answer that can be read ({type(error).__name__})")
    return None


def truncate_utf8(text: str, most: int) -> str:
    """The beginning of a text, of at most so many bytes of UTF-8."""
    encoded = text.encode("utf-8", "replace")
    return text if len(encoded) <= most else encoded[:most].decode("utf-8", "ignore")
