"""Contacts as CSV: the columns of LinkedIn, Google and Outlook."""

from __future__ import annotations

from pathlib import Path

import pytest

from relrag_pipelines.sources import KINDS
from tests import ROOT
from tests.sources.connector import read

SAMPLE = ROOT / "examples" / "samples" / "linkedin" / "Connections.csv"


def test_connections_of_linkedin_are_contacts() -> None:
    assert KINDS["contacts"].recognise(SAMPLE)
    records, failures = read("contacts", SAMPLE)
    assert [record.text for record in records] == [
        "Petr Kolář\nconnected on LinkedIn on 05 Mar 2021\nurl: https://www.linkedin.com/in/petrkolar\n"
        "works at: Sady, s.r.o.\noccupation: Orchard manager\nemail: petr@kolar.example",
        "Eva Malá\nconnected on LinkedIn on 17 Jun 2019\nurl: https://www.linkedin.com/in/evamala\n"
        "works at: Moštárna Brno\noccupation: Owner",
    ]
    assert failures == []


@pytest.mark.parametrize(
    ("header", "row", "text"),
    [
        (
            "First Name,Middle Name,Last Name,Nickname,Birthday,Notes,E-mail 1 - Value,Phone 1 - Label,Phone 1 - Value",
            "Ota,,Novák,Otík,1970-05-02,,ota@novak.example ::: o@n.example,Mobile,+420 601 234 567",
            "Ota Novák (Otík)\nbirthday: 1970-05-02\nphone: +420 601 234 567\nemail: ota@novak.example\n"
            "email: o@n.example",
        ),
        (
            "Name,Given Name,Family Name,Organization 1 - Name,Phone 1 - Value",
            "Dana Levi,Dana,Levi,Pardes Ltd,+972521234567",
            "Dana Levi\nworks at: Pardes Ltd\nphone: +972521234567",
        ),
        (
            "First Name,Last Name,Company,Job Title,E-mail Address,Mobile Phone",
            'Eva,Malá,"Mošty; a víno",Owner,eva@mala.example,602345678',
            "Eva Malá\nworks at: Mošty; a víno\noccupation: Owner\nphone: 602345678\nemail: eva@mala.example",
        ),
    ],
    ids=["Google", "Google until 2024", "Outlook"],
)
def test_a_row_is_a_contact(header: str, row: str, text: str, tmp_path: Path) -> None:
    file = tmp_path / "contacts.csv"
    file.write_text(f"{header}\r\n{row}\r\n")
    assert KINDS["contacts"].recognise(file)
    (record,), failures = read("contacts", file)
    assert (record.text, failures) == (text, [])


@pytest.mark.parametrize(
    "content",
    [
        b"Date,Name,Amount\n2024-03-05,Petr,500\n",
        b"",
        b"\0\1\2,\xff\n",
        b"First Name,Last Name\nPetr,Novak\n",
        b"Name,Email Address,Dietary wishes,Amount paid\nAnna,anna@x.example,vegan,120\n",
    ],
    ids=["a statement", "empty", "binary", "no address", "guests"],
)
def test_other_tables_are_no_contacts(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "contacts.csv"
    file.write_bytes(content)
    assert not KINDS["contacts"].recognise(file)
    records, failures = read("contacts", file)
    assert (records, [failure.fault for failure in failures]) == ([], ["no_cards"])


def test_a_cell_with_a_separator_of_lines_is_one_cell(tmp_path: Path) -> None:
    file = tmp_path / "contacts.csv"
    file.write_text(
        "First Name,Last Name,Notes,E-mail 1 - Value\nEva,Mal\u00e1,flat 2\u2028ring twice,eva@mala.example\n"
    )
    (record,), failures = read("contacts", file)
    assert "email: eva@mala.example" in record.text
    assert failures == []
