"""A mail that was forgotten, and the mails that quote it: in private/, in passages, and in what is read later."""

import re
import tempfile
import textwrap
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relrag_pipelines.chunking import chunk
from relrag_pipelines.erasure import byte_search, purge, record_selection, rule_file, rule_matching
from tests.end_to_end.test_mail_archive import Archive

SECRET = """\
The clinic wrote back this morning, and the operation is on the ninth of May.
Please pay their invoice INV-1187 before then and tell nobody in the office.

Hugs
Eva"""
SAID = ("operation is on the ninth", "tell nobody in the office", "INV-1187", "Hugs")
OPENING = "Did the clinic ever answer your letter, or shall I call them again on Friday?"


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    return Archive(tmp_path)


def below(text: str, who: str = "Eva <eva@host.example>") -> str:
    """A mail's text as it stands below an answer to it."""
    return f"\n\nOn Mon, 6 Jan 2025 at 08:40, {who} wrote:\n" + re.sub("^", "> ", text, flags=re.MULTILINE)


FIRST = OPENING
ANSWER = SECRET + below(FIRST, "Jan <jan@host.example>")
REPLY = "Of course, I will drive you there." + below(ANSWER)
FURTHER = "Thank you so much." + below(REPLY, "Jan <jan@host.example>")
PASSED_ON = f"""For your files.

---------- Forwarded message ---------
From: Eva <eva@host.example>
Date: Mon, 6 Jan 2025 at 08:40
Subject: the clinic
To: <jan@host.example>

{SECRET}
"""


def write(archive: Archive, name: str, text: str, answers: str = "", subject: str = "the clinic") -> None:
    head = f"Message-ID: <{name}@host.example>\nDate: 6 Jan 2025 08:40:00 +0000\nFrom: jan@host.example\n"
    head += f"In-Reply-To: <{answers}@host.example>\n" if answers else ""
    (archive.mails / f"{name}.eml").write_text(f"{head}Subject: {subject}\n\n{text}\n")


def fill(archive: Archive) -> None:
    write(archive, "first", FIRST)
    write(archive, "secret", ANSWER, "first")
    write(archive, "reply", REPLY, "secret")
    write(archive, "further", FURTHER, "reply")
    write(archive, "passed", PASSED_ON, subject="Fwd: the clinic")


def remains(archive: Archive) -> set[str]:
    """What the home still says of the forgotten mail."""
    found = byte_search.search(archive.workspace.home, SAID).holding
    return {said for said in SAID if byte_search.search(archive.workspace.home, [said]).holding} if found else set()


def apart_from_threads(archive: Archive) -> list[dict[str, Any]]:
    """All records; which thread a mail is of is told anew without the mail that is gone."""
    return [{name: value for name, value in row.items() if name != "thread_id"} for row in archive.rows()]


def forget(archive: Archive, text: str) -> None:
    archive.forget(*(row["asset_id"] for row in archive.rows() if row["text"].startswith(text)))


def test_no_passage_holds_the_words_of_a_forgotten_mail_and_answers_keep_their_own(archive: Archive) -> None:
    fill(archive)
    archive.export()
    archive.stages()
    assert remains(archive) == set(SAID)
    forget(archive, "The clinic wrote")
    archive.stages()
    assert remains(archive) == set()
    said = {chunk["text"] for chunk in archive.rows("chunks")}
    assert {FIRST, "Of course, I will drive you there.", "Thank you so much.", "For your files."} <= said
    # what was quoted of others is still there, as the mail that is answered is no more
    reply = next(row for row in archive.rows() if row["text"].startswith("Of course"))
    assert OPENING in reply["extra"]
    assert "Eva <eva" not in reply["extra"]
    assert reply["numbers"] == []
    assert "forward" not in next(row for row in archive.rows() if row["text"] == "For your files.")["extra"]


