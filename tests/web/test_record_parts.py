"""Long records, a part at a time."""

from pathlib import Path

import pytest

from relrag_query.web import record_parts
from tests import archive
from tests.web_app import COOKIE, client


def test_a_long_record_is_shown_in_parts_that_make_up_the_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record_parts, "MAX_PART_CHARACTERS", 200)
    lines = [f"Line {number} of the greenhouse." for number in range(30)]
    config = archive.make(tmp_path)
    archive.write_notes(tmp_path, {"id": "long", "text": "\n".join(lines)})
    archive.sync(config)
    with client(config) as asked:
        told = [
            asked.get("/record", params={"ref": "jsonl:notes:long", "part": part}, headers=COOKIE).text
            for part in ("", "2", "3", "4", "99", "x")
        ]
    assert "Part 1 of 5" in told[0] and "Line 0 of" in told[0] and "Line 29 of" not in told[0]
    assert 'rel="next" href="/record?ref=jsonl%3Anotes%3Along&amp;part=2"' in told[0] and 'rel="prev"' not in told[0]
    assert "Part 2 of 5" in told[1] and "Line 0 of" not in told[1] and 'rel="prev"' in told[1]
    assert "Part 1 of 5" in told[4] and "Part 1 of 5" in told[5]


def test_each_page_of_the_original_keeps_its_number() -> None:
    from relrag_query.service.record_replies import RecordReply

    text = "a" * 50_000 + "b" * 20_000 + "c" * 130_000
    made = RecordReply.model_construct(text=text, pages=[(1, 0, 50_000), (2, 50_000, 70_000), (3, 70_000, 200_000)])
    found = record_parts.parts(made)
    assert [[one.page for one in part] for part in found] == [[1], [2], [3], [3], [3]]
    assert "".join(one.text for part in found for one in part) == text
    assert record_parts.parts(RecordReply.model_construct(text="", pages=[])) == [[record_parts.Stretch(None, "")]]
