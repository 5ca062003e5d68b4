"""`relrag init`: finds exports in a folder, shows the plan and writes relrag.toml."""

from __future__ import annotations

import json
import os
import re
import secrets
import shlex
import sys
import tomllib
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import nullcontext, redirect_stdout
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from relrag_pipelines.files import access
from relrag_query.cli import dispatch
from relrag_query.cli.options import Json
from relrag_query.display.amounts import duration, number, size
from relrag_query.display.inert_text import safe

if TYPE_CHECKING:
    from relrag_pipelines.ingest import unread_files
    from relrag_pipelines.onboarding.discover import Discovery
    from relrag_pipelines.onboarding.local_models import LocalServer

app = typer.Typer()


@app.command("init", epilog='Example: relrag init ~/exports --owner "Dana Levi"')
def init_command(
    folder: Annotated[Path, typer.Argument(help="Folder of your exports; by default the current one.")] = Path(),
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Where relrag.toml is written.")
    ] = None,
    owner: Annotated[
        str, typer.Option("--owner", metavar="NAME", help="The archive's owner, by the name in chats and mails.")
    ] = "",
    redaction: Annotated[
        str, typer.Option("--redaction", metavar="LEVEL", help="How much is hidden: balanced, strict or off.")
    ] = "",
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing relrag.toml; a copy is kept.")] = False,
    as_json: Json = False,
) -> None:
    """Show which exports a folder contains, and write relrag.toml."""
    dispatch.run(init, folder, output=output, owner=owner, redaction=redaction, yes=yes, force=force, as_json=as_json)


_NEW_ARCHIVE_SETTINGS = {"pii_redaction_enabled": True, "asset_neighborhood_expansion_enabled": True}
"""settings of a new archive that differ from the defaults"""
EXAMPLE = "Dana <dana@example.com>: pay to account 10-800-99999999, then call 052-123-4567"
LEVELS: dict[str, tuple[dict[str, Any], str]] = {
    "balanced": (
        {},
        "Dana <dana@example.com>: pay to account 10-800-99999999, then call <PHONE_NUMBER>",
    ),
    "strict": (
        {"pii_preset": "strict"},
        "Dana <<EMAIL_ADDRESS>>: pay to account <BANK_ACCOUNT>, then call <PHONE_NUMBER>",
    ),
    "off": ({"pii_redaction_enabled": False}, EXAMPLE),
}
"""redaction levels: the settings of each, and EXAMPLE as it appears in a redacted mail"""
_MAX_PATHS = 5
_NO_OWNER = "not set: write your name as it stands in your chats and mails, else questions about `me` are about nobody"


def init(
    folder: Path,
    *,
    output: Path | None = None,
    owner: str = "",
    redaction: str = "",
    yes: bool = False,
    force: bool = False,
    as_json: bool = False,
) -> int:
    """Proposes sources for a folder and writes relrag.toml; returns the exit code.

    With `as_json` the result is an object on standard output, and all other output goes to standard error.
    """
    with redirect_stdout(sys.stderr) if as_json else nullcontext():
        discovery = _look(folder, output, redaction, force=force)
        code = _init(discovery, folder, output, owner=owner, redaction=redaction, yes=yes, force=force)
    if as_json:
        result = _result(discovery, folder.expanduser().resolve(), output, code)
        print(json.dumps(result, indent=1, ensure_ascii=False))
    return code


def _look(folder: Path, output: Path | None, redaction: str, *, force: bool) -> Discovery:
    """What is in a folder. Raises SettingsError where it does not exist, or relrag.toml cannot be written."""
    from relrag_pipelines.onboarding.discover import discover

    folder, config = folder.expanduser().resolve(), _config_path(output or folder)
    _require_usable(folder, config, redaction, force)
    print(f"Looking into {folder} ...", flush=True)
    return discover(folder)