def test_everyday_lines_stay_where_another_mail_of_the_thread_is_answered(archive: Archive) -> None:
    write(archive, "secret", "Hello Jan\n\n" + SECRET)
    write(archive, "other", "Hello Jan\n\nI moved to Brno.\n\nHugs\nEva", "secret")
    write(archive, "reply", "How nice!" + below("Hello Jan\n\nI moved to Brno.\n\nHugs\nEva"), "other")
    mail = archive.mails / "reply.eml"
    mail.write_text("References: <secret@host.example> <other@host.example>\n" + mail.read_text())
    archive.export()
    before = [row["extra"] for row in archive.rows() if row["text"] == "How nice!"]
    forget(archive, "Hello Jan\n\nThe clinic")
    assert [row["extra"] for row in archive.rows() if row["text"] == "How nice!"] == before


@pytest.mark.parametrize("going", ["passed", "copy"])
def test_quotations_of_a_mail_that_stays_stay(archive: Archive, going: str) -> None:
    write(archive, "secret", SECRET)
    write(archive, "reply", "Of course." + below(SECRET), "secret")
    write(archive, going, PASSED_ON if going == "passed" else SECRET + "\n\nCopied.", subject="Fwd: the clinic")
    archive.export()
    before = [row["extra"] for row in archive.rows() if row["text"] == "Of course."]
    archive.forget(*(row["asset_id"] for row in archive.rows() if row["text"].endswith(("files.", "Copied."))))
    assert len(archive.rows()) == 2
    assert [row["extra"] for row in archive.rows() if row["text"] == "Of course."] == before


def test_the_header_of_a_forwarded_mail_goes_with_the_last_of_its_own_words(archive: Archive) -> None:
    write(archive, "secret", SECRET)
    write(archive, "whole", PASSED_ON + "\n\n-- \nJan Hora\n+420 543 210 123", subject="Fwd: the clinic")
    write(archive, "part", PASSED_ON + "\nWhat do you say?\n\n-- \nJan Hora", subject="Fwd: the clinic")
    archive.export()
    forget(archive, "The clinic")
    whole, part = (row["extra"] for row in sorted(archive.rows(), key=lambda row: "What do" in row["extra"]))
    assert "Jan Hora" in whole
    assert "eva@host.example" not in whole
    assert "eva@host.example" in part


def test_what_was_cut_is_what_a_later_sync_reads(archive: Archive) -> None:
    fill(archive)
    archive.export()
    forget(archive, "The clinic wrote")
    cut = apart_from_threads(archive)
    archive.export(full=True)
    assert apart_from_threads(archive) == cut


@pytest.mark.parametrize("change", ["another answer", "one mailbox", "edited", "renamed"])
def test_it_stays_cut_whatever_the_export_becomes(archive: Archive, change: str) -> None:
    fill(archive)
    archive.export()
    forget(archive, "The clinic wrote")
    if change == "another answer":
        write(archive, "late", "I am back." + below(ANSWER), "secret")
    elif change == "one mailbox":
        mails = [file.read_text() for file in sorted(archive.mails.iterdir())]
        for file in archive.mails.iterdir():
            file.unlink()
        (archive.mails / "all.mbox").write_text("".join(f"From x@y Mon Jan  6 00:00:00 2025\n{one}\n" for one in mails))
    elif change == "edited":
        write(archive, "reply", "Of course, by car." + below(SECRET.replace("\n", " ")), "secret")
    else:
        (archive.mails / "reply.eml").rename(archive.mails / "moved.eml")
    archive.export()
    archive.stages()
    assert remains(archive) == set()
    assert len(archive.rows()) == 5 if change == "another answer" else 4


def test_taken_back_the_quotations_come_back_with_the_mail(archive: Archive) -> None:
    fill(archive)
    archive.export()
    before = archive.rows()
    forget(archive, "The clinic wrote")
    purge.undo(archive.workspace, 1)
    archive.export()
    assert archive.rows() == before


@pytest.mark.parametrize("gone", [False, True], ids=["before anything went", "when the mail itself was gone"])
def test_after_a_kill_the_next_sync_cuts_what_is_left(archive: Archive, gone: bool) -> None:
    fill(archive)
    archive.export()
    keys, home = archive.workspace.keys, archive.workspace.home
    rule = rule_matching.for_records(
        [row["asset_id"] for row in archive.rows() if row["text"].startswith("The cl")], keys, "now"
    )
    chosen = record_selection.select(archive.workspace, [rule])
    kept = rule_file.add_rule(rule_file.ErasureRules(), record_selection.complete_rule(rule, chosen, archive.workspace))
    if gone:  # but the quotations are there as they were
        purge.remove(archive.workspace, replace(kept, rules=[replace(kept.rules[0], said="")]), chosen)
        assert remains(archive) == set(SAID)
    rule_file.save(home, kept, keys)
    archive.export()
    assert remains(archive) == set()
    assert not rule_file.load(home).unfinished


