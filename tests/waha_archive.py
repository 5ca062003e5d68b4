"""An archive whose one source is a WAHA server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from relrag_pipelines.sources.remote import secrets
from relrag_pipelines.stores import lake
from tests import archive
from tests.remote_servers import Waha

DANA, GROUP = "420601234567@c.us", "120363021@g.us"
_CONFIG = """
archive = "test"
keys_file = "test.keys"
timezone = "Europe/Prague"
owner = "Petr Kolar"
pii_redaction_enabled = false
embedder = "none"

[[sources]]
name = "chats"
kind = "whatsapp"
url = "{url}"
"""


def make(folder: Path, url: str) -> Path:
    """Writes the settings and the secret of an archive in a folder; the path of the settings."""
    config = folder / "relrag.toml"
    config.write_text(_CONFIG.format(url=url))
    secrets.write_secret(secrets.file_of(folder / "test.keys", "test", "chats"), Waha.key)
    return config


def private_rows(config: Path) -> list[dict[str, Any]]:
    """The private records."""
    home = archive.home(config.parent)
    months = lake.manifest(home, "private_records", "chats")
    return [row for month in months for row in lake.read(home, "private_records", "chats", month).to_pylist()]
