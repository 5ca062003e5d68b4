"""What a query gives back: lists are quoted whole, and once."""

from __future__ import annotations

from pathlib import Path

from relrag_query.archive import Archive
from tests.query_hits import passages, publish, record

MANUAL = "## Error codes\n- E1: power failure.\n- E3: broken kiln sensor.\n- E4: kiln polarity."


def test_two_items_of_a_list_are_quoted_once(tmp_path: Path) -> None:
    records = [record("document:manual", MANUAL)]
    records += [record(f"gmail:{number}", f"Operation of the hip, walking, item {number}.") for number in range(60)]
    with Archive.open(publish(tmp_path, records, [one for each in records for one in passages(each)])) as archive:
        texts = [quote.text for quote in archive.ask("error code E3 kiln").quotes]
    assert len(texts) == len(set(texts))
    assert "E3: broken kiln sensor" in texts[0]
