"""What `relrag forget` prints: what goes, what stays although it says the same, what the search of all files found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from relrag_pipelines.erasure import mail_quotes, record_selection
from relrag_pipelines.erasure.record_selection import ErasureSelection
from relrag_pipelines.erasure.rule_file import ErasureRule
from relrag_pipelines.erasure.similar_names import SimilarName
from relrag_pipelines.erasure.verification import ErasureProof
from relrag_pipelines.stores import lake
from relrag_pipelines.workspace import Workspace
from relrag_query.display.amounts import number
from relrag_query.display.inert_text import safe
from relrag_query.display.source_line import boundary, time_of

_EXAMPLES = 5
_MOST_NAMES = 12
_SHOWN = ["ts", "rag_source_type", "date_quality", "from", "subject", "asset_id"]
"""columns of the records that are shown"""


@dataclass(frozen=True)
class ForgetPreview:
    """A preview of what will be forgotten."""

    rule: ErasureRule
    selection: ErasureSelection
    quoting: list[str]
    """asset_ids of the mails that stay and quote it"""


def preview(workspace: Workspace, going: ForgetPreview) -> None:
    """What will be forgotten, from where, and what is kept out from now on."""
    chosen = going.selection
    zone = ZoneInfo(workspace.settings.timezone)
    total = 0
    for source in sorted(chosen.months):
        months, count = sorted(chosen.months[source]), chosen.count(source)
        total += count
        span = months[0] if len(months) == 1 else f"{months[0]} to {months[-1]}"
        stored = sum(entry.rows for entry in lake.manifest(workspace.home, "private_records", source).values())
        print(f"{source}: {count:,} of {number(stored, 'record')}, {span}")
    shown = 0
    for table in record_selection.selected_rows(workspace, chosen):
        for row in table.slice(0, _EXAMPLES - shown).select(_SHOWN).to_pylist():
            what = ", ".join(part for part in (row["from"], row["subject"]) if part)
            when = time_of(row["ts"], zone, row["rag_source_type"], row["date_quality"])
            print(safe(f"  {when}  {what}  {row['asset_id']}"))
            shown += 1
        if shown == _EXAMPLES:
            break
    if total > shown > 0:
        print(f"  and {total - shown:,} more")
    if not total:
        print("The archive currently contains nothing of it.")
    print(_from_now_on(going.rule, zone))
    print_remaining(going, done=False)


def _from_now_on(rule: ErasureRule, zone: ZoneInfo) -> str:
    said = {
        "records": "They stay out of every later sync, although the exports may still hold them.",
        "person": "Whatever names them, in any field or text, stays out of every later sync too.",
        "source": f'The source "{rule.source}" is not read any more; under another name in relrag.toml it would be.',
        "before": f"Whatever is older than {_before(rule, zone)} stays out of every later sync too.",
    }
    return said[rule.what]


def print_remaining(going: ForgetPreview, *, done: bool = True) -> None:
    """Prints remaining records that quote or say the same, and how to forget them too."""
    chosen, cut = going.selection, bool(going.rule.said)
    if going.quoting:
        where = number(len(going.quoting), "other mail")
        what = "and cut out there" if done else "where it is cut out; what that says itself stays"
        print(f"Quoted in {where}, {what if cut else 'and kept there'}:")
        _list(going.quoting)
    if again := sorted(chosen.repeating, key=lambda one: -chosen.repeating[one]):
        where = number(len(again), "other record")
        print(f"Said again, {mail_quotes.MIN_REPEATED_WORDS} words or more in a row, in {where} and kept there:")
        _list(again)
    if chosen.copies:
        print(f"The same file or message is {number(len(chosen.copies), 'other record')}, and kept there:")
        _list(sorted(chosen.copies))
    if again or chosen.copies or (going.quoting and not cut):
        print("To have these forgotten as well, give their ids to `relrag forget`.")


def print_names(also: Sequence[str], others: Sequence[SimilarName]) -> None:
    """Prints other names and addresses that go with somebody, and those under which records may stay."""
    if also:
        print(safe(f"The sources name one person by these as well, so they are forgotten too: {', '.join(also)}."))
    if not others:
        return
    print("These may be the same person; they stay unless you name them with --person:")
    for one in others[:_MOST_NAMES]:
        why = "stands beside the name" if one.same_entry else "written alike"
        print(safe(f"  {one.value}  ({why}; {number(one.records, 'record')})"))
    if len(others) > _MOST_NAMES:
        print(f"  and {len(others) - _MOST_NAMES:,} more")


def _list(asset_ids: Sequence[str]) -> None:
    for one in asset_ids[:_EXAMPLES]:
        print(safe(f"  {one}"))
    if len(asset_ids) > _EXAMPLES:
        print(f"  and {len(asset_ids) - _EXAMPLES:,} more")


def report(found: ErasureProof, zone: ZoneInfo) -> int:
    """Prints what the search of every file found, and what it did not look for; returns the exit code."""
    searched = found.search
    for value in found.remaining_names:
        print(safe(f'"{value}" still occurs in records that stay; `relrag search` finds them.'))
    for path, count in searched.holding.items():
        print(safe(f"{path} still holds {number(count, 'value')}"))
    for path in searched.unreadable:
        print(safe(f"{path} could not be read"))
    if found.similar_records:
        print(f"Records that may contain fragments of it: {number(len(found.similar_records), 'record')}.")
        for one in found.similar_records[:_EXAMPLES]:
            when = time_of(one.ts, zone, one.rag_source_type, one.date_quality)
            print(safe(f"  {one.kind}  {when}  {one.asset_id}  ({number(one.phrases, 'phrase')})"))
        if len(found.similar_records) > _EXAMPLES:
            print(f"  and {len(found.similar_records) - _EXAMPLES:,} more")
    print("Not searched for:")
    for line in _not_searched(found):
        print(f"  {line}")
    out = found.shared_values + found.program_values + found.short
    print(
        f"Searched {number(searched.files, 'file')} for {number(found.values, 'value')}"
        f"{' (a sample)' if found.is_sample else ''} that only it held, not for the {out:,} others named above:"
        f" {len(searched.holding)} hold any."
    )
    if not found.holds:
        print("Something is left; `relrag sync` continues removing it. If a file is named again, please report it.")
    return 0 if found.holds else 2


def _not_searched(found: ErasureProof) -> Iterator[str]:
    if found.shared_values:
        yield f"{number(found.shared_values, 'phrase')}, because other records or your own statements hold them too"
    if found.program_values:
        yield f"{number(found.program_values, 'phrase')}, because this program or the archive's own paths use them too"
    if found.short:
        short = number(found.short, "word, number or date", "words, numbers and dates")
        yield f"{short}, alone too short or too common to tell anything"
    if found.is_sample:
        yield "what exceeds the sample"
    yield "pieces of fewer than four words of a longer line, and what pictures and sound say"
    if found.search.opaque_files:
        packed = number(found.search.opaque_files, "mail")
        yield f"what is packed (PDF, zip, PGP) in {packed} that could not be read to the end"
    yield "your exports and backups, which lie outside the archive"


def _before(rule: ErasureRule, zone: ZoneInfo) -> str:
    return "" if rule.before is None else boundary(rule.before, zone)


def rule_in_words(rule: ErasureRule, zone: ZoneInfo) -> str:
    """A rule in words, as far as it is known without text."""
    return {
        "records": "records by id",
        "person": "a person" + (" by name" if rule.names else " by address or number"),
        "source": f'the source "{rule.source}"',
        "before": f"everything before {_before(rule, zone)}",
    }[rule.what]
