"""The page and the second of a quote are its own, not those where its passage begins."""

from __future__ import annotations

from pathlib import Path

import pytest

from relrag_pipelines.records import Page, SpeechSegment
from relrag_query.archive import Archive
from tests.query_hits import passages, publish, record

PAGES = [
    "The first page tells of the tender and of who may take part in it.",
    "On the second page the committee lists what each bidder sent.",
    "The deposit for the boathouse is 4,200 crowns, paid back in spring.",
]
SAID = [
    "We should begin now, since everybody whom we invited is here already.",
    "The bridge gets a new railing in August, and the council pays for all of it.",
    "Then we are done for today.",
]


def _spread(parts: list[str], gap: str) -> tuple[str, list[tuple[int, int]]]:
    text, places = "", []
    for part in parts:
        start = len(text) + (len(gap) if text else 0)
        text = f"{text}{gap}{part}" if text else part
        places.append((start, start + len(part)))
    return text, places


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    text, places = _spread(PAGES, "\n\n")
    pages = [Page(number, *place) for number, place in enumerate(places, 7)]
    spoken_text, spoken_places = _spread(SAID, "\n")
    spoken = [SpeechSegment(60.0 * place, 60.0 * place + 9, *at) for place, at in enumerate(spoken_places)]
    tender = record("document:tender", text, "2025-03-01T08:00:00Z", source="notes", pages=pages)
    bridge = record(
        "call_recording:bridge",
        spoken_text,
        "2025-03-02T08:00:00Z",
        source="notes",
        spoken=spoken,
        rag_source_type="call_recording",
    )
    (pages_chunk,), (call_chunk,) = passages(tender), passages(bridge)
    pages_chunk.page_number, pages_chunk.last_page_number = 7, 9
    call_chunk.start_second, call_chunk.end_second = 0.0, 129.0
    return publish(tmp_path_factory.mktemp("places"), [tender, bridge], [pages_chunk, call_chunk])


def test_the_page_is_that_of_the_sentence(archive: Path) -> None:
    with Archive.open(archive) as opened:
        answer = opened.ask("How high is the deposit for the boathouse?")
        assert [(quote.answering, quote.place.page) for quote in answer.quotes] == [(PAGES[2], 9)]
        assert [(source.hit.chunk.page_number, source.places[0].page) for source in answer.sources] == [(7, 9)]


def test_the_second_is_that_of_the_sentence(archive: Path) -> None:
    with Archive.open(archive) as opened:
        answer = opened.ask("When does the bridge get a new railing?")
        assert [quote.place.second for quote in answer.quotes] == [60.0]
