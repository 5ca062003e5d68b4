"""The archive's token, which programs show in place of a login. It lies beside the keys, for the owner only."""

from __future__ import annotations

from pathlib import Path

from relrag_pipelines.settings import Settings
from relrag_pipelines.ui.stored_secret import StoredSecret, load_secret


def token_path(settings: Settings) -> Path:
    """Where the token of this archive lies."""
    return settings.keys_path.with_suffix(".token")


def stored_token(settings: Settings) -> StoredSecret:
    """The token as its file holds it now."""
    return StoredSecret(token_path(settings))


def load_token(settings: Settings, *, new: bool = False) -> str:
    """The token; made where there is none, and anew on request, after which the former one lets nobody in."""
    return load_secret(token_path(settings), new=new)
