"""What can be quoted of a text."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relrag_query.answering.sentence_split import quotable_spans, split
from relrag_query.retrieval.hit import Hit, Message
from tests.query_hits import passages, record, window


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Mr. Eli Sasson came. He left.", ["Mr. Eli Sasson came.", "He left."]),
        ("Price: 12.500 Kč. Paid.", ["Price: 12.500 Kč.", "Paid."]),
        ("Splatnost 3. 1. 2025 platí. Děkujeme.", ["Splatnost 3. 1. 2025 platí.", "Děkujeme."]),
        ('He said "no." Then he left.', ['He said "no."', "Then he left."]),
        ("ende. klein weiter. Groß.", ["ende. klein weiter.", "Groß."]),
        ("שלום. מה שלומך? טוב.", ["שלום.", "מה שלומך?", "טוב."]),
        # lines of one phrase each, as in an invoice, stay together
        (
            "Faktura č. 2025/0042\nPoložka: Sanitární čerpadlo\nCena: 12.500 Kč",
            ["Faktura č. 2025/0042\nPoložka: Sanitární čerpadlo\nCena: 12.500 Kč"],
        ),
        # text that was wrapped at a fixed width is one text
        (
            "This is a line of a letter that was wrapped at sixty columns\nand goes on here. It ends.",
            ["This is a line of a letter that was wrapped at sixty columns and goes on here.", "It ends."],
        ),
        ("First paragraph.\n\nSecond one.", ["First paragraph.", "Second one."]),
        # what a mail only quotes belongs to another mail
        ("Agreed.\n\nOn Mon, 13 Jan 2025, Jonah <j@x.example> wrote:\n> Is it agreed?", ["Agreed."]),
        ("A: one\nB: two\nA: three", ["A: one\nB: two\nA: three"]),
        ("", []),
    ],
)
def test_split(text: str, expected: list[str]) -> None:
    assert split(text) == expected


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
    hit = Hit(window(records), 1.0, 1.0)
    hit.messages = [Message(one.asset_id, one.from_, one.ts, one.text) for one in records]
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
