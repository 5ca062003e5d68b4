"""What counts as the same mail: texts without what is added on the way."""

import pytest

from relrag_pipelines.records import Record
from relrag_pipelines.sources.mail.copies import text_fingerprint
from tests.cases import cases

TEXT = "Hello all,\n\nthe pump is fixed.\n-- \nJana\n"


def fingerprint(text: str = TEXT, subject: str = "Pump", *attached: Record) -> str:
    return text_fingerprint(text, subject, attached)


@pytest.mark.parametrize(*cases(__file__, "the_footer_of_a_list_says_nothing"))
def test_the_footer_of_a_list_says_nothing(footer: str) -> None:
    assert fingerprint(TEXT + footer) == fingerprint()


@pytest.mark.parametrize(
    "text",
    [
        TEXT.replace("fixed", "broken"),
        TEXT + "--\nJana Nová, Prague\n",
        TEXT + "\nHow do I unsubscribe?\n",
        TEXT + "---\n" + "A long list of lines.\n" * 20 + "unsubscribe\n",
        TEXT.upper(),
    ],
)
def test_another_text_is_another_mail(text: str) -> None:
    assert fingerprint(text) != fingerprint()


@pytest.mark.parametrize("subject", ["[pumps] Pump", "[a] [b]  Pump", "Pump "])
def test_the_mark_of_a_list_is_no_part_of_the_subject(subject: str) -> None:
    assert fingerprint(TEXT, subject) == fingerprint()
    assert (
        fingerprint(TEXT, "Re: [pumps] Pump") == fingerprint(TEXT, "[pumps] Re: Pump") == fingerprint(TEXT, "Re: Pump")
    )
    assert fingerprint(TEXT, "Pump [2]") != fingerprint(TEXT, "Pump [3]") != fingerprint()


def test_attachments_count_whatever_their_order_and_line_ends() -> None:
    table, scan = Record("a", "a;b\nc", content_type="text/csv"), Record("b", extra={"bytes_hash": "12"})
    again = Record("c", "a;b\r\nc", content_type="text/csv", extra={"bytes_hash": "34"})
    assert fingerprint(TEXT, "Pump", table, scan) == fingerprint(TEXT, "Pump", scan, again)
    assert len({fingerprint(TEXT, "Pump", *some) for some in ((), (table,), (scan,), (table, scan))}) == 4
