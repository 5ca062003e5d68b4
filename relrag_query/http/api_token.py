"""The archive's token, which programs send instead of a login. It is stored beside the keys, readable by the owner."""

from __future__ import annotations

from pathlib import Path

from relrag_pipelines.settings import Settings
from relrag_pipelines.ui.stored_secret import StoredSecret, load_secret


def token_path(settings: Settings) -> Path:
    """Path of the token file of an archive."""
    return settings.keys_path.with_suffix(".token")


def stored_token(settings: Settings) -> StoredSecret:
    """The current content of the token file."""
    return StoredSecret(token_path(settings))


def load_token(settings: Settings, *, new: bool = False) -> str:
    """The token, created if missing. With `new`, replaces it, and the old token is no longer accepted."""
    return load_secret(token_path(settings), new=new)
