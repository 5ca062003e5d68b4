"""Output of `relrag forget`: the preview, remaining records with the same text, and the result of the file search."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from zoneinfo import ZoneInfo

from relrag_pipelines.erasure import mail_quotes, record_selection
from relrag_pipelines.erasure.rule_file import ErasureRule
from relrag_pipelines.erasure.similar_names import SimilarName
from relrag_pipelines.erasure.verification import ErasureProof
from relrag_pipelines.pii import RedactionError
from relrag_pipelines.pii.redact_tables import channel_of
from relrag_pipelines.pii.redactor import DEFAULT_CHANNEL
from relrag_pipelines.stores import lake
from relrag_pipelines.workspace import Workspace
from relrag_query.display.amounts import number
from relrag_query.display.inert_text import safe
from relrag_query.display.source_line import boundary, time_of
from relrag_query.forgetting import ForgetPreview

_MAX_EXAMPLES = 5
_MAX_NAMES = 12
_COLUMNS = ["ts", "rag_source_type", "date_quality", "from", "subject", "asset_id", "source"]
"""columns of the example records in a preview"""


def print_preview(workspace: Workspace, preview: ForgetPreview) -> None:
    """Prints which records will be forgotten, by source, and what later syncs will leave out."""
    selection = preview.selection
    zone = ZoneInfo(workspace.settings.timezone)
    total = 0
    for source in sorted(selection.months):
        months, count = sorted(selection.months[source]), selection.count(source)
        total += count
        span = months[0] if len(months) == 1 else f"{months[0]} to {months[-1]}"
        stored = sum(entry.rows for entry in lake.manifest(workspace.home, "private_records", source).values())
        print(f"{source}: {count:,} of {number(stored, 'record')}, {span}")
    example_count = 0
    for table in record_selection.selected_rows(workspace, selection):
        for row in table.slice(0, _MAX_EXAMPLES - example_count).select(_COLUMNS).to_pylist():
            what = _what(workspace, row)
            time = time_of(row["ts"], zone, row["rag_source_type"], row["date_quality"])
            print(safe(f"  {time}  {what}  {row['asset_id']}"))
            example_count += 1
        if example_count == _MAX_EXAMPLES:
            break
    if total > example_count > 0:
        print(f"  and {total - example_count:,} more")
    if not total:
        print("The archive currently contains nothing of it.")
    print(_rule_effect(preview.rule, zone))
    print_remaining(preview, done=False)


def _what(workspace: Workspace, row: Mapping[str, str]) -> str:
    """Sender and title of a private record, with pseudonyms where its channel's policy has them."""
    what = ", ".join(part for part in (row["from"], row["subject"]) if part)
    sources = [source for source in workspace.settings.sources if source.name == row["source"]]
    own = workspace.channel(sources[0]) if sources else DEFAULT_CHANNEL  # it may be in relrag.toml no more
    try:
        return workspace.redactor.redact(what, channel_of(row["rag_source_type"], own))
    except RedactionError:
        return "(its personal data cannot be replaced)"


def _rule_effect(rule: ErasureRule, zone: ZoneInfo) -> str:
    sentences = {
        "records": "They stay out of every later sync, although the exports may still hold them.",
        "person": "Whatever names them, in any field or text, stays out of every later sync too.",
        "source": f'The source "{rule.source}" is not read any more; under another name in relrag.toml it would be.',
        "before": f"Whatever is older than {_boundary_in_words(rule, zone)} stays out of every later sync too.",
    }
    return sentences[rule.what]


def print_remaining(preview: ForgetPreview, *, done: bool = True) -> None:
    """Prints remaining records that quote or repeat forgotten ones, and how to forget them too."""
    selection, cuts_quotes = preview.selection, bool(preview.rule.said)
    if preview.quoting:
        count = number(len(preview.quoting), "other mail")
        action = "and cut out there" if done else "where it is cut out; what that says itself stays"
        print(f"Quoted in {count}, {action if cuts_quotes else 'and kept there'}:")
        _list(preview.quoting)
    if repeating := sorted(selection.repeating, key=lambda asset_id: -selection.repeating[asset_id]):
        count = number(len(repeating), "other record")
        print(f"Said again, {mail_quotes.MIN_REPEATED_WORDS} words or more in a row, in {count} and kept there:")
        _list(repeating)
    if selection.copies:
        print(f"The same file or message is {number(len(selection.copies), 'other record')}, and kept there:")
        _list(sorted(selection.copies))
    if repeating or selection.copies or (preview.quoting and not cuts_quotes):
        print("To have these forgotten as well, give their ids to `relrag forget`.")


