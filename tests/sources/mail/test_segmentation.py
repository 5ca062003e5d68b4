"""The parts of a mail's text in six languages, and that nothing of it is lost."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relrag_pipelines.sources.mail.html_body import to_text
from relrag_pipelines.sources.mail.segmentation import segment
from tests import cost
from tests.cases import case_values, cases


def parts(text: str, subject: str = "") -> list[tuple[str, str]]:
    found = segment(text, subject)
    assert "".join(text[span.start : span.end] for span in found.spans) == text
    return [(span.kind, text[span.start : span.end].strip()) for span in found.spans]


INTRODUCTIONS = case_values(__file__, "introductions")


@pytest.mark.parametrize("introduction", INTRODUCTIONS)
def test_answers_above_and_below_a_quotation(introduction: str) -> None:
    quoted = f"{introduction}\n\n> When is it?\n>\n> Dana"
    assert parts(f"Friday.\n\n{quoted}\n") == [("fresh", "Friday."), ("quoted", quoted)]
    assert parts(f"{quoted}\n\nFriday.\n") == [("quoted", quoted), ("fresh", "Friday.")]


@pytest.mark.parametrize("introduction", INTRODUCTIONS)
def test_history_without_quotation_marks(introduction: str) -> None:
    assert parts(f"Friday.\n\n{introduction}\n\nWhen is it?\nDana\n") == [
        ("fresh", "Friday."),
        ("quoted", f"{introduction}\n\nWhen is it?\nDana"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "On Monday John wrote: the pump is broken.\nShall we call him?",
        "On Monday John wrote:\nthe pump is broken.",
        "On 12.1.2024 at 10:15 John wrote me about these points:\nfirst, the pump.",
        "On 12.1.2024 at 10:15 we met\nwith Jan <jan@example.org> and agreed:\nfirst, the pump.",
        "Am Montag schrieb er: alles gut.\nLe chat a écrit :\nmiaou",
        "From: London\nTo: Paris\nDate: Monday\nare the fields of the form.",
        "Please keep this confidential, the intended recipient is Jan.",
        "I am privileged to work here. If you get this, delete the file.\n\nThe virus is gone.",
        "-----\nPart two\n-----\nIt goes on.",
        "Sent from Prague, the parcel came late.",
        "Von meinem iPhone aus kann ich das nicht sehen.",
        "Original message boards are fun.\nThe forwarded message never came:\nwhy?",
        ">>> print(1)\n1",
        ">From here on it gets better.",
        "> :)",
        "A list:\n--\n" + "one more line\n" * 12,
    ],
)
def test_ordinary_text_is_not_cut(text: str) -> None:
    expected = "quoted" if text == "> :)" else "fresh"
    assert parts(text) == [(expected, text.strip())]


def test_replies_between_the_lines() -> None:
    text = "Hi,\n\nDana wrote:\n> One?\n\nYes.\n\n> Two?\n> > Older.\n\n\n> Three?\nNo.\n-- \nJohn\n"
    assert parts(text) == [
        ("fresh", "Hi,"),
        ("quoted", "Dana wrote:\n> One?"),
        ("fresh", "Yes."),
        ("quoted", "> Two?\n> > Older.\n\n\n> Three?"),
        ("fresh", "No."),
        ("signature", "-- \nJohn"),
    ]


OUTLOOK = [
    ("From", "Sent", "To", "Subject"),
    ("מאת", "נשלח", "אל", "נושא"),
    ("Od", "Odesláno", "Komu", "Předmět"),
    ("Von", "Gesendet", "An", "Betreff"),
    ("De ", "Envoyé ", "À ", "Objet "),
    ("De", "Enviado el", "Para", "Asunto"),
]


@pytest.mark.parametrize("labels", OUTLOOK)
@pytest.mark.parametrize("rule", ["", "________________________________\n", "-----Original Message-----\n"])
@pytest.mark.parametrize("mark", ["{}:", "*{}:*", "\u200f{}:"])
def test_headers_of_outlook(labels: tuple[str, ...], rule: str, mark: str) -> None:
    values = ("Dana Levi <dana@example.org>", "Monday, 15 January 2024 10:15", "John", "Pump")
    header = "\n".join(f"{mark.format(label)} {value}" for label, value in zip(labels, values, strict=True))
    text = f"Friday.\nJohn\n\n{rule}{header}\n\nWhen is it?\n"
    history = f"{rule}{header}\n\nWhen is it?"
    assert parts(text) == [("fresh", "Friday.\nJohn"), ("quoted", history)]
    if not rule.startswith("--"):
        passed_on = [("fresh", "Friday.\nJohn"), ("forward_headers", f"{rule}{header}"), ("forwarded", "When is it?")]
        assert [(kind, part.strip()) for kind, part in parts(text, "FW: Pump")] == passed_on


@pytest.mark.parametrize(
    "divider",
    [
        *("-----Original Message-----", "-----Ursprüngliche Nachricht-----", "-----Původní zpráva-----"),
        *("-----Message d'origine-----", "-----Mensaje original-----", "-----הודעה מקורית-----"),
        *("---------- Původní e-mail ----------", "-------- Original message --------", "-----Message d’origine-----"),
    ],
)
def test_dividers_above_what_is_answered(divider: str) -> None:
    assert parts(f"Friday.\n\n{divider}\nWhen is it?") == [("fresh", "Friday."), ("quoted", f"{divider}\nWhen is it?")]


FORWARDS = case_values(__file__, "forwards")


@pytest.mark.parametrize(("divider", "header"), FORWARDS)
def test_forwarded_messages(divider: str, header: str) -> None:
    text = f"See below.\n\n{divider}\n{header}\n\nThe pump is broken.\n> Really?\n"
    found = [(kind, re.sub(r"\s*\nPour : John", "", part)) for kind, part in parts(text)]
    assert [kind for kind, _ in found] == ["fresh", "forward_headers", "forwarded"]
    assert found[0][1] == "See below."
    assert found[2][1].endswith("The pump is broken.\n> Really?")


def test_apple_forwards_within_a_quotation() -> None:
    text = "See.\n\n> Begin forwarded message:\n>\n> From: Dana\n> Subject: Pump\n> Date: Monday\n>\n> Broken.\n\nBye"
    assert parts(text) == [
        ("fresh", "See."),
        ("forward_headers", "> Begin forwarded message:\n>\n> From: Dana\n> Subject: Pump\n> Date: Monday"),
        ("forwarded", ">\n> Broken."),
        ("fresh", "Bye"),
    ]


@pytest.mark.parametrize(
    "line",
    [
        *(
            "Sent from my iPhone",
            "Sent from my Samsung Galaxy smartphone.",
            "Get Outlook for iOS<https://aka.ms/o0ukef>",
        ),
        *("נשלח מה-iPhone שלי", "\u200fנשלח מהאייפון שלי", "Odesláno z iPhonu", "Odesláno z mého iPhonu"),
        *(
            "Von meinem iPhone gesendet",
            "Gesendet von Outlook für Android",
        ),
        *("Envoyé de mon iPhone", "Envoyé depuis mon téléphone", "Enviado desde mi iPhone", "Obtener Outlook para iOS"),
    ],
)
def test_last_lines_of_phones(line: str) -> None:
    assert parts(f"Friday.\n\n{line}\n") == [("fresh", "Friday."), ("signature", line)]
    quoted = "On 15/01/2024 10:15, Dana Levi wrote:\n> When?"
    assert parts(f"Friday.\n\n{line}\n\n{quoted}")[1:] == [("signature", line), ("quoted", quoted)]


@pytest.mark.parametrize(*cases(__file__, "disclaimers"))
def test_disclaimers(disclaimer: str) -> None:
    assert parts(f"Friday.\n\n{disclaimer}\n") == [("fresh", "Friday."), ("disclaimer", disclaimer)]
    assert parts(f"Friday.\n-- \nJohn\n{disclaimer}\n") == [
        ("fresh", "Friday."),
        ("signature", "-- \nJohn"),
        ("disclaimer", disclaimer),
    ]


def test_the_footer_of_a_mailing_list() -> None:
    footer = "_______________________________________________\nTrains mailing list\nTrains@example.org"
    assert parts(f"Friday.\n{footer}\n") == [("fresh", "Friday."), ("signature", footer)]


def test_html_keeps_what_tells_the_parts() -> None:
    gmail = """<div>ביום שישי.</div><br><div class="gmail_quote"><div dir="rtl" class="gmail_attr">\u202bבתאריך
    יום ב׳, 15 בינו׳ 2024 ב-10:15 מאת <span>&lt;<a href="mailto:d@example.org">d@example.org</a>&gt;</span>:<br></div>
    <blockquote class="gmail_quote">מתי?</blockquote></div>"""
    assert [kind for kind, _ in parts(to_text(gmail))] == ["fresh", "quoted"]
    outlook = """<p>Friday.</p><div style='border:none;border-top:solid #E1E1E1 1.0pt'><p><b>From:</b> Dana<br>
    <b>Sent:</b> Monday<br><b>To:</b> John<br><b>Subject:</b> Pump</p></div><p>When?</p>"""
    assert next(part for _, part in parts(to_text(outlook))) == "Friday."
    assert [kind for kind, _ in parts(to_text(outlook))] == ["fresh", "quoted"]


WORDS = [
    *(
        "> ",
        ">",
        "On 15/01/2024 10:15, Dana wrote:",
        "From: a",
        "Sent: b",
        "To: c@d",
        "Subject: e",
        "-- ",
        "--",
        "\r",
        "word",
    ),
    *(
        "---------- Forwarded message ---------",
        "-----Original Message-----",
        "Sent from my iPhone",
        "_______",
        "\u200f",
        "",
    ),
    "This is intended only for the intended recipient and must not be read by other people.",
]


@given(st.lists(st.lists(st.sampled_from(WORDS), max_size=3).map("".join), max_size=30).map("\n".join), st.booleans())
def test_the_parts_are_the_text(text: str, forward: bool) -> None:
    found = segment(text, "Fwd: x" if forward else "")
    assert "".join(text[span.start : span.end] for span in found.spans) == text
    assert all(before.kind != after.kind for before, after in zip(found.spans, found.spans[1:], strict=False))


@given(st.text(alphabet="> :-\n\rOn1a@<.\u200f\u2028\x0c", max_size=200))
def test_any_text_is_covered(text: str) -> None:
    assert "".join(text[span.start : span.end] for span in segment(text).spans) == text


HOSTILE = {
    "one line": "On 1/1/2024 ",
    "empty lines": "\n",
    "marks": "> ",
    "quoted lines": ">\n",
    "introductions": "On 1/1/2024 10:15 a\n",
    "headers": "From: a\nSent: b\n\n",
    "dividers": "-----\n",
    "ruled": "-- - ",
    "long": "-" * 390 + "a\n",
    "disclaimers": "intended only for the intended recipient, confidential and so on\n\n",
    "phones": "sent from sent from sent from sent from \n",
    "wrote": "wrote wrote :\n",
    "spaces": " ",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_lines_cost_time_in_proportion(name: str) -> None:
    piece = HOSTILE[name]
    assert cost.exponent(segment, lambda size: piece * (size // len(piece)), 1_000_000) < cost.LINEAR


def test_three_marks_are_a_prompt_unless_they_follow_a_quotation_in_a_quotation() -> None:
    assert parts("Yes.\n> No?\n>> Perhaps.\n>>> Never.\n>>> At all.")[1:] == [
        ("quoted", "> No?\n>> Perhaps.\n>>> Never.\n>>> At all.")
    ]
    assert parts("> Run this:\n>>> print(1)")[1] == ("fresh", ">>> print(1)")
