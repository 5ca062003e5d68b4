"""Who belongs to which conversation, and who answers whom."""

import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relrag_pipelines.sources.mail.threads import ThreadedMail, ThreadPlace, message_ids, thread


def threads(*mails: ThreadedMail) -> dict[str, tuple[str, str | None]]:
    """Thread and parent by message id."""
    return {mail.message_id: tuple(found) for mail, found in zip(mails, thread(mails), strict=True)}  # type: ignore[misc]


def test_a_conversation() -> None:
    assert threads(
        ThreadedMail("a"),
        ThreadedMail("b", ["a"], "a"),
        ThreadedMail("c", ["a", "b"], "b"),
        ThreadedMail("d", in_reply_to="b"),
        ThreadedMail("e"),
    ) == {
        "a": ("a", None),
        "b": ("a", "a"),
        "c": ("a", "b"),
        "d": ("a", "b"),
        "e": ("e", None),
    }


def test_answers_to_an_absent_mail_meet_and_skip_it() -> None:
    assert threads(ThreadedMail("c", ["a", "b"]), ThreadedMail("d", ["b"]), ThreadedMail("a")) == {
        "c": ("a", "a"),
        "d": ("a", "a"),  # d names only b, but c knows what b answers
        "a": ("a", None),
    }
    assert threads(ThreadedMail("c", in_reply_to="x"), ThreadedMail("d", in_reply_to="x")) == {
        "c": ("x", None),
        "d": ("x", None),
    }


def test_others_place_a_mail_that_lost_its_references() -> None:
    assert threads(ThreadedMail("a"), ThreadedMail("b"), ThreadedMail("c", ["a", "b"]))["b"] == ("a", "a")
    assert threads(ThreadedMail("a"), ThreadedMail("b", ["z"]), ThreadedMail("c", ["a", "b"]))["b"] == ("a", None), (
        "its own word counts more"
    )


def test_in_reply_to_is_the_parent_where_references_say_otherwise() -> None:
    assert threads(ThreadedMail("a"), ThreadedMail("b", ["a"]), ThreadedMail("c", ["b", "a"], "b"))["c"] == ("a", "b")


def test_circles_and_self_references_end() -> None:
    assert threads(ThreadedMail("a", ["b"]), ThreadedMail("b", ["a"])) == {"a": ("a", None), "b": ("a", "a")}
    assert threads(ThreadedMail("a", ["a"], "a")) == {"a": ("a", None)}
    assert threads(ThreadedMail("c", ["b"]), ThreadedMail("b", ["x"]), ThreadedMail("d", ["c", "x", "e"]))["c"] == (
        "b",
        "b",
    )
    assert threads(ThreadedMail("a", ["b", "a", "c"], "c")) == {"a": ("b", None)}


def test_copies_are_one_mail() -> None:
    mails = [ThreadedMail("b", ["a"]), ThreadedMail("b"), ThreadedMail("b", ["x", "a"]), ThreadedMail("a")]
    assert thread(mails) == [
        ThreadPlace("x", "a"),
        ThreadPlace("x", "a"),
        ThreadPlace("x", "a"),
        ThreadPlace("x", None),
    ]


def test_gmail_decides_where_it_knows() -> None:
    assert threads(
        ThreadedMail("a", gmail_thread="17"),
        ThreadedMail("b", ["a"], gmail_thread="18"),  # Gmail took them apart
        ThreadedMail("c", ["a", "b"]),  # out of another mailbox: beside the last that it names
        ThreadedMail("d", gmail_thread="17"),  # Gmail knows, the headers do not
        ThreadedMail("e"),
        ThreadedMail("f", ["e"], gmail_thread="9"),
    ) == {
        "a": ("gmail-thread:17", None),
        "b": ("gmail-thread:18", "a"),
        "c": ("gmail-thread:18", "b"),
        "d": ("gmail-thread:17", None),
        "e": ("gmail-thread:9", None),
        "f": ("gmail-thread:9", "e"),
    }


def test_absent_mails_join_nothing_that_gmail_took_apart() -> None:
    found = threads(
        ThreadedMail("a", ["x"], gmail_thread="100"),
        ThreadedMail("b", ["x"], gmail_thread="20"),
        ThreadedMail("c", ["x"]),
    )
    assert {name: place[0] for name, place in found.items()} == {
        "a": "gmail-thread:100",
        "b": "gmail-thread:20",
        "c": "gmail-thread:20",  # the older
    }