def print_names(aliases: Sequence[str], candidates: Sequence[SimilarName]) -> None:
    """Prints the aliases that are forgotten with a person, and similar names whose records stay."""
    if aliases:
        print(safe(f"The sources name one person by these as well, so they are forgotten too: {', '.join(aliases)}."))
    if not candidates:
        return
    print("These may be the same person; they stay unless you name them with --person:")
    for candidate in candidates[:_MAX_NAMES]:
        why = "stands beside the name" if candidate.same_entry else "written alike"
        print(safe(f"  {candidate.value}  ({why}; {number(candidate.records, 'record')})"))
    if len(candidates) > _MAX_NAMES:
        print(f"  and {len(candidates) - _MAX_NAMES:,} more")


def _list(asset_ids: Sequence[str]) -> None:
    for asset_id in asset_ids[:_MAX_EXAMPLES]:
        print(safe(f"  {asset_id}"))
    if len(asset_ids) > _MAX_EXAMPLES:
        print(f"  and {len(asset_ids) - _MAX_EXAMPLES:,} more")


def report(proof: ErasureProof, zone: ZoneInfo) -> int:
    """Prints the result of the search of every file, and what it did not search for; returns the exit code."""
    search = proof.search
    for value in proof.remaining_names:
        print(safe(f'"{value}" still occurs in records that stay; `relrag search` finds them.'))
    for path, count in search.holding.items():
        print(safe(f"{path} still holds {number(count, 'value')}"))
    for path in search.unreadable:
        print(safe(f"{path} could not be read"))
    if proof.similar_records:
        _print_similar(proof, zone)
    print("Not searched for:")
    for line in _not_searched(proof):
        print(f"  {line}")
    excluded = proof.shared_values + proof.program_values + proof.short
    print(
        f"Searched {number(search.files, 'file')} for {number(proof.values, 'value')}"
        f"{' (a sample)' if proof.is_sample else ''} that only it held, not for the {excluded:,} others named above:"
        f" {len(search.holding)} hold any."
    )
    if not proof.holds:
        print("Something is left; `relrag sync` continues removing it. If a file is named again, please report it.")
    return 0 if proof.holds else 2


def _print_similar(proof: ErasureProof, zone: ZoneInfo) -> None:
    """Prints the first records that may contain fragments of what was forgotten."""
    records = proof.similar_records
    print(f"Records that may contain fragments of it: {number(len(records), 'record')}.")
    for record in records[:_MAX_EXAMPLES]:
        time = time_of(record.ts, zone, record.rag_source_type, record.date_quality)
        print(safe(f"  {record.kind}  {time}  {record.asset_id}  ({number(record.phrases, 'phrase')})"))
    if len(records) > _MAX_EXAMPLES:
        print(f"  and {len(records) - _MAX_EXAMPLES:,} more")


def _not_searched(proof: ErasureProof) -> Iterator[str]:
    if proof.shared_values:
        yield f"{number(proof.shared_values, 'phrase')}, because other records or your own statements hold them too"
    if proof.program_values:
        yield f"{number(proof.program_values, 'phrase')}, because this program or the archive's own paths use them too"
    if proof.short:
        short = number(proof.short, "word, number or date", "words, numbers and dates")
        yield f"{short}, alone too short or too common to tell anything"
    if proof.is_sample:
        yield "what exceeds the sample"
    yield "pieces of fewer than four words of a longer line, and what pictures and sound say"
    if proof.search.opaque_files:
        mails = number(proof.search.opaque_files, "mail")
        yield f"what is packed (PDF, zip, PGP) in {mails} that could not be read to the end"
    yield "your exports and backups, which lie outside the archive"


def _boundary_in_words(rule: ErasureRule, zone: ZoneInfo) -> str:
    return "" if rule.before is None else boundary(rule.before, zone)


def rule_in_words(rule: ErasureRule, zone: ZoneInfo) -> str:
    """A description of a rule that contains no forgotten text."""
    return {
        "records": "records by id",
        "person": "a person" + (" by name" if rule.names else " by address or number"),
        "source": f'the source "{rule.source}"',
        "before": f"everything before {_boundary_in_words(rule, zone)}",
    }[rule.what]
