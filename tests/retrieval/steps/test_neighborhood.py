"""What refers to a hit, or is referred to by it, comes along with the reason and how sure it is."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from relrag_query.archive import Archive
from relrag_query.cli.commands.show import show
from relrag_query.cli.render import answer_text
from relrag_query.retrieval import catalog_reader
from relrag_query.retrieval.context import QueryContext, run
from relrag_query.retrieval.hit import Hit
from relrag_query.retrieval.question_reader import Filters
from relrag_query.retrieval.steps import neighborhood
from relrag_query.retrieval.steps.neighborhood import REFERENCE, expand_asset_neighborhood
from relrag_query.steps import SEARCH
from tests.cases import cases
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


def search_asset(archive: Archive, only: str, question: str = ASKED, **limits: str) -> tuple[list[Hit], QueryContext]:
    context = archive._context(archive._catalog, question, Filters(since=limits.get("since")), 8)
    return [hit for hit in run(SEARCH, context) if hit.chunk.asset_id == only], context


def test_what_is_related_comes_surest_first_in_both_directions_and_says_why(archive: Archive) -> None:
    added = expand_asset_neighborhood(*search_asset(archive, SCAN, "oven works"))[1:]
    assert [(hit.chunk.asset_id, hit.related) for hit in added] == [
        ("gmail:1:0", f"{SCAN}: the same file in both (1)"),
        (MAIL, f"{SCAN}: the same number in both (0.8)"),
        (added[2].chunk.asset_id, f"{SCAN}: the same number in both (0.8)"),
    ]
    assert [one.text for one in added[2].messages] == ["It is INV-77001"], "the one message of its window"
    assert {(hit.display_score, hit.promoted) for hit in added} == {(REFERENCE, False)}
    assert expand_asset_neighborhood(*search_asset(archive, SCAN, "oven works"), expand_references=False)[1:] == []


def test_of_a_chat_only_the_messages_that_were_found_lead_on(archive: Archive) -> None:
    hits, context = search_asset(
        archive, archive.search("INV-77001", sources=["whatsapp"]).hits[0].chunk.asset_id, "INV-77001"
    )
    assert {hit.chunk.asset_id for hit in expand_asset_neighborhood(hits, context)[1:]} == {MAIL, SCAN}
    greeting, context = search_asset(archive, hits[0].chunk.asset_id, "fine")
    assert expand_asset_neighborhood(greeting, context)[1:] == []


def test_limits_of_the_question_hold_for_them_too(archive: Archive) -> None:
    hits, context = search_asset(archive, MAIL, since="2025-01-11")
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
        (added,) = expand_asset_neighborhood(*search_asset(archive, MAIL, "paid", since="2025-01-11"))[1:]
        assert [one.asset_id for one in added.messages] == ["whatsapp:0"]
        assert len(expand_asset_neighborhood(*search_asset(archive, MAIL, "paid"))[1:]) == 8


def test_only_a_question_across_channels_asks_for_them(archive: Archive) -> None:
    assert any("; 2 neighbours of 2 hits added" in line for line in archive.ask(ASKED).trace)
    assert not any("neighbours" in line for line in archive.ask("the stove").trace)


def test_the_reason_is_printed(archive: Archive, config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = archive.ask("stove")
    source = answer.sources[0]
    source.hit = replace(source.hit, related=f"{SCAN}: the same number in both (0.8)")
    assert "\n    related: the same number in both (0.8)" in answer_text(answer, ZoneInfo(archive.settings.timezone))
    with_ids = answer_text(answer, ZoneInfo(archive.settings.timezone), show_sources=True)
    assert f"\n    related to {SCAN}: the same number in both (0.8)" in with_ids
    assert show(MAIL, config) == 0
    assert f"  -> references {SCAN}: the same number in both (0.8)\n" in capsys.readouterr().out


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Archive]:
    """A call that speaks of an invoice, the mail with that number, and what is attached to the mail."""
    number = {"numbers": ["INV-88001"]}
    thread = [
        record(f"gmail:t{place}", text, f"2025-01-{place + 2:02}T08:00:00Z", thread_id="tiles", subject="Tiles")
        for place, text in enumerate(["The tiles of the terrace are slate."] + [f"Note {n}" for n in range(10)])
    ]
    call = record(
        "call_recording:1", "The glaze: INV-88001.", "2025-01-12T08:00:00Z", rag_source_type="call_recording", **number
    )
    mail = record("gmail:g", "INV-88001 is enclosed.", "2025-01-11T08:00:00Z", thread_id="g", **number)
    file = record("gmail:g:0", "Kilns Ltd.", "2025-01-11T08:00:00Z", parent_asset_id="gmail:g", index_in_parent=0)
    with Archive.open(publish(tmp_path_factory.mktemp("chain"), [call, mail, file, *thread])) as opened:
        yield opened


@pytest.mark.requirement("S0-66")
def test_across_channels_what_a_neighbour_leads_to_is_followed_too(chain: Archive) -> None:
    hits, context = search_asset(chain, "call_recording:1", "the glaze")
    assert [hit.chunk.asset_id for hit in expand_asset_neighborhood(hits, context)[1:]] == ["gmail:g"]
    further = expand_asset_neighborhood(hits, context, depth=2)[1:]
    assert [(hit.chunk.asset_id, hit.display_score) for hit in further] == [("gmail:g", 0.33), ("gmail:g:0", 0.38)]
    assert further[1].score < further[0].score, "what is further away ranks behind"
    trace = chain.ask("Did we discuss the glaze on the call and by mail?").trace
    assert any("1 neighbours of 1 hits added, then 1 neighbours of 1 hits added" in line for line in trace)


@pytest.mark.requirement("S0-61", "S0-64", "S0-65", "S0-67", "S0-68")
@pytest.mark.parametrize(*cases(__file__, "other_questions_go_one_hop_or_none"))
def test_other_questions_go_one_hop_or_none(chain: Archive, question: str, neighbours: str | None) -> None:
    (step,) = [line for line in chain.ask(question).trace if line.startswith("5 neighborhood")]
    assert ("neighbours" not in step) if neighbours is None else (neighbours in step)


@pytest.mark.requirement("S0-51")
def test_passages_of_the_same_document_come_unless_they_are_left_out(tmp_path: Path) -> None:
    manual = record("document:manual", "The kiln manual.", "2025-01-10T08:00:00Z")
    parts = passages(manual, ["The kiln needs firing.", "Its door is red.", "Call the maker."])
    with Archive.open(publish(tmp_path, [manual], parts)) as archive:
        hits, context = search_asset(archive, "document:manual", "firing the kiln")
        expanded = expand_asset_neighborhood(hits[:1], context)
        assert [hit.chunk.chunk_index for hit in expanded] == [0, 1, 2]
        assert len(expand_asset_neighborhood(hits[:1], context, expand_chunks=False)) == 1
        assert len(expand_asset_neighborhood(hits[:1], context, 2)) == 2


@pytest.mark.requirement("S0-108")
def test_of_a_thread_what_fits_the_question_comes_though_it_is_not_among_the_newest(chain: Archive) -> None:
    hits, _ = search_asset(chain, "gmail:t10", "Note 9")
    newest = {f"gmail:t{place}" for place in range(3, 10)}
    _, slate = search_asset(chain, "gmail:t0", "slate of the terrace")
    added = expand_asset_neighborhood(hits, slate)[1:]
    assert {hit.chunk.asset_id for hit in added} == newest | {"gmail:t0"}
    assert added[-1].why == "fits best of its thread"
    assert "gmail:t0" not in {
        hit.chunk.asset_id for hit in expand_asset_neighborhood(hits, slate, expand_threads=False)
    }


def test_a_part_of_a_long_mail_is_not_attached(tmp_path: Path) -> None:
    """A question about an attachment follows the attachment, and the mail that comes next may be a long one."""
    mail = {"thread_id": "t", "rag_source_type": "email"}
    long = record("gmail:b", "The kiln is hot. The kiln is old.", "2025-01-12T08:00:00Z", total_siblings=1, **mail)
    file = record(
        "gmail:b:0", "The kiln manual", "2025-01-12T08:00:00Z", parent_asset_id="gmail:b", index_in_parent=0,
        thread_id="t", rag_source_type="email_attachment",
    )  # fmt: skip
    parts = [
        replace(part, index_in_parent=part.chunk_index) for part in passages(long, ["The kiln is hot.", "It is old."])
    ]
    first = record("gmail:a", "Is the kiln hot?", "2025-01-11T08:00:00Z", **mail)
    config = publish(tmp_path, [first, long, file], [*passages(first), *parts, *passages(file)])
    with Archive.open(config) as opened:
        context = opened._context(opened._catalog, "the attachment about the kiln", Filters(), 8)
        hits = run(SEARCH, context)
        assert {hit.chunk.asset_id for hit in hits} >= {"gmail:b", "gmail:b:0"}
        assert [hit.chunk.asset_id for hit in neighborhood._seeds(hits, context)] == ["gmail:b:0"]
        later = catalog_reader.following_chunks(opened._catalog, "t", first.ts or 0, 5)
        assert [(chunk.asset_id, chunk.chunk_index) for chunk in later] == [("gmail:b", 0)]
