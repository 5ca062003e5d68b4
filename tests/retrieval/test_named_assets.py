"""Records that a question names: by a file, a number, a subject in quotes; and what that makes of its intents."""

from collections.abc import Iterator

import pytest

from relrag_query.archive import Archive
from relrag_query.retrieval.named_assets import named_assets
from relrag_query.understanding.intent import QueryIntent
from tests.cases import cases
from tests.query_hits import publish, record


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Archive]:
    records = [
        record("gmail:1", "The offer.", subject="Glazing of the kiln", numbers=["INV-5501"]),
        record(
            "gmail:1:0", "Tiles", subject="Glazing of the kiln", file_name="Offer_v2.pdf", parent_asset_id="gmail:1"
        ),
        record("gmail:2", "Twice", subject="Re: lunch", numbers=["INV-5502"]),
        record("gmail:3", "Twice", subject="Re: lunch", numbers=["INV-5502"]),
        record("document:1", "Plan", file_name="plan.txt"),
    ]
    with Archive.open(publish(tmp_path_factory.mktemp("named"), records)) as opened:
        yield opened


@pytest.mark.parametrize(*cases(__file__, "a_name_that_one_record_alone_has_means_it"))
def test_a_name_that_one_record_alone_has_means_it(archive: Archive, question: str, refs: list[str]) -> None:
    assert list(named_assets(question, archive._catalog)) == refs


@pytest.mark.requirement("S0-59")
def test_a_question_that_names_records_of_two_kinds_goes_across_channels(archive: Archive) -> None:
    assert archive.search("Is plan.txt newer than INV-5501?").intents == [QueryIntent.CROSS_CHANNEL]
    assert archive.search("Is plan.txt newer than INV-5502?").intents == [QueryIntent.GENERAL]
    assert archive.search("plan.txt and plan.txt").intents == [QueryIntent.GENERAL]
