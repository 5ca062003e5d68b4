"""`relrag pii`: counts what was replaced, tests a text, and manages the keys of pseudonyms."""

from __future__ import annotations

import itertools
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from relrag_pipelines.errors import SafeError
from relrag_pipelines.stores import lock
from relrag_query.cli import dispatch
from relrag_query.cli.options import Config, Json, Wait
from relrag_query.cli.table import print_table
from relrag_query.display.amounts import number
from relrag_query.display.inert_text import safe

if TYPE_CHECKING:
    from presidio_analyzer import RecognizerResult

    from relrag_pipelines.pii.redactor import PIIRedactor
    from relrag_pipelines.workspace import Workspace

app = typer.Typer(help="Personal data: what was replaced, and what is found in a text.", no_args_is_help=True)


@app.command("report", epilog="Example: relrag pii report --json")
def report_command(as_json: Json = False, config: Config = None) -> None:
    """Count what was replaced, by entity, channel and month.

    No value is shown.
    """
    dispatch.run(report, config, as_json=as_json)


@app.command("test", epilog='Example: relrag pii test "call 052-123-4567" --channel gmail')
def test_command(
    text: Annotated[
        str | None,
        typer.Argument(help="Any text; it is examined on this machine and not stored. Without one, see --file."),
    ] = None,
    channel: Annotated[
        str | None,
        typer.Option(
            "--channel", metavar="CHANNEL", help="Channel whose policy applies, such as gmail; by default all of them."
        ),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option("--file", metavar="FILE", help="File with one text a line; `-` or no text reads standard input."),
    ] = None,
    config: Config = None,
) -> None:
    """Show what is found in a text, why, what protects a number, and what becomes of the text.

    No key is made: where the archive has none yet, pseudonyms are of keys that are not kept.
    """
    dispatch.run(test, text, channel, config, file)


@app.command("rotate-key", epilog="Example: relrag pii rotate-key")
def rotate_key_command(wait: Wait = 0, config: Config = None) -> None:
    """Make a new key for pseudonyms, and rewrite all of them.

    If it is interrupted, `relrag sync` finishes the job.
    """
    dispatch.run(rotate_key, config, wait=wait)


@app.command("new-keys", epilog="Example: relrag pii new-keys")
def new_keys_command() -> None:
    """Print keys for a new archive.

    They are for `keys_store = "environment"`.
    """
    dispatch.run(new_keys)


_PLACEHOLDER = re.compile(r"<([A-Z][A-Z0-9_]+)(?::(k\d+:e?[0-9a-f]+))?>")


class TextFileError(SafeError):
    """A file of texts cannot be read; the message names it."""


def report(config: Path | None = None, *, as_json: bool = False) -> int:
    """Prints how many values of each entity were replaced, by channel and month; returns the exit code."""
    from relrag_pipelines import settings as settings_module
    from relrag_pipelines.workspace import Workspace

    workspace = Workspace(settings_module.load(config))
    counts = _counts(workspace)
    rows = [
        {"entity": entity, "channel": channel, "month": month, "count": count}
        for (entity, channel, month), count in sorted(counts.items())
    ]
    if as_json:
        print(json.dumps(rows, indent=1))
        return 0
    cells = [(entity, channel, month, f"{count:,}") for (entity, channel, month), count in sorted(counts.items())]
    print_table(("entity", "channel", "month", "count"), cells, right=("count",))
    print(f"{number(sum(counts.values()), 'value')} replaced in what is indexed.")
    if not workspace.settings.pii_redaction_enabled:
        print("Redaction is off: personal data is indexed as it is; see pii_redaction_enabled in relrag.toml.")
    print("Values that a policy removes or masks cannot be counted.")
    return 0


def test(text: str | None, channel: str | None = None, config: Path | None = None, file: Path | None = None) -> int:
    """Prints what is found in the text or in each line of a file, with reasons, and the text as redacted.

    The file `-` is the standard input. Without a text and a file the standard input is read, too.
    """
    from relrag_pipelines import settings as settings_module
    from relrag_pipelines.workspace import Workspace

    workspace = Workspace(settings_module.load(config))
    redactor = workspace.passing_redactor
    if not redactor.enabled:
        print("Redaction is off in this archive: nothing is replaced. With it on, this would happen:\n")
    print(f"Regions: {', '.join(redactor.regions) or 'none known'}")
    channels = [channel] if channel is not None else sorted(workspace.settings.pii_policies)
    hiding = redactor if redactor.enabled else redactor.switched_on()
    for line in [text] if text is not None and file is None else _lines(file):
        _print_test(hiding, line, channels)
    return 0


def _lines(file: Path | None) -> Iterator[str]:
    """The lines of a file or of the standard input, without empty ones."""
    if file is None or str(file) == "-":
        yield from (line.rstrip("\r\n") for line in sys.stdin if line.strip())
        return
    try:
        content = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise TextFileError(f"{file} cannot be read ({type(error).__name__}); give a text file in UTF-8") from None
    yield from (line for line in content.splitlines() if line.strip())


