"""`relrag show`: prints a record and what it is related to. `relrag thread`: prints a thread in order."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from zoneinfo import ZoneInfo

import typer

from relrag_query.cli import dispatch
from relrag_query.cli.json_output import print_json
from relrag_query.cli.options import Config, Json
from relrag_query.display.inert_text import safe

if TYPE_CHECKING:
    from relrag_pipelines.records import Chunk, Record
    from relrag_query.archive import Archive

app = typer.Typer()


@app.command("show", epilog="Example: relrag show 1")
def show_command(
    ref: Annotated[
        str,
        typer.Argument(
            help="A record, passage (chunk:...) or thread (thread:...), or a number of the last answer or search."
        ),
    ],
    limit: Annotated[
        int, typer.Option("--limit", "-n", metavar="N", min=1, help="At most this many related records.")
    ] = 50,
    as_json: Json = False,
    config: Config = None,
) -> None:
    """Print one record, passage or thread, and what it is related to."""
    dispatch.run(show, ref, config, limit=limit, as_json=as_json)


@app.command("thread", epilog="Example: relrag thread 1 --limit 20")
def thread_command(
    ref: Annotated[str, typer.Argument(help="A thread, a record of it, or a number of the last answer or search.")],
    limit: Annotated[
        int, typer.Option("--limit", "-n", metavar="N", min=1, help="At most this many records, the latest ones.")
    ] = 50,
    as_json: Json = False,
    config: Config = None,
) -> None:
    """Print a conversation in order: a thread of mails, or a chat."""
    dispatch.run(thread, ref, config, limit=limit, as_json=as_json)


def show(ref: str, config: Path | None = None, *, limit: int = 50, as_json: bool = False) -> int:
    """Prints what an id, or a number of the last answer or search, refers to; returns the exit code.

    Raises ArchiveError if the id or number is unknown.
    """
    from relrag_query.archive import Archive, ArchiveError
    from relrag_query.service.service import Service

    with Archive.open(config) as archive:
        ref = _resolve_number(ref, archive) if ref.isdecimal() else ref
    if as_json:
        with Service.open(config) as service:
            return print_json(service.show(ref, limit).model_dump(mode="json", by_alias=True))
    with Archive.open(config) as archive:
        zone = ZoneInfo(archive.settings.timezone)
        lines = list(_lines(ref, archive, zone, limit))
        if not lines:
            raise ArchiveError(f'the archive has nothing named "{ref}"; `relrag search` shows ids')
        related = archive.neighbors(ref, limit=limit)
    for line in lines:
        print(safe(line))
    if related:
        print("\nRelated:")
    for neighbor in related:
        arrow = "->" if neighbor.direction == "out" else "<-"
        why = f": {neighbor.provenance} ({neighbor.confidence:g})" if neighbor.relation_type == "references" else ""
        print(safe(f"  {arrow} {neighbor.relation_type} {neighbor.asset_ref}{why}"))
    return 0


def thread(ref: str, config: Path | None = None, *, limit: int = 50, as_json: bool = False) -> int:
    """Prints the last records of a thread, or of a record's thread, in order; returns the exit code.

    Raises ArchiveError if the id is unknown, or the record belongs to no thread.
    """
    from relrag_query.archive import Archive, ArchiveError

    with Archive.open(config) as archive:
        ref = _resolve_number(ref, archive) if ref.isdecimal() else ref
        zone = ZoneInfo(archive.settings.timezone)
        name = ref.removeprefix("thread:") if ref.startswith("thread:") else _thread_of(ref, archive)
        members = archive.thread(name, limit)
        records = [archive.record(member.asset_ref) for member in reversed(members)]
        if as_json and members:
            return print_json({"thread_id": name, "records": _replies(records, zone, archive)})
    if not members:
        raise ArchiveError(f'the archive has no thread named "{name}"; `relrag show` names the thread of a record')
    if len(members) == limit:
        print(f"The last {limit}; --limit shows more.\n")
    readable = [record for record in records if record]
    # an attachment has the time of its record, and follows it
    for record in sorted(readable, key=lambda member: (member.ts or 0, _is_attachment(member))):
        _print_member(record, zone)
    return 0


def _print_member(record: Record, zone: ZoneInfo) -> None:
    """Prints a record of a thread: of an attachment its name, of others time, sender and text."""
    from relrag_query.display.source_line import time_of

    if _is_attachment(record):
        print(safe(f"    attached: {record.file_name or record.subject or record.asset_id}\n"))
        return
    when = time_of(record.ts, zone, record.rag_source_type, record.date_quality)
    print(safe(f"{when}  {record.from_ or ''}".rstrip()))
    print(safe(textwrap.indent(record.text.strip(), "    ")) + "\n")


def _replies(records: Iterable[Record | None], zone: ZoneInfo, archive: Archive) -> list[dict[str, Any]]:
    """The records as the API gives them."""
    from relrag_query.service.record_replies import record_reply

    replies = [record_reply(record, zone, archive.index_entries([record.asset_id])) for record in records if record]
    return [reply.model_dump(mode="json", by_alias=True) for reply in replies]


def _is_attachment(record: Record) -> bool:
    from relrag_pipelines.sources import record_type

    return bool(record_type(record.rag_source_type).part_of)


def _thread_of(ref: str, archive: Archive) -> str:
    from relrag_query.archive import ArchiveError

    match = archive.record(ref) or archive.chunk(ref.removeprefix("chunk:")) or next(iter(archive.chunks_of(ref)), None)
    if match is None and archive.thread(ref, 1):  # JSON and MCP give thread ids without the prefix
        return ref
    if match is None:
        raise ArchiveError(f'the archive has nothing named "{ref}"; `relrag search` shows ids')
    if not match.thread_id:
        raise ArchiveError(f'"{ref}" is in no thread')
    return match.thread_id


def _resolve_number(number: str, archive: Archive) -> str:
    from relrag_query.archive import ArchiveError
    from relrag_query.cli import conversation

    ids = conversation.load(archive.settings.home_path).sources
    if 1 <= int(number) <= len(ids):
        return ids[int(number) - 1]
    count = f"it had {len(ids)}" if ids else "none is stored"
    raise ArchiveError(f"the last answer or search has no number {number}; {count}")


def _lines(ref: str, archive: Archive, zone: ZoneInfo, limit: int) -> Iterator[str]:
    from relrag_query.cli.people_report import page_lines
    from relrag_query.display.source_line import time_of
    from relrag_query.people.indexed_person import is_number

    if ref.startswith("thread:"):
        for member in archive.thread(ref.removeprefix("thread:"), limit):
            yield f"{time_of(member.ts, zone, member.rag_source_type, member.date_quality)}  {member.asset_ref}"
        return
    if ref.startswith("person:"):
        if is_number(number := ref.removeprefix("person:")):
            yield from page_lines(archive.person(number), zone)
        return
    if ref.startswith("audio:"):
        yield from (f"audio of {neighbor.asset_ref}" for neighbor in archive.neighbors(ref, limit=limit))
        return
    if record := archive.record(ref):
        yield from _record(record, zone)
        return
    chunk = archive.chunk(ref.removeprefix("chunk:"))
    for passage in [chunk] if chunk else archive.chunks_of(ref):
        yield from _chunk(passage, zone)


def _record(record: Record, zone: ZoneInfo) -> Iterator[str]:
    from relrag_query.display.source_line import time_of

    fields = {
        "id": record.asset_id,
        "type": record.rag_source_type,
        "source": record.source,
        "time": f"{time_of(record.ts, zone, record.rag_source_type, record.date_quality)} ({record.date_quality})",
        "from": record.from_,
        "to": ", ".join(record.to),
        "participants": ", ".join(record.participants),
        "subject": record.subject,
        "file": record.file_name,
        "thread": record.thread_id,
        "part of": record.parent_asset_id,
        "held in": "\n              ".join(record.locations),
    }
    yield from _fields(fields)
    yield ""
    starts = {page.start: page.number for page in record.pages}
    edges = sorted({0, *starts, len(record.text)})
    for start, end in pairwise(edges):
        if start in starts:
            yield f"--- page {starts[start]} ---"
        yield record.text[start:end].rstrip()
    for section, text in record.extra.get("apart", {}).items():
        yield f"--- {section.replace('_', ' ')} ---"
        yield str(text)


def _chunk(chunk: Chunk, zone: ZoneInfo) -> Iterator[str]:
    from relrag_query.display.source_line import seconds_of, time_of

    page = f"{chunk.page_number}-{chunk.last_page_number}" if chunk.page_number else None
    fields = {
        "passage": f"{chunk.chunk_id} ({chunk.chunk_index + 1} of {chunk.chunk_count})",
        "of": chunk.asset_id,
        "type": chunk.rag_source_type,
        "source": chunk.source,
        "time": time_of(chunk.ts, zone, chunk.rag_source_type, chunk.date_quality or ""),
        "from": chunk.from_,
        "subject": chunk.subject,
        "pages": page,
        "said at": seconds_of(chunk),
        "messages": "\n              ".join(chunk.members),
    }
    yield from _fields(fields)
    yield ""
    yield chunk.text


def _fields(fields: dict[str, str | None]) -> Iterator[str]:
    for name, value in fields.items():
        if value:
            yield f"{name:<12}  {value}"
