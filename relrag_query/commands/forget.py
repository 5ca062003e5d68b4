"""`relrag forget`: removes records at once, everywhere, and shows that nothing of them is left."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from relrag_pipelines import settings as settings_module
from relrag_pipelines.embedders import passages
from relrag_pipelines.forgetting import proof, purge, rules
from relrag_pipelines.forgetting.proof import Proof
from relrag_pipelines.forgetting.purge import Chosen
from relrag_pipelines.forgetting.rules import ForgettingError, Rule
from relrag_pipelines.settings import now
from relrag_pipelines.stores import generations, lake, lock, retired
from relrag_pipelines.workspace import Workspace
from relrag_query import when
from relrag_query.amounts import number
from relrag_query.archive import Archive
from relrag_query.progress import progress
from relrag_query.render import safe, time_of

_READERS_SECONDS = 10.0
_EXAMPLES = 5


@dataclass(frozen=True)
class Wanted:
    """What is to be forgotten; one of the four."""

    refs: Sequence[str] = ()
    source: str | None = None
    person: str | None = None
    before: str | None = None


def forget(wanted: Wanted, config: Path | None = None, *, yes: bool = False, wait: float = 0) -> int:
    """Shows what would go, asks, removes it and searches for what is left; returns the exit code."""
    workspace = Workspace(settings_module.load(config))
    rule = _rule(wanted, workspace, config)
    chosen = purge.choose(workspace, [rule])
    _preview(workspace, rule, chosen)
    if not (yes or _asked()):
        print("Nothing was changed.")
        return 2
    started = time.monotonic()
    with lock.writing(workspace.home, "relrag forget", wait), progress() as show:
        workspace = Workspace(workspace.settings, show)
        purge.resume(workspace)
        chosen = purge.choose(workspace, [rule])  # again: a sync may have come between
        values, sampled = proof.values_of(purge.leaving(workspace, chosen))
        kept = rules.added(rules.load(workspace.home, workspace.keys), purge.with_parts(rule, chosen, workspace))
        rules.save(workspace.home, kept, workspace.keys)
        purge.remove(workspace, kept, chosen)
        errors = _publish(workspace)
        found = proof.prove(workspace, values, [wanted.person] if wanted.person else [], sampled=sampled)
    for error in errors:
        print(f"error: {error}")
    gone = number(kept.rules[-1].records, "record")
    print(f"Forgotten: {gone}, as rule {kept.last}; {time.monotonic() - started:.1f} s.")
    return max(_report(found), 2 if errors else 0)


def listed(config: Path | None = None) -> int:
    """Prints what was forgotten, without saying what it was; returns the exit code."""
    workspace = Workspace(settings_module.load(config))
    zone = ZoneInfo(workspace.settings.timezone)
    known = rules.load(workspace.home).rules
    for rule in known:
        at = datetime.fromisoformat(rule.at).astimezone(zone)
        print(f"{rule.number}  {at:%Y-%m-%d %H:%M}  {_said(rule, zone)}; {number(rule.records, 'record')} went")
    if not known:
        print("Nothing was forgotten.")
    return 0


def undo(number_of_rule: int, config: Path | None = None, *, wait: float = 0) -> int:
    """Takes a rule back; returns the exit code."""
    workspace = Workspace(settings_module.load(config))
    with lock.writing(workspace.home, "relrag forget --undo", wait):
        purge.resume(workspace)
        rule = purge.undo(workspace, number_of_rule)
    zone = ZoneInfo(workspace.settings.timezone)
    print(f"Rule {rule.number} is taken back: {_said(rule, zone)}.")
    print("`relrag sync` reads everything again; what the exports still hold of it comes back, nothing else.")
    return 0


def _rule(wanted: Wanted, workspace: Workspace, config: Path | None) -> Rule:
    ways = [bool(wanted.refs), wanted.source is not None, wanted.person is not None, wanted.before is not None]
    if sum(ways) != 1:
        raise ForgettingError("name what is to be forgotten by ids, or by one of --source, --person and --before")
    at = now().isoformat("T", "seconds")
    if wanted.refs:
        return rules.for_records(_asset_ids(wanted.refs, workspace, config), workspace.keys, at)
    if wanted.person is not None:
        return rules.for_person(wanted.person, workspace.keys, at)
    if wanted.source is not None:
        if wanted.source not in lake.sources(workspace.home):
            workspace.settings.source(wanted.source)
        return Rule(0, "source", at, source=wanted.source)
    first, _ = when.day_range(wanted.before or "")
    return Rule(0, "before", at, before=when.seconds(first, ZoneInfo(workspace.settings.timezone)))


def _asset_ids(refs: Sequence[str], workspace: Workspace, config: Path | None) -> set[str]:
    """Ids of the records that the refs name: records, the records of passages, the members of threads."""
    stored = {
        asset_id: thread
        for _, _, table in purge.private(workspace)
        for asset_id, thread in zip(table["asset_id"].to_pylist(), table["thread_id"].to_pylist(), strict=True)
    }
    found: set[str] = set()
    for ref in refs:
        if ref in stored:
            found.add(ref)
        elif members := {one for one, thread in stored.items() if thread == ref.removeprefix("thread:")}:
            found |= members
        elif held := _held_in_passage(ref, workspace, config) & stored.keys():
            found |= held
        else:
            raise ForgettingError(f'the archive has nothing named "{ref}"; `relrag search` shows ids')
    return found


def _held_in_passage(ref: str, workspace: Workspace, config: Path | None) -> set[str]:
    if generations.current_number(workspace.home) is None:
        return set()
    with Archive.open(config) as archive:
        chunk = archive.chunk(ref.removeprefix("chunk:"))
        chunks = [chunk] if chunk else archive.chunks_of(ref)
    return {member for chunk in chunks for member in chunk.members or [chunk.asset_id]}


def _preview(workspace: Workspace, rule: Rule, chosen: Chosen) -> None:
    zone = ZoneInfo(workspace.settings.timezone)
    total = 0
    for source in sorted(chosen.months):
        months, count = sorted(chosen.months[source]), chosen.count(source)
        total += count
        span = months[0] if len(months) == 1 else f"{months[0]} to {months[-1]}"
        stored = sum(entry.rows for entry in lake.manifest(workspace.home, "private_records", source).values())
        print(f"{source}: {count:,} of {number(stored, 'record')}, {span}")
    shown = 0
    for table in purge.leaving(workspace, chosen):
        for row in table.slice(0, _EXAMPLES - shown).select(["ts", "from", "subject", "asset_id"]).to_pylist():
            what = ", ".join(part for part in (row["from"], row["subject"]) if part)
            print(safe(f"  {time_of(row['ts'], zone)}  {what}  {row['asset_id']}"))
            shown += 1
        if shown == _EXAMPLES:
            break
    if total > shown > 0:
        print(f"  and {total - shown:,} more")
    if not total:
        print("The archive holds nothing of it now.")
    print(_from_now_on(rule, zone))


def _from_now_on(rule: Rule, zone: ZoneInfo) -> str:
    said = {
        "records": "They stay out of every later sync, although the exports may still hold them.",
        "person": "Whatever names them, in any field or text, stays out of every later sync too.",
        "source": f'The source "{rule.source}" is not read any more.',
        "before": f"Whatever is older than {time_of(rule.before, zone)} stays out of every later sync too.",
    }
    return said[rule.what]


def _asked() -> bool:
    if not sys.stdin.isatty():
        raise ForgettingError("nobody can be asked here; add --yes to forget this")
    return input("Forget all this, for good? [y/N] ").strip().lower() in {"y", "yes"}


def _publish(workspace: Workspace) -> list[str]:
    """Makes the generation without what is gone, and lets no older one stay; returns what went wrong."""
    # imported only now: the preview is there in less time than this import takes
    from relrag_pipelines.run import follow_up

    outcome = follow_up(workspace)
    passages.forget(workspace.home)
    until = time.monotonic() + _READERS_SECONDS
    while True:
        generations.sweep(workspace.home, 1)
        current = generations.current_number(workspace.home)
        left = sorted(one for one in generations.numbers(workspace.home) if one != current)
        if not left or time.monotonic() > until:
            break
        time.sleep(0.1)
    held = [f"generation {one} is still being read; close what reads it, then run `relrag sync`" for one in left]
    held += [f"{one} could not be removed; run `relrag sync`" for one in retired.left_on_servers(workspace.home)]
    return [*outcome.errors, *held]


def _report(found: Proof) -> int:
    files, searched = number(found.searched.files, "file"), number(found.values, "value")
    sample = " (a sample)" if found.sampled else ""
    if found.shared:
        print(f"Not searched for, because it stands in what stays as well: {number(found.shared, 'phrase')}.")
    for value in found.still_named:
        print(safe(f'"{value}" still stands in what stays; `relrag search` finds where.'))
    for path, count in found.searched.holding.items():
        print(safe(f"{path} still holds {number(count, 'value')}"))
    for path in found.searched.unread:
        print(safe(f"{path} could not be read"))
    print(f"Searched {files} for {searched}{sample} that only it held: {len(found.searched.holding)} hold any.")
    if not found.holds:
        print("It is not all gone; `relrag sync` goes on with it. If a file is named again, please report it.")
    return 0 if found.holds else 2


def _said(rule: Rule, zone: ZoneInfo) -> str:
    return {
        "records": "records by id",
        "person": "a person" + (" by name" if rule.names else " by address or number"),
        "source": f'the source "{rule.source}"',
        "before": f"everything before {time_of(rule.before, zone)}",
    }[rule.what]
