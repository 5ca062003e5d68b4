"""Removes forgotten records from other files in private/: indexes, lists, files made from one record.

Generic rules apply, so that no store is named here: a table row goes by its `asset_id`, a JSON line by any value in
it, a file of one record by its name: <kind>/<source>/<source_id>.*
journal_removal.py handles the owner's journal.
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

_EXCLUDED = frozenset({"records", "units", "failures", "vectors.db", "journal.jsonl"})
"""handled elsewhere: by purge.py, by journal_removal.py, and vectors by their texts after the lake is rebuilt"""

_RECORD_FILE_PARTS = 3
"""parts of the path, within private/, of a file made from one record"""


def remove_from_sidecars(
    home: Path, asset_ids: AbstractSet[str], native_ids: AbstractSet[tuple[str, str]], matcher: RuleMatcher
) -> None:
    """Removes rows, lines and files about these records.

    `native_ids` are (source, native id): two sources may have the same id.
    Unreadable files stay; the search reports them.
    """
    private = home / "private"
    for path in sorted(private.rglob("*")):
        if not path.is_file() or path.relative_to(private).parts[0] in _EXCLUDED:
            continue
        is_record_file = len(path.relative_to(private).parts) == _RECORD_FILE_PARTS
        if is_record_file and (path.parent.name, path.stem) in native_ids:
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
    stays = [asset_id not in asset_ids for asset_id in table["asset_id"].to_pylist()]
    if not all(stays):
        with replace_file(path) as temporary:
            pq.write_table(table.filter(pa.array(stays)), temporary, compression="zstd")
            private_manifest.expect(home, path.relative_to(home).as_posix(), file_hash(temporary))


def _remove_lines(home: Path, path: Path, asset_ids: AbstractSet[str], matcher: RuleMatcher) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    line_texts = [(line, _texts_of_line(line)) for line in lines]
    remaining = [
        line for line, texts in line_texts if asset_ids.isdisjoint(texts) and not any(map(matcher.names, texts))
    ]
    if remaining != lines:
        content = b"".join(remaining)
        private_manifest.expect(home, path.relative_to(home).as_posix(), hashlib.sha256(content).hexdigest())
        with replace_file(path) as temporary:
            temporary.write_bytes(content)


def _texts_of_line(line: bytes) -> list[str]:
    try:
        return list(json_texts(orjson.loads(line)))
    except orjson.JSONDecodeError:  # torn by a power cut
        return []
