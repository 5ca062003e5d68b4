"""The archive's token, which programs show in place of a login. It lies beside the keys, for the owner only."""

from __future__ import annotations

import secrets
from pathlib import Path

from relrag_pipelines.files.atomic import replacing
from relrag_pipelines.settings import Settings

_BYTES = 32


def token_path(settings: Settings) -> Path:
    """Where the token of this archive lies."""
    return settings.keys_path.with_suffix(".token")


def load_token(settings: Settings, *, new: bool = False) -> str:
    """The token; made where there is none, and anew on request, after which the former one lets nobody in."""
    path = token_path(settings)
    if not new:
        try:
            return path.read_text(encoding="ascii").strip()
        except FileNotFoundError:
            pass
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    token = secrets.token_urlsafe(_BYTES)
    with replacing(path) as beside:
        beside.touch(mode=0o600)
        beside.write_text(f"{token}\n", encoding="ascii")
    return token