def test_a_mail_that_says_it_again_is_named_and_stays(archive: Archive) -> None:
    fill(archive)
    write(
        archive,
        "again",
        "I repeat: the operation is on the ninth of May. Please pay their invoice INV-1187 before then.",
    )
    write(archive, "polite", "We need the report before then and tell nobody in the office.")
    archive.export()
    going = next(row["asset_id"] for row in archive.rows() if row["text"].startswith("The clinic wrote"))
    rule = rule_matching.for_records([going], archive.workspace.keys, "now")
    chosen = record_selection.select(archive.workspace, [rule])
    by_text = {row["asset_id"]: row["text"] for row in archive.rows()}
    assert [(by_text[one][:8], count) for one, count in chosen.repeating.items()] == [("I repeat", 16)]
    complete = record_selection.complete_rule(rule, chosen, archive.workspace)
    quoting = record_selection.mails_quoting_selection(archive.workspace, complete, chosen)
    assert sorted(by_text[one] for one in quoting) == [
        "For your files.",
        "Of course, I will drive you there.",
        "Thank you so much.",
    ]
    archive.forget(going)
    assert {"I repeat", "We need "} <= {row["text"][:8] for row in archive.rows()}


def chunked(archive: Archive) -> list[str]:
    """The passages of all records, without the stages between, which write a lot."""
    months = [table for _, _, table in record_selection.private_months(archive.workspace)]
    found = [chunk(table, kind="gmail", chunk_tokens=200, overlap_sentences=1)["text"].to_pylist() for table in months]
    return [text for texts in found for text in texts]


STYLES = {
    "gmail": below,
    "outlook": lambda text: (
        f"\n\n-----Original Message-----\nFrom: Eva\nSent: Monday, 6 Jan 2025\nSubject: x\n\n{text}"
    ),
    "marks": lambda text: "\n\n" + re.sub("^", "> ", text, flags=re.MULTILINE),
    "twice": lambda text: below(f"Yes.{below(text)}", "Jan <jan@host.example>"),
    "wrapped": lambda text: below(textwrap.fill(text, 30)),
    "forwarded": lambda text: (
        f"\n\n---------- Forwarded message ---------\nFrom: Eva <e@x.example>\nSubject: x\n\n{text}"
    ),
}
SENTENCES = st.lists(
    st.sampled_from(["alpha", "beta", "gamma", "delta", "epsilon", "žeta", "שבעה"]), min_size=6, max_size=14
)


@settings(max_examples=8, deadline=None)
@given(
    paragraphs=st.lists(st.lists(SENTENCES.map(" ".join), min_size=1, max_size=3), min_size=1, max_size=3),
    styles=st.lists(st.sampled_from(sorted(STYLES)), min_size=1, max_size=4),
    answers=st.booleans(),
)
def test_no_sentence_of_a_forgotten_mail_is_in_any_passage_after_any_sync(
    paragraphs: list[list[str]], styles: list[str], answers: bool
) -> None:
    mail = "\n\n".join(". ".join(sentences) + "." for sentences in paragraphs)
    with tempfile.TemporaryDirectory() as folder:
        archive = Archive(Path(folder))
        write(archive, "secret", mail)
        for number, style in enumerate(styles):
            write(
                archive, f"reply{number}", f"My own words {number}.{STYLES[style](mail)}", "secret" if answers else ""
            )
        archive.export()
        forget(archive, mail[:20])
        for full in (False, True):
            passages = [" ".join(re.findall(r"\w+", said)) for said in chunked(archive)]
            assert sum("My own words" in said for said in passages) == len(styles)
            assert not [one for part in paragraphs for one in part for said in passages if one in said]
            write(archive, "later", f"Later.{STYLES[styles[0]](mail)}", "secret")
            archive.export(full=full)