def test_two_accounts_of_one_conversation_are_one_thread() -> None:
    mails = [
        ThreadedMail("a", gmail_thread="300"),
        ThreadedMail("b", gmail_thread="300"),
        ThreadedMail("b", gmail_thread="40"),
        ThreadedMail("c", gmail_thread="40"),
    ]
    assert {found.thread_id for found in thread(mails)} == {"gmail-thread:40"}


def test_endless_references_are_read_at_both_ends() -> None:
    names = [f"m{number}" for number in range(100_000)]
    found = threads(ThreadedMail("m0"), ThreadedMail("m99999"), ThreadedMail("z", names))
    assert found["z"] == ("m0", "m99999")
    assert thread([]) == []


@pytest.mark.parametrize(
    ("header", "ids"),
    [
        ("<a@x> <b@y>", ["a@x", "b@y"]),
        ("<a@x><b@y>\r\n\t<a@x>", ["a@x", "b@y"]),
        ("Message of Monday <a@x> from Dana", ["a@x"]),
        ("dana@example.org", []),
        ("<<a@x>> < > <b c>", ["a@x"]),
        ("<" * 100_000, []),
    ],
)
def test_ids_in_headers(header: str, ids: list[str]) -> None:
    assert message_ids(header) == ids


NAMES = st.sampled_from("abcdefgh")
MAILS = st.lists(
    st.builds(
        ThreadedMail,
        NAMES,
        st.lists(NAMES, max_size=4),
        st.none() | NAMES,
        st.none() | st.sampled_from(["7", "12", "5"]),
    ),
    max_size=12,
)
PLAIN = st.lists(st.builds(ThreadedMail, NAMES, st.lists(NAMES, max_size=4), st.none() | NAMES, st.none()), max_size=12)


@given(MAILS, st.randoms())
def test_the_order_of_mails_does_not_matter(mails: list[ThreadedMail], order: random.Random) -> None:
    places = order.sample(range(len(mails)), len(mails))
    found = thread(mails)
    assert thread([mails[place] for place in places]) == [found[place] for place in places]


@given(MAILS)
def test_going_up_ends_at_a_mail_without_parent(mails: list[ThreadedMail]) -> None:
    parents = {mail.message_id: found.parent for mail, found in zip(mails, thread(mails), strict=True)}
    for name in parents:
        steps: str | None = name
        for _ in range(len(parents)):
            steps = parents[steps] if steps else None
        assert steps is None


@given(PLAIN)
def test_threads_are_the_mails_that_names_connect(mails: list[ThreadedMail]) -> None:
    """Against joining sets of names over and over."""
    sets = [{mail.message_id, *mail.references, *([mail.in_reply_to] if mail.in_reply_to else [])} for mail in mails]
    for _ in sets:
        for one, other in itertools.combinations(sets, 2):
            if one & other:
                one |= other
                other |= one
    found = [place.thread_id for place in thread(mails)]
    for (one, a), (other, b) in itertools.combinations(zip(sets, found, strict=True), 2):
        assert bool(one & other) == (a == b)


@given(PLAIN, PLAIN)
def test_a_mail_that_is_added_takes_no_thread_apart(mails: list[ThreadedMail], added: list[ThreadedMail]) -> None:
    before = thread(mails)
    after = thread([*mails, *added])
    assert len({(old.thread_id, new.thread_id) for old, new in zip(before, after, strict=False)}) == len(
        {old.thread_id for old in before}
    )


@given(PLAIN.filter(bool), st.data())
def test_an_answer_changes_no_name_of_a_thread(mails: list[ThreadedMail], data: st.DataObject) -> None:
    """An answer names the mail and, above it, what this one names."""
    place = data.draw(st.sampled_from(range(len(mails))))
    references, above = list(mails[place].references), mails[place].in_reply_to
    if above:
        references = [name for name in references if name != above] + [above]
    found = thread([*mails, ThreadedMail("answer", [*references, mails[place].message_id])])
    assert found[:-1] == thread(mails)
    assert found[-1] == ThreadPlace(found[place].thread_id, mails[place].message_id)
