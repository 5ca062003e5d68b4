"""Options and arguments that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Config = Annotated[
    Path | None, typer.Option("--config", "-c", metavar="FILE", help="relrag.toml to use; by default the nearest one.")
]
Sources = Annotated[
    list[str] | None, typer.Option("--source", metavar="NAME", help="Only this source; may be repeated.")
]
Kinds = Annotated[list[str] | None, typer.Option("--kind", metavar="KIND", help="Only this kind; may be repeated.")]
Person = Annotated[
    str, typer.Option("--person", metavar="NAME", help="Only what involves this person: a name, alias or number.")
]
Since = Annotated[
    str | None, typer.Option("--from", metavar="DATE", help="Nothing earlier: 2024, 2024-03 or 2024-03-15.")
]
Until = Annotated[str | None, typer.Option("--to", metavar="DATE", help="Nothing later: 2024, 2024-03 or 2024-03-15.")]
Attachment = Annotated[
    str | None,
    typer.Option(
        "--attachment",
        metavar="TYPE",
        help="Only attachments of this type, and what they are attached to: any, pdf, image, audio, video, document, "
        "spreadsheet, presentation, calendar or archive.",
    ),
]
Added = Annotated[
    str | None,
    typer.Option(
        "--added",
        metavar="DATE",
        help="Only what was first added to the archive then or later: 2024-03-15 or 2024-03-15T10:00Z.",
    ),
]
Limit = Annotated[
    int | None, typer.Option("--limit", "-n", metavar="N", min=1, max=100, help="At most this many passages.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
ShowSources = Annotated[
    bool, typer.Option("--show-sources", help="Print the compact line, the id and the place of each source.")
]
Trace = Annotated[bool, typer.Option("--trace", help="Show what each step did.")]
Wait = Annotated[
    float, typer.Option("--wait", metavar="SECONDS", min=0, help="Seconds to wait for another sync to finish.")
]
Strict = Annotated[bool, typer.Option("--strict", help="Exit with 1 for failures that were reported before, too.")]
CallIds = Annotated[list[str] | None, typer.Argument(help="Ids or their beginnings; `relrag calls list` shows them.")]
PersonName = Annotated[str, typer.Argument(help="A name, an alias or a number from `relrag people list`.")]
ServedIndex = Annotated[
    Path | None,
    typer.Option("--index", metavar="DIR", help="A folder with GraphRAG's parquet files, for traces of citations."),
]
Who = Annotated[
    str, typer.Option("--who", metavar="NAME", help="Who asks to see originals; recorded in private/reveals.jsonl.")
]
Why = Annotated[str, typer.Option("--why", metavar="PURPOSE", help="For what purpose; recorded too.")]
Words = Annotated[list[str], typer.Argument(help="In any of the archive's languages.")]
SearchWords = Annotated[
    list[str] | None,
    typer.Argument(help="In any of the archive's languages; without words, records are listed, newest first."),
]
