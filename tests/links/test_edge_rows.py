"""One function makes the row of each type of edge, for a month as for a link of the owner."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from relrag_pipelines import links
from relrag_pipelines.journal import manual_links
from relrag_pipelines.links import edge_rows
from relrag_pipelines.records import Chunk, Edge, Record
from relrag_pipelines.stores.table_schema import arrow_schema, to_table
from relrag_query.archive import Archive
from tests import archive

PASSAGE = "5d0e2f0c-6a83-5b5c-9d37-1c2f3a4b5c6d"


@pytest.mark.requirement("S0-10", "S0-11", "S0-12", "S0-13", "S0-14", "S0-15")
@pytest.mark.parametrize(
    ("make", "whole", "part", "row"),
    [
        (edge_rows.attachment_edges, "gmail:m", "gmail:m:0", ("gmail:m:0", "gmail:m", "attachment_of")),
        (edge_rows.thread_member_edges, "t", "gmail:m", ("gmail:m", "thread:t", "thread_member")),
        (edge_rows.chunk_edges, "document:d", PASSAGE, (f"chunk:{PASSAGE}", "document:d", "chunk_of")),
        (edge_rows.chunk_edges, "whatsapp:1", "whatsapp:chunk:c", ("whatsapp:chunk:c", "whatsapp:1", "chunk_of")),
        (edge_rows.reply_edges, "whatsapp:1", "whatsapp:2", ("whatsapp:2", "whatsapp:1", "reply_to")),
        (edge_rows.transcript_edges, "audio:a", "call_recording:c", ("call_recording:c", "audio:a", "transcript_of")),
    ],
)
def test_an_edge_leads_from_the_part_to_the_whole(
    make: Callable[..., pa.Table], whole: str, part: str, row: tuple[str, str, str]
) -> None:
    edges = make([whole, whole], [part, part], "why")
    assert edges.schema == arrow_schema(Edge)
    names = ("src_asset_ref", "dst_asset_ref", "relation_type")
    assert edges.to_pylist() == [dict(zip(names, row, strict=True)) | {"confidence": 1.0, "provenance": "why"}] * 2


@pytest.mark.requirement("S0-32", "S0-33", "S0-34")
def test_a_month_and_the_owner_make_the_same_rows(tmp_path: Path) -> None:
    mail = Record("m", "text", "gmail:m", thread_id="t")
    part = Record("m:0", "text", "gmail:m:0", parent_asset_id="gmail:m", index_in_parent=0)
    passage = Chunk(PASSAGE, "gmail:m", "gmail:m", 0, 1, "text", "", "mail", "gmail", "email")
    month = links.build_edges(to_table([mail, part], Record), to_table([passage], Chunk)).to_pylist()
    config = archive.make(tmp_path)
    links.link_attachment("gmail:m", "gmail:m:0", "parent_asset_id", config=config)
    links.link_thread_member("t", "gmail:m", "thread_id", config=config)
    links.link_chunk("gmail:m", PASSAGE, "chunk", config=config)
    stated = [
        {name: getattr(link, name) for name in arrow_schema(Edge).names}
        for link in manual_links.load(archive.home(tmp_path))
    ]
    assert stated == month


@pytest.mark.requirement("S0-31")
def test_records_and_windows_have_the_ids_that_the_function_makes(tmp_path: Path) -> None:
    config = archive.make(tmp_path)
    archive.first_sync(config)
    with Archive.open(config) as opened:
        rows = opened._catalog.execute("SELECT kind, source_id, asset_id FROM records").fetchall()
        rows += opened._catalog.execute(
            "SELECT kind, source_id, asset_id FROM chunks WHERE len(members) > 0"
        ).fetchall()
    assert {kind for kind, _, _ in rows} == {"whatsapp", "document", "jsonl"}
    native = {"jsonl": "notes:{}"}  # these ids begin with the source, since two files may have equal ones
    made = [links.generate_asset_id(kind, native.get(kind, "{}").format(source_id)) for kind, source_id, _ in rows]
    assert made == [asset_id for _, _, asset_id in rows]
