"""An archive with records of two clients that several people share, and who sees what."""

from __future__ import annotations

from pathlib import Path

from tests import archive

SITE = "https://memory.example.org"
USERS = """
web_public_url = "https://memory.example.org"
"""
TABLE = """
[web_users]
"dana@example.org" = ["*"]
"Ota@example.org" = ["acme"]
"eva@example.org" = ["acme", "globex"]
"""
ACME = [
    {"id": "a1", "text": "The turbine of the mill was ordered in Brno.", "thread_id": "mill", "from": "Jan Novak"},
    {"id": "a2", "text": "The turbine arrives on Friday. INV-5001", "thread_id": "mill", "subject": "Arrival"},
    {"id": "a3", "text": "Nobody knows who paid for the crane.", "subject": "Crane"},
    {"id": "a4", "text": "The invoice INV-5001 was paid by the bank.", "subject": "Payment"},
]
GLOBEX = [
    {"id": "g1", "text": "The turbine of the dam costs 88000 zorkmids.", "thread_id": "mill", "from": "Zelda Quux"},
    {"id": "g2", "text": "Xylophones for the opening, INV-5001, said Zelda Quux.", "subject": "Secret opening"},
    {"id": "g3", "text": "The crane of the dam was paid by Zelda Quux.", "subject": "Crane of the dam"},
]


def make(folder: Path, notes: list[dict[str, str]], more: str = "") -> Path:
    """An archive with what nobody of them may see, and these notes."""
    folder.mkdir(exist_ok=True)
    config = archive.make(folder, USERS)
    config.write_text(config.read_text() + TABLE)
    archive.write_notes(folder, *[{"ts": str(1709280000 + 60 * n), **note} for n, note in enumerate(notes)])
    archive.sync(config)
    return config


def of(client_id: str, notes: list[dict[str, str]]) -> list[dict[str, str]]:
    return [{**note, "client_id": client_id} for note in notes]
