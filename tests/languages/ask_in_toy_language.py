"""Asks an archive questions in a language that a folder adds; prints what was understood and found, as JSON."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from relrag_pipelines import languages
from relrag_pipelines.text import kinship
from relrag_pipelines.text.analyzer import query_tokens
from relrag_query.archive import Archive
from relrag_query.people.kin_words import kin_words
from relrag_query.understanding.intent import QueryIntent, asked_values, classify_query_intent
from relrag_query.understanding.phrases import bare, load_phrases
from relrag_query.understanding.time_expressions import time_range
from tests import archive

CHAT = """\
13/01/2024, 10:15 - Dana Levi: zub fralmo grintu zib murvak
14/02/2024, 21:40 - Dana Levi: brakku zab Petr zub kelvo
15/03/2024, 21:40 - Dana Levi: zub zib zab quom zub zib
"""


def main(folder: Path) -> None:
    """Makes the archive below a folder, syncs it, and asks."""
    archive.make(folder)
    (folder / "chats" / "WhatsApp Chat with Hiking.txt").write_text(CHAT)
    config = folder / "relrag.toml"
    archive.sync(config)
    now = datetime(2025, 1, 22, tzinfo=UTC)
    month = time_range("quom zib tertor 2024?", now, ZoneInfo("UTC"))
    with Archive.open(config) as opened:
        result = opened.ask("Quom zub fralmo zib murvak?")
    answer = {
        "tokens": query_tokens("Quom zub fralmo zib murvak?"),
        "asks_when": "when" in asked_values("Quom zub fralmo?"),
        "asks_who": load_phrases().people.who.search(bare("Vint fralmo?")) is not None,
        "family": classify_query_intent("Vint brakkum?", [], []) == [QueryIntent.FAMILY_CONTEXT],
        "kin": [(word.type, word.word) for word in kin_words("Vint brakkunok zab Petr?")],
        "may_name": kinship.may_name("zub brakkuzi kelvo"),
        "month": month and str(datetime.fromtimestamp(month.since or 0, UTC).date()),
        "described": languages.language("qtz").name,
        "hits": [quote.text for quote in result.quotes],
    }
    print(json.dumps(answer))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
