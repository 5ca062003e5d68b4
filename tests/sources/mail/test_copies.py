"""What counts as the same mail: texts without what is added on the way."""

import pytest

from relrag_pipelines.records import Record
from relrag_pipelines.sources.mail.copies import text_fingerprint

TEXT = "Hello all,\n\nthe pump is fixed.\n-- \nJana\n"


def fingerprint(text: str = TEXT, subject: str = "Pump", *attached: Record) -> str:
    return text_fingerprint(text, subject, attached)


@pytest.mark.parametrize(
    "footer",
    [
        "_______________________________________________\nPumps mailing list -- pumps@host.example\n"
        "To unsubscribe send an email to pumps-leave@host.example\n",
        "---------------------------------------------------------------------\n"
        "To unsubscribe, e-mail: pumps-unsubscribe@host.example\nFor additional commands, e-mail: x@host.example\n",
        '\n-- \nYou received this message because you are subscribed to the Google Groups "pumps" group.\n'
        "To unsubscribe from this group, send email to pumps+unsubscribe@googlegroups.com.\n",
        "\n-=-=-=-=-=-=-=-=-=-=-=-\nGroups.io Links: You receive all messages sent to this group.\n"
        "View/Reply Online (#12): https://groups.io/g/pumps/message/12\n-=-=-=-=-=-=-=-=-=-=-=-\n",
        "\n########################################################################\n\n"
        "To unsubscribe from the PUMPS list, click the following link:\nhttps://host.example/?SUBED1=PUMPS&A=1\n",
        "--\nPoštovní konference Čerpadla\nodhlášení: cerpadla-leave@host.example\n",
        "____\nPumps mailing list\n\n--\nAbbestellen: pumps-leave@host.example\n",
        "-- \nДля отписки: отписаться можно здесь\n",
    ],
)
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
