"""An answer that is not sure names files that were not read and whose names have words of the question."""

from __future__ import annotations

from pathlib import Path

import pytest

from relrag_pipelines import settings as settings_module
from relrag_query.archive import Archive
from relrag_query.display.page_texts import page_texts
from tests import archive
from tests.cases import cases


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unread")
    config = archive.make(folder)
    (folder / "papers" / "warranty-dishwasher_2023.pdf").write_bytes(b"%PDF-1.4 broken")
    (folder / "papers" / "pojistka auta.pdf").write_bytes(b"%PDF-1.4 broken as well")
    (folder / "papers" / "ביטוח דירה.pdf").write_bytes(b"%PDF-1.4 broken too")
    (folder / "papers" / "Kaufvertrag Garage.pages").write_bytes(b"PK\3\4")
    archive.first_sync(config)
    return config


@pytest.mark.parametrize(*cases(__file__, "the_file_is_named_that_a_question_asks_about"))
def test_the_file_is_named_that_a_question_asks_about(question: str, names: list[str], config: Path) -> None:
    with Archive.open(config) as opened:
        answer = opened.ask(question)
    hints = [name for name in ("warranty", "pojistka", "ביטוח", "Kaufvertrag") if name in answer.notice]
    assert hints == [name.split("-")[0].split(" ")[0] for name in names]
    if names:
        hint = page_texts(answer.language).unread.partition("{files}")[0]
        assert f"{hint}{names[0]} (" in answer.notice


def test_the_remedy_is_told_and_a_sure_answer_has_no_hint(config: Path) -> None:
    with Archive.open(config) as opened:
        hint = opened.ask("How long is the warranty of the dishwasher?").notice
        sure = opened.ask("Who has the key of the cabin?")
    assert "export or download it again" in hint
    assert sure.found and sure.notice == ""


def test_who_may_see_some_clients_only_is_told_of_no_file(config: Path) -> None:
    with Archive.of(settings_module.load(config), clients=("acme",)) as limited:
        answer = limited.ask("How long is the warranty of the dishwasher?")
    assert "warranty" not in answer.notice
