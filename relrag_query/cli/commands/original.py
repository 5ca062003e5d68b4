"""`relrag original`: copies the file that a record was read from, and notes who had it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer

from relrag_query.cli import dispatch
from relrag_query.cli.exit_codes import DONE
from relrag_query.cli.options import Config
from relrag_query.display.inert_text import safe

app = typer.Typer()


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
    from relrag_pipelines.settings import SettingsError
    from relrag_query.owner import originals
    from relrag_query.service import Service

    config = config or settings_module.find_config()
    with Service.open(config) as service:
        opened = originals.find(service, ref)
        target = _target(output, opened.name, force=force)
        settings = service.settings
        originals.note_access(settings, originals.owner_of(settings, "command line"), ref)
    try:
        if opened.content is None:
            shutil.copyfile(opened.file, target)
        else:
            target.write_bytes(opened.content)
    except OSError as error:
        raise SettingsError(f"{target} cannot be written: {error.strerror}") from None
    print(f"Wrote {safe(str(target))}. It is not redacted; that you had it is noted in private/reveals.jsonl.")
    return DONE


def copy_attachments(ref: str, output: Path, config: Path | None = None, *, force: bool = False) -> int:
    """Writes the attachments of a record or thread as a zip to `output`, a file or a folder; returns the exit code.

    Raises SettingsError for a file that is there already, unless `force`.
    """
    from relrag_pipelines import settings as settings_module
    from relrag_pipelines.files.atomic import replace_file
    from relrag_pipelines.settings import SettingsError
    from relrag_query.owner import attachments, originals
    from relrag_query.service import Service

    with Service.open(config or settings_module.find_config()) as service:
        target = _target(output, attachments.NAME, force=force)
        pieces = attachments.pack(service, ref, originals.owner_of(service.settings, "command line"))
    try:
        with replace_file(target, private=False) as part, part.open("wb") as stream:
            stream.writelines(pieces)
    except OSError as error:
        raise SettingsError(f"{target} cannot be written: {error.strerror}") from None
    print(f"Wrote {safe(str(target))}. It is not redacted; that you had it is noted in private/reveals.jsonl.")
    return DONE


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
