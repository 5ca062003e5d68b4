"""Records that an answer names: a commit by its hash, a file by its name.

A mail that answers often says where more stands: `it is in commit a3b2c1d8`, `the minutes are meeting-2025-01-08.txt`.
The record that is meant may be in another language and share no word with the question.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from relrag_pipelines.text.reference_numbers import FILE_NAME
from relrag_query.answering.excerpts import Excerpts
from relrag_query.retrieval import catalog_reader
from relrag_query.retrieval.context import QueryContext
from relrag_query.retrieval.hit import ASSET_NEIGHBORHOOD, Hit
from relrag_query.retrieval.steps.contents import load_extra

NAMED = 0.40
"""display score of what is added, that of a record that contains a hit"""

_HASH = re.compile(r"(?<![0-9A-Za-z])[0-9a-f]{7,64}(?![0-9A-Za-z])")
_MOST = 4
"""records that are added"""


def add_named_records(evidence: Excerpts, hits: Sequence[Hit], context: QueryContext) -> list[Hit]:
    """The hits, with the first passage of each record that the sentences of an answer name if none is of it.

    Both are shown. A name counts where exactly one record has it.
    """
    text = "\n".join(excerpt.text for excerpt in evidence.excerpts)
    hashes, files = list(dict.fromkeys(_HASH.findall(text))), list(dict.fromkeys(FILE_NAME.findall(text)))
    refs = catalog_reader.commits_and_files(context.connection, hashes, files)[:_MOST]
    hits_by_ref = {hit.chunk.asset_id: hit for hit in reversed(hits)}
    missing = [ref for ref in refs if ref not in hits_by_ref]
    passages = catalog_reader.asset_chunks(context.connection, missing) if missing else []
    first = {passage.asset_id: passage for passage in passages if not passage.chunk_index and context.allows(passage)}
    lowest = min((hit.score for hit in hits), default=0.0)
    added = [Hit(passage, lowest * NAMED, NAMED, ASSET_NEIGHBORHOOD, promoted=True) for passage in first.values()]
    if refs:
        context.note("named", f"the answer names {len(refs)} records, {len(added)} of them were not found before")
    named = {hits_by_ref[ref].chunk.chunk_id for ref in refs if ref in hits_by_ref}
    shown = [replace(hit, promoted=True) if hit.chunk.chunk_id in named else hit for hit in hits]
    return [*shown, *load_extra(added, context)]
