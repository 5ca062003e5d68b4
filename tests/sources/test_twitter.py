"""The archive of X: names from posts, files beside the scripts, and damaged scripts."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from relrag_pipelines.sources import KINDS
from tests import ROOT
from tests.sources.connector import counted_openings, packed, read

SAMPLE = ROOT / "examples" / "samples" / "twitter" / "data"


def test_posts_and_messages_are_recognised_and_nothing_else_of_the_archive(tmp_path: Path) -> None:
    likes = tmp_path / "tweet-headers.js"
    likes.write_text('window.YTD.tweet_headers.part0 = [{"tweet": {"tweet_id": "1"}}]')
    recognised = {file.name for file in (*SAMPLE.glob("*.js"), likes) if KINDS["twitter"].recognise(file)}
    assert recognised == {"tweets.js", "direct-messages.js", "direct-messages-group.js"}


def test_a_zip_is_read_with_its_names_and_files(tmp_path: Path) -> None:
    files = {file.relative_to(SAMPLE.parent).as_posix(): file.read_bytes() for file in SAMPLE.rglob("*.*")}
    archive = packed(tmp_path / "twitter.zip", files)
    assert KINDS["twitter"].recognise(archive)
    records, failures = read("twitter", archive)
    assert (len(records), failures) == (12, [])
    assert {record.file_name: record.locations[0] for record in records if record.file_name} == {
        "GHquince.jpg": "twitter.zip!data/tweets_media/1765300000000000001-GHquince.jpg",
        "ladder.jpg": "twitter.zip!data/direct-messages.js#C1M1",
    }
    assert {record.from_ for record in records} == {"Dana Levi", "Petr Kolář", "Eva Malá", "account 4400440044", None}


def test_posts_are_parsed_once_for_the_names_in_all_direct_messages(tmp_path: Path) -> None:
    files = {file.name: file.read_bytes() for file in SAMPLE.glob("*.js")}
    archive = packed(tmp_path / "twitter.zip", files)
    with counted_openings() as both:
        read("twitter", archive)
    del files["direct-messages-group.js"]
    archive = packed(tmp_path / "twitter.zip", files)
    with counted_openings() as single:
        read("twitter", archive)
    assert both["tweets.js"] == single["tweets.js"] > 0


def test_without_the_posts_people_are_called_by_their_accounts(tmp_path: Path) -> None:
    file = Path(shutil.copy(SAMPLE / "direct-messages.js", tmp_path))
    records, _ = read("twitter", file)
    assert [record.from_ for record in records if record.text] == [
        "account 2200220022",
        "account 1100110011",
        "account 4400440044",
    ]


def test_a_long_post_and_a_script_in_the_older_form_are_read(tmp_path: Path) -> None:
    note = {"noteTweet": {"noteTweetId": "7", "createdAt": "2024-03-08T08:00:00.000Z", "core": {"text": "A long post"}}}
    old = {"id_str": "8", "created_at": "Thu Mar 07 09:00:00 +0000 2019", "full_text": "An old post"}
    (tmp_path / "note-tweet.js").write_text(f"window.YTD.note_tweet.part0 = {json.dumps([note])}")
    (tmp_path / "tweet.js").write_text(f"window.YTD.tweet.part0 = {json.dumps([old])}")
    read_posts = [read("twitter", tmp_path / name)[0][0] for name in ("note-tweet.js", "tweet.js")]
    assert [(post.text, post.ts) for post in read_posts] == [("A long post", 1709884800), ("An old post", 1551949200)]


@pytest.mark.parametrize(
    ("rows", "faults"),
    [
        ([{"dmConversation": {"conversationId": 5, "messages": []}}], ["wrong_type"]),
        (["words"], ["wrong_type"]),
        (
            [{"dmConversation": {"conversationId": "1-2", "messages": [{"messageCreate": {"text": "x"}}]}}],
            ["missing_id"],
        ),
        ([], ["no_messages"]),
    ],
)
def test_a_damaged_conversation_is_a_failure(rows: list[object], faults: list[str], tmp_path: Path) -> None:
    file = tmp_path / "direct-messages.js"
    file.write_text(f"window.YTD.direct_messages.part0 = {json.dumps(rows)}")
    records, failures = read("twitter", file)
    assert (records, [failure.fault for failure in failures]) == ([], faults)
