"""Quotations of forgotten mails: what is found of them however it is quoted, and what is never cut."""

import inspect
import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relrag_pipelines.erasure import mail_quotes, shingles, word_hashes
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.records import PrivateRecord, Record
from relrag_pipelines.stores.table_schema import to_table
from tests.cases import cases

KEYS = Keys(b"i" * 32, b"p" * 32, "k1")
SECRET = """\
The clinic wrote back this morning, and the operation is on the ninth of May.
Please do not tell my parents about it before then.

Bring the blue folder.

Eva"""


def cut(quotation: str, mail: str = SECRET, *, answers: bool = False, follows: bool = False) -> str:
    words = word_hashes.WordHasher(KEYS.id_hash)
    said = mail_quotes.own_shingles(to_table([PrivateRecord("m", text=mail)], PrivateRecord), words)
    forgotten = word_hashes.decode(map(word_hashes.encode, said))
    return shingles.cut_quotes(quotation, forgotten, words, answers=answers, follows=follows)


@pytest.mark.parametrize(
    "quotation",
    [
        SECRET,
        "\n".join(f"> {line}" for line in SECRET.splitlines()),
        "On Mon, 6 Jan 2025 at 08:40, Eva Novak <eva@host.example> wrote:\n" + re.sub("^", "> ", SECRET, flags=re.M),
        "> On 6 January 2025 08:40, Eva <eva@host.example> wrote:\n" + re.sub("^", ">> ", SECRET, flags=re.M),
        "Eva Novak wrote:\n\n" + re.sub("^", "> ", SECRET, flags=re.M),
        "-----Original Message-----\nFrom: Eva Novak\nSent: Monday, January 6, 2025 8:40 AM\nTo: Jan\nSubject: news\n\n"
        + SECRET,
        SECRET.replace(" ", "\n> "),  # wrapped at every word
        SECRET.upper().replace("NINTH", "*NINTH*"),
        " ".join(SECRET.split()),
        SECRET.replace("operation", "operation <http://clinic.example>"),  # as programs write a link as text
    ],
)
def test_nothing_is_left_of_a_mail_that_is_quoted_whole(quotation: str) -> None:
    assert cut(quotation) == ""


def test_what_others_say_in_the_same_quotation_stays() -> None:
    quotation = """\
> Of course, I will drive you there.
> On Mon, 6 Jan 2025 at 08:40, Eva Novak <eva@host.example> wrote:
>> The clinic wrote back this morning, and the operation is on the
>> ninth of May.
> I am glad.
>> Please do not tell my parents about it before then.
> Promised. I told only Petr that the operation is on the ninth of May, nobody else knows.

On Sun, 5 Jan 2025 at 10:00, Jan <jan@host.example> wrote:
> Any news?"""
    assert cut(quotation).splitlines() == [
        "> Of course, I will drive you there.",
        "> On Mon, 6 Jan 2025 at 08:40, Eva Novak <eva@host.example> wrote:",
        "> I am glad.",
        "> Promised. I told only Petr that … nobody else knows.",
        "",
        "On Sun, 5 Jan 2025 at 10:00, Jan <jan@host.example> wrote:",
        "> Any news?",
    ]


def test_single_lines_are_cut_only_where_the_mail_is_answered() -> None:
    assert cut("> Bring the blue folder.\n> Eva") == "> Bring the blue folder.\n> Eva"
    assert cut("> Bring the blue folder.\n> Eva\n> And a coat.", answers=True) == "> And a coat."
    assert cut("> hunter2", "hunter2", answers=True) == ""
    assert cut("> Bring the blue folder today", answers=True) == "> Bring the blue folder today"


AGREED = """\
Hello Jan,
We agreed on the price of 8,400 for the website and the logo, to be paid in two parts by the end of May.
Thank you
Eva"""


@pytest.mark.parametrize(*cases(__file__, "a_piece_of_a_line_is_cut_where_the_mail_is_followed"))
def test_a_piece_of_a_line_is_cut_where_the_mail_is_followed(quotation: str) -> None:
    assert cut(quotation, AGREED, follows=True) == ""


@pytest.mark.parametrize(*cases(__file__, "what_only_begins_alike_stays"))
def test_what_only_begins_alike_stays(quotation: str) -> None:
    assert cut(quotation, AGREED, follows=True) == quotation


def test_a_piece_is_cut_only_where_something_tells_whose_it_is() -> None:
    piece = "> We agreed on the price"
    assert cut(piece, AGREED) == piece
    whole = "> to be paid in two parts by the end of May"
    assert cut(f"{piece}\n> Yes.\n{whole}", AGREED) == "> Yes."


