"""`relrag original`: copies the file that a record was read from, and notes who had it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

import typer

from relrag_query.cli import dispatch
from relrag_query.cli.exit_codes import DONE
from relrag_query.cli.options import Config
from relrag_query.display.inert_text import safe

app = typer.Typer()
_PIECE_BYTES = 2**20


@app.command("original", epilog="Example: relrag original photo:IMG_2041.jpg -o photo.jpg")
def original_command(
    ref: Annotated[str, typer.Argument(help="Id of a record, as `relrag search --show-sources` prints it.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="File to write, or its folder.")],
    attachments: Annotated[
        bool, typer.Option("--attachments", help="Copy all attachments of a mail or a thread (thread:ID), as a zip.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    config: Config = None,
) -> None:
    """Copy the file or the attachment that a record was read from, as it lies among the exports. This is recorded."""
    dispatch.run(copy_attachments if attachments else original, ref, output, config, force=force)


def original(ref: str, output: Path, config: Path | None = None, *, force: bool = False) -> int:
    """Copies the original of a record to `output`, a file or a folder; returns the exit code.

    Raises SettingsError for a file that is there already, unless `force`.
    """
    from relrag_pipelines import settings as settings_module
    from relrag_query.owner import originals
    from relrag_query.service import Service

    config = config or settings_module.find_config()
    with Service.open(config) as service:
        opened = originals.find(service, ref)
        target = _target(output, opened.name, force=force)
        settings = service.settings
        originals.note_access(settings, originals.owner_of(settings, "command line"), ref)
    _write(target, _pieces(opened.file, opened.content))
    return DONE


def copy_attachments(ref: str, output: Path, config: Path | None = None, *, force: bool = False) -> int:
    """Writes the attachments of a record or thread as a zip to `output`, a file or a folder; returns the exit code.

    Raises SettingsError for a file that is there already, unless `force`.
    """
    from relrag_pipelines import settings as settings_module
    from relrag_query.owner import attachments, originals
    from relrag_query.service import Service

    with Service.open(config or settings_module.find_config()) as service:
        target = _target(output, attachments.NAME, force=force)
        pieces = attachments.pack(service, ref, originals.owner_of(service.settings, "command line"))
    _write(target, pieces)
    return DONE


def _pieces(file: Path, content: bytes | None) -> Iterator[bytes]:
    """The bytes of an original, which are its `content` or those of a file. Raises NoOriginal, which names the file."""
    from relrag_pipelines.files.regular_files import RefusedFile, open_plain
    from relrag_query.service.original_file import NoOriginal

    if content is not None:
        yield content
        return
    try:
        with open_plain(file) as stream:
            while piece := stream.read(_PIECE_BYTES):
                yield piece
    except (OSError, RefusedFile) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        advice = "check its permissions and the disk that it lies on, or export it again"
        raise NoOriginal(f"the original, {file}, cannot be read to its end: {why}; {advice}") from None


def _write(target: Path, pieces: Iterable[bytes]) -> None:
    """Writes the pieces to a file, all or nothing. Raises SettingsError where it cannot be written."""
    from relrag_pipelines.files.atomic import replace_file
    from relrag_pipelines.settings import SettingsError

    try:
        with replace_file(target, private=False) as part, part.open("wb") as stream:
            stream.writelines(pieces)
    except OSError as error:
        raise SettingsError(f"{target} cannot be written: {error.strerror}; name another file or folder") from None
    print(f"Wrote {safe(str(target))}. It is not redacted; that you had it is noted in private/reveals.jsonl.")


def _target(output: Path, name: str, *, force: bool) -> Path:
    """The file to write. Raises SettingsError if it is there already, unless `force`."""
    from relrag_pipelines.settings import SettingsError

    try:
        target = output / name if output.is_dir() else output
        is_taken = target.exists() and not force
    except OSError as error:
        raise SettingsError(f"{output} cannot be written: {error.strerror}") from None
    if is_taken:
        raise SettingsError(f"{target} is there already; name another file, or replace it with --force")
    return target
