"""One service for many callers: pages of lists, ids, and requests that stay within one generation."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pandas as pd
import pytest

from relrag_pipelines.stores import generations
from relrag_query.archive import ArchiveError
from relrag_query.people.indexed_person import PeopleError
from relrag_query.service import Filters, NotServed, Service, UnknownRef
from relrag_query.service.cursors import CursorError, cursor, offset_of
from tests import archive


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    config = archive.many_notes(tmp_path_factory.mktemp("service"), 40)
    archive.first_sync(config)
    with Service.open(config) as opened:
        yield opened


def test_pages_of_a_search_make_up_the_whole(service: Service) -> None:
    first = [hit.asset_id for hit in service.search("greenhouse pane", limit=8).hits]
    pages, after = [], None
    for _ in range(3):
        page = service.search("greenhouse pane", limit=8, after=after)
        pages += [hit.asset_id for hit in page.hits]
        after = page.next_cursor
    assert len(set(pages)) == 24
    assert pages[:8] == first
    assert service.search("greenhouse pane", limit=8, after=after).hits
    assert service.search("greenhouse pane", limit=60).next_cursor is None


def test_results_are_tables(service: Service) -> None:
    found = service.search("greenhouse pane", limit=3)
    table = found.to_pandas()
    assert table["chunk_id"].tolist() == [hit.chunk_id for hit in found.hits]
    assert {"from", "time", "text"} <= set(table.columns)
    nothing = service.search("xylophone", Filters(kinds=["whatsapp"])).to_pandas()
    assert (len(nothing), list(nothing.columns)) == (0, list(table.columns))
    assert service.ask("Which pane does note 7 need?").to_pandas()["number"].tolist()[:1] == [1]


def test_pages_of_a_thread_are_newest_first_and_end(service: Service) -> None:
    first = service.thread("t1", limit=5)
    second = service.thread("thread:t1", limit=5, after=first.next_cursor)
    assert [one.ref for one in first.members] == [f"jsonl:notes:n{number}" for number in (36, 31, 26, 21, 16)]
    assert [one.ref for one in second.members] == [f"jsonl:notes:n{number}" for number in (11, 6, 1)]
    assert second.next_cursor is None
    assert second.members[-1].preview == "Note 1: the greenhouse needs pane 7."


def test_an_id_names_a_record_a_passage_or_a_thread(service: Service) -> None:
    record = service.show("jsonl:notes:n7")
    assert record.record is not None
    assert record.record.text == "Note 7: the greenhouse needs pane 49."
    related = {(one.relation_type, one.direction): one for one in record.related}
    assert related["thread_member", "out"].ref == "thread:t2"
    passage = service.show(related["chunk_of", "in"].ref)
    assert [one.text for one in passage.passages] == [record.record.text]
    assert [one.asset_id for one in passage.passages] == ["jsonl:notes:n7"]
    assert len(service.show("thread:t2").members) == 8


@pytest.mark.parametrize("ref", ["jsonl:notes:none", "chunk:none", "thread:none", "", "thread:", "%", "x" * 5000])
def test_an_unknown_id_is_an_error(service: Service, ref: str) -> None:
    with pytest.raises(UnknownRef, match="has nothing named"):
        service.show(ref)


def test_filters_are_those_of_the_archive(service: Service) -> None:
    within = service.search("pane", Filters(since="2024", sources=["notes"]), limit=40)
    assert len(within.hits) == 20
    assert {hit.time[:4] for hit in within.hits if hit.time} == {"2024"}
    assert service.search("pane", Filters(kinds=["whatsapp"])).hits == []


def test_neighbors_are_paged_and_filtered(service: Service) -> None:
    page = service.neighbors("thread:t1", ["thread_member"], "in", 5)
    rest = service.neighbors("thread:t1", ["thread_member"], "in", 5, page.next_cursor)
    assert (len(page.neighbors), len(rest.neighbors), rest.next_cursor) == (5, 3, None)
    assert service.neighbors("thread:t1", ["reply_to"]).neighbors == []


@pytest.mark.parametrize("given", ["x", "MTow-", "é", cursor(7, -1), cursor(7, 10**9), "%%%"])
def test_a_cursor_that_is_none_is_an_error(given: str) -> None:
    with pytest.raises(CursorError, match="begin again"):
        offset_of(given, 7)


def test_a_cursor_of_another_generation_says_that_the_archive_changed() -> None:
    assert offset_of(cursor(3, 12), 3) == 12
    with pytest.raises(CursorError, match="changed"):
        offset_of(cursor(3, 12), 4)


def test_trace_needs_an_index(service: Service, tmp_path: Path) -> None:
    with pytest.raises(NotServed, match="--index"):
        service.graphs.trace("Ota owns the cabin [Data: Entities (1)].")
    with Service(service.settings, tmp_path) as indexed, pytest.raises(NotServed):
        indexed.graphs.trace("Ota owns the cabin [Data: Entities (1)].")


def test_an_index_is_read_as_its_files_are_now(service: Service, tmp_path: Path) -> None:
    def write(title: str) -> None:
        columns = {"id": ["e1"], "human_readable_id": [1], "title": [title], "text_unit_ids": [["u1"]]}
        pd.DataFrame(columns).to_parquet(tmp_path / "entities.parquet")

    def titles() -> list[str]:
        return [one.title for one in indexed.graphs.trace("He owns it [Data: Entities (1)].").references]

    write("Ota Kralicek")
    with Service(service.settings, tmp_path) as indexed:
        assert titles() == ["Ota Kralicek"]
        write("Somebody")
        assert titles() == ["Somebody"]
        (tmp_path / "entities.parquet").unlink()
        with pytest.raises(NotServed, match="not there"):
            titles()
        write("Somebody else")
        assert titles() == ["Somebody else"]
        (tmp_path / "entities.parquet").unlink()
        until = time.monotonic() + 30
        while indexed.graphs.trace_index._open and time.monotonic() < until:  # evicted without a request
            time.sleep(0.05)
        assert indexed.graphs.trace_index._open is None


def test_the_watch_goes_on_after_a_disk_that_did_not_answer(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = threading.Event()

    def broken(*_: object) -> bool:
        asked.set()
        raise OSError("the disk does not answer")

    with Service(service.settings) as watched:
        watched.search("pane")
        monkeypatch.setattr(watched._generation, "_is_outdated", broken)
        assert asked.wait(10)
        asked.clear()
        assert asked.wait(10)


def test_a_number_that_is_nobodys_is_an_unknown_person(service: Service) -> None:
    for number in ("9" * 60, "9" * 19, "9" * 18):
        with pytest.raises(PeopleError, match="nobody"):
            service.person(number)
        with pytest.raises(UnknownRef):
            service.show(f"person:{number}")
        with pytest.raises(UnknownRef):
            service.graph_around(f"person:{number}")


@pytest.mark.slow
def test_32_callers_are_answered_as_one_after_the_other(service: Service) -> None:
    questions = [f"Which pane does note {number % 20} need?" for number in range(48)]

    def ask(question: str) -> str:
        return service.ask(question).model_dump_json(exclude={"trace"})

    alone = [ask(question) for question in questions]
    with ThreadPoolExecutor(32) as callers:
        assert list(callers.map(ask, questions)) == alone


def test_requests_never_mix_generations_and_old_ones_are_let_go_of(tmp_path: Path) -> None:
    config = archive.make(tmp_path)
    home = archive.first_sync(config).home
    held = {1: frozenset({"jsonl:notes:n1", "jsonl:notes:n2"})}
    seen: set[tuple[int, frozenset[str]]] = set()
    faults: list[Exception] = []
    done = threading.Event()

    def ask(service: Service) -> None:
        try:
            while not done.wait(0.02):  # a pause, because a caller of this process takes the time of what syncs
                found = service.search("plumber", Filters(sources=["notes"]), limit=20)
                with service.reading() as opened:
                    records = frozenset(
                        ref for number in range(1, 9) if opened.record(ref := f"jsonl:notes:n{number}") is not None
                    )
                    seen.add((opened.generation.number, records))
                seen.add((found.generation, frozenset(hit.asset_id for hit in found.hits)))
        except Exception as error:
            faults.append(error)

    with Service.open(config) as service:
        callers = [threading.Thread(target=ask, args=(service,)) for _ in range(4)]
        for caller in callers:
            caller.start()
        notes = []
        for number in range(3, 5):
            notes.append({"id": f"n{number}", "text": f"The plumber came {number} times.", "ts": "1709280000"})
            archive.write_notes(tmp_path, *notes)
            archive.sync(config)
            held[number - 1] = held[number - 2] | {f"jsonl:notes:n{number}"}
        time.sleep(0.5)
        done.set()
        for caller in callers:
            caller.join()
        assert faults == []
        assert seen <= set(held.items())
        assert (3, held[3]) in seen
        # nobody asks: the service must notice by itself, or what was forgotten could not be removed
        archive.write_notes(tmp_path)
        archive.sync(config)
        until = time.monotonic() + 30
        while generations.numbers(home) != [4] and time.monotonic() < until:
            generations.sweep(home, 1)
            time.sleep(0.1)
        assert generations.numbers(home) == [4]
        assert [hit.asset_id for hit in service.search("times", Filters(sources=["notes"])).hits] == []


def test_a_request_ends_in_the_generation_it_began_with(tmp_path: Path) -> None:
    config = archive.make(tmp_path)
    archive.first_sync(config)
    with Service.open(config) as service, service.reading() as before:
        archive.write_notes(tmp_path, {"id": "n3", "text": "The plumber came.", "ts": "1709280000"})
        archive.sync(config)
        assert service.search("came", Filters(sources=["notes"])).generation == 2
        assert before.record("jsonl:notes:n1") is not None
        assert before.record("jsonl:notes:n3") is None


def test_a_closed_service_answers_nothing_more(tmp_path: Path) -> None:
    config = archive.make(tmp_path)
    with Service.open(config) as service, pytest.raises(ArchiveError, match="relrag sync"):
        service.search("plumber")
    with pytest.raises(ArchiveError, match="closed"):
        service.search("plumber")
