"""Pages of Telegram: chats of one title, and ids below zero."""

from pathlib import Path

import pytest

from relrag_pipelines.records import Record
from tests.sources.connector import packed, read


def message(own_id: int, day: str, text: str, reply: int = 0) -> str:
    answer = f'<div class="reply_to details">In reply to <a href="#go_to_message{reply}">this message</a></div>'
    return (
        f'<div class="message default clearfix" id="message{own_id}"><div class="body">'
        f'<div class="pull_right date details" title="{day}.03.2024 10:00:00 UTC+01:00">10:00</div>'
        f'<div class="from_name">Dana</div>{answer if reply else ""}<div class="text">{text}</div></div></div>'
    )


def service(own_id: int, text: str) -> str:
    return f'<div class="message service" id="message{own_id}"><div class="body details">{text}</div></div>'


def page(title: str, *messages: str) -> str:
    return (
        '<html><body><div class="page_wrap"><div class="page_header"><div class="content">'
        f'<div class="text bold">{title}</div></div></div><div class="page_body chat_page"><div class="history">'
        f"{''.join(messages)}</div></div></div></body></html>"
    )


NEWS = page("News", message(1, "01", "first of one"), message(2, "03", "second of one"))
OTHER = page("News", message(1, "02", "first of another"), message(2, "04", "second of another"))
AGAIN = page("News", message(1, "01", "first of one"), message(2, "03", "second of one"), message(3, "05", "third"))


def records(folder: Path, pages: dict[str, str], archive: str) -> list[Record]:
    if archive:
        return read("telegram", packed(folder / archive, pages))[0]
    for name, text in pages.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return [record for name in sorted(pages) for record in read("telegram", folder / name, folder)[0]]


@pytest.mark.parametrize("archive", ["", "a.zip"])
def test_two_channels_of_one_title_stay_apart(tmp_path: Path, archive: str) -> None:
    pages = {"chats/chat_1/messages.html": NEWS, "chats/chat_2/messages.html": OTHER}
    pages["chats/chat_2/messages2.html"] = page("News", message(3, "06", "third of another"))
    found = records(tmp_path, pages, archive)
    assert len({record.source_id for record in found}) == len(found) == 5
    threads = {record.text: record.thread_id for record in found}
    assert threads["first of one"] == threads["second of one"] != threads["first of another"]
    assert threads["first of another"] == threads["third of another"]


@pytest.mark.parametrize("archive", ["", "a.zip"])
def test_a_second_export_of_a_channel_has_its_ids(tmp_path: Path, archive: str) -> None:
    found = records(tmp_path, {"March/messages.html": NEWS, "May/messages.html": AGAIN}, archive)
    assert len({record.source_id for record in found}) == 3
    (alone, _), _ = read("telegram", packed(tmp_path / "b.zip", {"messages.html": NEWS}))
    assert alone.source_id in {record.source_id for record in found}


def test_ids_below_zero(tmp_path: Path) -> None:
    """What a group held before it became a supergroup, and lines with a day."""
    old = -999_999_990
    text = page(
        "Club",
        service(-1, "1 March 2024"),
        message(old, "01", "before"),
        service(old + 1, "Dana made the group a supergroup"),
        message(5, "02", "after", reply=old),
    )
    before, notice, after = records(tmp_path, {"messages.html": text}, "")
    assert [before.text, notice.text, after.text] == ["before", "Dana made the group a supergroup", "after"]
    assert after.parent_asset_id == f"telegram:{before.source_id}"
