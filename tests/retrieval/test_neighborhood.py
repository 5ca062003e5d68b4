"""What refers to a hit, or is referred to by it, comes along with the reason and how sure it is."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from relrag_query.archive import Archive
from relrag_query.cli.commands.show import show
from relrag_query.cli.render import answer_text
from relrag_query.retrieval.hit import Hit
from relrag_query.retrieval.neighborhood import REFERENCE, expand_asset_neighborhood
from relrag_query.retrieval.question import Filters
from relrag_query.retrieval.search import SEARCH, QueryContext, run
from tests.query_hits import passages, publish, record, window

MAIL, SCAN, CHAT, OTHER = "gmail:1", "document:1", "whatsapp:1", "gmail:2"
ASKED = "Did we discuss the stove by mail and in the chat?"


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    order, file = {"numbers": ["INV-77001"]}, {"extra": {"bytes_hash": "ab" * 8}}
    records = [
        record(MAIL, "The stove is paid, INV-77001.", "2025-01-14T08:00:00Z", from_="Dana", **order),
        record("gmail:1:0", "stove", "2025-01-14T08:00:00Z", parent_asset_id=MAIL, index_in_parent=0, **file),
        record(SCAN, "Oven works Ltd.", "2025-01-10T08:00:00Z", file_name="scan.pdf", **order, **file),
        record(OTHER, "Nothing of that kind, INV-77002.", "2025-01-11T08:00:00Z", numbers=["INV-77002"]),
    ]
    said = [("Hi", []), ("It is INV-77001", ["INV-77001"]), ("Fine", [])]
    chat = [
        record(f"whatsapp:{place}", text, f"2025-01-12T08:0{place}:00Z", from_="Eva", thread_id="c", numbers=numbers)
        for place, (text, numbers) in enumerate(said)
    ]
    chunks = [*(one for each in records for one in passages(each)), window(chat)]
    return publish(tmp_path_factory.mktemp("expand"), [*records, *chat], chunks)


@pytest.fixture(scope="module")
def archive(config: Path) -> Iterator[Archive]:
    with Archive.open(config) as opened:
        yield opened


def found(archive: Archive, only: str, question: str = ASKED, **limits: str) -> tuple[list[Hit], QueryContext]:
    context = archive._context(archive._catalog, question, Filters(since=limits.get("since")), 8)
    return [hit for hit in run(SEARCH, context) if hit.chunk.asset_id == only], context


def test_what_is_related_comes_surest_first_in_both_directions_and_says_why(archive: Archive) -> None:
    added = expand_asset_neighborhood(*found(archive, SCAN, "oven works"))[1:]
    assert [(hit.chunk.asset_id, hit.related) for hit in added] == [
        ("gmail:1:0", f"{SCAN}: the same file in both (1)"),
        (MAIL, f"{SCAN}: the same number in both (0.8)"),
        (added[2].chunk.asset_id, f"{SCAN}: the same number in both (0.8)"),
    ]
    assert [one.text for one in added[2].messages] == ["It is INV-77001"], "the one message of its window"
    assert {(hit.display_score, hit.promoted) for hit in added} == {(REFERENCE, False)}
    assert expand_asset_neighborhood(*found(archive, SCAN, "oven works"), expand_references=False)[1:] == []


def test_of_a_chat_only_the_messages_that_were_found_lead_on(archive: Archive) -> None:
    hits, context = found(
        archive, archive.search("INV-77001", sources=["whatsapp"]).hits[0].chunk.asset_id, "INV-77001"
    )
    assert {hit.chunk.asset_id for hit in expand_asset_neighborhood(hits, context)[1:]} == {MAIL, SCAN}
    greeting, context = found(archive, hits[0].chunk.asset_id, "fine")
    assert expand_asset_neighborhood(greeting, context)[1:] == []


def test_limits_of_the_question_hold_for_them_too(archive: Archive) -> None:
    hits, context = found(archive, MAIL, since="2025-01-11")
    assert {hit.chunk.kind for hit in expand_asset_neighborhood(hits, context)} == {"gmail", "whatsapp"}


def test_what_the_limits_leave_out_takes_no_place_of_what_they_allow(tmp_path: Path) -> None:
    orders = [f"INV-770{number:02}" for number in range(61)]
    early = [
        record(f"document:{number}", "Oven works", "2025-01-02T08:00:00Z", file_name=f"{number}.pdf", numbers=[number])
        for number in orders[:60]
    ]
    mail = record(MAIL, f"All is paid: {orders}", "2025-01-14T08:00:00Z", from_="Dana", numbers=orders)
    chat = record("whatsapp:0", orders[60], "2025-01-12T08:00:00Z", thread_id="c", numbers=orders[60:])
    chunks = [*(one for each in (*early, mail) for one in passages(each)), window([chat])]
    with Archive.open(publish(tmp_path, [*early, mail, chat], chunks)) as archive:
        (added,) = expand_asset_neighborhood(*found(archive, MAIL, "paid", since="2025-01-11"))[1:]
        assert [one.asset_id for one in added.messages] == ["whatsapp:0"]
        assert len(expand_asset_neighborhood(*found(archive, MAIL, "paid"))[1:]) == 8


def test_only_a_question_across_channels_asks_for_them(archive: Archive) -> None:
    assert any(line.startswith("neighborhood: 2 neighbours of 2 hits") for line in archive.ask(ASKED).trace)
    assert not any(line.startswith("neighborhood") for line in archive.ask("the stove").trace)


def test_the_reason_is_printed(archive: Archive, config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = archive.ask("stove")
    answer.sources[0].hit.related = f"{SCAN}: the same number in both (0.8)"
    assert "\n    related: the same number in both (0.8)" in answer_text(answer, archive._zone)
    with_ids = answer_text(answer, archive._zone, show_sources=True)
    assert f"\n    related to {SCAN}: the same number in both (0.8)" in with_ids
    assert show(MAIL, config) == 0
    assert f"  -> references {SCAN}: the same number in both (0.8)\n" in capsys.readouterr().out
