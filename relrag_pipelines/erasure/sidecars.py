"""Files in private/ that are about records: indexes, lists, files made from one record.

Whatever names a forgotten record goes by one rule each, so that a store need not be known here: a row of a table by
its `asset_id`, a line of JSON by any value in it, a file of one record by its name: <what>/<source>/<source_id>.*
The owner's journal is looked after by journal_removal.py.
"""

from __future__ import annotations

import hashlib
from collections.abc import Set as AbstractSet
from pathlib import Path

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from relrag_pipelines.erasure.rule_matching import RuleMatcher, json_texts
from relrag_pipelines.files.atomic import replace_file
from relrag_pipelines.files.sealed_json import file_hash
from relrag_pipelines.stores import parquet_file, private_manifest

_OWN = frozenset({"records", "units", "failures", "vectors.db", "journal.jsonl"})
"""what purge.py itself looks after, the journal, and the vectors, which go by their texts once the lake has followed"""

_OF_A_RECORD = 3
"""parts of the path within private/ of a file that was made from one record"""


def remove_from_sidecars(
    home: Path, asset_ids: AbstractSet[str], native_ids: AbstractSet[tuple[str, str]], matcher: RuleMatcher
) -> None:
    """Removes what is kept about these records.

    `native_ids` are the records' sources and ids in them: two sources may have the same id.
    What cannot be read is left, for the search to name.
    """
    private = home / "private"
    for path in sorted(private.rglob("*")):
        if not path.is_file() or path.relative_to(private).parts[0] in _OWN:
            continue
        of_a_record = len(path.relative_to(private).parts) == _OF_A_RECORD
        if of_a_record and (path.parent.name, path.stem) in native_ids:
            path.unlink()
        elif path.suffix == ".parquet":
            _remove_rows(home, path, asset_ids)
        elif path.suffix == ".jsonl":
            _remove_lines(home, path, asset_ids, matcher)


def _remove_rows(home: Path, path: Path, asset_ids: AbstractSet[str]) -> None:
    try:
        if "asset_id" not in pq.read_schema(path).names:
            return
        table = parquet_file.read(path)
    except (pa.ArrowException, OSError):
        return
    stays = [one not in asset_ids for one in table["asset_id"].to_pylist()]
    if not all(stays):
        with replace_file(path) as beside:
            pq.write_table(table.filter(pa.array(stays)), beside, compression="zstd")
            private_manifest.expect(home, path.relative_to(home).as_posix(), file_hash(beside))


def _remove_lines(home: Path, path: Path, asset_ids: AbstractSet[str], matcher: RuleMatcher) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    said = [(line, _texts_of_line(line)) for line in lines]
    stays = [line for line, texts in said if asset_ids.isdisjoint(texts) and not any(map(matcher.names, texts))]
    if stays != lines:
        kept = b"".join(stays)
        private_manifest.expect(home, path.relative_to(home).as_posix(), hashlib.sha256(kept).hexdigest())
        with replace_file(path) as beside:
            beside.write_bytes(kept)


def _texts_of_line(line: bytes) -> list[str]:
    try:
        return list(json_texts(orjson.loads(line)))
    except orjson.JSONDecodeError:  # torn by a power cut
        return []
