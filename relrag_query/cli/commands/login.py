"""`relrag login`: logs in to the server of a source, and stores the secret beside the keys."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from relrag_query.cli import dispatch
from relrag_query.cli.exit_codes import DONE
from relrag_query.cli.options import Config

app = typer.Typer()


@app.command("login", epilog="Example: relrag login mail ~/Downloads/client_secret.json")
def login_command(
    source: Annotated[str, typer.Argument(help="Source of kind gmail whose url is Gmail's API.")],
    client: Annotated[Path, typer.Argument(help="OAuth client (desktop app) from Google's console, as JSON.")],
    config: Config = None,
) -> None:
    """Log in to Gmail once, in a browser; the secret is stored beside the archive's keys."""
    dispatch.run(login, source, client, config)


def login(source: str, client: Path, config: Path | None = None) -> int:
    """Logs in to Gmail with an OAuth client of its own; returns the exit code."""
    from relrag_pipelines import settings as settings_module
    from relrag_pipelines.settings import SettingsError
    from relrag_pipelines.sources import KINDS
    from relrag_pipelines.sources.mail import gmail_login
    from relrag_pipelines.sources.mail.gmail_login import LoginError
    from relrag_pipelines.sources.remote import secrets

    settings = settings_module.load(config)
    named = settings.source(source)
    if not (KINDS[named.kind].consents and named.is_fetched):
        kinds = " or ".join(kind.name for kind in KINDS.values() if kind.consents)
        raise SettingsError(f"source {source} needs no login; that is for kind {kinds} with a url in place of a path")
    try:
        text = client.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise LoginError(f"{client} cannot be read; download it from Google's console as JSON") from None
    secret = gmail_login.log_in(gmail_login.parse_client(text), _show)
    file = secrets.file_of(settings.keys_path, settings.archive, source)
    secrets.write_secret(file, secret)
    print(f"Logged in. The secret is in {file}; `relrag sync` uses it.")
    return DONE


def _show(address: str) -> None:
    print(
        f"Open this address in a browser of this machine, and allow relrag to read your mail:\n\n{address}\n",
        flush=True,
    )
