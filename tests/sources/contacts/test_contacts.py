"""vCards of three versions, several scripts and odd programs; values a person read from the cards."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.records import Failure, NamedPerson, Record
from relrag_pipelines.sources import KINDS, ReadContext, Unit
from relrag_pipelines.sources.contacts import read, recognise
from relrag_pipelines.sources.contacts.contact import person
from relrag_pipelines.sources.contacts.vcard import cards, unescape
from tests import cost
from tests.cases import cases

KEYS = Keys(ids=b"i" * 32, pseudonyms=b"p" * 32, version="k1")


def contacts(folder: Path, data: str | bytes) -> tuple[list[Record], list[Failure]]:
    file = folder / "people.vcf"
    file.write_bytes(data if isinstance(data, bytes) else data.encode())
    unit = Unit(file.name, file, file.stat().st_size, 0)
    found = list(read(unit, ReadContext("people", "UTC", KEYS.id_hash)))
    return [one for one in found if isinstance(one, Record)], [one for one in found if isinstance(one, Failure)]


def card(*lines: str, version: str = "3.0") -> str:
    return "\r\n".join(["BEGIN:VCARD", f"VERSION:{version}", *lines, "END:VCARD", ""])


def test_the_kind_is_this_module() -> None:
    assert KINDS["contacts"].read is read


FULL = card(
    "UID:urn:uuid:7f9c",
    "FN:Shiran Tamir",
    "FN;LANGUAGE=he:שירן תמיר",
    "N:Tamir;Shiran;;;",
    "NICKNAME:Shir,Shiri",
    'TEL;TYPE="cell,voice";PREF=1:tel:+972-52-555-0121',
    "EMAIL;TYPE=home:shiran@tamir.example",
    "BDAY:19860502",
    "TITLE:physiotherapist",
    "ORG:Clinic;Ramat Gan",
    "ADR;TYPE=home:;;Herzl 14\\, flat 3;Ramat Gan;;52000;Israel",
    "NOTE:Runs half marathons.\\nLikes tea\\; hates coffee.",
    "X-RELRAG-PERSON-ID:42",
    "X-RELRAG-FACT;PREDICATE=plays:piano",
    "REV:20250110T120000Z",
    version="4.0",
)


def test_a_whole_card(tmp_path: Path) -> None:
    (record,), failures = contacts(tmp_path, FULL)
    assert failures == []
    assert (record.source_id, record.subject, record.rag_source_type) == ("7f9c", "Shiran Tamir", "contact")
    assert record.people == [
        NamedPerson("owner", name, 42)
        for name in ("Shiran Tamir", "שירן תמיר", "Shir", "Shiri", "+972-52-555-0121", "shiran@tamir.example")
    ]
    assert record.extra["facts"] == [
        {"predicate": "birthday", "value": "1986-05-02"},
        {"predicate": "occupation", "value": "physiotherapist"},
        {"predicate": "works_at", "value": "Clinic, Ramat Gan"},
        {"predicate": "lives_in", "value": "Ramat Gan"},
        {"predicate": "plays", "value": "piano"},
    ]
    assert record.extra["addresses"] == ["Herzl 14, flat 3, 52000 Ramat Gan, Israel"]
    assert (record.ts, record.date_quality) == (1736510400, "modified")
    assert "Runs half marathons.\nLikes tea; hates coffee." in record.text
    assert "birthday: 1986-05-02" in record.text.split("\n")


def test_version_2_1_with_quoted_printable_over_several_lines(tmp_path: Path) -> None:
    data = card(
        "N;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:=D7=A4=D7=99=D7=A7=D7=9C;=D7=A8=D7=99=",
        "=D7=A7=D7=99;;;",
        "TEL;CELL;PREF:052-555-0132",
        "NOTE;ENCODING=QUOTED-PRINTABLE;CHARSET=windows-1255:=F9=EC=E5=ED",
        "X-ANDROID-CUSTOM:vnd.android.cursor.item/nickname;Rikush;1;;;;;;;;;;;;;",
        version="2.1",
    )
    (record,), failures = contacts(tmp_path, data)
    assert (record.subject, failures) == ("ריקי פיקל", [])
    assert record.extra["aliases"] == ["Rikush"]
    assert record.extra["phones"] == ["052-555-0132"]
    assert record.text.split("\n")[1] == "שלום"


def test_folded_lines_are_joined_in_the_middle_of_a_letter(tmp_path: Path) -> None:
    raw = "NOTE:Dvořáková".encode()
    cut = raw.index(b"\xc5\x99") + 1
    data = b"BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Marie\r\n" + raw[:cut] + b"\r\n " + raw[cut:] + b"\r\nEND:VCARD\r\n"
    (record,), failures = contacts(tmp_path, data)
    assert (record.text, failures) == ("Marie\nDvořáková", [])


@pytest.mark.parametrize(
    "photo",
    [
        lambda size: "PHOTO;ENCODING=b;TYPE=JPEG:" + "A" * size,
        lambda size: "PHOTO;ENCODING=BASE64;JPEG:" + "\r\n ".join(["A" * 70] * (size // 70)) + "\r\n",
        lambda size: "PHOTO;ENCODING=BASE64;JPEG:" + "\r\n".join(["A" * 70] * (size // 70)) + "\r\n",
        lambda size: "item1.PHOTO:data:image/jpeg;base64," + "A" * size,
    ],
    ids=["one line", "folded", "not indented", "in a group"],
)
def test_a_picture_of_a_megabyte_is_passed_over(tmp_path: Path, photo: Callable[[int], str]) -> None:
    def pictured(size: int) -> str:
        return card("FN:Dana", photo(size), "TEL:052-555-0100")

    (record,), failures = contacts(tmp_path, pictured(1_000_000))
    assert (record.subject, record.extra, failures) == ("Dana", {"phones": ["052-555-0100"]}, [])
    assert len(record.text) < 100
    assert cost.exponent(lambda one: contacts(tmp_path, one), pictured, 1_000_000) < cost.LINEAR


@pytest.mark.parametrize(*cases(__file__, "birthdays"))
def test_birthdays(tmp_path: Path, line: str, value: str) -> None:
    (record,), _ = contacts(tmp_path, card("FN:Dana", line))
    assert record.extra["facts"] == [{"predicate": "birthday", "value": value}]


RELATED = card(
    "UID:a",
    "FN:Jonah",
    "X-RELRAG-PERSON-ID:1",
    "item1.RELATED;TYPE=x-mentor:b",
    "item1.X-RELRAG-DESCRIPTION:Gives advice",
    "item1.X-RELRAG-ATTITUDE:5",
    "item1.X-RELRAG-PROXIMITY:4",
    "item1.X-RELRAG-NOTE:They meet monthly",
    "item2.X-ABRELATEDNAMES:Shiran",
    "item2.X-ABLabel:_$!<Sister>!$_",
    version="4.0",
) + card("UID:b", "FN:Noa", "X-RELRAG-PERSON-ID:7", "X-SPOUSE:Tal")


def test_relations_are_records_that_pin_both_ends(tmp_path: Path) -> None:
    records, failures = contacts(tmp_path, RELATED)
    mentor, sister, spouse = records[2:]
    assert failures == []
    assert (mentor.source_id, mentor.text) == ("a:mentor:b", "Gives advice. They meet monthly.")
    assert mentor.people == [NamedPerson("mentioned", "Jonah", 1), NamedPerson("mentioned", "Noa", 7)]
    assert mentor.extra["relationship"] == {
        "from_person_id": 1, "to_person_id": 7, "relationship_type": "mentor", "description": "Gives advice",
        "attitude": 5, "proximity": 4, "notes": ["They meet monthly"],
    }  # fmt: skip
    assert (sister.subject, sister.extra["relationship"]["relationship_type"]) == ("Jonah - Shiran", "sister")
    assert sister.people[1] == NamedPerson("mentioned", "Shiran", None)
    assert spouse.text == "Tal: spouse of Noa"


@pytest.mark.parametrize(*cases(__file__, "what_somebody_is_to_another_is_the_type_that_tells_most"))
def test_what_somebody_is_to_another_is_the_type_that_tells_most(tmp_path: Path, written: str, type_: str) -> None:
    records, failures = contacts(tmp_path, card("FN:Dana", *written.split("\n"), version="4.0"))
    assert failures == []
    assert [one.extra["relationship"]["relationship_type"] for one in records[1:]] == [type_]


def test_cards_without_a_uid_are_told_apart_and_keep_their_ids(tmp_path: Path) -> None:
    same = card("FN:Dana", "TEL:052-555-0100")
    records, failures = contacts(tmp_path, same + card("FN:Dana", "TEL:052-555-0199") + same)
    ids = [record.source_id for record in records]
    assert (len(set(ids)), failures) == (3, [])
    assert ids[2] == f"{ids[0]}:2"
    assert contacts(tmp_path, card("FN:Eva") + same)[0][1].source_id == ids[0]


@pytest.mark.parametrize(
    ("data", "faults", "names"),
    [
        (card("UID:1", "FN:A") + card("UID:1", "FN:B"), ["duplicate_id"], ["A"]),
        (card("FN:A", "this is no property"), ["bad_line"], ["A"]),
        ("BEGIN:VCARD\nFN:A\nBEGIN:VCARD\nFN:B\nEND:VCARD\n", ["no_end"], ["A", "B"]),
        ("BEGIN:VCARD\nFN:A\nTEL:1", ["no_end"], ["A"]),
        (card("NOTE:nobody"), ["no_name"], []),
        (card("FN:A", "X-RELRAG-PERSON-ID:many"), ["bad_value"], ["A"]),
        (card("FN:A", "a.RELATED:x", "a.X-RELRAG-ATTITUDE:9"), ["bad_value"], ["A", "A - x"]),
        ("not a card", ["no_cards"], []),
        ("", ["no_cards"], []),
        (card("FN:A", "NOTE:Růžena Žďárská").encode("cp1250"), ["charset"], ["A"]),
    ],
)
def test_bad_input_is_told_and_the_rest_kept(
    tmp_path: Path, data: str | bytes, faults: list[str], names: list[str]
) -> None:
    records, failures = contacts(tmp_path, data)
    assert [failure.fault for failure in failures] == faults
    assert [record.subject for record in records] == names
    assert not any("nobody" in failure.message for failure in failures)


def test_an_agent_within_a_card_is_not_the_person(tmp_path: Path) -> None:
    data = card("FN:Boss", "AGENT:", "BEGIN:VCARD", "FN:Secretary", "END:VCARD", "TEL:1234567", version="2.1")
    (record,), failures = contacts(tmp_path, data)
    assert (record.subject, record.extra["phones"], failures) == ("Boss", ["1234567"], [])


def test_utf16_and_names_from_other_properties(tmp_path: Path) -> None:
    (record,), _ = contacts(tmp_path, card("N:Rubin;Alex;;Dr.;").encode("utf-16"))
    assert record.subject == "Dr. Alex Rubin"
    assert contacts(tmp_path, card("ORG:Galtech"))[0][0].subject == "Galtech"
    assert contacts(tmp_path, card("EMAIL:x@y.example"))[0][0].subject == "x@y.example"


def test_what_is_recognised(tmp_path: Path) -> None:
    (tmp_path / "a.vcf").write_text(card("FN:A"))
    (tmp_path / "b.vcf").write_text("##fileformat=VCFv4.2\n")
    assert recognise(tmp_path / "a.vcf")
    assert not recognise(tmp_path / "b.vcf"), "genetic variants have the same suffix"


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"])))
def test_escaping_is_undone(text: str) -> None:
    escaped = text.replace("\\", "\\\\").replace(";", "\\;").replace(",", "\\,")
    assert unescape(escaped) == text


LINES = [b"BEGIN:VCARD", b"END:VCARD", b"FN:A", b" x", b"TEL;:;", b"\xff:", b'A;B="', b"=", b"N;QUOTED-PRINTABLE:="]


@given(st.lists(st.sampled_from(LINES)))
def test_any_lines_give_cards(lines: list[bytes]) -> None:
    found = [person(one) for one in cards(BytesIO(b"\n".join(lines)))]
    assert len(found) <= lines.count(b"BEGIN:VCARD")
