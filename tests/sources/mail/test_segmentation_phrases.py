"""How mail programs of six languages introduce history, sign and forward: what each of them writes, and what only
looks like it.
"""

import pytest

from relrag_pipelines.sources.mail.html_body import to_text
from relrag_pipelines.sources.mail.segmentation import segment
from tests.cases import case_values


def parts(text: str, subject: str = "") -> list[tuple[str, str]]:
    found = segment(text, subject)
    assert "".join(text[span.start : span.end] for span in found.spans) == text
    return [(span.kind, text[span.start : span.end].strip()) for span in found.spans]


def quoting(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


HISTORY = "On Wed, 15 Jan 2025 at 10:12, Dana Levi <dana@host.example> wrote:"
INTRODUCTIONS = case_values(__file__, "introductions")
"""of Gmail, Apple Mail, Thunderbird, Yahoo, Proton, Roundcube, KMail, K-9, Spark, Evolution and others"""


@pytest.mark.parametrize("introduction", INTRODUCTIONS)
def test_introductions(introduction: str) -> None:
    bare = f"{introduction}\n\nWhen is it?\nDana"
    assert parts(f"Friday then.\n\n{bare}\n") == [("fresh", "Friday then."), ("quoted", bare)]
    for gap in ("\n", "\n\n"):
        quoted = f"{introduction}{gap}{quoting('When is it?')}"
        assert parts(f"Friday then.\n\n{quoted}\n") == [("fresh", "Friday then."), ("quoted", quoted)]
        assert parts(f"{quoted}\n\nFriday then.\n") == [("quoted", quoted), ("fresh", "Friday then.")]
    deeper = f"{HISTORY}\n> Which day?\n>\n{quoting(introduction)}\n>> When?"
    assert parts(f"Friday then.\n\n{deeper}\n") == [("fresh", "Friday then."), ("quoted", deeper)]


@pytest.mark.parametrize(
    "introduction",
    [
        "Dana Levi <dana@host.example> writes:",
        "On Wed, 15 Jan 2025, Dana Levi wrote:",
        "Dana Levi <dana@host.example> wrote on 15/01/2025 10:12:33:",
    ],
)
def test_introductions_that_say_too_little_without_a_quotation(introduction: str) -> None:
    quoted = f"{introduction}\n\n> When is it?"
    assert parts(f"Friday then.\n\n{quoted}\n") == [("fresh", "Friday then."), ("quoted", quoted)]


HEADERS = case_values(__file__, "headers")
"""of Outlook, Samsung, Seznam, GMX and WEB.DE, T-Online, Zimbra, Windows Mail and Lotus Notes"""


@pytest.mark.parametrize("header", HEADERS)
def test_headers_above_history(header: str) -> None:
    history = f"{header}\n\nWhen is it?\nDana"
    assert parts(f"Friday then.\n\n{history}\n") == [("fresh", "Friday then."), ("quoted", history)]


PHONES = case_values(__file__, "phones")


@pytest.mark.parametrize("line", PHONES)
def test_last_lines_of_phones_and_programs(line: str) -> None:
    assert parts(f"Friday then.\n\n{line}\n") == [("fresh", "Friday then."), ("signature", line)]
    found = parts(f"Friday then.\n\n{line}\n\n{HISTORY}\n\n> When?")
    assert [kind for kind, _ in found] == ["fresh", "signature", "quoted"]


FORWARDS = case_values(__file__, "forwards")


@pytest.mark.parametrize(("divider", "header"), FORWARDS)
def test_forwards(divider: str, header: str) -> None:
    assert parts(f"See below.\n\n{divider}\n{header}\n\nThe pump is broken.\n") == [
        ("fresh", "See below."),
        ("forward_headers", f"{divider}\n{header}"),
        ("forwarded", "The pump is broken."),
    ]


@pytest.mark.parametrize(
    "subject",
    ["Fwd: x", "FW: x", "fw: x", "[ext] FW: x", "WG: x", "TR: x", "RV: x", "I: x", "PŘ: x", "Předáno: x", "הועבר: x"],
)
def test_the_subject_tells_a_forward_from_an_answer(subject: str) -> None:
    text = "See.\n\nFrom: Dana <d@h.example>\nSent: Wednesday, January 15, 2025 10:12 AM\nSubject: pump\n\nBroken."
    assert [kind for kind, _ in parts(text, subject)] == ["fresh", "forward_headers", "forwarded"]
    assert [kind for kind, _ in parts(text, "Re: x")] == ["fresh", "quoted"]


CLOSINGS = case_values(__file__, "closings")


@pytest.mark.parametrize("closing", CLOSINGS)
def test_a_closing_with_the_card_below_it(closing: str) -> None:
    card = f"{closing}\n\nDana Levi\nAcme Ltd | +420 123 456 789\nwww.acme.example"
    assert parts(f"Friday then.\n\n{card}\n") == [("fresh", "Friday then."), ("signature", card)]
    assert [kind for kind, _ in parts(f"Friday then.\n\n{card}\n\n{HISTORY}\n\n> When?")] == [
        "fresh",
        "signature",
        "quoted",
    ]
    for text in (
        f"{closing}\nDana",
        f"Friday then.\n\n{closing}\nDana\n\nP.S. Bring bread.",
        f"Friday then.\n\n{closing}\n" + "A line that goes on.\n" * 9,
    ):
        assert parts(text) == [("fresh", text.strip())]


@pytest.mark.parametrize("rule", ["—", "---", "__", "--", "--\u00a0", "\u200f-- "])
def test_rules_above_a_name(rule: str) -> None:
    card = f"{rule}\nDana Levi\nAcme Ltd"
    assert parts(f"Friday then.\n\n{card}\n") == [("fresh", "Friday then."), ("signature", card.strip())]


DISCLAIMERS = case_values(__file__, "disclaimers")


@pytest.mark.parametrize("disclaimer", DISCLAIMERS)
def test_what_lawyers_add(disclaimer: str) -> None:
    assert parts(f"Friday then.\n\n{disclaimer}\n") == [("fresh", "Friday then."), ("disclaimer", disclaimer)]


ORDINARY = case_values(__file__, "ordinary")


@pytest.mark.parametrize("text", ORDINARY)
def test_what_only_looks_like_it(text: str) -> None:
    assert parts(text) == [("fresh", text.strip())]


def test_answers_between_quotations() -> None:
    text = f"{HISTORY}\n> One?\n\nYes.\n\n> Two?\n\nNo.\n\n> Three?\n>> Four?\nPerhaps.\n-- \nDana\n"
    assert parts(text) == [
        ("quoted", f"{HISTORY}\n> One?"),
        ("fresh", "Yes."),
        ("quoted", "> Two?"),
        ("fresh", "No."),
        ("quoted", "> Three?\n>> Four?"),
        ("fresh", "Perhaps."),
        ("signature", "-- \nDana"),
    ]


def test_a_divider_above_an_introduction_ends_with_the_quotation() -> None:
    quoted = f"------- Original Message -------\n{HISTORY}\n> When?"
    assert parts(f"{quoted}\n\nFriday then.") == [("quoted", quoted), ("fresh", "Friday then.")]


PAGES = dict(case_values(__file__, "pages"))


@pytest.mark.parametrize("program", PAGES)
def test_pages_of_mail_programs(program: str) -> None:
    found = parts(to_text(PAGES[program]))
    assert found[0] == ("fresh", "Friday then.")
    history = found[-1][1] if program != "gmail sig" else "When is it?"
    assert all(kind != "fresh" for kind, _ in found[1:])
    assert history.endswith("When is it?")
