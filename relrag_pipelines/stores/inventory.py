"""Every file of a home, declared once: what it is, and what it can be rebuilt from.

`verify` names what is declared nowhere here, and a backup takes along what can be made from nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from relrag_pipelines.stores import (
    archive_regions,
    archive_tables,
    audit_mark,
    bucket_commit,
    graph_indexes,
    lake,
    model_answers,
    question_files,
    unread_passages,
)

Origin = Literal["owner", "exports", "private", "history", "running", "passing"]
"""What a file is made of. owner: of what the owner said or allowed, so it can be made from nothing. exports: of the
exports, which may be gone. private: of private/. history: of what has happened. running: of a process, while it runs.
passing: for the moment."""


@dataclass(frozen=True)
class InventoryPart:
    """Files of one sort."""

    pattern: str
    """regular expression of their paths within the home"""
    meaning: str
    origin: Origin


_MONTHS = r"(MANIFEST\.json|\d{4}-\d\d\.parquet)"
_TABLES = "|".join(lake.DERIVED)
_WHOLE = "|".join(archive_tables.NAMES) or "-"

PARTS = (
    InventoryPart(r"(.+/)?\.[^/]+\.\d+\.tmp", "was left by a process that was killed", "passing"),
    InventoryPart(r"published/next/.+", "belongs to a generation that was not finished", "passing"),
    InventoryPart(r"published/\.\d+\.removed/.+", "belongs to a generation that was being removed", "passing"),
    InventoryPart(r"lock", "who is writing", "running"),
    InventoryPart(r"dagster/ui-\d+\.json", "makes links that log in to the UI", "running"),
    InventoryPart(r"serve-\d+\.json", "makes links that log in to the pages", "running"),
    InventoryPart(r"(dagster/ui|serve)-\d+\.used/[0-9a-f]+", "which of these links were used", "running"),
    InventoryPart(r"dagster/daemon\.lock", "locked while Dagster's daemon is alive", "running"),
    InventoryPart(rf"private/records/[^/]+/{_MONTHS}", "private records", "exports"),
    InventoryPart(
        r"private/(units|failures)/[^/]+\.parquet", "what is known of each file, and what failed in it", "exports"
    ),
    InventoryPart(
        r"private/threads/[^/]+\.parquet", "which thread each mail belongs to, and what it is called", "exports"
    ),
    InventoryPart(
        r"private/raw/[^/]+/[0-9a-f]+/[0-9a-f]+\.[0-9a-f]{64}",
        "mails that could not be read to their end, as they came",
        "exports",
    ),
    InventoryPart(
        r"private/mirror/[^/]+/items/(.+/)?\.[^/]+\.part", "was being fetched when a sync was killed", "passing"
    ),
    InventoryPart(
        r"private/mirror/[^/]+/(state\.json|items/.+)", "what servers of sources have, as they sent it", "exports"
    ),
    InventoryPart(bucket_commit.RESTORING, "private files were being fetched from a bucket", "passing"),
    InventoryPart(r"private/spill/.+", "was put away by an export that was killed", "passing"),
    InventoryPart(
        r"private/ray/.+", "belongs to a Ray cluster of a sync; after a kill the next sync removes it", "passing"
    ),
    InventoryPart(r"private/ray-node/.+", "belongs to a node of a Ray cluster, while it runs", "running"),
    InventoryPart(r"private/transcripts/[^/]+/[^/]+\.vtt", "what a model heard in calls", "exports"),
    InventoryPart(r"private/vault/[^/]+/\d{4}-\d\d\.parquet", "what pseudonyms stand for, encrypted", "private"),
    InventoryPart(r"private/reveals\.jsonl", "who had something revealed, and why", "owner"),
    InventoryPart(r"private/journal\.jsonl", "what the owner stated", "owner"),
    InventoryPart(
        r"private/(approvals|links)\.jsonl", "what the owner stated, to be taken over into the journal", "owner"
    ),
    InventoryPart(r"private/forgotten\.json", "what was forgotten, as keyed hashes", "owner"),
    InventoryPart(r"private/progress\.json", "how far who writes is", "running"),
    InventoryPart(r"private/job\.(json|log)", "the last command that the pages started, and its output", "running"),
    InventoryPart(r"private/uploads/[0-9a-f]{32}(\.part|/.+)", "is being uploaded to the pages", "passing"),
    InventoryPart(r"private/vectors\.db(-journal)?", "vectors by the keyed hash of their text", "private"),
    InventoryPart(
        r"private/graphrag_vectors/[a-z][a-z0-9_]*\.db(-journal)?",
        "vectors of registered GraphRAG indexes by the keyed hash of their text",
        "private",
    ),
    InventoryPart(
        archive_regions.NAME.replace(".", r"\."),
        "the countries that the archive is at home in, and what tells so",
        "private",
    ),
    InventoryPart(r"private/known_failures\.json", "which failures were told of, as keyed hashes", "private"),
    InventoryPart(
        r"private/searched_values\.json", "which replaced values were looked for, as keyed hashes", "private"
    ),
    InventoryPart(
        unread_passages.NAME.replace(".", r"\."), "how many passages wait for a language model; a figure", "history"
    ),
    InventoryPart(
        "|".join(map(re.escape, question_files.NAMES)),
        "the last questions, ids of what was shown for them, and how many records there were at the last visit",
        "history",
    ),
    InventoryPart(r"private/backfills\.json", "which copies of older systems' collections were taken", "history"),
    InventoryPart(r"private/MANIFEST\.json", "the hashes of these", "exports"),
    InventoryPart(rf"lake/records/[^/]+/{audit_mark.NAME}", "says that a redaction was not checked yet", "private"),
    InventoryPart(
        bucket_commit.BASE.replace(".", r"\."), "which commit of its bucket the lake was made from", "private"
    ),
    InventoryPart(
        rf"{bucket_commit.RULES}/[0-9a-f]{{32}}\{bucket_commit.RULE_SUFFIX}",
        "what was forgotten, for other machines, encrypted",
        "private",
    ),
    InventoryPart(rf"lake/({_TABLES})/[^/]+/{_MONTHS}", "the lake", "private"),
    InventoryPart(
        rf"lake/({_WHOLE})/({archive_tables.MANIFEST}|{archive_tables.FILE})", "tables of the whole archive", "private"
    ),
    InventoryPart(rf"{graph_indexes.FOLDER}/[a-z][a-z0-9_]*/(\d+/[^/]+|current)", "GraphRAG indexes", "private"),
    InventoryPart(
        "|".join(map(re.escape, model_answers.FILES)), "what language models answered about passages", "private"
    ),
    InventoryPart(r"published/(\d+/.+|current)", "published generations", "private"),
    InventoryPart(
        r"published/layouts/\d+/[0-9a-f]{64}\.f4", "where the nodes of a generation's graphs are drawn", "private"
    ),
    InventoryPart(r"published/evaluations\.json", "how well generations answered; figures only", "history"),
    InventoryPart(
        r"dagster/(?!ui-\d+\.(json$|used/)|daemon\.lock$).+", "runs and events; no text of the archive", "history"
    ),
)


def part(name: str) -> InventoryPart | None:
    """The declaration of a file by its path within its home; None if no such file belongs there."""
    return next((declared for declared in PARTS if re.fullmatch(declared.pattern, name)), None)


def belongs_to_source(name: str, source: str) -> bool:
    """Whether a private file holds what is known of that source."""
    return bool(
        re.fullmatch(
            rf"private/(records/{source}/.+|(units|failures|threads)/{source}\.parquet|(raw|mirror)/{source}/.+)", name
        )
    )
