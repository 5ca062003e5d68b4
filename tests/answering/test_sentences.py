"""What can be quoted of a text."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relrag_query.answering.sentences import QuotableSpan, quotable_spans, split
from relrag_query.retrieval.hit import Hit, Message
from tests import cost
from tests.query_hits import passages, record, window


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Škola v přírodě je 16.-18. 10., cena 1 150 Kč. Přihlášky do pátku.",
            ["Škola v přírodě je 16.-18. 10., cena 1 150 Kč.", "Přihlášky do pátku."],
        ),
        ("Termín: 20. – 24. 7., pokoj 214. Platí to.", ["Termín: 20. – 24. 7., pokoj 214.", "Platí to."]),
        ("Haifa 30.3. - 8.4.2026. Vracíme se v noci.", ["Haifa 30.3. - 8.4.2026.", "Vracíme se v noci."]),
        ("Byli jsme tam 1.–3. 5. Bylo hezky.", ["Byli jsme tam 1.–3. 5.", "Bylo hezky."]),
        ("Zavolej tř. uč. Krejčové, chata č. ev. 87.", ["Zavolej tř. uč. Krejčové, chata č. ev. 87."]),
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Mr. Eli Sasson came. He left.", ["Mr. Eli Sasson came.", "He left."]),
        ("Price: 12.500 Kč. Paid.", ["Price: 12.500 Kč.", "Paid."]),
        ("Splatnost 3. 1. 2025 platí. Děkujeme.", ["Splatnost 3. 1. 2025 platí.", "Děkujeme."]),
        ('He said "no." Then he left.', ['He said "no."', "Then he left."]),
        ("ende. klein weiter. Groß.", ["ende. klein weiter.", "Groß."]),
        ("שלום. מה שלומך? טוב.", ["שלום.", "מה שלומך?", "טוב."]),
        # abbreviations, units and ordinals end no sentence, a number and a unit at its end do
        (
            "Volejte tel. 777 123 456, nar. 12. 3. 1980, č. 15, ul. Dlouhá. Děkuji.",
            ["Volejte tel. 777 123 456, nar. 12. 3. 1980, č. 15, ul. Dlouhá.", "Děkuji."],
        ),
        ("Dr. Novák je na str. 5. MUDr. Veselá ne.", ["Dr. Novák je na str. 5.", "MUDr. Veselá ne."]),
        ('מפרש כרמל בע"מ, טל. 04-8123456. תודה.', ['מפרש כרמל בע"מ, טל. 04-8123456.', "תודה."]),
        (
            "It costs approx. 3.50 EUR. It lasts 5 min. Then stop.",
            ["It costs approx. 3.50 EUR.", "It lasts 5 min.", "Then stop."],
        ),
        ("1. První věc. 2. Druhá věc.", ["1. První věc.", "2. Druhá věc."]),
        # the name of a company ends a sentence only where a function word begins the next
        ("Acme Corp. Boston delivered. Good.", ["Acme Corp. Boston delivered.", "Good."]),
        ("Novak & Co. Ltd. Leeds asks 4,000. Fine.", ["Novak & Co. Ltd. Leeds asks 4,000.", "Fine."]),
        ("We bought it from Acme Inc. The price was 4,000.", ["We bought it from Acme Inc.", "The price was 4,000."]),
        ("Stavby a.s. Praha dodala okna. Díky.", ["Stavby a.s. Praha dodala okna.", "Díky."]),
        ("Okna s. r. o. Brno chce 4 000 Kč. Bereme.", ["Okna s. r. o. Brno chce 4 000 Kč.", "Bereme."]),
        ("Dělá to Okna s.r.o. Je to drahé.", ["Dělá to Okna s.r.o.", "Je to drahé."]),
        ('כהן ובניו בע"מ תל אביב הציעה 4,000. בסדר.', ['כהן ובניו בע"מ תל אביב הציעה 4,000.', "בסדר."]),
        # dots that lead to a value
        ("Revize vč. zprávy ........ 4 200,- Kč. Hotovo.", ["Revize vč. zprávy ........ 4 200,- Kč.", "Hotovo."]),
        ("Rent ......... 12 000\nWater ........ 3 400", ["Rent ......... 12 000\nWater ........ 3 400"]),
        # rows of a table, front matter and a signature
        ("item: chain; price: 450\nitem: brake; price: 900", ["item: chain; price: 450", "item: brake; price: 900"]),
        (
            "---\ntitle: Lease\ndate: 2025-01-03\n---\n\nThe rent is 9,000. It is due.",
            ["---\ntitle: Lease\ndate: 2025-01-03\n---", "The rent is 9,000.", "It is due."],
        ),
        (
            "Subject: Offer\nFrom: Jan\n\nThe price is 5. Thanks.",
            ["Subject: Offer\nFrom: Jan", "The price is 5.", "Thanks."],
        ),
        ("It is 5.\n\n--\nJan Novák\nTel. 777 123 456", ["It is 5.", "--\nJan Novák\nTel. 777 123 456"]),
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


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            '---\ntitle: "Kitchen"\ndate: 2024-05-01\ntags: [home, tiles]\n---\n\nThe tiles cost 4,000.',
            ["title: Kitchen\ndate: 2024-05-01\ntags: home, tiles", "The tiles cost 4,000."],
        ),
        (
            "---\nnázev: 'Koupelna'\nštítky:\n  - byt\n  - obklady\n---\nObklady stály 4 000 Kč.",
            ["název: Koupelna\nštítky: byt, obklady", "Obklady stály 4 000 Kč."],
        ),
        ("---\nכותרת: מטבח\n---\nהאריחים עלו 4,000.", ["כותרת: מטבח", "האריחים עלו 4,000."]),
        ("---\nA line between two rules.\n---\nText.", ["---\nA line between two rules.\n---\nText."]),
    ],
)
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