def _print_test(redactor: PIIRedactor, text: str, channels: list[str]) -> None:
    from relrag_pipelines.pii import explanations

    findings = {name: redactor.explain(text, name) for name in channels}
    by_span = {
        (finding.start, finding.end, finding.entity_type): finding
        for finding in itertools.chain.from_iterable(findings.values())
    }
    for _, finding in sorted(by_span.items(), key=lambda pair: (pair[0][0], -pair[0][1], -pair[1].score)):
        print(safe(f"{finding.entity_type}  {text[finding.start : finding.end]!r}  {finding.score:.2f}"))
        for line in _reasons(finding, text, redactor.regions):
            print(safe(f"    {line}"))
    for start, end, why in explanations.left_numbers(text, [(start, end) for start, end, _ in by_span]):
        print(safe(f"stays  {text[start:end]!r}\n    because of {why}"))
    print("Nothing is found." if not by_span else "")
    for name in channels:
        print(safe(f"{name}: {_replacements(redactor, name, findings[name])}"))
        print(safe(f"    {redactor.redact(text, name)}"))


def new_keys() -> int:
    """Prints keys for a new archive whose keys are kept in the environment; returns the exit code."""
    from relrag_pipelines.privacy import keys
    from relrag_pipelines.privacy.key_stores import VARIABLE

    print(keys.to_text(keys.new_keys()))
    print(f"Set {VARIABLE} to the line above, and keep a copy: these keys cannot be recreated.", file=sys.stderr)
    return 0


def rotate_key(config: Path | None = None, *, wait: float = 0) -> int:
    """Makes a new pseudonym key and rewrites everything that used the old one; returns the exit code.

    The keys change by one rename, after the journal has the ids of all people under both keys. After a kill before the
    rename nothing has changed; after a kill later the next sync continues, since every month is stale.
    """
    from relrag_pipelines import settings as settings_module
    from relrag_pipelines.people import anchor_keys
    from relrag_pipelines.privacy import keys
    from relrag_pipelines.privacy.key_stores import VARIABLE
    from relrag_pipelines.workspace import Workspace
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


def _reasons(finding: RecognizerResult, text: str, regions: tuple[str, ...]) -> Iterator[str]:
    """Presidio's explanation of a finding, and the word, country or rule behind it, one line per step."""
    from relrag_pipelines.pii import explanations

    explanation: Any = finding.analysis_explanation
    if why := explanations.reason(text, finding.entity_type, finding.start, finding.end, regions):
        yield f"because of {why}"
    yield explanation.textual_explanation or f"found by {explanation.recognizer}"
    if explanation.original_score != finding.score:
        yield f"score {explanation.original_score:.2f}, raised to {finding.score:.2f}"
    if explanation.supportive_context_word:
        yield f"because of the word {explanation.supportive_context_word!r} in front of it"


def _counts(workspace: Workspace) -> Counter[tuple[str, str, str]]:
    """Counts of the replaced values in records, by entity, channel and month."""
    from relrag_pipelines.pii import redact_tables
    from relrag_pipelines.stores import lake

    counts: Counter[tuple[str, str, str]] = Counter()
    for source in workspace.settings.sources:
        for month in sorted(lake.manifest(workspace.home, "records", source.name)):
            for row in lake.read(workspace.home, "records", source.name, month).to_pylist():
                channel = redact_tables.channel_of(row["rag_source_type"], workspace.channel(source))
                for entity, count in _record_counts(row).items():
                    counts[entity, channel, month] += count
    return counts


def _record_counts(row: dict[str, Any]) -> Counter[str]:
    """Counts of the replaced values of a record, by entity. A value may repeat in several columns of a record.

    Pseudonyms identify repeated values. For placeholders without a key, the column with the most counts.
    """
    pseudonyms: dict[str, set[str]] = defaultdict(set)
    unkeyed: Counter[str] = Counter()
    for column in row.values():
        column_counts: Counter[str] = Counter()
        for match in (match for text in _strings(column) for match in _PLACEHOLDER.finditer(text)):
            if match[2]:
                pseudonyms[match[1]].add(match[2])
            else:
                column_counts[match[1]] += 1
        unkeyed |= column_counts
    return unkeyed + Counter({entity: len(names) for entity, names in pseudonyms.items()})


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _strings(part)


def _replacements(redactor: PIIRedactor, channel: str, findings: Iterable[RecognizerResult]) -> str:
    """What the policy of a channel does with each kind of value that was found."""
    actions = {finding.entity_type: redactor.action(finding.entity_type, channel) for finding in findings}
    return ", ".join(f"{entity} {action}" for entity, action in sorted(actions.items())) or "nothing"
