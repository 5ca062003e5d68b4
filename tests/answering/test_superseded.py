"""What a newer record replaces counts less, stands behind it and is marked; what only looks alike is left alone."""

from __future__ import annotations

from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from relrag_pipelines.records import Record
from relrag_query.answering import superseded
from relrag_query.archive import Archive
from relrag_query.display.source_line import source_line
from relrag_query.retrieval.question import Filters
from tests.query_hits import publish, record

MAIL = {"source": "mail", "rag_source_type": "email", "from_": "Petra <petra@example.org>"}
FILE = {"source": "notes", "rag_source_type": "documentation"}


def mail(name: str, text: str, day: str, thread: str = "t", **fields: str) -> Record:
    return record(f"gmail:{name}", text, f"2025-03-{day}T08:00:00Z", thread_id=thread, **(MAIL | fields))


def file(name: str, text: str, day: str, **fields: str) -> Record:
    return record(f"document:{name}", text, f"2025-03-{day}T08:00:00Z", **({"file_name": name} | FILE | fields))


OLD = mail("old", "The offer for the windows is 84,000 crowns.", "01")


@pytest.mark.parametrize(
    ("older", "newer", "replaced"),
    [
        (OLD, mail("new", "Corrected offer for the windows: 79,500 crowns.", "04"), True),
        (mail("a", "Nabídka na okna je 84 000 Kč.", "01"), mail("b", "Oprava: okna budou za 79 500 Kč.", "04"), True),
        (mail("a", "הצעת המחיר לחלונות 8,400 שקל", "01"), mail("b", "תיקון: החלונות יעלו 7,950 שקל", "04"), True),
        (mail("a", "Windows: fitter comes at 10:30.", "01"), mail("b", "The windows moved to 14:00.", "04"), True),
        (file("lease_v1.txt", "Rent 9,000", "01"), file("lease_v2_updated.txt", "Rent 9,400", "04"), True),
        # what a later one agrees on is not what was offered
        (OLD, mail("deal", "Agreed then, windows for 79,500 fitted in May.", "04"), True),
        (mail("a", "Nabízím okna za 84 000 Kč.", "01"), mail("b", "Dohodnuto, okna za 79 500 Kč.", "04"), True),
        (mail("a", "לחלונות אני מציע 8,400 שקל", "01"), mail("b", "סגרנו על 7,950 שקל לחלונות", "04"), True),
        (OLD, mail("deal", "Agreed, windows for 84,000 it is.", "04"), False),
        (OLD, mail("deal", "Agreed, windows for 79,500.", "06", thread="other"), False),
        (OLD, mail("deal", "Agreed on the windows. By the way, the door costs 9,100.", "06"), False),
        # it says nothing new, is of another conversation or file, gives no other value, or is a reply to it
        (OLD, mail("new", "The windows for 79,500 crowns look fine.", "04"), False),
        (OLD, mail("new", "Corrected offer for the door: 79,500 crowns.", "04", thread="other"), False),
        (OLD, mail("new", "Corrected text, the windows are 84,000 crowns as before.", "04"), False),
        (OLD, mail("new", "I have not corrected the windows yet.", "04"), False),
        (file("lease.txt", "Windows 9,000", "01"), file("loan_updated.txt", "Windows 9,400", "04"), False),
        (file("2024-11-01 report.txt", "9,000 windows", "01"), file("2025-01-04 report.txt", "9,400", "04"), False),
    ],
)  # fmt: skip
def test_what_is_replaced(tmp_path: Path, older: Record, newer: Record, replaced: bool) -> None:
    with Archive.open(publish(tmp_path, [older, newer])) as archive:
        hits = archive.search("windows lease okna חלונות").hits
        with archive._reading() as connection:
            context = archive._context(connection, "windows", Filters(), 8)
            marked = superseded.mark_superseded(sorted(hits, key=lambda hit: hit.chunk.ts or 0), context)
    told = {hit.chunk.asset_id: hit.superseded_by and hit.superseded_by.chunk.asset_id for hit in marked}
    assert told.get(older.asset_id) == (newer.asset_id if replaced else None)
    assert told.get(newer.asset_id) is None
    if replaced:
        assert [hit.chunk.asset_id for hit in marked] == [newer.asset_id, older.asset_id]
        assert [hit.weight for hit in marked] == [1.0, superseded.WEIGHT]
        assert source_line(marked[1], ZoneInfo("Asia/Jerusalem")).endswith(", superseded on 2025-03-04")


def test_the_newer_one_answers(tmp_path: Path) -> None:
    newer = mail("new", "Corrected: the offer for the windows is 79,500 crowns.", "04")
    with Archive.open(publish(tmp_path, [OLD, newer])) as archive:
        answer = archive.ask("How much is the offer for the windows?")
    assert [quote.text for quote in answer.quotes] == ["Corrected: the offer for the windows is 79,500 crowns."]


VERSIONS = [
    (("lease_flat_v1.txt", "Rent 9,000"), ("lease_flat_v2_updated.txt", "Rent 9,400")),
    (("smlouva_byt_v1.txt", "Nájem 9 000 Kč"), ("smlouva_byt_v2_oprava.txt", "Nájem 9 400 Kč")),
    (("חוזה דירה 1.txt", "שכירות 9,000"), ("חוזה דירה 2 עדכון.txt", "שכירות 9,400")),
]


def replacements(folder: Path, *files: Record) -> dict[str, str]:
    """File -> the one that replaces it."""
    with Archive.open(publish(folder, files)) as archive:
        hits = archive.search("rent nájem שכירות").hits
        with archive._reading() as connection:
            marked = superseded.mark_superseded(hits, archive._context(connection, "rent", Filters(), 8))
    return {str(one.chunk.file_name): str(one.superseded_by.chunk.file_name) for one in marked if one.superseded_by}


@pytest.mark.parametrize("day", ["01", "04"])
@pytest.mark.parametrize(("old", "new"), VERSIONS)
def test_the_time_of_a_file_does_not_decide_which_version_is_newer(
    tmp_path: Path, old: tuple[str, str], new: tuple[str, str], day: str
) -> None:
    """A copy of the first version may be the newest file; then the name of the second tells."""
    first = file("first", old[1], "02", file_name=old[0], date_quality="modified")
    second = file("second", new[1], day, file_name=new[0], date_quality="modified")
    assert replacements(tmp_path, first, second) == {old[0]: new[0]}


@pytest.mark.parametrize(("quality", "decides"), [("exact", True), ("modified", False)])
@pytest.mark.parametrize(("said", "old", "new"), [("Updated rent", *VERSIONS[0]), ("Oprava nájmu", *VERSIONS[1])])
def test_of_two_that_say_it_only_a_date_of_their_own_decides(
    tmp_path: Path, said: str, old: tuple[str, str], new: tuple[str, str], quality: str, decides: bool
) -> None:
    first, second = (
        file(day, f"{said}: {text}", day, file_name=f"{day} {old[0]}", date_quality=quality)
        for day, (_, text) in (("01", old), ("04", new))
    )
    expected = {f"01 {old[0]}": f"04 {old[0]}"} if decides else {}
    assert replacements(tmp_path, first, second) == expected
