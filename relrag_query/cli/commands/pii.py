"""`relrag pii`: counts what was replaced, tests a text, and manages the keys of pseudonyms."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from relrag_pipelines import settings as settings_module
from relrag_pipelines.pii import redact_tables
from relrag_pipelines.privacy import keys
from relrag_pipelines.privacy.key_stores import VARIABLE
from relrag_pipelines.stores import lake, lock
from relrag_pipelines.workspace import Workspace
from relrag_query.cli.table import print_table
from relrag_query.display.amounts import number
from relrag_query.display.inert_text import safe

if TYPE_CHECKING:
    from presidio_analyzer import RecognizerResult

_STAND_IN = re.compile(r"<([A-Z][A-Z0-9_]+)(?::(k\d+:e?[0-9a-f]+))?>")


def report(config: Path | None = None, *, as_json: bool = False) -> int:
    """Prints how many values of each entity were replaced, by channel and month; returns the exit code."""
    workspace = Workspace(settings_module.load(config))
    counted = _counts(workspace)
    rows = [{"entity": e, "channel": c, "month": m, "count": n} for (e, c, m), n in sorted(counted.items())]
    if as_json:
        print(json.dumps(rows, indent=1))
        return 0
    cells = [(e, c, m, f"{n:,}") for (e, c, m), n in sorted(counted.items())]
    print_table(("entity", "channel", "month", "count"), cells, right=("count",))
    print(f"{number(sum(counted.values()), 'value')} replaced in what is indexed.")
    if not workspace.settings.pii_redaction_enabled:
        print("Redaction is off: personal data is indexed as it is; see pii_redaction_enabled in relrag.toml.")
    print("Values that a policy removes or masks cannot be counted.")
    return 0


def test(text: str, channel: str | None = None, config: Path | None = None) -> int:
    """Prints what Presidio finds in the text, why, and how it is replaced: by one channel's policy, or by each."""
    workspace = Workspace(settings_module.load(config))
    redactor = workspace.redactor
    channels = [channel] if channel is not None else sorted(workspace.settings.pii_policies)
    found = {one: redactor.explain(text, one) for one in channels}
    told = {(one.start, one.end, one.entity_type): one for named in found.values() for one in named}
    for _, one in sorted(told.items(), key=lambda item: (item[0][0], -item[0][1], -item[1].score)):
        print(safe(f"{one.entity_type}  {text[one.start : one.end]!r}  {one.score:.2f}"))
        for line in _reasons(one):
            print(safe(f"    {line}"))
    print("Nothing is found." if not told else "")
    for name in channels:
        actions = {one.entity_type: redactor.action(one.entity_type, name) for one in found[name]}
        said = ", ".join(f"{entity} {action}" for entity, action in sorted(actions.items())) or "nothing"
        print(safe(f"{name}: {said}"))
        print(safe(f"    {redactor.redact(text, name)}"))
    if not redactor.enabled:
        print("Redaction is off in this archive; with it on, the above would be replaced.")
    return 0


def new_keys() -> int:
    """Prints keys for a new archive whose keys are kept in the environment; returns the exit code."""
    print(keys.to_text(keys.new_keys()))
    print(f"Set {VARIABLE} to the line above, and keep a copy: these keys cannot be recreated.", file=sys.stderr)
    return 0


def rotate_key(config: Path | None = None, *, wait: float = 0) -> int:
    """Makes a new pseudonym key and rewrites everything that used the old one; returns the exit code.

    The keys change by one rename, once the journal knows everybody under both. After a kill before the rename nothing
    has changed; after a later one the next sync continues, since every month is stale.
    """
    from relrag_pipelines.people import anchor_keys
    from relrag_query.cli.commands.sync import sync

    settings = settings_module.load(config)
    workspace = Workspace(settings)
    with lock.writing(workspace.home, "relrag pii rotate-key", wait):
        new = keys.next_keys(workspace.keys)
        anchor_keys.add(workspace, new)
        if settings.keys_store == "environment":
            print(keys.to_text(new))
            print(f"Set {VARIABLE} to the line above, then run `relrag sync`.", file=sys.stderr)
            return 0
        settings.key_store.replace(new)
    print(f"The key is {new.version} now; all pseudonyms have been rewritten; old ones are no longer understood.")
    return sync(config)


def _reasons(one: RecognizerResult) -> Iterator[str]:
    """Presidio's explanation of a finding, one line per step."""
    why: Any = one.analysis_explanation
    yield why.textual_explanation or f"found by {why.recognizer}"
    if why.original_score != one.score:
        yield f"score {why.original_score:.2f}, raised to {one.score:.2f}"
    if why.supportive_context_word:
        yield f"because of the word {why.supportive_context_word!r} in front of it"


def _counts(workspace: Workspace) -> Counter[tuple[str, str, str]]:
    """How many values are replaced in records, by entity, channel and month."""
    counted: Counter[tuple[str, str, str]] = Counter()
    for source in workspace.settings.sources:
        for month in sorted(lake.manifest(workspace.home, "records", source.name)):
            for row in lake.read(workspace.home, "records", source.name, month).to_pylist():
                channel = redact_tables.channel_of(row["rag_source_type"], workspace.channel(source))
                for entity, count in _of_record(row).items():
                    counted[entity, channel, month] += count
    return counted


def _of_record(row: dict[str, Any]) -> Counter[str]:
    """The values of one record by entity. It says one thing in several of its columns, a card its phone in three.

    Pseudonyms tell values apart; of what only names its kind the column with the most counts.
    """
    pseudonyms: dict[str, set[str]] = defaultdict(set)
    unnamed: Counter[str] = Counter()
    for column in row.values():
        inside: Counter[str] = Counter()
        for match in (match for text in _strings(column) for match in _STAND_IN.finditer(text)):
            if match[2]:
                pseudonyms[match[1]].add(match[2])
            else:
                inside[match[1]] += 1
        unnamed |= inside
    return unnamed + Counter({entity: len(names) for entity, names in pseudonyms.items()})


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _strings(one)
