"""Language models that run on this machine: `init` and `doctor`, nothing else, ask the usual loopback ports for them.

The servers speak OpenAI's protocol (GET /v1/models, https://platform.openai.com/docs/api-reference/models/list).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import httpx
from pydantic import BaseModel, ValidationError

from relrag_pipelines.errors import SafeError
from relrag_pipelines.privacy.loopback import is_loopback_url

PORTS = {11434: "Ollama", 8080: "llama.cpp", 1234: "LM Studio", 8000: "vLLM"}
"""the usual port of each server"""
VARIABLE = "RELRAG_LOCAL_PORTS"
SECONDS = 0.5
"""that a server may take to connect, and to answer"""
_MAX_BYTES = 1_000_000
_MAX_MODELS = 20
_MAX_NAME = 200


class LocalServerError(SafeError):
    """The server does not list its models; the message says why."""


@dataclass(frozen=True)
class LocalServer:
    """A server with a model on this machine."""

    url: str
    """as `answer_url` takes it"""
    models: Sequence[str]
    """names as it gives them, untrusted"""


class _Model(BaseModel):
    id: str


class _Models(BaseModel):
    data: list[_Model]


def local_servers(environ: Mapping[str, str] = os.environ) -> list[LocalServer]:
    """The servers at the usual ports that list a model; asked at once, within a second."""
    urls = [f"http://127.0.0.1:{port}/v1" for port in _ports(environ)]
    if not urls:
        return []
    with ThreadPoolExecutor(len(urls)) as pool:
        answers = list(pool.map(_models_or_none, urls))
    return [LocalServer(url, models) for url, models in zip(urls, answers, strict=True) if models]


def models_of(url: str) -> list[str]:
    """The models that the server of a loopback address lists. Raises LocalServerError."""
    if not is_loopback_url(url):
        raise LocalServerError("its address is not of this machine")
    try:
        content = _get(f"{url.rstrip('/')}/models")
        listed = _Models.model_validate_json(content)
    except httpx.HTTPStatusError as error:
        status = error.response.status_code
    except httpx.HTTPError as error:
        raise LocalServerError(f"it does not answer ({type(error).__name__}); start it") from None
    except ValidationError:
        raise LocalServerError("it lists no models; check that it speaks OpenAI's protocol") from None
    else:
        return [model.id for model in listed.data if len(model.id) <= _MAX_NAME][:_MAX_MODELS]
    raise LocalServerError(f"it answered {status}")


def _get(url: str) -> bytes:
    """What is at an address, by no proxy and without following it elsewhere."""
    content = b""
    with (
        httpx.Client(trust_env=False, follow_redirects=False, timeout=SECONDS) as client,
        client.stream("GET", url) as answer,
    ):
        if answer.status_code != httpx.codes.OK:
            raise httpx.HTTPStatusError("refused", request=answer.request, response=answer)
        for part in answer.iter_bytes():
            content += part
            if len(content) > _MAX_BYTES:
                raise httpx.ReadError("too long")
    return content


def _models_or_none(url: str) -> list[str] | None:
    try:
        return models_of(url)
    except LocalServerError:
        return None


def _ports(environ: Mapping[str, str]) -> list[int]:
    """The ports that are asked: the usual ones, or those of RELRAG_LOCAL_PORTS."""
    if VARIABLE not in environ:
        return list(PORTS)
    return [int(port) for port in environ[VARIABLE].split(",") if port.strip().isdecimal() and int(port) < 65536]
