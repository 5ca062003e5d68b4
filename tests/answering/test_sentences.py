"""What can be quoted of a text."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relrag_query.answering.sentences import QuotableSpan, quotable_spans, split
from relrag_query.retrieval.hit import Hit, Message
from tests import cost
from tests.cases import cases
from tests.query_hits import passages, record, window


@pytest.mark.parametrize(*cases(__file__, "split"))
def test_split(text: str, expected: list[str]) -> None:
    assert split(text) == expected


@pytest.mark.parametrize(*cases(__file__, "front_matter_is_shown_without_its_marks"))
def test_front_matter_is_shown_without_its_marks(text: str, shown: list[str]) -> None:
    assert [one.text for one in quotable_spans(Hit(passages(record("document:1", text))[0], 1.0, 1.0))] == shown


@pytest.mark.slow
@pytest.mark.parametrize("line", ["  - tiles\n", "    a: b\n", "key: value\n", "\n"])
def test_front_matter_without_an_end_costs_time_in_proportion(line: str) -> None:
    def quoted(lines: int) -> list[QuotableSpan]:
        text = "---\ntags:\n" + lines * line + "The tiles cost 4,000."
        return quotable_spans(Hit(passages(record("document:1", text))[0], 1.0, 1.0))

    assert quoted(2)[-1].text.endswith("The tiles cost 4,000.")
    assert cost.seconds(lambda: quoted(24)) < 1, "an item that fits two ways doubles it with each line"
    assert cost.exponent(quoted, lambda size: size, 4_000) < cost.LINEAR


@pytest.mark.parametrize(
    ("asks", "replies"),
    [
        ("And how long on crutches?", "6 weeks"),
        ("A jak dlouho o berlích?", "6 týdnů"),
        ("וכמה זמן עם קביים?", "שישה שבועות"),
    ],
)
def test_a_quote_that_asks_goes_on_to_what_stands_behind(asks: str, replies: str) -> None:
    first = quotable_spans(Hit(passages(record("document:1", f"{asks}\n\n{replies}\n\nDr. Malá"))[0], 1.0, 1.0))[0]
    assert first.text == asks
    assert first.quote == f"{asks} {replies}"


def test_a_long_block_that_ends_with_a_question_is_not_joined_with_the_next() -> None:
    blocks = ["\n".join(f"{name}: {'bla ' * 20}?" for name in "ABCD"[: 3 + place]) for place in (0, 1)]
    first, *_ = quotable_spans(Hit(passages(record("call:1", "\n\n".join(blocks)))[0], 1.0, 1.0))
    assert first.quote == first.text


@given(st.text(alphabet=st.characters(exclude_characters=">"), max_size=400))
def test_nothing_but_white_space_is_lost(text: str) -> None:
    def bare(part: str) -> str:
        return "".join(part.split())

    if "wrote:" not in text:
        assert bare("".join(split(text))) == bare(text)


def test_no_quote_is_endless() -> None:
    assert max(map(len, split("word " * 1000))) <= 600


def test_messages_of_one_sender_in_a_row_are_one_turn() -> None:
    said = [
        ("Alex", "13:41:00", "INV-1187 is 8,400, VAT wrong"),
        ("Alex", "13:42:00", "I'll send a corrected one"),
        ("Jonah", "13:58:00", "> INV-1187 is 8,400, VAT wrong"),
        ("Jonah", "13:58:10", "OK"),
        ("Jonah", "14:30:00", "No rush"),
    ]
    records = [
        record(f"whatsapp:{number}", text, f"2025-01-13T{clock}Z", from_=sender, thread_id="chat")
        for number, (sender, clock, text) in enumerate(said)
    ]
    messages = tuple(Message(one.asset_id, one.from_, one.ts, one.text) for one in records)
    hit = Hit(window(records), 1.0, 1.0, messages=messages)
    assert [(unit.sender, unit.text, unit.asset_id) for unit in quotable_spans(hit)] == [
        ("Alex", "INV-1187 is 8,400, VAT wrong\nI'll send a corrected one", "whatsapp:0"),
        ("Jonah", "OK", "whatsapp:2"),
        ("Jonah", "No rush", "whatsapp:4"),
    ]


def test_a_quote_goes_on_until_it_is_readable_and_leaves_the_signature_out() -> None:
    text = "Attached is the invoice. The total is 7,980.\n\nIt says to be paid by 31 January.\n\nAlex\nRubin Studio"
    first = quotable_spans(Hit(passages(record("gmail:1", text))[0], 1.0, 1.0))[0]
    assert first.text == "Attached is the invoice."
    assert first.quote == "Attached is the invoice. The total is 7,980. It says to be paid by 31 January."


def test_history_below_a_mail_is_quoted_without_its_marks_and_under_nobodys_name() -> None:
    (fresh,) = passages(record("gmail:m", "Yes, Tuesday is fine.\n> Is Tuesday fine?", from_="Dana"))
    assert [(unit.text, unit.sender) for unit in quotable_spans(Hit(fresh, 1.0, 1.0))] == [
        ("Yes, Tuesday is fine.", "Dana")
    ]
    history = replace(fresh, section="quoted", text="> Is Tuesday\n> > fine?")
    assert [(unit.text, unit.sender) for unit in quotable_spans(Hit(history, 1.0, 1.0))] == [
        ("Is Tuesday\nfine?", None)
    ]


def test_a_row_of_a_long_table_is_quoted_below_the_names_of_its_columns() -> None:
    rows = [f"| Filter number {number} of the pump | {450 + number} |" for number in range(20)]
    table = record("document:1", "\n".join(["| Part | Price |", "|---|---|", *rows]))
    quoted = [unit.text for unit in quotable_spans(Hit(passages(table)[0], 1.0, 1.0))]
    assert len(quoted) > 2
    assert {text.partition("\n")[0] for text in quoted} == {"| Part | Price |"}
    assert "| Filter number 19 of the pump | 469 |" in quoted[-1]