def _result(discovery: Discovery, folder: Path, output: Path | None, code: int) -> dict[str, Any]:
    """The result of an init: the sources of relrag.toml, and every file that none of them reads, in zips too."""
    from relrag_pipelines import settings as settings_module
    from relrag_pipelines.ingest import unread_files

    config = _config_path(output or folder)
    sources = settings_module.load(config, {}).sources if config.exists() else []
    tables = [{"name": source.name, "kind": source.kind, "path": source.path} for source in sources]
    opening = [{**table, "open_zips": source.open_zips} for table, source in zip(tables, sources, strict=True)]
    unread = [*_unread_files(folder, config, opening).files(), *map(unread_files.of_no_kind, discovery.unread_in_zips)]
    source_rows = [{**table, "path": str(table["path"])} for table in tables]
    return {"exit_code": code, "sources": source_rows, "unread_files": [asdict(file) for file in unread]}


def _init(
    discovery: Discovery, folder: Path, output: Path | None, *, owner: str, redaction: str, yes: bool, force: bool
) -> int:
    """Proposes the sources of a folder and writes relrag.toml; returns the exit code.

    `output` is where it is written, by default the folder. `owner` is whose archive it is; if it is not given, the
    user is asked. `redaction` is one of LEVELS, by default balanced. With `yes` nothing is asked; `force` replaces a
    relrag.toml that is there and keeps a copy.
    """
    from relrag_pipelines.onboarding import archive_owner, environment, first_sync, local_models
    from relrag_pipelines.onboarding.discover import source_table

    folder, config = folder.expanduser().resolve(), _config_path(output or folder)
    if not discovery.sources:
        _print_nothing(folder, discovery, config)
        return 2
    zone = environment.time_zone()
    sources = [source_table(source, folder, config.parent) for source in discovery.sources]
    _print_plan(discovery, first_sync.seconds_of_each(folder, discovery, zone or "UTC"))
    for note in [*_notes(discovery, config, zone), *_unread_files(folder, config, sources).sentences()]:
        print(f"- {note}")
    owner = owner.strip()
    guess = (
        ""
        if owner
        else _previous_setting(config, "owner") or archive_owner.guess(folder, discovery.sources, zone or "UTC")
    )
    servers = local_models.local_servers()
    reader: dict[str, Any] = {}
    if not yes and sys.stdin.isatty():
        owner = owner or _ask_owner(guess)
        redaction = redaction or _ask_redaction()
        reader = _ask_reader(servers)
        if not _confirm_write(config):
            print("Nothing was written.")
            return 2
    if not owner:
        _print_no_owner(guess)
    if not reader:
        _print_servers(servers)
    values = {"timezone": zone or "UTC", **_NEW_ARCHIVE_SETTINGS, **LEVELS[redaction or "balanced"][0], **reader}
    _write(config, _template(_archive(folder, config), sources, values, owner))
    return 0


def write_empty(config: Path) -> None:
    """Writes the relrag.toml of an archive without sources, for the pages to fill. Raises SettingsError."""
    from relrag_pipelines.onboarding import environment

    config.parent.mkdir(parents=True, exist_ok=True)
    _require_usable(config.parent, config, "", force=False)
    values = {"timezone": environment.time_zone() or "UTC", **_NEW_ARCHIVE_SETTINGS}
    _write_file(config, _template(_archive(config.parent, config), [], values, ""))


def _template(archive: str, sources: list[dict[str, Any]], values: dict[str, Any], owner: str) -> str:
    """The text of relrag.toml, with a comment if no owner is set."""
    from relrag_pipelines import settings as settings_module

    if owner:
        return settings_module.template(archive, sources, {"owner": owner, **values}, {})
    return settings_module.template(archive, sources, values, {"owner": _NO_OWNER})


def _config_path(output: Path) -> Path:
    """The file to write: in a folder, its relrag.toml."""
    from relrag_pipelines.settings import CONFIG_NAME

    path = output.expanduser().resolve()
    return path / CONFIG_NAME if path.is_dir() else path


