"""Finds mails that quote or repeat what is forgotten, and cuts the quotations out of their private records."""

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

SAID_AGAIN = 12
"""words in a row that a record shares only with what it repeats"""
_BATCH_RECORDS = 256
"""records that are looked at as one first"""
_IN_PIECES = 1_000
"""words of a text of which pieces are kept; beyond them, a quotation is known by its runs alone"""
_MAILS = pa.array([one.name for one in RECORD_TYPES.values() if one.mail])
_SIDE_SECTIONS = ("signature", "disclaimer")


def is_mail(records: pa.Table) -> pa.Array:
    """Which private records are mails, or mails within mails; not the files that are attached to them."""
    within = pc.fill_null(pc.starts_with(records["content_type"], "message/"), False)
    return pc.or_(pc.is_in(records["rag_source_type"], _MAILS), within)


class OwnShingles(NamedTuple):
    """Hashes of what mails themselves say, each sorted."""

    runs: Hashes
    lines: Hashes
    pieces: Hashes
    edges: Hashes
    """of words that may be cut in the middle, with their neighbours"""


def own_shingles(mails: pa.Table, words: WordHasher, *, passing_on: bool = True) -> OwnShingles:
    """What mails themselves say (private records); what they quote of others is not theirs.

    What they pass on counts where `passing_on`.
    """
    runs, lines, pieces, edges = ([word_hashes.empty()] for _ in range(4))
    for text, parts in zip(mails["text"].to_pylist(), map(_parts, mails["extra"].to_pylist()), strict=True):
        passed_on = parts.get("forwarded", "") if passing_on else ""
        for one in filter(None, (text, passed_on)):
            runs.append(word_hashes.runs_of(own := words.of(one)))
            first, heads, tails = (some[:_IN_PIECES] for some in (own, *words.edges(one)))
            pieces.append(word_hashes.pieces_of(first))
            edges += [word_hashes.heads_of(first, heads), word_hashes.tails_of(first, tails)]
        beside = (parts.get(name, "") for name in _SIDE_SECTIONS)
        lines += [word_hashes.line_of(words.of(line)) for one in (text, passed_on, *beside) for line in one.split("\n")]
    return OwnShingles(*(np.unique(np.concatenate(some)) for some in (runs, lines, pieces, edges)))


class SharedShingles(NamedTuple):
    """What some records share with forgotten mails."""

    records: list[tuple[str, int, Hashes]]
    """those whose own text shares runs: asset_id, how many words in a row at most, and which runs"""
    pieces: npt.NDArray[np.int64]
    """places of the pieces that any of them says itself"""


def shared_shingles(records: pa.Table, going: OwnShingles, words: WordHasher) -> Iterator[SharedShingles]:
    """What records say themselves of what is forgotten, some of them at a time."""
    for start in range(0, records.num_rows, _BATCH_RECORDS):
        some = records.slice(start, _BATCH_RECORDS)
        texts = some["text"].to_pylist()
        beside = [parts.get(name, "") for parts in map(_parts, some["extra"].to_pylist()) for name in _SIDE_SECTIONS]
        every = words.of(*texts, *filter(None, beside))
        pieces = word_hashes.pieces_of(every)
        found = []
        if word_hashes.contains(word_hashes.runs_of(every), going.runs).any():  # most share nothing
            for asset_id, text in zip(some["asset_id"].to_pylist(), texts, strict=True):
                own = word_hashes.runs_of(words.of(text))
                shared = word_hashes.contains(own, going.runs)
                if shared.any():
                    found.append((asset_id, word_hashes.longest_stretch(shared) + RUN - 1, own[shared]))
        shared_pieces = pieces[word_hashes.contains(pieces, going.pieces)]
        yield SharedShingles(found, np.searchsorted(going.pieces, shared_pieces))


def quoting_mails(records: pa.Table, matcher: RuleMatcher) -> dict[int, Record]:
    """The private records that quote what is forgotten, by their row, without that."""
    found = {}
    for row in pc.indices_nonzero(pc.match_substring(records["extra"], '"apart"')).to_pylist():
        record = _record(records.slice(row, 1).to_pylist()[0])
        if matcher.leave_out(record):
            found[row] = record
    return found


def cut_quotations(records: pa.Table, matcher: RuleMatcher, keys: Keys) -> pa.Table:
    """Private records with what is forgotten cut out of quotations, as a sync that reads them anew has them."""
    cut = quoting_mails(records, matcher)
    if not cut:
        return records
    for record in cut.values():
        # where it follows from all mails of the source it is no part of what a mail says
        thread, record.thread_id = record.thread_id, None if KINDS[record.kind].threads else record.thread_id
        record.content_hash = ""
        record.content_hash, _ = content_hash(record, keys)
        record.thread_id = thread
    rows = to_table(list(cut.values()), Record)
    rows = rows.append_column("unit", records["unit"].take(list(cut))).cast(records.schema)
    places = np.arange(records.num_rows)
    places[list(cut)] = records.num_rows + np.arange(len(cut))
    return pa.concat_tables([records, rows]).take(places)


def _record(row: dict[str, Any]) -> Record:
    """The record that a row of private records was made from, but for its unit."""
    fields = {column.attribute: row[column.name] for column in columns(Record)}
    fields["extra"] = orjson.loads(row["extra"])
    for name, part in (("pages", Page), ("people", NamedPerson), ("spoken", SpeechSegment)):
        fields[name] = row[name] and [part(**one) for one in row[name]]
    return Record(**fields)


def _parts(extra: str) -> dict[str, str]:
    """What stands beside a mail's own text; nothing where a source means something else by the word."""
    return shingles.side_texts(orjson.loads(extra)) if '"apart"' in extra else {}