def test_what_is_written_between_the_lines_of_a_quotation_does_not_hide_them() -> None:
    quotation = ">> We agreed\n> no\n>> on the\n> yes, sure\n>> price of\n> but\n>> 8,400 for\n"
    assert cut(quotation, AGREED, follows=True).splitlines() == ["> no", "> yes, sure", "> but"]


def test_of_a_text_that_is_long_the_beginning_is_known_in_pieces_too() -> None:
    mail = " ".join(f"word{number}" for number in range(1_100))
    assert cut("> word990 word991 word992...", mail, follows=True) == ""
    assert cut("> word1090 word1091 word1092...", mail, follows=True) != ""
    assert cut("> word1090 word1091 word1092 word1093 word1094 word1095...", mail) == ""


@pytest.mark.parametrize("said", ["[Eva: no, NOT me!]", "(really?)", "<b>why</b>", "no"])
def test_what_others_write_into_a_line_stays(said: str) -> None:
    mail = "The dentist wants nine thousand crowns each from all and the rest we pay in May."
    left = cut(f"> {mail.replace('each', f'each {said}')}\n> Bye", mail)
    assert left == f"> … {said.lstrip('[(<')} …\n> Bye"


@pytest.mark.parametrize("address", ["<eva@host.example>", "<http://a.example/x?y=z>", "[cid:image001.png@01D]", "--"])
def test_an_address_within_a_line_goes_with_it(address: str) -> None:
    mail = "The dentist wants nine thousand crowns each from all and the rest we pay in May."
    assert cut(f"> {mail.replace('each', f'each {address}')}\n> Bye", mail) == "> Bye"


WORDS = ["aa", "bb", "cc", "dd", "ee", "ff", "gg", "hh.\n", "kk\n", "ll,", "mm\n\n", "nn", "é", "ש"]


@given(
    st.lists(
        st.sampled_from(["aa", "bb", "cc", "dd", "ee", "ff", "gg", "hh.\n", "kk\n", "ll,", "mm\n\n", "nn", "é", "ש"]),
        min_size=6,
        max_size=60,
    ),
    st.lists(st.sampled_from(["\n> ", " ", "\n", "  ", " * "]), min_size=60, max_size=60),
    st.text(alphabet="xyz \n>", max_size=40),
)
def test_no_run_of_a_forgotten_mail_is_left_however_it_is_wrapped(
    words: list[str], gaps: list[str], other: str
) -> None:
    mail = " ".join(words)
    quotation = other + "\n" + "".join(word + gap for word, gap in zip(words, gaps, strict=False)) + "\n" + other
    keyed = word_hashes.WordHasher(KEYS.id_hash)
    forgotten = word_hashes.decode([word_hashes.encode(word_hashes.runs_of(keyed.hash_words(mail)))])
    left = shingles.cut_quotes(quotation, forgotten, keyed, answers=False)
    assert not word_hashes.matches_run(left, forgotten, keyed)
    assert re.findall("[xyz]+", left) == re.findall("[xyz]+", other) * 2


def test_a_record_keeps_its_own_words_and_the_numbers_that_stand_there() -> None:
    words = word_hashes.WordHasher(KEYS.id_hash)
    mail = "Pay invoice INV-1187 by Friday, and please tell nobody of it."
    record = Record(
        "r",
        text="I paid order 55512 today.",
        numbers=["55512", "INV-1187"],
        extra={
            "labels": ["Inbox"],
            "apart": {"quoted": f"> {mail}", "signature": "Jan", "forwarded": mail, "forward_headers": "From: Eva"},
        },
    )
    forgotten = word_hashes.decode([word_hashes.encode(word_hashes.runs_of(words.hash_words(mail)))])
    assert shingles.cut_from_mail(record, forgotten, words, answers=False)
    assert record.text == "I paid order 55512 today."
    assert record.numbers == ["55512"]
    assert record.extra == {"labels": ["Inbox"], "apart": {"signature": "Jan"}}
    assert not shingles.cut_from_mail(record, forgotten, words, answers=False)


def test_what_other_sources_call_apart_is_left_alone() -> None:
    words = word_hashes.WordHasher(KEYS.id_hash)
    forgotten = word_hashes.decode([word_hashes.encode(word_hashes.runs_of(words.hash_words(SECRET)))])
    for apart in ("yes", ["quoted"], {"quoted": 3}):
        record = Record("r", extra={"apart": apart})
        assert not shingles.cut_from_mail(record, forgotten, words, answers=True)
        assert record.extra == {"apart": apart}


def test_words_that_come_together_by_cutting_are_cut_however_often() -> None:
    within = "one two three four five six"
    for _ in range(300):
        within = f"one two three {within} four five six"
    usual = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + 250)  # less deep than what was put within one another
    try:
        assert cut(f"> {within}\n> That is all.", "one two three four five six") == "> That is all."
    finally:
        sys.setrecursionlimit(usual)