def _require_usable(folder: Path, config: Path, redaction: str, force: bool) -> None:
    """Raises SettingsError if the options cannot be carried out."""
    from relrag_pipelines.settings import SettingsError

    if redaction and redaction not in LEVELS:
        raise SettingsError(f'--redaction is "{redaction}"; known: {", ".join(LEVELS)}')
    if not folder.is_dir():
        raise SettingsError(f"{folder} is not a folder; name the folder that holds your exports")
    if config.exists() and not force:
        raise SettingsError(f"{config} is already there; edit it, or replace it with --force, which keeps a copy")


def _ask_redaction() -> str:
    """Asks how much to hide, with an example of each level."""
    print(f"\nHow much personal data is hidden in what is indexed? A mail that says\n  {EXAMPLE}\nbecomes")
    for name, (_, example) in LEVELS.items():
        print(f"  {name:<9} {example}")
    answer = input("balanced, strict or off? [balanced] ").strip().lower()
    return answer if answer in LEVELS else "balanced"


def _ask_reader(servers: Sequence[LocalServer]) -> dict[str, Any]:
    """Asks which model on this machine reads and answers; the settings for it, empty where none is chosen."""
    offers = [(server.url, name) for server in servers for name in server.models]
    if not offers:
        return {}
    print("\nA language model on this machine can read what is found and answer; nothing leaves the machine.")
    for position, (url, name) in enumerate(offers, 1):
        print(safe(f"  {position} {name} at {url}"))
    answer = input("Which one, by number? [none] ").strip()
    if not answer.isdecimal() or not 0 < int(answer) <= len(offers):
        return {}
    url, name = offers[int(answer) - 1]
    return {"answerer": "local", "answer_url": url, "answer_model": name}


def _print_servers(servers: Sequence[LocalServer]) -> None:
    """Names the models on this machine that relrag.toml does not use."""
    for server in servers:
        print(safe(f"- A language model runs at {server.url} ({', '.join(server.models)})."))
        print(f'  answerer = "local", answer_url = "{server.url}" and answer_model let it read and answer.')


def _unread_files(folder: Path, config: Path, sources: list[dict[str, Any]]) -> unread_files.UnreadFiles:
    """The files of the folder that no source reads."""
    from relrag_pipelines.ingest import unread_files
    from relrag_pipelines.settings import Settings

    return unread_files.find_unread(Settings.model_validate({"folder": config.parent, "sources": sources}), folder)


def _print_nothing(folder: Path, discovery: Discovery, config: Path) -> None:
    from relrag_pipelines.sources import KINDS

    print(f"Nothing in {folder} is recognised. What can be read:")
    width = max(map(len, KINDS))
    for kind in KINDS.values():
        print(f"  {kind.name:<{width}} {kind.meaning}")
    if discovery.unread:
        print(f"There, but damaged, encrypted or something else: {_shorten_list(discovery.unread)}")
    for sentence in _unread_files(folder, config, []).sentences():
        print(sentence)
    if not discovery.complete:
        print("There was no time to look into every folder; name a subfolder.")


def _print_no_owner(guess: str) -> None:
    print(f"- owner is {_NO_OWNER}.")
    if guess:
        print(safe(f'- It may be "{guess}"; --owner "{guess}" says so.'))


