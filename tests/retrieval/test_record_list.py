"""Searches without words: what filters leave is listed in order of time, in pages, and counted."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from starlette.testclient import TestClient

from relrag_pipelines import settings as settings_module
from relrag_pipelines.stores.vectors import local_store
from relrag_pipelines.stores.vectors.protocol import ANYWHERE, ChunkFilter
from relrag_query.cli.commands.ask import SearchOptions, search
from relrag_query.mcp.server import call_tool
from relrag_query.retrieval import record_list
from relrag_query.service import Filters, Service
from relrag_query.understanding.time_expressions import WhenError
from tests import archive
from tests.retrieval.test_attachment_filter import CHAT, SOURCES, write_mail
from tests.web_app import BEARER, COOKIE, client

NOTES = (
    {"id": "a", "text": "The ferry leaves at nine.", "from": "Dana Stein", "timestamp": "2022-12-31T23:30:00Z"},
    {"id": "b", "text": "Omer took it.", "from": "Omer Gal", "timestamp": "2024-05-01T10:00:00Z"},
)
LATER = {"id": "c", "text": "A parcel came.", "from": "Dana Stein", "timestamp": "2021-06-01T10:00:00Z"}


@pytest.fixture(scope="module")
def added(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, datetime]:
    """An archive to which a note was added later, and the time in between."""
    folder = tmp_path_factory.mktemp("record_list")
    config = archive.make(folder, SOURCES)
    (folder / "mail").mkdir()
    write_mail(folder / "mail", "alone")
    write_mail(folder / "mail", "table", "glaze.csv")
    write_mail(folder / "mail", "before")
    before = folder / "mail" / "before.eml"
    before.write_bytes(before.read_bytes().replace(b"15 Mar 2024", b"15 Mar 1998"))  # earlier than the first month
    (folder / "talks").mkdir()
    (folder / "talks" / "WhatsApp Chat with Eva Mala.txt").write_text(CHAT.replace(" (file attached)", ""))
    archive.write_notes(folder, *NOTES)
    archive.sync(config)
    between = datetime.now(UTC)
    archive.write_notes(folder, *NOTES, LATER)
    archive.sync(config)
    return config, between


@pytest.fixture(scope="module")
def config(added: tuple[Path, datetime]) -> Path:
    return added[0]


@pytest.fixture(scope="module")
def service(config: Path) -> Iterator[Service]:
    with Service.open(config) as opened:
        yield opened


@pytest.fixture(scope="module")
def browser(config: Path) -> Iterator[TestClient]:
    with client(config) as opened:
        yield opened


def _notes(reply: Any) -> list[str]:
    return [hit.asset_id.rpartition(":")[2] for hit in reply.hits]


def test_a_source_is_listed_in_order_of_time_and_in_pages(service: Service) -> None:
    notes = Filters(sources=["notes"])
    assert _notes(service.search("", notes)) == ["b", "n2", "n1", "a", "c"]
    assert _notes(service.search("  ", notes, order="oldest")) == ["c", "a", "n1", "n2", "b"]
    first = service.search("", notes, limit=2)
    second = service.search("", notes, limit=2, after=first.next_cursor)
    third = service.search("", notes, limit=2, after=second.next_cursor)
    assert [_notes(page) for page in (first, second, third)] == [["b", "n2"], ["n1", "a"], ["c"]]
    assert third.next_cursor is None


def test_each_count_is_that_of_the_narrowed_list(service: Service) -> None:
    overview = service.search("", Filters(kinds=["jsonl"]), limit=1, overview=True).overview
    assert overview
    assert (overview.passages, overview.with_words, overview.complete) == (5, False, True)
    assert {value.value: value.count for value in overview.sources} == {"notes": 5}
    # by the clock of the owner, in Prague, the last second of 2022 in UTC is of 2023
    assert [(year.value, year.count) for year in overview.years] == [("2024", 3), ("2023", 1), ("2021", 1)]
    assert {person.name: person.count for person in overview.people} == {"Dana Stein": 2, "Omer Gal": 1, "Ota": 1}
    narrowed = [
        *((Filters(kinds=["jsonl"], since=year.value, until=year.value), year.count) for year in overview.years),
        *((Filters(kinds=["jsonl"], person=person.value), person.count) for person in overview.people),
    ]
    for filters, count in narrowed:
        assert len(service.search("", filters, limit=50).hits) == count


def test_a_list_is_counted_once_for_all_its_pages(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[record_list.Selection] = []
    counts = record_list.counts

    def noted(connection: Any, selection: record_list.Selection, *others: Any) -> record_list.EntryCounts:
        counted.append(selection)
        return counts(connection, selection, *others)

    monkeypatch.setattr(record_list, "counts", noted)
    since, later = Filters(kinds=["jsonl"], since="2021-02"), Filters(kinds=["jsonl"], since="2024-05")
    first = service.search("", since, limit=2, overview=True)
    second = service.search("", since, limit=2, after=first.next_cursor, overview=True)
    assert first.overview == second.overview
    assert len(counted) == 1
    narrowed = service.search("", later, limit=2, overview=True).overview
    assert narrowed
    assert narrowed.passages == 1
    assert len(counted) == 2


def test_a_chat_is_listed_by_its_windows_and_marks_the_messages_of_the_time(service: Service) -> None:
    (hit,) = service.search("", Filters(sources=["talks"], since="2024-03", until="2024-03")).hits
    assert [(message.text, message.matches) for message in hit.messages] == [
        ("The kiln is cold", True),
        ("kiln.csv", True),
    ]


def test_a_mail_before_the_first_month_has_its_own_time_in_a_list_as_in_a_search(service: Service) -> None:
    mail = Filters(sources=["mail"])
    listed, searched = (service.search(words, mail, order="oldest", overview=True) for words in ("", "kiln"))
    for reply in (listed, searched):
        assert reply.hits[0].subject == "The kiln before"
        assert reply.overview
        assert [(year.value, year.count) for year in reply.overview.years] == [("2024", 3), ("1998", 1)]


def test_attachments_are_listed_with_what_they_are_attached_to(service: Service) -> None:
    hits = service.search("", Filters(attachment="spreadsheet")).hits
    assert sorted(hit.rag_source_type for hit in hits) == ["email", "email_attachment"]
    assert all("table" in (hit.subject or "") for hit in hits)


def test_what_was_added_is_told_by_its_first_publication(service: Service, added: tuple[Path, datetime]) -> None:
    instant = added[1].isoformat()
    assert _notes(service.search("", Filters(added=instant))) == ["c"]
    assert _notes(service.search("parcel ferry", Filters(added=instant))) == ["c"]
    assert len(service.search("", Filters(added=str(added[1].year)), limit=50).hits) > 5
    tomorrow = (added[1] + timedelta(days=2)).date().isoformat()
    assert service.search("", Filters(added=tomorrow)).hits == []
    assert service.search("ferry", Filters(added=tomorrow)).hits == []


def test_a_long_list_of_what_was_added_is_not_sent_to_the_store(
    service: Service, monkeypatch: pytest.MonkeyPatch, added: tuple[Path, datetime]
) -> None:
    instant, year = added[1].isoformat(), str(added[1].year)
    expected = [hit.chunk_id for hit in service.search("kiln ferry", Filters(added=year)).hits]
    sent: list[ChunkFilter] = []
    search = local_store._EdgeStore.search

    def recorded(store: Any, query: Any, limit: int, where: ChunkFilter = ANYWHERE, also: Any = None) -> Any:
        sent.append(where)
        return search(store, query, limit, where, also)

    monkeypatch.setattr(local_store._EdgeStore, "search", recorded)
    service.search("kiln ferry", Filters(added=year))
    assert any(where.within for where in sent)
    sent.clear()
    monkeypatch.setattr("relrag_query.archive._MOST_SENT", 0)
    assert [hit.chunk_id for hit in service.search("kiln ferry", Filters(added=year)).hits] == expected
    assert _notes(service.search("parcel ferry", Filters(added=instant))) == ["c"]
    assert sent
    assert not any(where.within for where in sent)


def test_a_time_is_read_with_its_zone_or_by_the_owners_clock() -> None:
    zone = ZoneInfo("Europe/Prague")
    assert record_list.moment("2024-07-01T12:00Z", zone) == datetime.fromisoformat("2024-07-01T12:00")
    assert record_list.moment("2024-07-01T12:00", zone) == datetime.fromisoformat("2024-07-01T10:00")
    assert record_list.moment("2024-07", zone) == datetime.fromisoformat("2024-06-30T22:00")
    for wrong in ("2024-13", "2024-07-01T25:00Z", "soon"):
        with pytest.raises(WhenError):
            record_list.moment(wrong, zone)


@pytest.mark.parametrize("text", ["9999-12-31T23:59:59-10:00", "0001-01-01T00:00:00+10:00", "0001", "0001-01-01"])
def test_a_time_that_its_zone_leads_out_of_the_calendar_is_refused(text: str, browser: TestClient) -> None:
    with pytest.raises(WhenError, match=f'"{re.escape(text)}" is not a time'):
        record_list.moment(text, ZoneInfo("Europe/Prague"))
    page = browser.get("/search", params={"added": text}, headers=COOKIE)
    assert page.status_code < 500
    assert "is not a time" in unescape(page.text)


def test_without_words_and_limits_everything_is_listed_but_not_on_the_page(
    service: Service, browser: TestClient
) -> None:
    assert service.search("", limit=1).hits[0].text == "Eva Mala: The kiln is hot"
    everything = browser.post("/api/v1/search", json={"limit": 50}, headers=BEARER).json()
    assert {hit["source"] for hit in everything["hits"]} == {"chat", "mail", "notes", "papers", "talks"}
    assert 'class="hits"' not in browser.get("/search", headers=COOKIE).text


def test_api_tool_page_and_command_list_the_same(
    service: Service,
    browser: TestClient,
    config: Path,
    added: tuple[Path, datetime],
    capsys: pytest.CaptureFixture[str],
) -> None:
    reply = browser.post("/api/v1/search", json={"sources": ["notes"], "limit": 2}, headers=BEARER).json()
    assert [hit["asset_id"].rpartition(":")[2] for hit in reply["hits"]] == ["b", "n2"]
    instant = added[1].isoformat()
    body = {"added": instant, "query": None}
    assert len(browser.post("/api/v1/search", json=body, headers=BEARER).json()["hits"]) == 1
    assert browser.post("/api/v1/search", json={"added": "2024-02-30"}, headers=BEARER).status_code == 422
    content = call_tool(service, "search", {"sources": ["notes"], "limit": 1}).structured_content
    assert content
    assert content["hits"][0]["asset_id"].endswith(":b")
    html = browser.get("/search?source=notes&order=oldest", headers=COOKIE).text
    assert "5 records" in html
    assert html.index("A parcel came") < html.index("Omer took it")
    assert '<b aria-current="true">Oldest first</b>' in html
    assert "Best first" not in html
    assert search("", SearchOptions(sources=["notes"], limit=2), config) == 0
    output = capsys.readouterr().out
    assert output.index("Omer took it") < output.index("thank the plumber")


def test_the_first_page_links_to_what_has_come_since_the_last_visit(
    browser: TestClient, config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = datetime(2025, 1, 20, 12, tzinfo=UTC)
    monkeypatch.setattr(settings_module, "now", lambda: start)
    assert 'id="news"' not in browser.get("/", headers=COOKIE).text
    parcel = {"id": "d", "text": "A second parcel.", "timestamp": "2020-01-01T10:00:00Z"}
    archive.write_notes(config.parent, *NOTES, LATER, parcel)
    archive.sync(config)
    monkeypatch.setattr(settings_module, "now", lambda: start + timedelta(days=1))
    with client(config) as later:
        html = later.get("/", headers=COOKIE).text
        assert '<span class="faint">1 record</span>' in html
        links = [unescape(link) for link in re.findall(r'href="(/search\?[^"]*added=[^"]*)"', html)]
        assert len(links) == 2
        assert "source=notes" in links[1]
        for link in links:
            listed = later.get(link, headers=COOKIE).text
            assert "1 record;" in listed
            assert "A second parcel." in listed
            assert "Added since" in listed
