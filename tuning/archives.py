"""The archives that questions are asked of, each synced as anybody's, and what their questions say.

`tuning/archives/<name>/` holds an archive that was invented for this, about.json (owner, timezone, clock) and
questions.jsonl: `question`, `language`, `kind`, `answerable`, `evidence` and `decoys` (each `source`, `file`, and
`text` that stands in it), and `answer_has`.
"""

from __future__ import annotations

import functools
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from relrag_query.archive import Archive
from relrag_query.cli.commands.sync import sync

ROOT = Path(__file__).with_name("archives")
KINDS = {
    "whatsapp": "whatsapp",
    "mail": "gmail",
    "documents": "document",
    "calls": "call_recording",
    "meetings": "meeting",
}
"""folder of an archive -> kind"""


@dataclass(frozen=True)
class Place:
    """Words of a file that answer, or that only look as if they did."""

    source: str
    file: str
    text: str


@dataclass(frozen=True)
class Question:
    """A labelled question."""

    question: str
    language: str
    kind: str
    answerable: bool
    evidence: tuple[Place, ...]
    decoys: tuple[Place, ...]
    answer_has: tuple[str, ...]


def names() -> list[str]:
    """The archives there are."""
    return sorted(one.name for one in ROOT.iterdir() if (one / "questions.jsonl").exists())


def questions(name: str) -> list[Question]:
    """The questions of an archive."""
    lines = (ROOT / name / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    return [_question(json.loads(line)) for line in lines]


def _question(item: dict[str, Any]) -> Question:
    evidence, decoys = (tuple(Place(**place) for place in item[part]) for part in ("evidence", "decoys"))
    plain = (item[part] for part in ("question", "language", "kind", "answerable"))
    return Question(*plain, evidence, decoys, tuple(item["answer_has"]))


@functools.lru_cache(maxsize=65536)
def words(text: str) -> frozenset[str]:
    """The words of a text, by which evidence is compared: a table is indexed in other words than it is written."""
    return frozenset(re.findall(r"\w+", text.casefold()))


@contextmanager
def opened(name: str, work: Path, embedder: str = "e5") -> Iterator[Archive]:
    """An archive, synced into the folder `work`, at the time that its questions are asked."""
    about = json.loads((ROOT / name / "about.json").read_text(encoding="utf-8"))
    home = work / f"{name}-{embedder}"
    home.mkdir(parents=True, exist_ok=True)
    lines = [f'archive = "{name}"', 'keys_file = "tuning.keys"', f'embedder = "{embedder}"']
    lines += [f'owner = "{about["owner"]}"', f'timezone = "{about["timezone"]}"', "pii_redaction_enabled = true"]
    lines += ["asset_neighborhood_expansion_enabled = true"]
    for folder, kind in KINDS.items():
        lines += ["[[sources]]", f'name = "{folder}"', f'kind = "{kind}"', f'path = "{ROOT / name / folder}"']
    config = home / "relrag.toml"
    config.write_text("\n".join(lines) + "\n", encoding="utf-8")
    os.environ["RELRAG_NOW"] = about["clock"]
    try:
        if sync(config) > 1:
            raise RuntimeError(f"{name} cannot be synced")
        with Archive.open(config) as archive:
            yield archive
    finally:
        del os.environ["RELRAG_NOW"]