def _print_plan(discovery: Discovery, seconds_of_each: Sequence[float]) -> None:
    from rich.console import Console
    from rich.table import Table

    from relrag_pipelines import embedders
    from relrag_pipelines.onboarding.estimate import (
        FIXED_BYTES,
        START_SECONDS,
        estimate,
        passage_count,
        text_bytes,
        vector_bytes,
    )
    from relrag_pipelines.settings import Settings

    table = Table("source", "kind", "folder")
    for heading in ("files", "size", "time", "disk"):
        table.add_column(heading, justify="right", no_wrap=True)
    total_seconds, total_bytes = START_SECONDS, FIXED_BYTES
    for source, seconds in zip(discovery.sources, seconds_of_each, strict=True):
        total_seconds += seconds
        disk = estimate(source.files, source.records, text_bytes(source.sizes)).bytes
        total_bytes += disk
        row = (source.name, source.kind, source.path, f"{source.files:,}", size(source.bytes))
        table.add_row(*row, duration(seconds), size(disk))
    passages = sum(passage_count(source.kind, source.records, text_bytes(source.sizes)) for source in discovery.sources)
    total_bytes += vector_bytes(passages, embedders.numbers_per_passage(Settings.model_validate({})))
    Console(soft_wrap=not sys.stdout.isatty()).print(table)
    print(f"The first sync takes about {duration(total_seconds)} and {size(total_bytes)} of disk; later ones do less.")


def _notes(discovery: Discovery, config: Path, zone: str | None) -> Iterator[str]:
    """Remarks for the user before relrag.toml is written."""
    from relrag_pipelines.onboarding import environment

    yield from _embedding_note(discovery)
    if discovery.unrecognised:
        count = number(len(discovery.unrecognised), "file is", "files are")
        paths = _shorten_list(discovery.unrecognised)
        yield f"{count} not recognised; a sync tries and lists what it cannot read: {paths}"
    yield from _zip_notes(discovery)
    if discovery.by_name:
        yield f"{number(discovery.by_name, 'file was', 'files were')} recognised by name only, since there are so many."
    if not discovery.complete:
        yield "Not every folder was examined; a sync reads them all."
    if zone is None:
        yield "This machine has no time zone set, so timezone is UTC. Set it: local times in chats depend on it."
    else:
        yield f"Local times in chats are read as those of {zone}, the time zone of this machine (timezone)."
    yield from environment.location_warnings(_home(config))
    if tree := environment.tracking_git_tree(_home(config)):
        yield f"{_home(config)} lies in the git tree {tree}; it gets a .gitignore of its own and is left out."
    configured = os.environ.get("RELRAG_CONFIG")
    if configured and Path(configured).expanduser().resolve() != config:
        yield f"RELRAG_CONFIG names {configured}, which stays in effect until you change it."
    if (_home(config) / "private").exists() and not config.exists():
        yield f"{_home(config)} already holds an index; its keys are stored under the archive name it was created with."


def _zip_notes(discovery: Discovery) -> Iterator[str]:
    """What is opened, and what is left out of Takeouts and zips."""
    if zips := [source.name for source in discovery.sources if source.opens_zips]:
        yield f"Zips are opened for {', '.join(zips)} (open_zips); a sync copies what they read to private/mirror."
    for part in discovery.left_out:
        yield (
            f"{safe(part.folder)} is left out ({part.label}, {number(part.files, 'file')}); "
            "to have it read, remove it from `exclude` of the source."
        )
    yield from map(safe, discovery.failures_in_zips[:_MAX_PATHS])
    if discovery.unread_in_zips:
        yield _describe_unread_in_zips(discovery.unread_in_zips)


def _describe_unread_in_zips(paths: list[str]) -> str:
    """Names files in zips that no kind reads, with what to do for each suffix."""
    from relrag_pipelines.ingest import unread_files

    remedies = sorted({f"{file.suffix_text}: {file.remedy}" for file in map(unread_files.of_no_kind, paths)})
    count = number(len(paths), "file in a zip is of no kind", "files in zips are of no kind")
    return f"{count} that relrag reads ({safe(_shorten_list(paths))}); {'; '.join(remedies)}."


