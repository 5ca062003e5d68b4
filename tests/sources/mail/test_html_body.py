"""HTML of mails as text: what is kept, what goes, and what hostile input costs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relrag_pipelines.sources.mail.html_body import DIVIDER, MAX_QUOTES, to_text
from tests import cost
from tests.cases import cases
from tests.markup import HOSTILE, hostile


@pytest.mark.parametrize(*cases(__file__, "elements"))
def test_elements(source: str, text: str) -> None:
    assert to_text(source) == text


@pytest.mark.parametrize(*cases(__file__, "what_is_not_shown_goes"))
def test_what_is_not_shown_goes(hidden: str) -> None:
    assert to_text(f"{hidden}seen") == "seen"


@pytest.mark.parametrize(
    "attributes",
    ['style="overflow: hidden "', 'class="hidden-xs hidden x"', 'style="opacity:0.9"', "style=max-height:0.5em"],
)
def test_what_only_looks_hidden_stays(attributes: str) -> None:
    assert to_text(f"<div {attributes}>seen</div>") == "seen"


def test_tables_keep_their_columns() -> None:
    table = """<table><caption>Prices</caption><tr><th>a<th>b<th>c<tr><td>1<td><td>3
    <tr><td colspan=2>wide<td>x|y<tr><td rowspan=2>tall<td>p<td>q<tr><td>r<td>s</table>"""
    assert to_text(table).splitlines() == [
        "Prices",
        "| a | b | c |",
        "| 1 | | 3 |",
        "| wide | | x\\|y |",
        "| tall | p | q |",
        "| | r | s |",
    ]


def test_tables_that_lay_out_a_mail_are_text() -> None:
    mail = "<table><tr><td>Dear Noa,</td><td><table><tr><td>a<td>b<tr><td>1<td>2</table></td></tr></table>"
    assert to_text(mail) == "Dear Noa,\n\n| a | b |\n| 1 | 2 |"
    assert to_text("<table><tr><td><blockquote>a</blockquote><td>b<tr><td>c<td>d</table>") == "> a\n\nb\nc d"


def test_quotations_are_marked_as_in_plain_mail() -> None:
    mail = """Yes.<div class="gmail_quote"><div class="gmail_attr">On Mon, Dana wrote:<br></div>
    <blockquote class="gmail_quote" style="border-left:1px">When?<blockquote type=cite>Old<br>er</blockquote>
    <p>So.</p></blockquote></div>Bye"""
    assert to_text(mail).splitlines() == [
        *("Yes.", "On Mon, Dana wrote:", "", "> When?", ">", "> > Old", "> > er", ">", "> So.", "", "Bye"),
    ]


def test_an_indented_paragraph_is_no_quotation() -> None:
    assert to_text('<blockquote style="margin:0 0 0 40px;border:none;padding:0px">mine</blockquote>') == "mine"


@pytest.mark.parametrize(
    "above",
    [
        '<div style="border:none;border-top:solid #E1E1E1 1.0pt;padding:3.0pt 0in 0in 0in">',
        "<div style='border:none;border-top:solid #B5C4DF 1.0pt;padding:3.0pt 0cm 0cm 0cm'>",
        '<hr style="display:inline-block;width:98%"><div id="divRplyFwdMsg" dir="ltr">',
        '<div id="x_divRplyFwdMsg">',
    ],
)
def test_the_divider_of_outlook_is_a_line(above: str) -> None:
    mail = f"<p>Yes.</p>{above}<p><b>From:</b> Dana<br><b>Sent:</b> Monday</p></div>"
    lines = [line for line in to_text(mail).splitlines() if line]
    assert lines == ["Yes.", DIVIDER, "From: Dana", "Sent: Monday"]


@pytest.mark.parametrize(
    "signature",
    [
        '<div class="gmail_signature" data-smartmail="gmail_signature">Dana</div>',
        '<span class="gmail_signature_prefix">-- </span><br><div class="gmail_signature">Dana</div>',
        '<div id="Signature">Dana</div>',
    ],
)
def test_a_signature_is_marked_once(signature: str) -> None:
    assert [line.strip() for line in to_text(f"<div>Yes.</div>{signature}").splitlines()] == ["Yes.", "--", "Dana"]


def test_quotations_deeper_than_anyone_reads_cost_nothing() -> None:
    text = to_text("<blockquote>a<br>" * 100_000)
    assert text.splitlines()[-1] == "> " * MAX_QUOTES + "a"
    assert len(text) < 5_000_000


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_markup_costs_time_in_proportion(name: str) -> None:
    size = 500_000
    assert cost.exponent(to_text, lambda n: hostile(name, n), size) < cost.LINEAR
    assert len(to_text(hostile(name, size))) < 4 * size


@given(st.text(alphabet="<>/abtdrpliuqhol =\"'&;!- \n", max_size=200))
def test_any_markup_is_read(source: str) -> None:
    assert to_text(f"seen {source}").startswith("seen")
    to_text(source).encode()


PIECES = (
    "<table> </table> <tr> <td> </td> <th> <ul> <li> </ul> <blockquote> </blockquote> <pre> </pre> <a> </a> <p> </p>"
)


@given(st.lists(st.sampled_from([*PIECES.split(), "<a href=http://x>", "word "]), max_size=40))
def test_every_word_is_kept(pieces: list[str]) -> None:
    assert to_text("".join(pieces)).count("word") == pieces.count("word ")
