"""The archives that questions are asked of, each synced as anybody's, and what their questions say.

`tuning/archives/<name>/` holds an archive that was invented for this, about.json (owner, timezone, clock) and
questions.jsonl, a set as `relrag eval --answers` reads it, hard on purpose. In plain.jsonl, which not all have, are
questions in the words of what answers them, as most are asked. Where about.json says `held_back`, nothing is learned
from an archive: `python -m tuning.measure` asks its questions, of every kind in one file. All of those but `mazal` were
invented by writers who knew neither the code nor the other questions; so were dahlkoetter (German), warnier (French)
and tonelli (English and Italian), which are not held back.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from relrag_query.archive import Archive
from relrag_query.cli.commands.sync import sync
from relrag_query.evaluation.answer_sets import LabelledQuestion, labelled_questions

ROOT = Path(__file__).with_name("archives")
KINDS = {
    "whatsapp": "whatsapp",
    "mail": "gmail",
    "documents": "document",
    "calls": "call_recording",
    "meetings": "meeting",
}
"""folder of an archive -> kind"""


def names(*, held_back: bool = False) -> list[str]:
    """The archives that are learned from, or those that are held back."""
    every = sorted(one.name for one in ROOT.iterdir() if (one / "questions.jsonl").exists())
    return [one for one in every if _about(one).get("held_back", False) == held_back]


def _about(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((ROOT / name / "about.json").read_text(encoding="utf-8"))
    return found


def questions(name: str) -> list[LabelledQuestion]:
    """The questions of an archive that are hard on purpose."""
    return labelled_questions(ROOT / name / "questions.jsonl")


def plain_questions(name: str) -> list[LabelledQuestion]:
    """Those in the words of what answers them; none where the archive has no such file."""
    file = ROOT / name / "plain.jsonl"
    return labelled_questions(file) if file.exists() else []


@contextmanager
def opened(name: str, work: Path, embedder: str = "e5") -> Iterator[Archive]:
    """An archive, synced into the folder `work`, at the time that its questions are asked."""
    about = _about(name)
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