def _embedding_note(discovery: Discovery) -> Iterator[str]:
    """Which passages are embedded for search by meaning, where, and how long it takes with the default embedder."""
    from relrag_pipelines import embedders
    from relrag_pipelines.onboarding.estimate import text_bytes
    from relrag_pipelines.settings import Settings
    from relrag_pipelines.stages.embedding_cost import BYTES_A_TOKEN

    model = embedders.model(Settings.model_validate({}))
    if model is None or model.host:
        return
    tokens = sum(text_bytes(source.sizes) for source in discovery.sources) * model.embedded_share / BYTES_A_TOKEN
    time = duration(tokens / model.tokens_per_second) if model.tokens_per_second else "a while"
    yield (
        f"Passages in {', '.join(model.languages) or 'all languages'} are embedded, so that they are found by meaning "
        f"too: on this machine, which takes up to {time}. A large archive can be searched by words before that."
    )


def _ask_owner(proposed: str) -> str:
    """Asks for the owner's name; empty if the user gives none."""
    named = safe(proposed)
    default = f"[{named}; - for nobody] " if named else ""
    answer = input(f"Whose archive is it, by the name in chats and mails? {default}").strip()
    return "" if answer == "-" else answer or named


def _confirm_write(config: Path) -> bool:
    answer = input(f"Write {config}? [Y/n] ")
    return answer.strip().lower() in {"", "y", "yes"}


def _archive(folder: Path, config: Path) -> str:
    """Name of the archive: that of the replaced relrag.toml, since the keys are stored under it, or else a new name.

    Four random digits keep two folders of the same name from sharing their keys.
    """
    if archive := _previous_setting(config, "archive"):
        return archive
    ascii_name = unicodedata.normalize("NFKD", folder.name).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", ascii_name).strip("-")[:40] or "archive"
    return f"{slug}-{secrets.token_hex(2)}"


def _previous_setting(config: Path, name: str) -> str:
    """A setting of the replaced relrag.toml; empty if it is missing or invalid."""
    from relrag_pipelines.settings import Settings

    try:
        value = tomllib.loads(config.read_text(encoding="utf-8-sig"))[name]
        return str(getattr(Settings.model_validate({name: value}), name))
    except (OSError, ValueError, KeyError):
        return ""


def _write(config: Path, text: str) -> None:
    _write_file(config, text)
    print(f"\nWrote {config}. Next:\n")
    if config.parent != Path.cwd():
        print(f"  cd {shlex.quote(str(config.parent))}")
    print("  relrag sync\n  relrag ask 'What did we decide about ...?'")


def _write_file(config: Path, text: str) -> None:
    """Writes relrag.toml; a former one is renamed."""
    from relrag_pipelines import settings as settings_module
    from relrag_pipelines.files.atomic import write_text
    from relrag_pipelines.settings import SettingsError

    try:
        if config.exists():
            copy = next(name for name in _copies(config) if not name.exists())
            config.rename(copy)
            print(f"Kept the old one as {copy.name}.")
        with access.default_permissions():
            config.parent.mkdir(parents=True, exist_ok=True)
            write_text(config, text, private=False)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise SettingsError(f"{config} cannot be written ({reason}); name another place with --output") from None
    settings_module.load(config, {})
    _keep_out_of_git(_home(config))


def _copies(config: Path) -> Iterator[Path]:
    yield config.with_name(f"{config.name}.bak")
    for count in range(2, 1000):
        yield config.with_name(f"{config.name}.bak{count}")


def _keep_out_of_git(home: Path) -> None:
    """Writes a .gitignore into the home if a git tree would track it; changes no other file of the tree."""
    from relrag_pipelines.onboarding import environment

    if environment.tracking_git_tree(home):
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        (home / ".gitignore").write_text("*\n")


def _home(config: Path) -> Path:
    from relrag_pipelines.settings import Settings

    home = os.environ.get("RELRAG_HOME")
    return Settings.model_validate({"folder": config.parent, **({"home": home} if home else {})}).home_path


def _shorten_list(paths: list[str]) -> str:
    hidden_count = len(paths) - _MAX_PATHS
    return ", ".join(paths[:_MAX_PATHS]) + (f" and {hidden_count:,} more" if hidden_count > 0 else "")
