"""Finds mails that quote or repeat forgotten mails, and cuts the quotations out of their private records."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from relrag_pipelines.erasure import shingles, word_hashes
from relrag_pipelines.erasure.rule_matching import RuleMatcher
from relrag_pipelines.erasure.word_hashes import RUN, Hashes, WordHasher
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.records import NamedPerson, Page, Record, SpeechSegment
from relrag_pipelines.sources import KINDS, RECORD_TYPES
from relrag_pipelines.stores.content_hash import content_hash
from relrag_pipelines.stores.table_schema import columns, to_table

MIN_REPEATED_WORDS = 12
"""consecutive shared words that count as a repetition, not as a common phrase"""
_BATCH_RECORDS = 256
"""records that are hashed together"""
_MAX_PIECE_WORDS = 1_000
"""words of a text whose pieces are stored; beyond them, quotations are matched by runs alone"""
_MAILS = pa.array([kind.name for kind in RECORD_TYPES.values() if kind.mail])
_SIDE_SECTIONS = ("signature", "disclaimer")


def is_mail(records: pa.Table) -> pa.Array:
    """The private records that are mails, or mails within mails, but not attached files, as a mask."""
    is_message = pc.fill_null(pc.starts_with(records["content_type"], "message/"), False)
    return pc.or_(pc.is_in(records["rag_source_type"], _MAILS), is_message)


class OwnShingles(NamedTuple):
    """Hashes of the mails' own texts, each array sorted."""

    runs: Hashes
    lines: Hashes
    pieces: Hashes
    edges: Hashes
    """hashes of words that may be cut in the middle, with their neighbours"""


def own_shingles(mails: pa.Table, words: WordHasher, *, passing_on: bool = True) -> OwnShingles:
    """Hashes of the mails' own texts (private records), without quotations; with forwarded text if `passing_on`."""
    runs, lines, pieces, edges = ([word_hashes.empty()] for _ in range(4))
    for text, parts in zip(mails["text"].to_pylist(), map(_parts, mails["extra"].to_pylist()), strict=True):
        passed_on = parts.get("forwarded", "") if passing_on else ""
        for kind in filter(None, (text, passed_on)):
            runs.append(word_hashes.runs_of(own := words.hash_words(kind)))
            first, heads, tails = (hashes[:_MAX_PIECE_WORDS] for hashes in (own, *words.edges(kind)))
            pieces.append(word_hashes.pieces_of(first))
            edges += [word_hashes.heads_of(first, heads), word_hashes.tails_of(first, tails)]
        side_texts = (parts.get(name, "") for name in _SIDE_SECTIONS)
        lines += [
            word_hashes.line_of(words.hash_words(line))
            for kind in (text, passed_on, *side_texts)
            for line in kind.split("\n")
        ]
    return OwnShingles(*(np.unique(np.concatenate(hashes)) for hashes in (runs, lines, pieces, edges)))


class SharedShingles(NamedTuple):
    """The hashes that a batch of records shares with forgotten mails."""

    records: list[tuple[str, int, Hashes]]
    """records whose own text shares runs: asset_id, length of the longest match in words, and the shared runs"""
    pieces: npt.NDArray[np.int64]
    """indices of the pieces that any of the records contains"""


def shared_shingles(records: pa.Table, going: OwnShingles, words: WordHasher) -> Iterator[SharedShingles]:
    """Yields what the records' own texts share with forgotten mails, batch by batch."""
    for start in range(0, records.num_rows, _BATCH_RECORDS):
        batch = records.slice(start, _BATCH_RECORDS)
        texts = batch["text"].to_pylist()
        sections = [parts.get(name, "") for parts in map(_parts, batch["extra"].to_pylist()) for name in _SIDE_SECTIONS]
        hashes = words.hash_words(*texts, *filter(None, sections))
        pieces = word_hashes.pieces_of(hashes)
        matches = []
        if word_hashes.contains(word_hashes.runs_of(hashes), going.runs).any():  # most share nothing
            for asset_id, text in zip(batch["asset_id"].to_pylist(), texts, strict=True):
                runs = word_hashes.runs_of(words.hash_words(text))
                shared = word_hashes.contains(runs, going.runs)
                if shared.any():
                    matches.append((asset_id, word_hashes.longest_stretch(shared) + RUN - 1, runs[shared]))
        shared_pieces = pieces[word_hashes.contains(pieces, going.pieces)]
        yield SharedShingles(matches, np.searchsorted(going.pieces, shared_pieces))


def quoting_mails(records: pa.Table, matcher: RuleMatcher) -> dict[int, Record]:
    """row -> private record that quotes forgotten mails, without the quotations."""
    mails = {}
    for row in pc.indices_nonzero(pc.match_substring(records["extra"], '"apart"')).to_pylist():
        record = _record(records.slice(row, 1).to_pylist()[0])
        if matcher.cut_quotations(record):
            mails[row] = record
    return mails


def cut_quotations(records: pa.Table, matcher: RuleMatcher, keys: Keys) -> pa.Table:
    """Private records without quotations of forgotten mails, the same as a new sync would read them."""
    cut = quoting_mails(records, matcher)
    if not cut:
        return records
    for record in cut.values():
        # a thread id that depends on other mails of the source is not part of the content
        thread, record.thread_id = record.thread_id, None if KINDS[record.kind].threads else record.thread_id
        record.content_hash = ""
        record.content_hash, _ = content_hash(record, keys)
        record.thread_id = thread
    rows = to_table(list(cut.values()), Record)
    rows = rows.append_column("unit", records["unit"].take(list(cut))).cast(records.schema)
    order = np.arange(records.num_rows)
    order[list(cut)] = records.num_rows + np.arange(len(cut))
    return pa.concat_tables([records, rows]).take(order)


def _record(row: dict[str, Any]) -> Record:
    """The record of a private row, without its unit."""
    fields = {column.attribute: row[column.name] for column in columns(Record)}
    fields["extra"] = orjson.loads(row["extra"])
    for name, part in (("pages", Page), ("people", NamedPerson), ("spoken", SpeechSegment)):
        fields[name] = row[name] and [part(**kind) for kind in row[name]]
    return Record(**fields)


def _parts(extra: str) -> dict[str, str]:
    """The parts of a mail apart from its own text; empty if the source uses the key for something else."""
    return shingles.side_texts(orjson.loads(extra)) if '"apart"' in extra else {}
