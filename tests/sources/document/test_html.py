"""HTML as a reader sees it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relrag_pipelines.sources.document import extract
from tests import cost
from tests.markup import HOSTILE, hostile


def text_of(body: str) -> str:
    return extract(body.encode(), "a.html").text


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("<h1>Trains</h1><p>To <b>Brno</b>,<br>daily.<h2>Fares</h2>", "# Trains\n\nTo Brno,\ndaily.\n\n## Fares"),
        ("<div>one</div><div>two</div>three", "one\ntwo\nthree"),
        ("<p>a   b\n\tc&nbsp;d</p>", "a b c\xa0d".replace("\xa0", " ")),
        ("<ul><li>a<li>b</ul><ol start=3><li>c<li>d</ol>", "- a\n- b\n\n3. c\n4. d"),
        ("<pre>\ndef f():\n    return  1\n</pre>", "def f():\n    return  1"),
        ('<a href="https://example.org/a?b=1">terms</a>', "terms (https://example.org/a?b=1)"),
        ('<a href="https://example.org">https://example.org</a>', "https://example.org"),
        ('<a href="mailto:jan@firma.cz?subject=x">write</a>', "write (jan@firma.cz)"),
        ('<a href="#top">up</a> <a href="javascript:x()">run</a>', "up run"),
        ('<img src="x.png" alt="the pump">', "the pump"),
        ("<body><script>x</script><style>p{}</style><noscript>n</noscript><template>t</template>seen", "seen"),
        ('<div style="display: none">hidden</div><p hidden>hidden</p>seen', "seen"),
        ("&lt;tag&gt; &amp; soft&shy;hyphen", "<tag> & softhyphen"),
        ("<p>unclosed <b>bold<p>next", "unclosed bold\n\nnext"),
        ("<p>code:<pre>\n\n  x\n\n\n  y\n\n</pre>so", "code:\n\n  x\n\n\n  y\n\nso"),
        ("up<svg class=icon /><svg><title>Icon</title></svg> and <math><mi>x</mi></math>down", "up and down"),
        ("one\u2009two&#13;\nthree&ensp;four", "one two three four"),
        ('<p style="opacity:0">fades in</p>', "fades in"),
        ('<a href="https://example.org"><img src="x.png"></a>seen', "seen"),
        ("<blockquote>said</blockquote>by Noa", "said\n\nby Noa"),
    ],
)
def test_elements(body: str, text: str) -> None:
    assert text_of(body) == text


def test_tables_keep_their_columns() -> None:
    table = """<table><caption>Prices</caption><tr><th>a<th>b<th>c<tr><td>1<td><td>3
    <tr><td colspan=2>wide<td>x|y<tr><td rowspan=2>tall<td>p<td>q<tr><td>r<td>s</table>"""
    assert text_of(table).splitlines() == [
        "Prices",
        "| a | b | c |",
        "| 1 | | 3 |",
        "| wide | | x\\|y |",
        "| tall | p | q |",
        "| | r | s |",
    ]


def test_a_cell_is_as_wide_and_tall_as_the_table_has_room() -> None:
    rows = "".join(f"<tr><td>{hour}<td>train" for hour in range(2, 21))
    table = f"<table><tr><th colspan=100>Fares<tr><td>1<td>train<td rowspan=60000>daily{rows}</table>"
    lines = text_of(table).splitlines()
    assert lines[:3] == ["| Fares | | |", "| 1 | train | daily |", "| 2 | train |"]
    assert (len(lines), lines[-1]) == (21, "| 20 | train |")


def test_tables_that_lay_out_a_page_are_text() -> None:
    page = "<table><tr><td>Dear Noa,</td><td><table><tr><td>a<td>b<tr><td>1<td>2</table></td></tr></table>"
    assert text_of(page) == "Dear Noa,\n\n| a | b |\n| 1 | 2 |"


def test_title_and_author() -> None:
    page = b'<head><title>From Vienna\n to Brno</title><meta name="Author" content="Petr"></head><h1>Trains</h1>'
    found = extract(page, "a.htm")
    assert (found.title, found.author, found.text) == ("From Vienna to Brno", "Petr", "# Trains")
    assert extract(b"<title>Untitled</title><h1>Trains</h1>", "a.html").title == "Trains"
    assert extract(b"<svg><title>Icon</title></svg></h1><h1><img></h1><h1>The <b>trains</b></h1>", "a.html").title == (
        "The trains"
    )


@pytest.mark.parametrize(
    ("charset", "text"),
    [
        ("windows-1255", "שלום עולם"),
        ("iso-8859-2", "Žluťoučký kůň"),
        ("shift_jis", "東京"),
        ("utf-8", "déjà"),
    ],
)
def test_the_declared_charset_is_used(charset: str, text: str) -> None:
    declared = f'<html><meta http-equiv="Content-Type" content="text/html; charset={charset}"><p>{text}</p>'
    assert extract(declared.encode(charset), "a.html").text == text


def test_latin_1_is_windows_1252_as_in_browsers() -> None:
    page = '<meta charset="iso-8859-1"><p>“12 €”</p>'.encode("cp1252")
    assert extract(page, "a.html").text == "“12 €”"


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_markup_costs_time_in_proportion(name: str) -> None:
    size = 500_000
    assert cost.exponent(lambda page: extract(page, "a.html"), lambda n: hostile(name, n).encode(), size) < cost.LINEAR
    assert len(extract(hostile(name, size).encode(), "a.html").text) < 4 * size


@given(st.text(alphabet="<>/abtdrpliu =\"'&;! -", max_size=80))
def test_any_markup_is_read(source: str) -> None:
    extract(f"x{source}".encode(), "a.html").text.encode()
